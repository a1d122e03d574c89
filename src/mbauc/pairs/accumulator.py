"""Moments while they are being accumulated, block by block and part by part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.moments import PairMoments
from mbauc.pairs.running_sums import RunningSums
from mbauc.rows.block import Block
from mbauc.rows.reading import read_blocks
from mbauc.rows.source import Source
from mbauc.runtime.progress import Advance, silent
from mbauc.runtime.threads import thread_count


class MomentsAccumulator(RunningSums):
    """Accumulates rows to the moments of their pairs; see :class:`~mbauc.pairs.running_sums.RunningSums`."""

    @classmethod
    def resume(cls, moments: PairMoments, n_threads: int = 1) -> MomentsAccumulator:
        """Start from moments, which stay as they are."""
        return cls(moments.n_features, n_threads).add_moments(moments)

    def add_moments(self, moments: PairMoments) -> MomentsAccumulator:
        """Add the rows behind moments."""
        return self.add_sums(moments.sums)

    def finish(self) -> PairMoments:
        """Moments of the rows so far; more may be added afterwards, which does not change them."""
        sums = self.settle()
        return PairMoments(self._n_features) if sums is None else PairMoments.from_sums(sums)

    def finish_sample(self, weights: tuple[float, float], sizes: tuple[float, float]) -> PairMoments:
        """Moments of rows that were drawn from data with these class weights and sizes."""
        return self.finish().standing_for(weights, sizes)


def accumulate_block(
    block: Block, n_threads: int, subset: NDArray[np.intp] | None = None, advance: Advance = silent
) -> PairMoments:
    """Moments of all pairs of the rows of a block, or of some of them."""
    return MomentsAccumulator(block.n_features, n_threads, advance).add(block, subset).finish()


def accumulate_with_decay(
    source: Source, decay: float, *, n_jobs: int | None, frequencies: bool
) -> PairMoments:
    """Exact moments of a source in which the weights of earlier rows are multiplied by decay at each block."""
    total, n_threads = PairMoments(source.n_features), thread_count(n_jobs)
    for block in read_blocks(source):
        if block.X.shape[0]:
            total = total.decayed(decay) + accumulate_block(replace(block, frequencies=frequencies), n_threads)
    return total
