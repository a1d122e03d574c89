"""Moments of the rows of a part, as a task for any engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.rows.accumulate import Accumulated, AccumulateTask
from mbauc.rows.block import Columns
from mbauc.runtime.threads import single_threaded_blas


@dataclass(frozen=True)
class SumMoments(AccumulateTask):
    """Task: moments of all pairs of the rows of a part, one for each fold.

    Memory: one d×d matrix for each fold, and one more.
    """

    n_threads: int = 1

    def start(self, fold: int) -> MomentsAccumulator:
        """No rows yet."""
        return MomentsAccumulator(self.schema.n_features, self.n_threads)

    def __call__(self, number: int, blocks: Iterable[Columns]) -> Accumulated:
        """The moments, and which labels were taken for positive."""
        with single_threaded_blas():
            return super().__call__(number, blocks)
