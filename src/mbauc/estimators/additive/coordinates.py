"""Rows in the smooth coordinates of their features, their moments by fold, and ridge solutions of these."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from mbauc.metrics.roc_auc import roc_auc
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.runtime.threads import thread_count

Array = NDArray[np.float64]
Index = NDArray[np.intp]


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
        return Statistics(self.covariance[np.ix_(columns, columns)], self.mu[columns], self.noise)

    def solve(self, strengths: Array) -> Array:
        """Log-odds for each row of penalties, in units of the noise; shape as ``strengths``."""
        result = np.empty_like(strengths)
        for k, one in enumerate(strengths):
            matrix = np.array(self.covariance, order="F")
            matrix[np.diag_indices_from(matrix)] += self.noise * one + 1e-12
            _, w, info = dposv(matrix, self.mu, lower=1, overwrite_a=1)
            if info != 0:
                raise np.linalg.LinAlgError("the penalised covariance is not positive definite")
            result[k] = w
        return result


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """Rows as a dense matrix of coordinates, and the fold that each is held out in."""

    Z: Array
    positive: NDArray[np.bool_]
    weight: Array | None
    fold: NDArray[np.int32]
    frequencies: bool = False
    n_jobs: int | None = None

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
            block = Block(self.Z, self.positive, self.weight, frequencies=self.frequencies)
            rows = np.flatnonzero(self.fold == fold)
            self._by_fold[fold] = accumulate_block(block, thread_count(self.n_jobs), rows)
        return self._by_fold[fold]

    @cached_property
    def whole(self) -> PairMoments:
        """Moments of all rows."""
        return self.training(-1)

    def training(self, fold: int) -> PairMoments:
        """Moments of the rows of all other folds."""
        others = [self.moments(k) for k in range(self.n_folds) if k != fold]
        return sum(others[1:], others[0])

    def held_out(self, fold: int, W: Array, columns: Index | None = None) -> Array:
        """Scores of the rows of a fold for each row of W, shape (number of W, rows)."""
        Z = self.Z[self.fold == fold]
        return np.asarray(W @ (Z if columns is None else Z[:, columns]).T)

    def auc(self, fold: int, scores: Array) -> Array:
        """AUC of held-out rows for each row of scores."""
        own = self.fold == fold
        weight = None if self.weight is None else self.weight[own]
        return np.array([roc_auc(self.positive[own], s, sample_weight=weight) for s in scores])


def pick(values: Array | None, mask: NDArray[np.bool_]) -> Array | None:
    """Some of the values, if there are any."""
    return None if values is None else values[mask]
