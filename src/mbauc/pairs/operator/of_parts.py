"""Products with Σ of rows in parts: one job each, over compact rows that the workers hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.column_sums import ColumnSums, SumColumns, add_up
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.leading_block import LeadingBlock, LeadingSums
from mbauc.pairs.operator.lost_digits import Extremes, check_overflow, find_extremes
from mbauc.pairs.operator.pair_operator import FEW_SWEEPS, Bucket, PairOperator, RowLabels
from mbauc.pairs.operator.row_tasks import (
    CombineRows,
    CombineRowsBy,
    LabelRows,
    PackedChunk,
    RowPlaces,
    ScoreRows,
    leave_out_fold,
)
from mbauc.pairs.operator.sparse import build_strata, sweep
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels
from mbauc.rows.parts.accumulate import accumulate
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import PartedRows, Parts
from mbauc.rows.reading import Item, visit_blocks
from mbauc.rows.schema import Schema

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PackRows:
    """Task: the rows of a part in compact form, 2 or 4 bytes an entry."""

    schema: Schema
    classes: NDArray[Any]
    order: ColumnOrder
    folds: FoldRule | None = None

    def __call__(self, number: int, blocks: Iterable[Item]) -> list[PackedChunk]:
        """The rows, in chunks."""
        places = None if self.folds is None else self.folds.for_part(number)
        collector = Collector(self.schema.n_features, order=self.order)
        packed: list[PackedChunk] = []

        def pack(block: Block) -> None:
            sparse = SparseBlock.from_block(block)
            if places is None:
                packed.extend(PackedChunk.marked(0, chunk) for chunk in collector.compact(sparse))
                return
            fold = places.assign(block)
            for k in range(places.n_folds):
                own = sparse.restrict(np.flatnonzero(fold == k))
                packed.extend(PackedChunk.marked(k, chunk) for chunk in collector.compact(own))

        visit_blocks(number, blocks, self.schema, Labels(self.classes), pack)
        return packed


@dataclass(frozen=True)
class Sweep:
    """Task: a part's share of a product."""

    v: Array
    centres: Sequence[float]
    scales: Sequence[float]
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> tuple[Array, Array]:
        """X'D(Xv - centre), and sums by stratum."""
        return sweep(leave_out_fold(packed, self.left_out), self.v, self.centres, self.scales)


@dataclass(frozen=True)
class SumLeading:
    """Task: a part's share of the leading block, with the weights of its rows or with others."""

    plan: LeadingBlock
    left_out: int | None = None
    r: Array | None = None
    #: where the rows of each part are in r
    places: RowPlaces | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> LeadingSums:
        """Sums over its rows."""
        if self.r is None or self.places is None:
            return self.plan.sums(leave_out_fold(packed, self.left_out))
        found = list(self.places.find(number, packed, self.left_out))
        return self.plan.sums([chunk for chunk, _ in found], [self.r[own] for _, own in found])


@dataclass(frozen=True)
class FindExtremes:
    """Task: the extremes of some columns, given by their new numbers in rising order."""

    columns: NDArray[np.intp]
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> Extremes:
        """Of the compact rows of a part."""
        return find_extremes(leave_out_fold(packed, self.left_out), self.columns)


