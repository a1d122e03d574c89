"""Eq. (14) with Σ as a matrix: factorised, or scanned by coordinate descent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mbauc.runtime.threads import blas_for_matrix
from mbauc.solvers.gram.elastic_net import elastic_net_path, solve_elastic_net
from mbauc.solvers.gram.ridge import RidgePath, solve_ridge
from mbauc.solvers.leave_one_out import choose_l2, warn_of_units
from mbauc.solvers.matrix_free.l2_search import search_l2
from mbauc.solvers.operator import MatrixOperator
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution

Array = NDArray[np.float64]

#: Up to this many columns all eigenvalues of Σ are computed to choose l2.
ALL_EIGENVALUES = 2000


class GramSolver:
    """Solutions from Σ and μ of scaled columns."""

    def __init__(self, sigma: Array, mu: Array, factors: Array) -> None:
        self.sigma, self.mu, self.factors = sigma, mu, factors

    @property
    def diagonal(self) -> Array:
        """Diagonal of Σ."""
        return np.diagonal(self.sigma)

    def solve(self, l1: float, l2: float, *, tol: float, max_iter: int) -> Solution:
        """For one l1 and l2."""
        penalty = Penalty(l1, l2, self.factors)
        with blas_for_matrix(self.mu.size):
            if l1 == 0.0:
                return solve_ridge(self.sigma, self.mu, penalty)
            return solve_elastic_net(self.sigma, self.mu, penalty, tol=tol, max_iter=max_iter)

    def solve_auto(self, l1: float, sizes: tuple[float, float], *, tol: float, max_iter: int) -> Solution:
        """For the l2 that is expected to rank best.

        Up to 2,000 columns from all eigenvalues, which also give the ridge solution; beyond, from an
        estimate of their distribution, because all of them would take far longer than the solution.
        """
        warn_of_units(self.diagonal)
        if self.mu.size > ALL_EIGENVALUES:
            l2 = search_l2(MatrixOperator(self.sigma, self.mu), self.factors, sizes, self.mu.size)
        else:
            with blas_for_matrix(self.mu.size):
                path = RidgePath(self.sigma, self.mu, self.factors)
                l2 = choose_l2(path.spectrum, sizes)
                if l1 == 0.0:
                    return path.solve(l2)
        return self.solve(l1, l2, tol=tol, max_iter=max_iter)

    def grid(self, l1: Sequence[float], l2: Sequence[float], *, tol: float, max_iter: int) -> Array:
        """Weights for each pair of penalties, shape (len(l1), len(l2), d)."""
        weights = np.empty((len(l1), len(l2), self.mu.size))
        ridge = [i for i, value in enumerate(l1) if value == 0.0]
        sparse = [i for i, value in enumerate(l1) if value > 0.0]
        with blas_for_matrix(self.mu.size):
            if ridge:
                weights[ridge] = RidgePath(self.sigma, self.mu, self.factors).coefficients(l2)
            for j, value in enumerate(l2 if sparse else ()):
                positive = [l1[i] for i in sparse]
                path = elastic_net_path(
                    self.sigma, self.mu, positive, value, self.factors, tol=tol, max_iter=max_iter
                )
                for i, solution in zip(sparse, path, strict=True):
                    weights[i, j] = solution.coef
        return weights
