"""Sums of the columns of sparse rows, by stratum: what the order of the columns and μ come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.rows.block import Block
from mbauc.rows.parts.accumulate import AccumulateTask

Array = NDArray[np.float64]


@dataclass
class ColumnSums:
    """Counts, weights and column sums of the positives and of the negatives; sums of several parts add up."""

    #: rows, shape (2,)
    counts: NDArray[np.int64]
    #: sums of their weights, and of the squares of these, shape (2, 2)
    weights: Array
    #: stored values
    entries: int
    #: rows with a stored value in each column
    occurrences: Any
    #: occurrences in rows of ones; sums and sums of squares of all other rows, shape (2, d)
    ones: Any
    sums: Any
    squares: Any

    @classmethod
    def from_collector(cls, collector: Collector, entries: int) -> ColumnSums:
        """What a collector has counted."""
        state = collector.state()
        used = state["columns"].astype(np.int64)
        d = collector.order.n_features

        def sparse(values: NDArray[Any] | None) -> Any:
            if values is None:
                return sp.csr_array((2, d))
            starts = used.size * np.arange(len(values) + 1)
            # a copy of the columns for each matrix, because they are sorted in place
            columns = np.tile(used, len(values))
            matrix = sp.csr_array((values.astype(np.float64).ravel(), columns, starts), shape=(len(values), d))
            matrix.sort_indices()
            return matrix

        weights = np.array([collector.weights, collector.squared_weights])
        return cls(
            np.array(collector.counts),
            weights,
            entries,
            sparse(collector.occurrences[None, used]),
            sparse(state["ones"]),
            sparse(state.get("sums")),
            sparse(state.get("squares")),
        )

    def merge(self, other: ColumnSums) -> ColumnSums:
        """Sums over the rows of both."""
        return ColumnSums(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    def order(self) -> ColumnOrder:
        """Columns in the order of their frequency among these rows."""
        order = ColumnOrder(self.ones.shape[1])
        order.admit(np.asarray(self.occurrences.todense()).ravel().astype(np.int64))
        return order

    def collector(self, order: ColumnOrder) -> Collector:
        """A collector with these sums over columns in a given order."""
        columns = order.columns
        state = {
            "columns": columns,
            "counts": self.counts,
            "weights": self.weights[0],
            "squared_weights": self.weights[1],
            "ones": np.asarray(self.ones.todense())[:, columns].astype(np.int64),
        }
        if self.sums.nnz or self.squares.nnz:
            state |= {
                "sums": np.asarray(self.sums.todense())[:, columns],
                "squares": np.asarray(self.squares.todense())[:, columns],
            }
        return Collector.resume(self.ones.shape[1], state)


def add_up(sums: Sequence[ColumnSums]) -> ColumnSums:
    """Sums over the rows of all."""
    return reduce(ColumnSums.merge, sums)


@dataclass(frozen=True)
class SumColumns(AccumulateTask):
    """Task: column sums of the rows of a part, one for each fold. Memory: ``O(d)`` for each fold."""

    def start(self, fold: int) -> ColumnCounter:
        """No rows yet."""
        return ColumnCounter(self.schema.n_features)

    def prepare(self, block: Block) -> SparseBlock:
        """As canonical sparse rows of finite values."""
        return SparseBlock.from_block(block)

    def finish(self, accumulator: ColumnCounter) -> ColumnSums:
        """The sums alone."""
        return ColumnSums.from_collector(accumulator.collector, accumulator.entries)


class ColumnCounter:
    """Counts the rows of a part."""

    def __init__(self, n_features: int) -> None:
        self.collector, self.entries = Collector(n_features), 0

    def add(self, block: SparseBlock, subset: NDArray[np.intp] | None = None) -> None:
        """Count the rows of a block, all or some of them."""
        own = block if subset is None else block.restrict(subset)
        self.collector.count(own)
        self.entries += own.n_entries
