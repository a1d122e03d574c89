"""Rows of one class, group by group: in the order of the pairs, or sorted by score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_weights import Index, PairWeights
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]
Item = TypeVar("Item")
Result = TypeVar("Result")
#: Rows from which there are two threads.
_MANY = 1 << 18


@dataclass(frozen=True)
class ClassRows:
    """The positive or the negative rows of pairs."""

    #: number of each row among all rows
    rows: NDArray[np.signedinteger]
    #: its score, up to a shift of each group
    scores: Array
    weight: Array
    #: where each group begins, and where the last one ends
    starts: Index

    @classmethod
    def split(cls, pairs: PairWeights, scores: Array) -> tuple[ClassRows, ClassRows]:
        """The positives and the negatives."""
        high, low = pairs.split(scores)
        return (
            cls(pairs.plus, high, pairs.plus_weight, pairs.plus_starts),
            cls(pairs.minus, low, pairs.minus_weight, pairs.minus_starts),
        )

    @property
    def sizes(self) -> Index:
        """Rows of each group."""
        return np.diff(self.starts)

    def sort(self) -> ClassRows:
        """The same by rising score within each group.

        ``O(n)`` where scores are spread evenly, at most ``O(n log n)``.
        """
        from mbauc.losses.order_kernels import sort_groups

        # the smaller type, where it can hold all row numbers: less memory to go through
        small = self.rows.max() < np.iinfo(np.int32).max
        found = ClassRows(
            np.empty(self.rows.size, np.int32 if small else np.int64),
            np.empty_like(self.scores),
            np.empty_like(self.weight),
            self.starts,
        )
        sort_groups(self.scores, self.rows, self.weight, self.starts, found.scores, found.rows, found.weight)
        return found

    def per_row(self, values: Array) -> Array:
        """Values of groups as values of their rows, for use in arithmetic."""
        return values if values.size == 1 else values.repeat(self.sizes)

    def take_groups(self, which: NDArray[np.bool_]) -> ClassRows:
        """Some of the groups."""
        if which.all():
            return self
        rows = which.repeat(self.sizes)
        starts = np.append(0, np.cumsum(self.sizes[which]))
        return ClassRows(self.rows[rows], self.scores[rows], self.weight[rows], starts)


def for_both(task: Callable[[Item], Result], first: Item, second: Item, n_rows: int) -> tuple[Result, Result]:
    """A task for two things, such as both classes; at the same time if there are many rows."""
    threads = min(2, thread_count(None)) if n_rows >= _MANY else 1
    one, other = run_threads(task, (first, second), threads)
    return one, other
