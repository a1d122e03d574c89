"""Rows of both classes, sorted by their scores within each group."""

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
#: Rows from which both classes have a thread each.
_MANY = 1 << 16


def for_both_classes(
    task: Callable[[Item], Result], plus: Item, minus: Item, n_rows: int
) -> tuple[Result, Result]:
    """A task for the positives and for the negatives, at the same time if there are many rows."""
    threads = min(2, thread_count(None)) if n_rows >= _MANY else 1
    first, second = run_threads(task, (plus, minus), threads)
    return first, second


@dataclass(frozen=True)
class SortedRows:
    """Rows of one class: group by group, and in each by rising score."""

    #: number of each row among all rows
    rows: NDArray[np.signedinteger]
    #: its score, up to a shift of each group
    scores: Array
    weight: Array
    #: where each group begins, and where the last one ends
    starts: Index

    @classmethod
    def sort(cls, rows: Index, scores: Array, weight: Array, starts: Index) -> SortedRows:
        """Rows that stand group by group."""
        from mbauc.losses.order_kernels import sort_groups

        values = np.empty_like(scores)
        order = np.empty(scores.size, dtype=np.int32 if scores.size < 1 << 31 else np.int64)
        sort_groups(scores, starts, values, order)
        return cls(rows[order], values, weight[order], starts)


def sort_rows(pairs: PairWeights, scores: Array) -> tuple[SortedRows, SortedRows]:
    """The positive and the negative rows; ``O(n)`` where scores are spread evenly, at most ``O(n log n)``."""
    high, low = pairs.split(scores)
    return for_both_classes(
        lambda side: SortedRows.sort(*side),
        (pairs.plus, high, pairs.plus_weight, pairs.plus_starts),
        (pairs.minus, low, pairs.minus_weight, pairs.minus_starts),
        pairs.n_rows,
    )
