"""From moments and settings to weights: Eq. (14) with scaling and penalty factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.moments import PairMoments
from mbauc.solvers import (
    Penalty,
    RidgePath,
    Solution,
    choose_l2,
    elastic_net_path,
    estimated_spectrum,
    solve_elastic_net,
    solve_ridge,
)

Array = NDArray[np.float64]

#: Up to this many columns all eigenvalues of Σ are computed to choose l2.
ALL_EIGENVALUES = 2000


@dataclass(frozen=True)
class Problem:
    """The quadratic problem of a set of moments, in columns divided by ``scales``.

    Attributes
    ----------
    sigma, mu : ndarrays of shape (d, d) and (d,)
        Moments of the scaled columns.
    scales : ndarray of shape (d,)
        What the columns were divided by.
    factors : ndarray of shape (d,)
        Penalty factor of each column.
    """

    sigma: Array
    mu: Array
    scales: Array
    factors: Array

    @classmethod
    def of(cls, moments: PairMoments, factors: Array, *, scale: bool) -> Problem:
        """The problem of some moments; with ``scale`` in columns of unit standard deviation."""
        sigma, mu = moments.second_moment, moments.mean_difference
        scales = column_scales(moments) if scale else np.ones(mu.size)
        if scale:
            sigma /= scales[:, None]
            sigma /= scales
            mu = mu / scales
        return cls(sigma, mu, scales, factors)

    @property
    def size(self) -> float:
        """Mean diagonal of Σ: the unit in which l2 is large or small (1 if Σ is zero)."""
        return float(np.diagonal(self.sigma).mean()) or 1.0

    def solve_auto(
        self, l1: float, sizes: tuple[float, float], *, tol: float, max_iter: int
    ) -> tuple[Solution, float]:
        """Weights of the scaled columns, and the l2 that generalised cross-validation chose for them.

        Up to 2,000 columns from all eigenvalues, which also give the ridge solution; beyond, from an
        estimate of their distribution, because all of them would take far longer than the solution.
        """
        if self.mu.size <= ALL_EIGENVALUES:
            path = RidgePath(self.sigma, self.mu, self.factors)
            l2 = choose_l2(path.spectrum, sizes)
            if l1 == 0.0:
                return path.solve(l2), l2
        else:
            l2 = choose_l2(estimated_spectrum(self.sigma, self.mu, self.factors), sizes)
        return self.solve(l1, l2, tol=tol, max_iter=max_iter), l2

    def solve(self, l1: float, l2: float, *, tol: float, max_iter: int) -> Solution:
        """Weights of the scaled columns for one l1 and l2."""
        penalty = Penalty(l1, l2, self.factors)
        if l1 == 0.0:
            return solve_ridge(self.sigma, self.mu, penalty)
        return solve_elastic_net(self.sigma, self.mu, penalty, tol=tol, max_iter=max_iter)

    def grid(self, l1: Sequence[float], l2: Sequence[float], *, tol: float, max_iter: int) -> Array:
        """Weights of the unscaled columns for each pair of penalties, shape (len(l1), len(l2), d)."""
        weights = np.empty((len(l1), len(l2), self.mu.size))
        if any(value == 0.0 for value in l1):
            ridge = RidgePath(self.sigma, self.mu, self.factors).coefficients(l2)
            weights[[i for i, value in enumerate(l1) if value == 0.0]] = ridge
        sparse = [i for i, value in enumerate(l1) if value > 0.0]
        if sparse:
            for j, value in enumerate(l2):
                path = elastic_net_path(
                    self.sigma,
                    self.mu,
                    [l1[i] for i in sparse],
                    value,
                    self.factors,
                    tol=tol,
                    max_iter=max_iter,
                )
                for i, solution in zip(sparse, path, strict=True):
                    weights[i, j] = solution.coef
        return weights / self.scales


def column_scales(moments: PairMoments) -> Array:
    """Standard deviation of each column over all rows; 1 for constant columns."""
    scales = np.sqrt(moments.column_variances)
    mean = np.maximum(*(np.abs(mean) for mean in moments.class_means))
    constant = scales <= 10 * np.finfo(np.float64).eps * mean
    return np.where(constant, 1.0, scales)
