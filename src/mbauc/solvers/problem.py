"""Eq. (14) for a set of pairs: scaling, penalty factors and the columns of the data around a solver."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.quadratic import Quadratic
from mbauc.solvers.column_scales import Scaling, scale_columns
from mbauc.solvers.gram.solver import GramSolver
from mbauc.solvers.matrix_free.elastic_net import Judge
from mbauc.solvers.matrix_free.solver import MatrixFreeSolver
from mbauc.solvers.solution import Solution
from mbauc.solvers.watch import Watch

Array = NDArray[np.float64]


class Problem:
    """Eq. (14) for pairs whose Σ is formed or only multiplied by, in columns divided by ``scales``.

    Penalties hold in the scaled columns; weights, factors and scales are over the columns of the data.

    Parameters
    ----------
    pairs : Quadratic
        The data.
    factors : ndarray of shape (d,)
        Penalty factor of each column.
    scale : bool, "auto" or ndarray of shape (d,)
        What columns are divided by; see :func:`~mbauc.solvers.column_scales.column_scales`.
    """

    def __init__(self, pairs: Quadratic, factors: Array, *, scale: Scaling) -> None:
        mu = pairs.mu
        self.pairs, self.factors = pairs, factors
        self._scales = scale_columns(pairs, scale)
        own = factors if pairs.columns is None else factors[pairs.columns]
        sigma = pairs.matrix()
        self._solver: GramSolver | MatrixFreeSolver
        if sigma is None:
            self._solver = MatrixFreeSolver(pairs, self._scales, own)
            return
        if (self._scales != 1.0).any():
            sigma /= self._scales[:, None]
            sigma /= self._scales
            mu = mu / self._scales
        self._solver = GramSolver(sigma, mu, own)

    @property
    def scales(self) -> Array:
        """What each column was divided by; 1 for columns that never occur."""
        return over_data(self.pairs, self._scales, 1.0)

    @property
    def variances(self) -> Array:
        """Diagonal of Σ in scaled columns: its mean is the unit in which l2 is large or small."""
        return over_data(self.pairs, self._solver.diagonal, 0.0)

    @property
    def largest_l1(self) -> float:
        """max|μ| in scaled columns: from here on all weights are zero."""
        return float(np.abs(self._solver.mu).max(initial=0.0))

    def solve(
        self,
        l1: float,
        l2: float | Literal["auto"],
        *,
        tol: float,
        max_iter: int,
        resume: dict[str, Any] | None = None,
        watch: Watch | None = None,
    ) -> Solution:
        """The solution for one l1 and l2, or for the l2 that is expected to rank best.

        ``resume`` and ``watch`` are for solvers without Σ, whose sweeps take long; see
        :func:`~mbauc.solvers.matrix_free.ridge.solve_ridge_matrix_free`.
        """
        settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
        if isinstance(self._solver, MatrixFreeSolver):
            settings |= {"resume": resume, "watch": watch}
        if isinstance(l2, str):
            solution = self._solver.solve_auto(l1, self.pairs.effective_sizes, **settings)
        else:
            solution = self._solver.solve(l1, l2, **settings)
        return replace(solution, coef=self._over_data(solution.coef))

    def grid(
        self,
        l1: Sequence[float],
        l2: Sequence[float],
        *,
        tol: float,
        max_iter: int,
        judge: Judge | None = None,
        in_use: bool = False,
    ) -> Array:
        """Weights for each pair of penalties, shape (len(l1), len(l2), d).

        With ``in_use`` they are over the columns in use alone, those that the judge sees too.

        NaN for values of l2 that need not be tried, given those for a larger one; see
        :meth:`~mbauc.solvers.matrix_free.solver.MatrixFreeSolver.grid`. Where Σ is formed all are tried, which
        costs next to nothing.
        """
        settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
        if judge is not None and isinstance(self._solver, MatrixFreeSolver):
            settings["judge"] = lambda: self._unscaled_to(judge(), in_use)
        return self._unscaled(self._solver.grid(l1, l2, **settings), in_use)

    def _unscaled_to(self, promising: Callable[[Array], bool], in_use: bool) -> Callable[[Array], bool]:
        return lambda w: promising(self._unscaled(w, in_use))

    def _unscaled(self, weights: Array, in_use: bool) -> Array:
        return weights / self._scales if in_use else self._over_data(weights)

    def _over_data(self, weights: Array) -> Array:
        """Weights of scaled columns in use as those of the columns of the data."""
        return over_data(self.pairs, weights / self._scales, 0.0)


def over_data(pairs: Quadratic, values: Array, elsewhere: float) -> Array:
    """Numbers of the columns in use as numbers of all columns of the data."""
    if pairs.columns is None:
        return values
    full = np.full((*values.shape[:-1], pairs.n_features), elsewhere)
    full[..., pairs.columns] = values
    return full
