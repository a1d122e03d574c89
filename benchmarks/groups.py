"""Pairs within groups against all pairs: dense moments, sparse moments and products, few groups and many."""

from functools import partial

import numpy as np

from benchmarks.clicks import click_labels, click_rows
from benchmarks.timing import interleaved, report
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.grouped import grouped_moments
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.rows.block import Block
from mbauc.runtime.threads import thread_count

#: Groups that the rows are in.
SIZES = (100, 10_000, 200_000)


def ratios(what, all_pairs, within, times):
    return [
        (f"{what}, {groups:,} groups / all pairs", f"{times[groups] / times['all']:.1f}", "")
        for groups in within
    ] + [(f"{what}, {all_pairs}", f"{times['all']:.3f} s", "")]


def moments(what, X, positive, sizes, threads, repeats):
    rng = np.random.default_rng(1)
    keys = {size: rng.integers(0, size, len(positive)).astype(np.uint64) for size in sizes}
    tasks = {"all": lambda: accumulate_block(Block(X, positive), threads)}
    for size, groups in keys.items():
        tasks[size] = partial(grouped_moments, Block(X, positive, groups=groups), threads)
    return ratios(what, "all pairs", sizes, interleaved(tasks, repeats))


def products(what, X, positive, sizes, threads):
    rng = np.random.default_rng(1)
    strata = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    plain = build_matrix_operator(X, strata, None, threads)
    v = rng.standard_normal(plain.mu.size)
    tasks = {"all": lambda: plain.product(rng.standard_normal(v.size))}
    for size in sizes:
        groups = rng.integers(0, size, len(positive)).astype(np.uint64)
        pairs = GroupedPairOperator(build_matrix_operator(X, strata, None, threads, groups))
        tasks[size] = lambda pairs=pairs: pairs.product(rng.standard_normal(v.size))
    return ratios(what, "all pairs", sizes, interleaved(tasks))


def run(n=1_000_000, repeats=3):
    threads = thread_count(None)
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((n, 100))
    rows = moments("moments, dense, 100 columns", dense, rng.random(n) < 0.3, SIZES, threads, repeats)
    del dense
    narrow = click_rows(n // 5, width=1_000)
    what = f"moments, {n // 5:,} sparse rows, 1,000 columns"
    rows += moments(what, narrow, click_labels(narrow), SIZES[:2], threads, repeats)
    wide = click_rows(n, width=10_000)
    rows += products("product, sparse, 10,000 columns", wide, click_labels(wide), SIZES, threads)
    report(
        "groups",
        rows,
        notes=[
            f"{n:,} rows unless said, in groups at random; moments within groups hold two Gram matrices, those "
            "of all pairs one; a group costs a rank-two term, so that many groups of few sparse rows cost most"
        ],
    )


if __name__ == "__main__":
    run()
