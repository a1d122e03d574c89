"""Parts of a data set as delayed Dask objects: a job is one graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from copy import deepcopy
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed

from mbauc.metrics.ranked import RankedScores
from mbauc.rows.block import Columns
from mbauc.rows.parts.protocol import Kind, Merge, Task, fan_in, merge_in_order
from mbauc.runtime.threads import single_threaded_blas

#: Quantiles that each part returns of its scores, for cutting them into ranges.
_QUANTILES = 64
#: Scores of a range, about: every part is cut into as many pieces as there are ranges, at most one a part.
_RANGE_ROWS = 1 << 22


class DaskParts:
    """Blocks of rows, one delayed object each; see :class:`mbauc.rows.parts.protocol.Parts`.

    Parameters
    ----------
    blocks : sequence of Delayed
        Each an iterable of items: tuples (X, y, weight, ids, groups), or what a task made.
    labels : sequence of Delayed, optional
        The same blocks without features.
    keeps_order : bool, default=True
        Whether rows of a block stand in the same order each time that it is computed.
    """

    kind: Kind = "cluster"
    #: Dask sends results of any size that workers can hold.
    largest_result = float("inf")

    def __init__(
        self, blocks: Sequence[Delayed], labels: Sequence[Delayed] | None = None, keeps_order: bool = True
    ) -> None:
        self._blocks, self._labels, self._keeps_order = list(blocks), labels, keeps_order
        self.n_parts = len(self._blocks)

    def reduce(self, task: Task, merge: Merge) -> Any:
        """The results of all parts as one, merged in a tree."""
        level, n = self._results(task), fan_in(getattr(task, "result_bytes", 0))
        together = delayed(_merge, pure=False)
        while len(level) > 1:
            level = [together(merge, level[k : k + n]) for k in range(0, len(level), n)]
        [result] = _compute(level)
        return result

    def collect(self, task: Task) -> list[Any]:
        """The results of all parts, in their order."""
        return _compute(self._results(task))

    def persist(self, task: Task) -> DaskParts:
        """Parts of what a task makes of each part, held by the workers."""
        with _silence_size_warning():
            return DaskParts(dask.persist(*self._results(task)))

    def fix_order(self) -> DaskParts:
        """The same parts, as long as their graph gives the same rows each time; otherwise these are kept."""
        if self._keeps_order:
            return DaskParts(self._blocks, self._labels)
        with _silence_size_warning():
            blocks = dask.persist(*self._blocks)
        bare = delayed(_drop_features, pure=False)
        return DaskParts(blocks, [bare(block) for block in blocks])

    def labels_only(self) -> DaskParts:
        """The same rows as labels, weights and ids alone."""
        return self if self._labels is None else DaskParts(self._labels)

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sort the scores of all parts into ranges, and sum up each where it lies."""
        scores = self.persist(_SortScores(task))
        try:
            cuts = _cuts(scores.collect(_quantiles))
            split = delayed(_split, nout=len(cuts) + 1, pure=False)
            pieces = [split(part, cuts) for part in scores._blocks]
            rank = delayed(_rank, pure=False)
            sums = _compute([rank(summarise, [piece[k] for piece in pieces]) for k in range(len(cuts) + 1)])
        finally:
            scores.release()
        return sum(sums[1:], sums[0])

    def preview(self) -> None:
        """None: a look at the rows would be a job."""
        return None

    def release(self) -> None:
        """Let go of the parts; the scheduler forgets them once nobody holds them."""
        self._blocks = []

    def _results(self, task: Task) -> list[Delayed]:
        # one node of the graph for the task, however many parts it is sent to
        shared, run = delayed(task, pure=False, traverse=False), delayed(_run, pure=False)
        return [run(shared, number, block) for number, block in enumerate(self._blocks)]


def _merge(merge: Merge, results: Sequence[Any]) -> Any:
    # a merge may use up its first result, which may be read-only here, or wanted again if a worker is lost
    with single_threaded_blas():
        return merge_in_order(merge, [deepcopy(results[0]), *results[1:]])


def _drop_features(blocks: Iterable[Columns]) -> list[Columns]:
    return [(None, y, weight, ids, groups) for _, y, weight, ids, groups in blocks]


def _run(task: Task, number: int, block: Any) -> Any:
    # other tasks are at work on the other cores
    with single_threaded_blas():
        return task(number, block)


def _compute(results: Sequence[Delayed]) -> list[Any]:
    with _silence_size_warning():
        return list(dask.compute(*results))


def _silence_size_warning() -> Any:
    """A vector over a million columns in the graph is meant, and no cause for a warning."""
    if "distributed" not in sys.modules:  # nobody to warn, and its settings are not loaded
        return nullcontext()
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})


# -- ranges of scores --------------------------------------------------------------------------------------


class _SortScores:
    """Task: the scores of a part in rising order."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __call__(self, number: int, blocks: Iterable[Columns]) -> RankedScores:
        scores: RankedScores = self._task(number, blocks)
        return scores.take(np.argsort(scores.values, kind="stable"))


def _quantiles(number: int, scores: Any) -> tuple[int, Any]:
    """How many scores a part has, and some of them, evenly spread."""
    values = scores.values
    places = np.linspace(0, values.size - 1, min(_QUANTILES, values.size)).astype(np.intp)
    return values.size, values[places]


def _cuts(found: list[tuple[int, Any]]) -> Any:
    """Values that cut all scores into ranges of about equal size; equal scores stay together."""
    known = np.concatenate([values for _, values in found])
    share = np.concatenate([np.full(len(values), size / max(len(values), 1)) for size, values in found])
    order = np.argsort(known, kind="stable")
    total = sum(size for size, _ in found)
    n_ranges = min(len(found), -(-total // _RANGE_ROWS))
    wanted = total * np.arange(1, n_ranges) / max(n_ranges, 1)
    return np.unique(known[order][np.searchsorted(np.cumsum(share[order]), wanted)])


def _split(scores: RankedScores, cuts: Any) -> list[RankedScores]:
    places = [0, *np.searchsorted(scores.values, cuts, side="right"), scores.values.size]
    return [scores.take(slice(a, b)) for a, b in pairwise(places)]


def _rank(summarise: Callable[[Any], Any], pieces: list[RankedScores]) -> Any:
    return summarise(RankedScores.concatenate(pieces))
