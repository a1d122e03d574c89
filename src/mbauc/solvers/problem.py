"""From moments and settings to weights: Eq. (14) with scaling and penalty factors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.moments import PairMoments
from mbauc.solvers import (
    MatrixProducts,
    Penalty,
    RidgePath,
    Solution,
    choose_l2,
    elastic_net_path,
    search_l2,
    solve_elastic_net,
    solve_ridge,
)
from mbauc.solvers.column_scales import Scaling, scales_of_moments
from mbauc.solvers.leave_one_out import warn_of_units

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
    def of(cls, moments: PairMoments, factors: Array, *, scale: Scaling) -> Problem:
        """The problem of some moments, in columns scaled as :func:`~mbauc.solvers.column_scales` has it."""
        sigma, mu = moments.second_moment, moments.mean_difference
        scales = scales_of_moments(moments, scale)
        if (scales != 1.0).any():
            sigma /= scales[:, None]
            sigma /= scales
            mu = mu / scales
        return cls(sigma, mu, scales, factors)

    @property
    def variances(self) -> Array:
        """Diagonal of Σ: its mean is the unit in which l2 is large or small."""
        return np.diagonal(self.sigma)

    @property
    def size(self) -> float:
        """Mean diagonal of Σ (1 if Σ is zero)."""
        return float(self.variances.mean()) or 1.0

    def solve_auto(
        self, l1: float, sizes: tuple[float, float], *, tol: float, max_iter: int
    ) -> tuple[Solution, float]:
        """Weights of the scaled columns, and the l2 that is expected to rank best.

        Up to 2,000 columns from all eigenvalues, which also give the ridge solution; beyond, from an
        estimate of their distribution, because all of them would take far longer than the solution.
        """
        warn_of_units(np.diagonal(self.sigma))
        if self.mu.size <= ALL_EIGENVALUES:
            path = RidgePath(self.sigma, self.mu, self.factors)
            l2 = choose_l2(path.spectrum, sizes)
            if l1 == 0.0:
                return path.solve(l2), l2
        else:
            products = MatrixProducts(self.sigma, self.mu)
            l2 = search_l2(products, self.factors, sizes, self.mu.size)
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
