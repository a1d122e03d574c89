"""Products with Σ of rows in parts: one job each, over compact rows that the workers hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.column_sums import ColumnSums, SumColumns, add_up
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.rows import CompactRows
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.leading_block import LeadingBlock, LeadingSums
from mbauc.pairs.operator.lost_digits import Extremes, check_overflow, find_extremes
from mbauc.pairs.operator.pair_operator import PairOperator, RowLabels
from mbauc.pairs.operator.sparse import build_strata, combine_chunk, label_chunks, score_chunk, sweep
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels
from mbauc.rows.parts.accumulate import accumulate
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import PartedRows, Parts
from mbauc.rows.reading import Item, visit_blocks
from mbauc.rows.schema import Schema

Array = NDArray[np.float64]


class PackedChunk(NamedTuple):
    """Compact rows of one fold."""

    fold: int
    rows: CompactRows


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
                packed.extend(PackedChunk(0, chunk) for chunk in collector.compact(sparse))
                return
            fold = places.assign(block)
            for k in range(places.n_folds):
                own = sparse.restrict(np.flatnonzero(fold == k))
                packed.extend(PackedChunk(k, chunk) for chunk in collector.compact(own))

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


class PartResult(NamedTuple):
    """What a task found in a part, by the number of the part."""

    number: int
    found: Any


@dataclass(frozen=True)
class LabelRows:
    """Task: labels of the rows of a part."""

    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> PartResult:
        """Chunk after chunk."""
        return PartResult(number, label_chunks(leave_out_fold(packed, self.left_out)))


@dataclass(frozen=True)
class ScoreRows:
    """Task: x'v of the rows of a part."""

    v: Array
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> PartResult:
        """Chunk after chunk."""
        scores = [np.empty(0)]
        for chunk in leave_out_fold(packed, self.left_out):
            scores.append(np.empty(chunk.n_rows))
            score_chunk(chunk, self.v, scores[-1])
        return PartResult(number, np.concatenate(scores))


@dataclass(frozen=True)
class CombineRows:
    """Task: a part's share of Σ rᵢ xᵢ, or of the same with squared entries."""

    r: Array
    #: where the rows of each part begin in r
    first: Mapping[int, int]
    columns: int
    squared: bool
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> Array:
        """Over its rows, chunk after chunk."""
        result, place = np.zeros(self.columns), self.first.get(number, 0)
        for chunk in leave_out_fold(packed, self.left_out):
            combine_chunk(chunk, self.r[place : place + chunk.n_rows], result, squared=self.squared)
            place += chunk.n_rows
        return result


@dataclass(frozen=True)
class SumLeading:
    """Task: a part's share of the leading block, with the weights of its rows or with others."""

    plan: LeadingBlock
    left_out: int | None = None
    r: Array | None = None
    #: where the rows of each part begin in r
    first: Mapping[int, int] | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> LeadingSums:
        """Sums over its rows."""
        chunks = list(leave_out_fold(packed, self.left_out))
        if self.r is None or self.first is None:
            return self.plan.sums(chunks)
        ends = self.first.get(number, 0) + np.cumsum([0, *(chunk.n_rows for chunk in chunks)])
        return self.plan.sums(chunks, [self.r[a:b] for a, b in pairwise(ends)])


@dataclass(frozen=True)
class FindExtremes:
    """Task: the extremes of some columns, given by their new numbers in rising order."""

    columns: NDArray[np.intp]
    left_out: int | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> Extremes:
        """Of the compact rows of a part."""
        return find_extremes(leave_out_fold(packed, self.left_out), self.columns)


def leave_out_fold(packed: Iterable[PackedChunk], left_out: int | None) -> Iterable[CompactRows]:
    """Rows of all folds but one."""
    return (chunk for fold, chunk in packed if fold != left_out)


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
        found = self._packed.collect(ScoreRows(v, self._left_out))
        self.advance(self.n_rows)
        return np.concatenate([part.found for part in found])

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

    def curvature(self, r: Array) -> Array:
        """About the curvature of a loss; one job, or none and empty if columns are many."""
        plan = LeadingBlock.plan(self, self._entries)
        if not plan.suffices(self):
            return super().curvature(r)
        task = SumLeading(plan, self._left_out, r, self._part_labels[1])
        return plan.curvature(self._packed.reduce(task, add), 0.5 * float(r.sum()))

    @cached_property
    def _part_labels(self) -> tuple[RowLabels, dict[int, int]]:
        """Labels of all rows, and where those of each part begin; one job, once."""
        parts: list[PartResult] = self._packed.collect(LabelRows(self._left_out))
        first = np.cumsum([0, *(part.found.positive.size for part in parts)])
        numbers = [part.number for part in parts]
        labels = RowLabels.concatenate([part.found for part in parts])
        return labels, dict(zip(numbers, first[:-1].tolist(), strict=True))

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
