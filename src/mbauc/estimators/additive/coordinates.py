"""Rows in the smooth coordinates of their features, their moments by fold, and ridge solutions of these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from mbauc.losses import PairWeights
from mbauc.metrics.grouped import GroupedAuc
from mbauc.metrics.roc_auc import roc_auc
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.grouped import grouped_moments
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.runtime.threads import run_threads, thread_count
from mbauc.solvers.evidence import factor_given

Array = NDArray[np.float64]
Index = NDArray[np.intp]
Keys = NDArray[np.uint64]
Value = TypeVar("Value", bound=np.generic)


def block_moments(block: Block, n_threads: int, rows: Index | None = None) -> PairMoments:
    """Moments of all pairs of rows, or of some rows; where these have groups, of the pairs within them."""
    if block.groups is not None:
        return grouped_moments(block, n_threads, rows).moments
    return accumulate_block(block, n_threads, rows)


def noise_of(sizes: tuple[float, float]) -> float:
    """ν = 1/n₊ + 1/n₋: the variance of a mean difference, in units of that of the rows."""
    return 1.0 / max(sizes[0], 1.0) + 1.0 / max(sizes[1], 1.0)


@dataclass(frozen=True, eq=False)
class Statistics:
    """What ridge solutions depend on: the mean covariance of the classes, μ, and how noisy μ is."""

    covariance: Array
    mu: Array
    noise: float

    @classmethod
    def of(cls, moments: PairMoments) -> Statistics:
        """Of moments of all pairs."""
        return cls(
            moments.difference_covariance / 2, moments.mean_difference, noise_of(moments.effective_sizes)
        )

    def select(self, columns: Index) -> Statistics:
        """Of some of the coordinates."""
        if columns.size == self.mu.size:
            return self
        return Statistics(self.covariance[np.ix_(columns, columns)], self.mu[columns], self.noise)

    def solve(self, strengths: Array, n_threads: int = 1) -> Array:
        """Log-odds for each row of penalties, in units of the noise; shape as ``strengths``."""

        def solve_one(strength: Array) -> Array:
            factor = factor_given(self.covariance, self.noise * strength + 1e-12)
            return np.asarray(dpotrs(factor.T, self.mu, lower=0)[0])

        return np.array(run_threads(solve_one, strengths, n_threads))


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """Rows as a dense matrix of coordinates, and the fold that each is held out in.

    Quickest where rows of a fold stand together. With groups, of which each is in one fold, only pairs within
    them count.
    """

    Z: Array
    positive: NDArray[np.bool_]
    weight: Array | None
    fold: NDArray[np.int32]
    frequencies: bool = False
    n_jobs: int | None = None
    #: key of the group of each row, if there are groups
    groups: Keys | None = None

    @cached_property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.fold.max()) + 1

    @cached_property
    def _by_fold(self) -> dict[int, PairMoments]:
        return {}

    def moments(self, fold: int) -> PairMoments:
        """Moments of the rows of a fold, which are kept. ``O(n coordinates²)`` time."""
        if fold not in self._by_fold:
            block = Block(self.Z, self.positive, self.weight, frequencies=self.frequencies, groups=self.groups)
            rows = np.flatnonzero(self.fold == fold)
            self._by_fold[fold] = block_moments(block, self.n_threads, rows)
        return self._by_fold[fold]

    @property
    def n_threads(self) -> int:
        """Threads."""
        return thread_count(self.n_jobs)

    @cached_property
    def whole(self) -> PairMoments:
        """Moments of all rows."""
        return self.training(-1)

    def training(self, fold: int) -> PairMoments:
        """Moments of the rows of all other folds."""
        others = [self.moments(k) for k in range(self.n_folds) if k != fold]
        return sum(others[1:], others[0])

    def statistics(self, fold: int = -1) -> Statistics:
        """Statistics of the rows of all other folds; of all rows by default."""
        return Statistics.of(self.training(fold))

    def held_out(self, fold: int, W: Array, columns: Index | None = None) -> Array:
        """Scores of the rows of a fold for each row of W, shape (number of W, rows)."""
        return np.asarray(W @ self.take(np.flatnonzero(self.fold == fold), columns).T)

    def take(self, rows: Index, columns: Index | None = None) -> Array:
        """Some rows in some coordinates, without a copy where rows stand together and coordinates are all."""
        Z = self.Z[_as_slice(rows)]
        return Z if columns is None or columns.size == Z.shape[1] else np.take(Z, columns, axis=1)

    @property
    def noise(self) -> float:
        """How noisy μ of all rows is."""
        return noise_of(self.whole.effective_sizes)

    def auc(self, fold: int, scores: Array) -> Array:
        """AUC of held-out rows for each row of scores; within groups if there are some."""
        own = self.fold == fold
        weight = pick(self.weight, own)
        if self.groups is not None:
            pairs = PairWeights.build(self.positive[own], weight, self.groups[own])
            return np.array([GroupedAuc.of(pairs, s).auc for s in scores])
        return np.array([roc_auc(self.positive[own], s, sample_weight=weight) for s in scores])


def _as_slice(rows: Index) -> Index | slice:
    """The same rows without a copy, if they stand together."""
    together = rows.size > 0 and rows[-1] - rows[0] == rows.size - 1
    return slice(int(rows[0]), int(rows[-1]) + 1) if together else rows


def pick(values: NDArray[Value] | None, mask: NDArray[np.bool_]) -> NDArray[Value] | None:
    """Some of the values, if there are any."""
    return None if values is None else values[mask]
