"""Sums of the columns of sparse rows, by group: what the order of the columns and μ come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.pairs.operator.collector import Collector
from mbauc.pairs.scatter.sparse import all_ones, canonical_csr
from mbauc.rows.folds import FoldRule, PartFolds
from mbauc.rows.label_meaning import Labelled, Labels
from mbauc.rows.matrix import is_sparse
from mbauc.rows.part_rows import Layout, PartRows, visit_rows
from mbauc.rows.parts import PartBlock

Array = NDArray[np.float64]


@dataclass
class ColumnSums:
    """Counts, weights and column sums of the positives and of the negatives; those of several parts add up.

    Attributes
    ----------
    counts : ndarray of shape (2,)
        Rows.
    weights : ndarray of shape (2, 2)
        Sums of their weights, and of the squares of these.
    entries : int
        Stored values.
    occurrences : sparse vector
        Rows with a stored value in each column.
    ones, sums, squares : sparse matrices of shape (2, d)
        Occurrences in rows of ones; sums and sums of squares of all other rows.
    """

    counts: NDArray[np.int64]
    weights: Array
    entries: int
    occurrences: Any
    ones: Any
    sums: Any
    squares: Any

    @classmethod
    def of(cls, collector: Collector, entries: int) -> ColumnSums:
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

    @classmethod
    def zeros(cls, n_features: int) -> ColumnSums:
        """Of no rows."""
        return cls.of(Collector(n_features), 0)

    def __add__(self, other: ColumnSums) -> ColumnSums:
        return ColumnSums(*(getattr(self, name) + getattr(other, name) for name in vars(self)))

    def collector(self, order_of: ColumnSums) -> Collector:
        """A collector with these sums, its columns in the order of those of all rows."""
        collector = Collector(self.ones.shape[1])
        occurrences = np.asarray(order_of.occurrences.todense()).ravel().astype(np.int64)
        collector.order.admit(occurrences)
        collector.counts = [int(count) for count in self.counts]
        collector.weights, collector.squared_weights = (list(map(float, row)) for row in self.weights)
        collector._ones = np.asarray(self.ones.todense()).astype(np.int64)
        if self.sums.nnz or self.squares.nnz:
            collector._sums = np.asarray(self.sums.todense())
            collector._squares = np.asarray(self.squares.todense())
        collector.settle()
        return collector


@dataclass(frozen=True)
class CheckedRows:
    """Rows of one block and fold as a collector wants them."""

    X: Any
    groups: list[NDArray[np.intp]]
    weight: Array | None
    ones: bool


def checked_sparse(rows: PartRows, positive: NDArray[np.bool_]) -> CheckedRows:
    """A block as canonical sparse rows of finite values, in two groups."""
    X = rows.X if is_sparse(rows.X) else sp.csr_array(np.asarray(rows.X, dtype=np.float64))
    X = canonical_csr(X).astype(np.float64, copy=False)
    ones = all_ones(X, 1)
    groups = [np.flatnonzero(positive & rows.used), np.flatnonzero(~positive & rows.used)]
    return CheckedRows(X, groups, rows.weight, ones)


@dataclass(frozen=True)
class SumColumns:
    """Task: column sums of the rows of a part, one for each fold. Memory: ``O(d)`` for each fold."""

    layout: Layout
    classes: NDArray[Any] | None = None
    folds: FoldRule | None = None

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> Labelled[list[ColumnSums]]:
        """The sums, and which labels were taken for positive."""
        part = _Part(self, number)
        visit_rows(number, blocks, self.layout, part.add)
        sums = [ColumnSums.of(one, count) for one, count in zip(part.collectors, part.entries, strict=True)]
        return Labelled(sums if part.labels.clear else None, part.labels.meaning)


@dataclass
class _Part:
    task: SumColumns
    number: int
    collectors: list[Collector] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.labels = Labels(self.task.classes)
        folds = self.task.folds
        count = 1 if folds is None else folds.n_folds
        self.collectors = [Collector(self.task.layout.n_features) for _ in range(count)]
        self.entries = [0] * count
        self.places = None if folds is None else folds.of_part(self.number)

    def add(self, rows: PartRows) -> None:
        positive = self.labels.positive(rows.y)
        if positive is None:
            return
        block = checked_sparse(rows, positive)
        for k, groups in enumerate(by_fold(block, rows, positive, self.places)):
            self.collectors[k].count(block.X, groups, block.weight, block.ones)
            lengths = np.diff(block.X.indptr)
            self.entries[k] += int(sum(lengths[own].sum(dtype=np.int64) for own in groups))


def by_fold(
    block: CheckedRows, rows: PartRows, positive: NDArray[np.bool_], places: PartFolds | None
) -> list[list[NDArray[np.intp]]]:
    """Row numbers of the groups of a block, for each fold."""
    if places is None:
        return [block.groups]
    fold = places.of(rows, positive)
    return [[own[fold[own] == k] for own in block.groups] for k in range(places.n_folds)]


def merge_columns(
    first: Labelled[list[ColumnSums]], second: Labelled[list[ColumnSums]]
) -> Labelled[list[ColumnSums]]:
    """Sums over the rows of both."""
    return first.merged(second, lambda a, b: [x + y for x, y in zip(a, b, strict=True)])
