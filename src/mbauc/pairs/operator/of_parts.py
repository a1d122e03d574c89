"""Products with Σ on a cluster: one job each, over compact rows that the workers hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.operator.collector import Collector
from mbauc.pairs.operator.column_sums import ColumnSums, by_fold, checked_sparse
from mbauc.pairs.operator.compact_rows import CompactRows
from mbauc.pairs.operator.leading_block import LeadingBlock, LeadingSums
from mbauc.pairs.operator.pair_sums import ColumnPairs
from mbauc.pairs.operator.sparse import groups_of, sweep
from mbauc.rows.folds import FoldRule
from mbauc.rows.part_rows import Layout, PartRows, visit_rows
from mbauc.rows.parts import PartBlock, Parts

Array = NDArray[np.float64]


class KeptRows(NamedTuple):
    """Compact rows of one fold."""

    fold: int
    rows: CompactRows


@dataclass(frozen=True)
class PackRows:
    """Task: the rows of a part in compact form, 2 or 4 bytes an entry."""

    layout: Layout
    classes: NDArray[Any]
    place_of: NDArray[np.uint32]
    used: int
    folds: FoldRule | None = None

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> list[KeptRows]:
        """The rows, in chunks."""
        part = _Packing(self, self.folds and self.folds.of_part(number))
        visit_rows(number, blocks, self.layout, part.add)
        return part.kept


@dataclass
class _Packing:
    task: PackRows
    places: Any
    kept: list[KeptRows] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.collector = Collector(self.task.layout.n_features)
        self.collector.order.place_of, self.collector.order.used = self.task.place_of, self.task.used
        self.collector.settle()

    def add(self, rows: PartRows) -> None:
        positive = rows.positive(self.task.classes)
        block = checked_sparse(rows, positive)
        for k, groups in enumerate(by_fold(block, rows, positive, self.places)):
            compact = self.collector.compact(block.X, groups, block.weight, block.ones)
            self.kept += [KeptRows(k, chunk) for chunk in compact]


@dataclass(frozen=True)
class Sweep:
    """Task: a part's share of a product."""

    v: Array
    centres: Sequence[float]
    scales: Sequence[float]
    left_out: int | None = None

    def __call__(self, number: int, kept: Iterable[KeptRows]) -> tuple[Array, Array]:
        """X'D(Xv - centre), and sums by group."""
        return sweep(of_folds(kept, self.left_out), self.v, self.centres, self.scales)


@dataclass(frozen=True)
class SumLeading:
    """Task: a part's share of the leading block."""

    plan: LeadingBlock
    left_out: int | None = None

    def __call__(self, number: int, kept: Iterable[KeptRows]) -> LeadingSums:
        """Sums over its rows."""
        return self.plan.sums(of_folds(kept, self.left_out))


def of_folds(kept: Iterable[KeptRows], left_out: int | None) -> Iterable[CompactRows]:
    """Rows of all folds but one."""
    return (chunk for fold, chunk in kept if fold != left_out)


def add_pairs(first: tuple[Array, Array], second: tuple[Array, Array]) -> tuple[Array, Array]:
    """Both shares of a product as one, in the memory of the first where that is its own."""
    return first[0] + second[0], first[1] + second[1]


def add(first: Any, second: Any) -> Any:
    """Both."""
    return first + second


class ClusterPairRows(ColumnPairs):
    """The pairs of rows on a cluster as something that multiplies vectors; a product is one job.

    A vector goes to every worker and one comes back from each part, merged in a tree. Memory of a task: two
    vectors over the columns in use; of the driver, those of the solver.

    Parameters
    ----------
    kept : Parts of KeptRows
        The rows.
    sums : ColumnSums
        Of the rows that count.
    all_sums : ColumnSums
        Of all rows, which the order of the columns comes from.
    left_out : int, optional
        A fold that does not count.
    """

    def __init__(
        self, kept: Parts, sums: ColumnSums, all_sums: ColumnSums, left_out: int | None = None
    ) -> None:
        collector = sums.collector(all_sums)
        super().__init__(groups_of(collector), np.zeros(collector.order.columns.size))
        self.order = collector.order
        self._kept, self._left_out, self._entries = kept, left_out, sums.entries
        self._block: Array | None = None

    def leading_block(self) -> Array:
        """About Σ among the most frequent columns; one job, once."""
        if self._block is None:
            plan = LeadingBlock.plan(self, self._entries)
            self._block = plan.block(self.mu, self._kept.merged(SumLeading(plan, self._left_out), add))
        return self._block

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        scales = [1.0 / group.weight for group in self.groups]
        found = self._kept.merged(Sweep(v, centres, scales, self._left_out), add_pairs)
        self.advance(self.n_rows)
        return [found]
