"""Parts of a data set as delayed Dask objects: a job is one graph."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed

from mbauc.cluster.parts import FAN_IN, Merge, PartBlock, Task, merge_in_order
from mbauc.cluster.rank_sums import RankedScores, RankSums

#: Quantiles that each part tells of its scores, for cutting them into ranges.
_QUANTILES = 64


class DaskParts:
    """Blocks of rows, one delayed object each; see :class:`mbauc.cluster.parts.Parts`.

    Parameters
    ----------
    blocks : sequence of Delayed
        Each an iterable of items: :class:`~mbauc.cluster.parts.PartBlock`, or what a task kept.
    labels : sequence of Delayed, optional
        The same blocks without features.
    """

    #: Dask sends results of any size that workers can hold.
    largest_result = float("inf")

    def __init__(self, blocks: Sequence[Delayed], labels: Sequence[Delayed] | None = None) -> None:
        self._blocks, self._labels = list(blocks), labels
        self.n_parts = len(self._blocks)

    def merged(self, task: Task, merge: Merge) -> Any:
        """The results of all parts as one, merged in a tree."""
        level = self._results(task)
        together = delayed(merge_in_order, pure=False)
        while len(level) > 1:
            level = [together(merge, level[k : k + FAN_IN]) for k in range(0, len(level), FAN_IN)]
        [result] = _compute(level)
        return result

    def collected(self, task: Task) -> list[Any]:
        """The results of all parts, in their order."""
        return _compute(self._results(task))

    def kept(self, task: Task) -> DaskParts:
        """Parts of what a task makes of each part, held by the workers."""
        with _quiet_about_size():
            return DaskParts(dask.persist(*self._results(task)))

    def steady(self) -> DaskParts:
        """The same parts: a graph gives the same rows each time."""
        return DaskParts(self._blocks, self._labels)

    def without_features(self) -> DaskParts:
        """The same rows as labels, weights and ids alone."""
        return self if self._labels is None else DaskParts(self._labels)

    def ranked(self, task: Task) -> RankSums:
        """Sort the scores of all parts into ranges, and sum up each where it lies."""
        scores = self.kept(_SortScores(task))
        try:
            cuts = _cuts(scores.collected(_quantiles), self.n_parts)
            split = delayed(_split, nout=len(cuts) + 1, pure=False)
            pieces = [split(part, cuts) for part in scores._blocks]
            rank = delayed(_rank, pure=False)
            sums: list[RankSums] = _compute(
                [rank([piece[k] for piece in pieces]) for k in range(len(cuts) + 1)]
            )
        finally:
            scores.release()
        return sum(sums[1:], sums[0])

    def release(self) -> None:
        """Let go of the parts; the scheduler forgets them once nobody holds them."""
        self._blocks = []

    def _results(self, task: Task) -> list[Delayed]:
        # one node of the graph for the task, however many parts it is sent to
        shared, run = delayed(task, pure=False, traverse=False), delayed(_run, pure=False)
        return [run(shared, number, block) for number, block in enumerate(self._blocks)]


def _run(task: Task, number: int, block: Any) -> Any:
    return task(number, block)


def _compute(results: Sequence[Delayed]) -> list[Any]:
    with _quiet_about_size():
        return list(dask.compute(*results))


def _quiet_about_size() -> Any:
    """A vector over a million columns in the graph is meant, and no cause for a warning."""
    if "distributed" not in sys.modules:  # nobody to warn, and its settings are not loaded
        return nullcontext()
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})


# -- ranges of scores --------------------------------------------------------------------------------------


class _SortScores:
    """Task: the scores of a part in rising order."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> RankedScores:
        positive, values, weight = self._task(number, blocks)
        order = np.argsort(values, kind="stable")
        return RankedScores(positive[order], values[order], None if weight is None else weight[order])


def _quantiles(number: int, scores: Any) -> Any:
    values = RankedScores(*scores).values
    return values[np.linspace(0, values.size - 1, _QUANTILES).astype(np.intp)] if values.size else values


def _cuts(quantiles: list[Any], n_ranges: int) -> Any:
    """Values that cut all scores into ranges of about equal size; equal scores stay together."""
    known = np.sort(np.concatenate(quantiles))
    if not known.size:
        return known
    return np.unique(known[np.linspace(0, known.size - 1, n_ranges + 1).astype(np.intp)[1:-1]])


def _split(scores: Any, cuts: Any) -> list[RankedScores]:
    positive, values, weight = scores
    places = [0, *np.searchsorted(values, cuts, side="right"), values.size]
    return [
        RankedScores(positive[a:b], values[a:b], None if weight is None else weight[a:b])
        for a, b in pairwise(places)
    ]


def _rank(pieces: list[RankedScores]) -> RankSums:
    positive = np.concatenate([piece.positive for piece in pieces])
    values = np.concatenate([piece.values for piece in pieces])
    weighted = any(piece.weight is not None for piece in pieces)
    weight = None
    if weighted:
        weight = np.concatenate(
            [np.ones(piece.values.size) if piece.weight is None else piece.weight for piece in pieces]
        )
    return RankSums.of(RankedScores(positive, values, weight))
