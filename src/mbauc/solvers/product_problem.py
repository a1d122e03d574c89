"""Eq. (14) in the columns that occur, solved from products with the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.operator.pair_sums import ColumnPairs
from mbauc.runtime.threads import single_threaded_blas
from mbauc.solvers import (
    Penalty,
    Solution,
    elastic_net_products_path,
    ridge_products_path,
    solve_elastic_net_products,
    solve_ridge_auto,
    solve_ridge_products,
)
from mbauc.solvers.column_scales import Scaling, scales_of_pairs
from mbauc.solvers.product_ridge import Watch, unwatched

Array = NDArray[np.float64]


class ProductProblem:
    """The problem of rows that multiply vectors, in columns divided by ``scales``.

    The counterpart of :class:`~mbauc.solvers.problem.Problem`; solutions are over the columns that occur,
    :meth:`restore` makes weights of all columns of them.

    Parameters
    ----------
    rows : ColumnPairs
        The data.
    factors : ndarray of shape (d,)
        Penalty factor of each column of the data.
    scale : bool, "auto" or ndarray of shape (d,)
        What columns are divided by, as :func:`~mbauc.solvers.column_scales.column_scales` has it.
    """

    def __init__(self, rows: ColumnPairs, factors: Array, *, scale: Scaling) -> None:
        self.rows = rows
        self._scales = scales_of_pairs(rows, scale)
        self.factors = factors
        self._factors = factors[rows.order.columns]
        self.mu = rows.mu / self._scales
        self.diagonal = rows.diagonal / self._scales**2

    def product(self, v: Array) -> Array:
        """Σ v in scaled columns."""
        return self.rows.product(v / self._scales) / self._scales

    def leading_block(self) -> Array:
        """About Σ among the first columns, in scaled columns."""
        block = self.rows.leading_block()
        scales = self._scales[: len(block)]
        return block / np.outer(scales, scales)

    @property
    def variances(self) -> Array:
        """Diagonal of Σ, of all columns of the data."""
        full = np.zeros(self.rows.order.n_features)
        full[self.rows.order.columns] = self.diagonal
        return full

    @property
    def scales(self) -> Array:
        """What each column of the data was divided by; 1 for those that never occur."""
        full = np.ones(self.rows.order.n_features)
        full[self.rows.order.columns] = self._scales
        return full

    def restore(self, coef: Array) -> Array:
        """Weights of the columns of the data from a solution."""
        return self.rows.order.restore(coef / self._scales)

    def solve(
        self,
        l1: float,
        l2: float,
        *,
        tol: float,
        max_iter: int,
        resume: dict[str, Any] | None = None,
        watch: Watch = unwatched,
    ) -> Solution:
        """Weights of the scaled columns for one l1 and l2."""
        penalty = Penalty(l1, l2, self._factors)
        solver = solve_ridge_products if l1 == 0.0 else solve_elastic_net_products
        with single_threaded_blas():
            return solver(self, penalty, tol=tol, max_iter=max_iter, resume=resume, watch=watch)

    def solve_auto(
        self,
        l1: float,
        sizes: tuple[float, float],
        *,
        tol: float,
        max_iter: int,
        resume: dict[str, Any] | None = None,
        watch: Watch = unwatched,
    ) -> tuple[Solution, float]:
        """Weights of the scaled columns, and the l2 that is expected to rank best."""
        with single_threaded_blas():
            if l1 == 0.0:
                return solve_ridge_auto(
                    self,
                    self._factors,
                    sizes,
                    self.rows.order.n_features,
                    tol=tol,
                    max_iter=max_iter,
                    resume=resume,
                    watch=watch,
                )
            if resume is None:
                # l2 is that of the ridge solution, which need not be exact for it
                _, l2 = solve_ridge_auto(
                    self, self._factors, sizes, self.rows.order.n_features, tol=1e-3, max_iter=max_iter
                )
            else:
                l2 = float(resume["auto_l2"])

            def watched(state: dict[str, Any], *rest: Any) -> None:
                watch(state | {"auto_l2": np.float64(l2)}, *rest)

            return self.solve(l1, l2, tol=tol, max_iter=max_iter, resume=resume, watch=watched), l2

    def grid(self, l1: Sequence[float], l2: Sequence[float], *, tol: float, max_iter: int) -> Array:
        """Weights of the columns of the data for each pair of penalties, shape (len(l1), len(l2), d)."""
        weights = np.empty((len(l1), len(l2), self.rows.order.n_features))
        ridge = [i for i, value in enumerate(l1) if value == 0.0]
        lasso = [i for i, value in enumerate(l1) if value > 0.0]
        with single_threaded_blas():
            if ridge:
                path = ridge_products_path(self, l2, self._factors, tol=tol, max_iter=max_iter)
                for j, solution in enumerate(path):
                    weights[ridge, j] = self.restore(solution.coef)
            for j, value in enumerate(l2 if lasso else ()):
                values = [l1[i] for i in lasso]
                path = elastic_net_products_path(self, values, value, self._factors, tol=tol, max_iter=max_iter)
                for i, solution in zip(lasso, path, strict=True):
                    weights[i, j] = self.restore(solution.coef)
        return weights
