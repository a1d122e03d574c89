"""Pairs of the training rows of folds as products, from one set of compact rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.rows import CompactRows
from mbauc.pairs.operator.from_rows import count_matrix
from mbauc.pairs.operator.leading_block import LeadingBlock
from mbauc.pairs.operator.pair_operator import PairOperator, Stratum
from mbauc.pairs.operator.sparse import SparsePairOperator, build_strata, combine_chunk

Array = NDArray[np.float64]


class _RowSums(NamedTuple):
    """Over some rows: their number, weight and squared weight, and sums of the columns and of their squares."""

    n_rows: int
    weight: float
    squared_weight: float
    sums: Array
    squares: Array

    @classmethod
    def of(cls, chunk: CompactRows, columns: int) -> _RowSums:
        weight = np.ones(chunk.n_rows) if chunk.weight is None else chunk.weight
        sums = np.zeros(columns)
        combine_chunk(chunk, weight, sums, squared=False)
        squares = sums
        if chunk.values is not None:
            squares = np.zeros(columns)
            combine_chunk(chunk, weight, squares, squared=True)
        return cls(chunk.n_rows, float(weight.sum()), float(weight @ weight), sums, squares)

    def merge(self, other: _RowSums) -> _RowSums:
        """Over the rows of both."""
        return _RowSums(
            self.n_rows + other.n_rows,
            self.weight + other.weight,
            self.squared_weight + other.squared_weight,
            self.sums + other.sums,
            self.squares + other.squares,
        )


class FoldedRows:
    """Compact rows of which each chunk belongs to a fold.

    Memory: the compact rows once, and four vectors over the columns in use for each fold.

    Parameters
    ----------
    X : CSR/CSC of shape (n, d)
        Checked rows.
    strata : list of index arrays
        Row numbers of each stratum.
    weight : ndarray of shape (n,), optional
        Weight of each row.
    fold : ndarray of shape (n,)
        Number of the fold of each row; -1 for rows that no fold holds out.
    n_threads : int
        Threads to use, in this and in all products.

    Attributes
    ----------
    whole : FoldOperator
        The pairs of all rows.
    order : ColumnOrder
        Columns in use, those of all rows.
    chunks, folds : lists of CompactRows and of int
        The rows, and which fold they are in.
    """

    def __init__(
        self,
        X: Any,
        strata: list[NDArray[np.intp]],
        weight: Array | None,
        fold: NDArray[np.intp],
        n_threads: int,
    ) -> None:
        block, collector = count_matrix(X, strata, weight, n_threads)
        self._block, self._collector, self._fold = block, collector, fold
        self.order, self.n_threads = collector.order, n_threads
        self.shift = collector.shift[self.order.columns]
        chunks: list[tuple[int, CompactRows]] = []
        for number in range(-1, int(fold.max(initial=-1)) + 1):
            own = replace(block, strata=[rows[fold[rows] == number] for rows in block.strata])
            chunks += ((number, chunk) for chunk in collector.compact(own))
        # a stratum after the other, so that every so many chunks are about as many rows of each
        chunks.sort(key=lambda one: one[1].stratum)
        self.folds, self.chunks = [number for number, _ in chunks], [chunk for _, chunk in chunks]
        #: by stratum and fold
        self._sums: dict[tuple[int, int], _RowSums] = {}
        for number, chunk in zip(self.folds, self.chunks, strict=True):
            sums, place = _RowSums.of(chunk, self.order.used), (chunk.stratum, number)
            self._sums[place] = self._sums[place].merge(sums) if place in self._sums else sums
        self.whole = FoldOperator(self, None, build_strata(collector))

    def training(self, fold: int) -> FoldOperator:
        """The pairs of the rows that are not in a fold."""
        return FoldOperator(self, fold, self._sum_training(fold))

    def sample(self, left_out: int | None, steps: Sequence[int]) -> list[CompactRows]:
        """Every so many-th row of each stratum that is not in a fold, as they stand in the data."""
        strata = [rows[self._fold[rows] != left_out] for rows in self._block.strata]
        return self._collector.compact(replace(self._block, strata=strata), steps)

    def _sum_training(self, fold: int) -> list[Stratum]:
        """Sums over the rows of each stratum that are not in a fold; they are added, none subtracted."""
        found = []
        for number in range(len(self._block.strata)):
            nothing = np.zeros(self.order.used)
            total = _RowSums(0, 0.0, 0.0, nothing, nothing)
            for (stratum, place), sums in self._sums.items():
                if stratum == number and place != fold:
                    total = total.merge(sums)
            found.append(Stratum.from_sums(*total))
        return found


class FoldOperator(SparsePairOperator):
    """The pairs of the rows that are not in a fold, over the columns in use of all rows.

    Parameters
    ----------
    rows : FoldedRows
        The rows.
    left_out : int or None
        The fold; None for all rows.
    strata : list of Stratum
        Sums over the rows that are not in it.
    """

    def __init__(self, rows: FoldedRows, left_out: int | None, strata: list[Stratum]) -> None:
        PairOperator.__init__(self, strata, rows.shift)
        self.rows, self.left_out, self.order = rows, left_out, rows.order
        self.chunks = [c for c, fold in zip(rows.chunks, rows.folds, strict=True) if fold != left_out]
        self.shards = rows.n_threads
        self._block = None

    def _build_block(self) -> Array:
        plan = LeadingBlock.plan(self, self._entries)
        # rows of the data as they stand there, whatever the folds are
        sampled = self.rows.sample(self.left_out, plan.steps)
        return plan.block(self.mu, replace(plan, steps=(1,) * len(plan.steps)).sums(sampled))
