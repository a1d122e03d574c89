"""From rows to the pairs that a solver is given: all or drawn, as moments or as an operator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.grouped import warn_of_one_class_groups
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.grouped import grouped_moments
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.build import open_operator
from mbauc.pairs.operator.from_pairs import build_sample_operator
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic
from mbauc.pairs.sampling import Pairing, draw_moments, sample_moments
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.block import Block
from mbauc.rows.parts.draw import Sample, draw_rows
from mbauc.rows.parts.label_counts import LabelCounts
from mbauc.rows.parts.memory import MemoryParts
from mbauc.rows.parts.protocol import PartedRows
from mbauc.runtime.progress import Advance, progress, silent
from mbauc.runtime.threads import thread_count

Index = NDArray[np.intp]


class ClassWeights(Protocol):
    """What knows how much each class of the data counts for: rows, or a count of them."""

    def class_weight(self, positive: bool, subset: Any = None) -> tuple[float, float]:
        """Sum of the weights of one class and the rows it counts for."""


@dataclass(frozen=True)
class PairSettings:
    """Which pairs to use, of an estimator's settings.

    ``task_threads`` are the threads of a task on a worker, where others may be at work.
    """

    pairs: Any
    pairing: Pairing
    batch_size: int
    frequencies: bool
    equal_groups: bool
    n_threads: int
    task_threads: int
    verbose: bool

    @classmethod
    def from_estimator(cls, ranker: Any, n_threads: int | None = None) -> PairSettings:
        """Settings of an estimator, with its number of threads or another one."""
        return cls(
            # losses other than the squared one are over all pairs
            getattr(ranker, "pairs", "all"),
            getattr(ranker, "pairing", "complete"),
            int(getattr(ranker, "batch_size", 1)),
            bool(ranker.weights == "frequency"),
            bool(ranker.equal_groups),
            n_threads or thread_count(ranker.n_jobs),
            1 if ranker.n_jobs is None else thread_count(ranker.n_jobs),
            bool(ranker.verbose),
        )

    @property
    def are_all(self) -> bool:
        """Whether all pairs are used."""
        return isinstance(self.pairs, str)

    def number(self, block: Block, subset: Index | None) -> int:
        """How many pairs to draw, from all rows or from a share of them."""
        pairs = int(self.pairs)
        return pairs if subset is None else max(1, round(pairs * subset.size / block.n_rows))


@contextmanager
def open_all_pairs(
    rows: PartedRows, solver: str, settings: PairSettings, memory: int
) -> Iterator[tuple[Quadratic, NDArray[Any]]]:
    """All pairs, as moments or as an operator, and the classes of the rows; what workers hold is given back."""
    if solver == "gram" and isinstance(rows.parts, MemoryParts) and rows.grouped:
        [block] = rows.parts.items
        with progress(block.n_rows, "pair moments", show=settings.verbose) as advance:
            yield build_moments(block, settings, None, advance=advance), np.asarray(rows.classes)
        return
    if solver == "gram":
        total = rows.parts.items[0].n_rows if isinstance(rows.parts, MemoryParts) else None
        threads = settings.task_threads if rows.parts.kind == "cluster" else settings.n_threads
        with progress(total, "pair moments", show=settings.verbose and total is not None) as advance:
            [moments], classes = sum_moments(rows, threads, frequencies=settings.frequencies, advance=advance)
        yield moments, classes
        return
    with open_rows(rows, settings, memory) as opened:
        yield opened


@contextmanager
def open_rows(
    rows: PartedRows, settings: PairSettings, memory: int, *, other_loss: bool = False
) -> Iterator[tuple[PairOperator, NDArray[Any]]]:
    """All pairs as an operator, and the classes of the rows; what workers hold is given back.

    ``other_loss`` says that they are for a loss other than the squared one.
    """
    with open_operator(
        rows, settings.n_threads, memory, equal_groups=settings.equal_groups, other_loss=other_loss
    ) as (pairs, classes):
        if isinstance(pairs, GroupedPairOperator) and rows.parts.kind != "memory":
            warn_of_one_class_groups(pairs.pair_weights)
        yield pairs.as_frequencies() if settings.frequencies else pairs, classes


def build_sample_pairs(sample: Sample, counts: LabelCounts, solver: str, settings: PairSettings) -> Quadratic:
    """Pairs that were drawn from counted rows, as moments or as an operator."""
    counts = replace(counts, frequencies=settings.frequencies)
    if solver == "gram":
        weights = counts.class_weight(True), counts.class_weight(False)
        return sample_moments(sample, settings.batch_size, settings.pairing, settings.n_threads, weights)
    return weigh_sample_operator(sample, counts, settings)


# -- rows in memory, or some of them ---------------------------------------------------------------------------


def build_moments(
    block: Block,
    settings: PairSettings,
    random_state: Any,
    subset: Index | None = None,
    advance: Advance = silent,
) -> PairMoments:
    """Exact or sampled moments of all rows or some."""
    if block.groups is not None:
        return grouped_moments(
            block, settings.n_threads, subset, equal_groups=settings.equal_groups, advance=advance
        ).moments
    sizes = [block.rows_of(positive, subset).size for positive in (True, False)]
    if settings.are_all or 0 in sizes:
        moments = accumulate_block(block, settings.n_threads, subset, advance)
        # a block of one class has no pair to sample; matched pairs stay a set of their own
        return moments if settings.are_all or settings.pairing == "complete" else moments.closed()
    return draw_moments(
        block,
        settings.number(block, subset),
        settings.batch_size,
        settings.pairing,
        random_state,
        settings.n_threads,
        subset=subset,
        verbose=settings.verbose and subset is None,
    )


def build_operator(
    block: Block, settings: PairSettings, random_state: Any, subset: Index | None = None
) -> PairOperator:
    """All pairs of the rows, or sampled ones, as a linear operator."""
    if not settings.are_all:
        drawn = draw_rows(block, settings.number(block, subset), random_state, subset)
        return weigh_sample_operator(Sample(block, drawn), block, settings, subset)
    pairs = operate_rows(block, settings.n_threads, subset, equal_groups=settings.equal_groups)
    return pairs.as_frequencies() if settings.frequencies else pairs


def operate_rows(
    block: Block, n_threads: int, subset: Index | None = None, *, equal_groups: bool = False
) -> PairOperator:
    """All pairs of rows, or of some of them, as a linear operator; within groups where there are some."""
    strata = [block.rows_of(True, subset), block.rows_of(False, subset)]
    pairs = build_matrix_operator(block.X, strata, block.weight, n_threads, block.groups)
    return pairs if block.groups is None else GroupedPairOperator(pairs, equal_groups=equal_groups)


def weigh_sample_operator(
    sample: Sample, everything: ClassWeights, settings: PairSettings, subset: Index | None = None
) -> PairOperator:
    """Pairs that were drawn from all rows, or from some of them, as a linear operator."""
    pairs, middle = build_sample_operator(sample, settings.pairing == "matched", settings.n_threads)
    plus, minus = everything.class_weight(True, subset), everything.class_weight(False, subset)
    return pairs.standing_for((plus[0], minus[0]), (plus[1], minus[1]), middle)
