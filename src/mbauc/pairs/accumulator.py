"""Moments while they are being accumulated, block by block and part by part."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.moment_sums import MomentSums
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.rows.reading import read_blocks
from mbauc.rows.source import Source
from mbauc.runtime.progress import Advance, silent
from mbauc.runtime.threads import thread_count


class MomentsAccumulator:
    """Accumulates rows to the moments of all their pairs.

    Memory: one d×d matrix, and one more while rows are added.

    Parameters
    ----------
    n_features : int
        Number of columns.
    n_threads : int
        Threads to use.
    advance : callable
        Called with the number of rows completed.
    """

    def __init__(self, n_features: int, n_threads: int = 1, advance: Advance = silent) -> None:
        self._n_features, self._n_threads, self._advance = n_features, n_threads, advance
        self._sums: MomentSums | None = None

    @classmethod
    def resume(cls, moments: PairMoments, n_threads: int = 1) -> MomentsAccumulator:
        """Start from moments, which stay as they are."""
        result = cls(moments.n_features, n_threads)
        return result.add_moments(moments)

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows so far, (positives, negatives)."""
        return (0, 0) if self._sums is None else self._sums.counts

    def add(self, block: Block, subset: NDArray[np.intp] | None = None) -> MomentsAccumulator:
        """Add the rows of a block, all or some of them."""
        return self._add(MomentSums(ClassMoments.from_block(block, self._n_threads, subset, self._advance)))

    def add_moments(self, moments: PairMoments) -> MomentsAccumulator:
        """Add the rows behind moments."""
        return self._add(moments.sums)

    def merge(self, other: MomentsAccumulator) -> MomentsAccumulator:
        """Add the rows of another accumulator, which is not to be used any more."""
        return self if other._sums is None else self._add(other._sums)

    def _add(self, sums: MomentSums) -> Self:
        if self._sums is None:
            self._sums = sums
        else:
            own = self._sums
            if not own.classes.packed.buffer.flags.writeable:  # somebody else holds it
                own = own.copy()
            self._sums = own.merge(sums)
        return self

    def peek(self) -> MomentSums:
        """The sums so far, which change with the next rows: to be saved at once."""
        return MomentSums(ClassMoments.empty(self._n_features)) if self._sums is None else self._sums

    def finish(self) -> PairMoments:
        """Moments of the rows so far; more may be added afterwards, which does not change them."""
        if self._sums is None:
            return PairMoments(self._n_features)
        return PairMoments.from_sums(self._sums)

    def finish_sample(self, weights: tuple[float, float], sizes: tuple[float, float]) -> PairMoments:
        """Moments of rows that were drawn from data with these class weights and sizes."""
        return self.finish().standing_for(weights, sizes)


def accumulate_block(
    block: Block, n_threads: int, subset: NDArray[np.intp] | None = None, advance: Advance = silent
) -> PairMoments:
    """Moments of all pairs of the rows of a block, or of some of them."""
    return MomentsAccumulator(block.n_features, n_threads, advance).add(block, subset).finish()


def accumulate_with_decay(
    source: Source, decay: float, *, n_jobs: int | None = None, frequencies: bool = False
) -> PairMoments:
    """Exact moments of a source in which the weights of earlier rows are multiplied by decay at each block."""
    total, n_threads = PairMoments(source.n_features), thread_count(n_jobs)
    for block in read_blocks(source):
        if block.X.shape[0]:
            total = total.decayed(decay) + accumulate_block(replace(block, frequencies=frequencies), n_threads)
    return total
