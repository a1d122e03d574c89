"""Moments of 1,000 parts merged in trees: error against the definition, time, bytes and memory.

``python -m benchmarks merge_tree``. All trees take in one part after the other, in one process.
"""

import time

import numpy as np

from benchmarks.timing import interleaved, peak_megabytes, report
from mbauc import PairMoments
from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.rows.parts.protocol import fan_in
from mbauc.runtime.threads import single_threaded_blas

PARTS, PART_ROWS, COLUMNS, WIDE = 1_000, 50, 1_000, 10_000
#: Columns that are compared with sums in extended precision.
CHECKED = 16
FAN_INS = (2, 8, PARTS)


def part(number):
    """Rows of one part: far from zero, and each part somewhere else."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((PART_ROWS, COLUMNS)) + 100.0 + 5.0 * rng.standard_normal(COLUMNS)
    return X, np.arange(PART_ROWS) % 4 == 0


class Tree:
    """Merges results as they come, ``width`` at a time: one that is not yet full waits at each level."""

    def __init__(self, width):
        self.width, self.merges, self.seconds = width, 0, 0.0
        self._waiting = []  # for each level how many results have been merged, and to what

    def add(self, result, level=0):
        """Add a part, or a result of the level below."""
        if level == len(self._waiting):
            self._waiting.append((0, None))
        count, total = self._waiting[level]
        total = result if total is None else self._merge(total, result)
        if count + 1 < self.width:
            self._waiting[level] = count + 1, total
        else:
            self._waiting[level] = 0, None
            self.add(total, level + 1)

    def finish(self):
        """All parts as one."""
        left = [total for _, total in self._waiting if total is not None]
        result = left[-1]
        for total in reversed(left[:-1]):
            result = self._merge(result, total)
        return result.finish()

    def _merge(self, first, second):
        began = time.process_time()
        with single_threaded_blas():  # as on a worker
            first.merge(second)
        self.seconds += time.process_time() - began
        self.merges += 1
        return first


def levels(width, parts=PARTS):
    """Results that are sent at each level of a tree."""
    sent = []
    while parts > 1:
        sent.append(parts)
        parts = -(-parts // width)
    return sent


def by_definition(X, y):
    """μ and Σ by sums in extended precision: the means, then the rows around them."""
    X = X.astype(np.longdouble)
    means = [X[own].mean(axis=0) for own in (y, ~y)]
    spread = sum(
        (X[own] - mean).T @ (X[own] - mean) / own.sum() for own, mean in zip((y, ~y), means, strict=True)
    )
    mu = means[0] - means[1]
    return mu, spread + np.outer(mu, mu)


def error(moments, truth):
    found = moments.mean_difference[:CHECKED], moments.second_moment[:CHECKED, :CHECKED]
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in zip(found, truth, strict=True))


def wide_merge():
    """Seconds and further megabytes of one merge of as many columns as hashed clicks have."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((64, WIDE)), np.arange(64) % 2 == 0
    pair = [MomentsAccumulator.resume(PairMoments.from_arrays(X + k, y)) for k in (0.0, 1.0)]
    pair[0].merge(pair[1])  # into memory of its own
    with single_threaded_blas():
        took = interleaved({"merge": lambda: pair[0].merge(pair[1])}, repeats=3)["merge"]
        return took, peak_megabytes(lambda: pair[0].merge(pair[1]))


def run():
    size, trees = 8 * COLUMNS * (COLUMNS + 1), [Tree(width) for width in FAN_INS]
    X, y = np.empty((PARTS * PART_ROWS, COLUMNS)), np.empty(PARTS * PART_ROWS, dtype=bool)
    for number in range(PARTS):
        rows = slice(number * PART_ROWS, (number + 1) * PART_ROWS)
        X[rows], y[rows] = part(number)
        moments = PairMoments.from_arrays(X[rows], y[rows])
        for tree in trees:
            tree.add(MomentsAccumulator.resume(moments))
    whole, truth = PairMoments.from_arrays(X, y), by_definition(X[:, :CHECKED], y)
    del X, y
    table = [(f"one pass over all {PARTS * PART_ROWS:,} rows", f"error {error(whole, truth):.0e}", "")]
    values = {"levels": {}}
    for width, tree in zip(FAN_INS, trees, strict=True):
        found, sent = tree.finish(), levels(width)
        path = sum(min(width, n) - 1 for n in sent)
        name = "one after the other" if width == PARTS else f"tree, {width} at a time"
        apart = np.abs(found.second_moment - whole.second_moment).max() / np.abs(whole.second_moment).max()
        table.append(
            (
                f"{name}: {len(sent)} level{'' if len(sent) == 1 else 's'}",
                f"error {error(found, truth):.0e}, {apart:.0e} from one pass; {path} merges in a row; "
                f"{', '.join(f'{n * size / 1e9:.2g}' for n in sent)} GB sent",
                "error at most 1e-10",
            )
        )
        values["merge_1000"], values["levels"][str(width)] = tree.seconds / tree.merges, sent
    both, peak = wide_merge()
    values |= {"merge_10000": both, "fan_in": {str(d): fan_in(8 * d * (d + 1)) for d in (COLUMNS, WIDE)}}
    table += [
        (
            f"one merge, {COLUMNS:,} columns, {size / 1e6:.0f} MB",
            f"{values['merge_1000'] * 1e3:.1f} ms of CPU",
            "",
        ),
        (
            f"one merge, {WIDE:,} columns, {8 * WIDE * (WIDE + 1) / 1e6:.0f} MB",
            f"{both:.2f} s, {peak:.0f} MB beside the two",
            "",
        ),
    ]
    report(
        "merge_tree",
        table,
        notes=[
            f"{PARTS:,} parts of {PART_ROWS} rows and {COLUMNS:,} columns around 100, each part around another "
            f"mean; errors of μ and Σ relative to their largest number, on {CHECKED} columns against sums in "
            "extended precision",
            f"clusters merge {fan_in(size)} at a time at {COLUMNS:,} columns and "
            f"{fan_in(8 * WIDE * (WIDE + 1))} at {WIDE:,}; a node holds as many results",
        ],
        values=values,
    )