def add_pairs(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Both shares of a product as one, in the memory of the first where that is its own."""
    return first[0] + second[0], first[1] + second[1]


def add(first: Any, second: Any) -> Any:
    """Both."""
    return first + second


class PartedPairOperator(PairOperator):
    """The pairs of packed rows in parts as a linear operator; a product is one job.

    A vector goes to every worker and one comes back from each part, merged in a tree. Memory of a task: two
    vectors over the columns in use; of the driver, the solver's vectors.

    Parameters
    ----------
    packed : Parts of PackedChunk
        The rows.
    sums : ColumnSums
        Of the rows that count.
    order : ColumnOrder
        That of the columns of all rows.
    left_out : int, optional
        A fold that does not count.
    """

    bucket_sweeps = FEW_SWEEPS
    #: each part sends as much
    bucket_bytes = 1 << 23

    def __init__(
        self, packed: Parts, sums: ColumnSums, order: ColumnOrder, left_out: int | None = None
    ) -> None:
        collector = sums.collector(order)
        super().__init__(build_strata(collector), np.zeros(order.used))
        self.order = order
        self._packed, self._left_out, self._entries = packed, left_out, sums.entries
        self._block: Array | None = None

    def leading_block(self) -> Array:
        """About Σ among the most frequent columns; one job, once."""
        if self._block is None:
            plan = LeadingBlock.plan(self, self._entries)
            self._block = plan.block(self.mu, self._packed.reduce(SumLeading(plan, self._left_out), add))
        return self._block

    def find_extremes(self, columns: NDArray[np.intp]) -> Extremes:
        """Rows with a value in each of some columns, and the extremes of these values; one job."""
        found: Extremes = self._packed.reduce(FindExtremes(columns, self._left_out), Extremes.merge)
        return found

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        scales = [1.0 / stratum.weight for stratum in self.strata]
        found = self._packed.reduce(Sweep(v, centres, scales, self._left_out), add_pairs)
        self.advance(self.n_rows)
        return [found]

    # -- row by row: part after part, chunk after chunk ------------------------------------------------------

    def scores(self, v: Array) -> Array:
        """The score x'v of each row, part after part; one job, and n numbers come back."""
        result, places = np.empty(self.n_rows), self._part_labels[1]
        for part in self._packed.collect(ScoreRows(v, places, self._left_out)):
            first = places.first[part.number]
            result[first : first + part.scores.size] = part.scores
        self.advance(self.n_rows)
        return result

    def combine(self, r: Array) -> Array:
        """Σ rᵢ xᵢ; one job, and n numbers go to every worker."""
        return self._combine(r, squared=False)

    def combine_squares(self, r: Array) -> Array:
        """Σ rᵢ xᵢⱼ²; one job, and n numbers go to every worker."""
        return self._combine(r, squared=True)

    def _combine(self, r: Array, *, squared: bool) -> Array:
        task = CombineRows(r, self._part_labels[1], self.mu.size, squared, self._left_out)
        found: Array = self._packed.reduce(task, add)
        self.advance(self.n_rows)
        return found

    def combine_by(self, r: Array, bucket: Bucket, n_buckets: int) -> Array:
        """Σ rᵢ xᵢ of the rows of each bucket; one job, and 12 bytes a row go to every worker."""
        task = CombineRowsBy(r, bucket, n_buckets, self._part_labels[1], self.mu.size, self._left_out)
        found: Array = self._packed.reduce(task, add)
        self.advance(self.n_rows)
        return found

    def curvature(self, r: Array) -> Array:
        """About the curvature of a loss; one job, or none and empty if columns are many."""
        plan = LeadingBlock.plan(self, self._entries)
        if not plan.suffices(self):
            return super().curvature(r)
        task = SumLeading(plan, self._left_out, r, self._part_labels[1])
        return plan.curvature(self._packed.reduce(task, add), 0.5 * float(r.sum()))

    @cached_property
    def _part_labels(self) -> tuple[RowLabels, RowPlaces]:
        """Labels of all rows, and where those of each part are; one job, once."""
        parts = self._packed.collect(LabelRows(self._left_out))
        return RowLabels.concatenate([part.labels for part in parts]), RowPlaces.of(parts)

    def _labels(self) -> RowLabels:
        return self._part_labels[0]


class PackedRows:
    """Compact rows that the workers hold, each with its fold: what operators of all rows and of splits share.

    Parameters
    ----------
    rows : PartedRows
        The rows.
    folds : FoldRule, optional
        Who is held out.

    Attributes
    ----------
    classes : ndarray of two labels
    sums : list of ColumnSums
        Of each fold.
    order : ColumnOrder
        That of the columns of all rows.
    packed : Parts of PackedChunk
    """

    def __init__(self, rows: PartedRows, folds: FoldRule | None = None) -> None:
        self.sums, self.classes = sum_columns(rows, folds)
        self.total = add_up(self.sums)
        self.order = self.total.order()
        self.packed = rows.parts.persist(PackRows(rows.schema, self.classes, self.order, folds))

    def operator(self, left_out: int | None = None) -> PartedPairOperator:
        """The pairs of all rows, or of those that are not in a fold."""
        if left_out is None:
            return PartedPairOperator(self.packed, self.total, self.order)
        others = add_up([one for fold, one in enumerate(self.sums) if fold != left_out])
        return PartedPairOperator(self.packed, others, self.order, left_out)

    def release(self) -> None:
        """Give back what the workers hold."""
        self.packed.release()


def sum_columns(rows: PartedRows, folds: FoldRule | None = None) -> tuple[list[ColumnSums], NDArray[Any]]:
    """Column sums of all rows, of each fold if there are folds, and the classes; one job."""
    sums, classes = accumulate(rows.parts, SumColumns(rows.schema, folds=folds), rows.classes)
    plus, minus = add_up(sums).counts
    if not plus or not minus:
        raise ValueError(
            f"there are no pairs ({plus:,} positives, {minus:,} negatives of positive weight); pairs need rows "
            "of both classes."
        )
    for one in sums:
        check_overflow(one.squares.indices, one.squares.data)
    return sums, classes
