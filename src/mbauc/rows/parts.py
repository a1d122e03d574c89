"""Rows in parts on an engine: all that the rest of this folder asks of Dask or Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, NamedTuple, Protocol

from mbauc.metrics.rank_sums import RankSums

#: What runs on a worker: given the number of a part and its items, a result that can be sent.
Task = Callable[[int, Iterable[Any]], Any]
#: Makes one result of two, the first of which stood before the second; may use up the first.
Merge = Callable[[Any, Any], Any]

#: Results that one merge takes in at a time.
FAN_IN = 8


class PartBlock(NamedTuple):
    """Some rows of a part, as an engine hands them over.

    Attributes
    ----------
    X : matrix or None
        Features; None where a task said that it needs none.
    y : array-like
        Labels as they stand in the data.
    weight : array-like or None
    ids : array-like or None
        What names each row, wherever it lies.
    """

    X: Any
    y: Any
    weight: Any = None
    ids: Any = None


class Parts(Protocol):
    """A data set in parts, numbered in the order of the rows; its items are blocks, or what a task kept.

    Each method is one job of the engine. A part that is lost with its worker is made again by the engine.

    Attributes
    ----------
    largest_result : float
        Bytes that a result may have.
    """

    largest_result: float

    def merged(self, task: Task, merge: Merge) -> Any:
        """The results of all parts as one, merged in a tree, in the order of the parts."""

    def collected(self, task: Task) -> list[Any]:
        """The results of all parts, in their order; for small ones."""

    def kept(self, task: Task) -> Parts:
        """Parts of the items that a task makes of each part, held by the workers until :meth:`release`."""

    def steady(self) -> Parts:
        """The same parts with rows that keep their places from one job to the next, until :meth:`release`."""

    def without_features(self) -> Parts:
        """The same rows as labels, weights and ids alone, where that saves reading."""

    def ranked(self, task: Task) -> RankSums:
        """Where rows stand among those of the other class, from the ``RankedScores`` of each part."""

    def release(self) -> None:
        """Give back what the workers hold."""


def merge_in_order(merge: Merge, results: Sequence[Any]) -> Any:
    """One result of several that stand in order."""
    return reduce(merge, results)
