"""Eq. (14) from products with Σ alone, each a sweep over the rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, SingularWarning
from mbauc.pairs.quadratic import Quadratic
from mbauc.runtime.threads import single_threaded_blas
from mbauc.runtime.warn import warn
from mbauc.solvers.matrix_free.elastic_net import (
    Judge,
    solve_elastic_net_matrix_free,
    walk_elastic_net_grid,
)
from mbauc.solvers.matrix_free.ridge import (
    solve_ridge_auto,
    solve_ridge_matrix_free,
    walk_ridge_path,
)
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution
from mbauc.solvers.watch import Watch

Array = NDArray[np.float64]

#: Excess risk of the ridge solution that l2 of an elastic net is taken from.
_CHOICE_TOL = 1e-3


class MatrixFreeSolver:
    """Solutions over the columns that occur, divided by ``scales``; itself the operator of these columns."""

    def __init__(self, pairs: Quadratic, scales: Array, factors: Array) -> None:
        self._pairs, self._scales, self.factors = pairs, scales, factors
        self.mu = pairs.mu / scales
        self.diagonal = pairs.diagonal / scales**2

    def product(self, v: Array) -> Array:
        """Σ v in scaled columns."""
        return self._pairs.product(v / self._scales) / self._scales

    def leading_block(self) -> Array:
        """About Σ among the first columns, in scaled columns."""
        block = self._pairs.leading_block()
        scales = self._scales[: len(block)]
        return block / np.outer(scales, scales)

    def solve(
        self,
        l1: float,
        l2: float,
        *,
        tol: float,
        max_iter: int,
        resume: dict[str, Any] | None = None,
        watch: Watch | None = None,
    ) -> Solution:
        """For one l1 and l2."""
        if l1 == 0.0 and l2 == 0.0:
            self._warn_if_singular()
        penalty = Penalty(l1, l2, self.factors)
        solver = solve_ridge_matrix_free if l1 == 0.0 else solve_elastic_net_matrix_free
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
        watch: Watch | None = None,
    ) -> Solution:
        """For the l2 that is expected to rank best."""
        d = self._pairs.n_features
        with single_threaded_blas():
            if l1 == 0.0:
                return solve_ridge_auto(
                    self, self.factors, sizes, d, tol=tol, max_iter=max_iter, resume=resume, watch=watch
                )
            if resume is None:
                # l2 is that of the ridge solution, which need not be exact for it
                l2 = solve_ridge_auto(self, self.factors, sizes, d, tol=_CHOICE_TOL, max_iter=max_iter).l2
            else:
                l2 = float(resume["auto_l2"])

            own = None if watch is None else _watch_with_l2(watch, l2)
            return self.solve(l1, l2, tol=tol, max_iter=max_iter, resume=resume, watch=own)

    def grid(
        self,
        l1: Sequence[float],
        l2: Sequence[float],
        *,
        tol: float,
        max_iter: int,
        judge: Judge | None = None,
    ) -> Array:
        """Weights for each pair of penalties, shape (len(l1), len(l2), columns).

        The smaller l2 is, the more products it takes. For each l1 a ``judge`` is called with the weights for
        each l2, from the largest down; smaller ones than that at which it says no are left at NaN.
        """
        weights = np.full((len(l1), len(l2), self.mu.size), np.nan)
        rows, columns = _places(l1), _places(l2)
        sparse = [value for value in l1 if value > 0.0]
        settings: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
        with single_threaded_blas():
            promising = None if judge is None else judge()
            for solution in walk_ridge_path(self, l2 if 0.0 in rows else (), self.factors, **settings):
                weights[np.ix_(rows[0.0], columns[solution.l2])] = solution.coef
                if promising is not None and not promising(solution.coef):
                    break
            for value, ridge, coef in walk_elastic_net_grid(
                self, sparse, l2 if sparse else (), self.factors, judge=judge, **settings
            ):
                weights[np.ix_(rows[value], columns[ridge])] = coef
        return weights

    def _warn_if_singular(self) -> None:
        """Warn of constant columns and of fewer rows than columns; columns that repeat others go unseen."""
        n_features, (_, means, _, n_rows) = self._pairs.n_features, self._pairs.summarise_columns()
        regular = min(int(np.count_nonzero(self.diagonal)), n_rows - len(means) + 1)
        if regular < n_features:
            warn(
                f"Σ is singular and l2=0: {n_features:,} columns, of which {regular:,} at most are of use, "
                f"from {n_rows:,} rows; one solution of small norm is taken. "
                + Advice("Raise {l2} or drop columns."),
                SingularWarning,
            )


def _watch_with_l2(watch: Watch, l2: float) -> Watch:
    """The same told of states with the l2 that was chosen."""

    def told(state: dict[str, Any], *rest: Any) -> None:
        watch(state | {"auto_l2": np.float64(l2)}, *rest)

    return told


def _places(values: Sequence[float]) -> dict[float, list[int]]:
    """Where each value stands."""
    places: dict[float, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        places[float(value)].append(place)
    return places
