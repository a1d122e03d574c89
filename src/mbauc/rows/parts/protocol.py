"""Rows in parts: all that a fit asks of memory, files, Dask or Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal, NamedTuple, Protocol

from mbauc.rows.schema import Schema

#: What runs where a part is: given the number of the part and its items, a result that can be sent.
Task = Callable[[int, Iterable[Any]], Any]
#: Makes one result of two, the first of which stood before the second; may use up the first.
Merge = Callable[[Any, Any], Any]

#: Who holds the rows: this process, files that it reads anew for each job, or workers.
Kind = Literal["memory", "source", "cluster"]

#: Results that one merge takes in at a time, at most …
FAN_IN = 8
#: … and their bytes, as far as two results allow: what a worker, or the driver, holds of them at a time.
TOGETHER = 1 << 28


class Preview(NamedTuple):
    """Some rows to tell the size of a data set by: a matrix, how many rows there are, and whether in blocks."""

    X: Any
    n_rows: int
    in_blocks: bool


class Parts(Protocol):
    """A data set in parts, numbered in the order of the rows.

    Its items are blocks: checked ones, or as an engine hands them over, tuples (X, y, weight, ids, groups) of
    which X is None where a task needs none, and the last ones may be missing. Items of :meth:`persist` are what
    a task made. Each method is one job. A part that is lost with its worker is made again by the engine.

    Attributes
    ----------
    kind : {"memory", "source", "cluster"}
        Who holds the rows.
    largest_result : float
        Bytes that a result may have.
    """

    kind: Kind
    largest_result: float

    def reduce(self, task: Task, merge: Merge) -> Any:
        """The results of all parts as one, merged in a tree, in the order of the parts."""

    def collect(self, task: Task) -> list[Any]:
        """The results of all parts, in their order; for small ones."""

    def persist(self, task: Task) -> Parts:
        """Parts of the items that a task makes of each part, held by the workers until :meth:`release`."""

    def fix_order(self) -> Parts:
        """The same parts with rows that keep their places from one job to the next, until :meth:`release`."""

    def labels_only(self) -> Parts:
        """The same rows as labels, weights and ids alone, where that saves reading."""

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sum up the scores of all rows in rising order.

        ``task`` makes a tuple (positive, scores, weights or None) of each part; scores are sorted into ranges,
        each of which ``summarise`` turns into sums that add up from the lowest range to the highest.
        """

    def preview(self) -> Preview | None:
        """Some of the rows, and about how many there are; None where that would take a job of its own."""

    def release(self) -> None:
        """Give back what the workers hold."""


@dataclass(frozen=True)
class PartedRows:
    """Rows in parts and what is known of them beforehand."""

    parts: Parts
    schema: Schema
    #: both labels, negative first, where they are known
    classes: Any = None
    #: whether rows have weights, or may have some
    weighted: bool = False
    #: whether rows are known by ids instead of by their order
    with_ids: bool = False
    #: whether rows have groups, within which alone pairs count
    grouped: bool = False

    @contextmanager
    def in_order(self) -> Iterator[PartedRows]:
        """The same rows in an order that can be counted on, unless they have ids."""
        if self.with_ids:
            yield self
            return
        parts = self.parts.fix_order()
        try:
            yield replace(self, parts=parts)
        finally:
            parts.release()


def fan_in(result_bytes: float) -> int:
    """How many results of this size one merge takes in: eight, or fewer where they are large, but two at least.

    Examples
    --------
    >>> [fan_in(8 * d * (d + 1)) for d in (2_000, 3_000, 10_000)]
    [8, 3, 2]
    """
    return max(2, min(FAN_IN, int(TOGETHER // max(result_bytes, 1.0))))


def merge_in_order(merge: Merge, results: Sequence[Any]) -> Any:
    """One result of several that stand in order."""
    return reduce(merge, results)
