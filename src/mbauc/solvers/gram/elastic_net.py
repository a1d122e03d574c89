"""Lasso and elastic net from the moments: coordinate descent finds the support, a linear solve the weights."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular

from mbauc.errors import Advice
from mbauc.runtime.warn import warn
from mbauc.solvers.gram.eigen import decompose
from mbauc.solvers.gram.ridge import solve_ridge
from mbauc.solvers.gram.unpenalised import Reduced
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution, certify

Array = NDArray[np.float64]

#: Tolerances that coordinate descent is run to, one after the other, until the certificate is met.
_DESCENT_TOLERANCES = (1e-4, 1e-7, 1e-10)
#: Changes of the active set that may follow.
_POLISH_STEPS = 100
#: Violation, relative to max|μ|, that counts as none.
_EXACT = 1e-12


def solve_elastic_net(
    sigma: Array, mu: Array, penalty: Penalty, *, tol: float = 1e-6, max_iter: int = 1000
) -> Solution:
    """Elastic net from Σ and μ: minimise Eq. (14) for one l1 and one l2; see :func:`elastic_net_path`.

    Examples
    --------
    >>> import numpy as np
    >>> solve_elastic_net(np.eye(2), np.array([1.0, 0.2]), Penalty(0.5, 1.0, np.ones(2))).coef
    array([0.25, 0.  ])
    """
    return elastic_net_path(sigma, mu, [penalty.l1], penalty.l2, penalty.factors, tol=tol, max_iter=max_iter)[0]


def elastic_net_path(
    sigma: Array,
    mu: Array,
    l1: Sequence[float],
    l2: float,
    factors: Array,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
) -> list[Solution]:
    """Elastic-net path from Σ and μ: minimise Eq. (14) for a sequence of l1, with warm starts.

    For l1 ≥ max|μ| the solution is exactly zero. ``O(d³/3)`` once, then ``O(d · support)`` per sweep.

    The quadratic is rewritten as a least-squares problem with d rows through a square root of Σ + l2 and solved
    by scikit-learn's ``enet_path`` with a precomputed Gram matrix. A few exact active-set steps from its
    support then give full precision.

    Parameters
    ----------
    sigma, mu : ndarrays of shape (d, d) and (d,)
        Second and first moment of the differences.
    l1 : sequence of float
        Values of λ₁ in any order; 0 gives ridge.
    l2 : float
        λ₂.
    factors : ndarray of shape (d,)
        Penalty factor of each feature; 0 leaves it unpenalised.
    tol : float, default=1e-06
        Tolerance on the ``optimality`` of the :class:`Solution`; a warning is raised if it is not reached.
    max_iter : int, default=1000
        Maximum number of sweeps over the features.

    Returns
    -------
    list of Solution
        In the order of ``l1``.
    """
    positive = [value for value in l1 if value > 0]
    solutions: dict[float, Solution] = {}
    if positive:
        problem = _Lasso.from_reduced(Reduced(_add_ridge(sigma, l2, factors), mu, factors))
        start = np.zeros(problem.mu.size)
        for value in sorted(set(positive), reverse=True):
            start, sweeps = problem.solve(value, start, tol, max_iter)
            w = problem.reduced.restore(start / problem.reduced.factors)
            solution = certify(Penalty(value, l2, factors), mu, w, sigma @ w, sweeps)
            if solution.optimality > tol:
                _warn(solution, tol)
            solutions[value] = solution
    if 0.0 in l1:
        solutions[0.0] = solve_ridge(sigma, mu, Penalty(0.0, l2, factors))
    return [solutions[value] for value in l1]


def _add_ridge(sigma: Array, l2: float, factors: Array) -> Array:
    matrix = sigma.copy()
    matrix[np.diag_indices_from(matrix)] += l2 * factors
    return matrix


def _warn(solution: Solution, tol: float) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warn(
        f"coordinate descent stopped after {solution.iterations} sweeps with optimality "
        f"{solution.optimality:.1e} > tol={tol:g}. "
        + Advice("Increase {max_iter}, raise {l2}, or scale the features.", command="Raise {l2}."),
        ConvergenceWarning,
    )


@dataclass(frozen=True)
class _Lasso:
    """½ v'Av - v'μ + l1 ‖v‖₁ in v = factor · w, with the rows and targets of its least-squares form."""

    reduced: Reduced
    matrix: Array
    mu: Array
    rows: Array
    target: Array

    @classmethod
    def from_reduced(cls, reduced: Reduced) -> _Lasso:
        matrix = reduced.sigma / reduced.factors[:, None]
        matrix /= reduced.factors
        mu = reduced.mu / reduced.factors
        try:
            rows = cholesky(matrix, check_finite=False)
            target = solve_triangular(rows, mu, trans="T", check_finite=False)
        except LinAlgError:
            values, vectors = decompose(matrix)
            kept = values > values.size * np.finfo(np.float64).eps * values[-1]
            root = np.sqrt(values[kept])
            rows = root[:, None] * vectors[:, kept].T
            target = (vectors[:, kept].T @ mu) / root
        return cls(reduced, matrix, mu, rows, target)

    def solve(self, l1: float, start: Array, tol: float, max_iter: int) -> tuple[Array, int]:
        """Weights and number of sweeps for one l1."""
        if l1 >= np.abs(self.mu).max(initial=0.0):
            return np.zeros_like(start), 0
        sweeps, v = 0, start
        for descent_tol in _DESCENT_TOLERANCES:
            v, more = self._descend(l1, v, descent_tol, max(1, max_iter - sweeps))
            sweeps += more
            v = self._polish(l1, v)
            if self._violation(l1, v) <= tol * np.abs(self.mu).max() or sweeps >= max_iter:
                break
        return v, sweeps

    def _descend(self, l1: float, start: Array, tol: float, max_iter: int) -> tuple[Array, int]:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import enet_path

        m = self.rows.shape[0]
        with warnings.catch_warnings():
            # our own certificate says whether it converged
            warnings.simplefilter("ignore", ConvergenceWarning)
            _, path, _, sweeps = enet_path(
                self.rows,
                self.target,
                l1_ratio=1.0,
                alphas=[l1 / m],
                precompute=self.matrix,
                Xy=self.mu,
                coef_init=start,
                copy_X=False,
                return_n_iter=True,
                check_input=False,
                tol=tol,
                max_iter=max_iter,
            )
        return path[:, 0], int(sweeps[0])

    def _polish(self, l1: float, start: Array) -> Array:
        """Walk from an approximate minimiser to the exact one; return the better of the two.

        On a fixed set of active features with fixed signs the minimiser solves a linear system. Go there,
        stopping where a weight would change its sign, which leaves the set; once there, let the feature
        enter that violates optimality most. Each step lowers the objective, so no set comes twice.
        """
        v, signs = start.copy(), np.sign(start)
        for _ in range(_POLISH_STEPS):
            active = np.flatnonzero(signs)
            if active.size:
                try:
                    factor = cho_factor(self.matrix[np.ix_(active, active)], check_finite=False)
                except LinAlgError:
                    break
                goal = cho_solve(factor, self.mu[active] - l1 * signs[active], check_finite=False)
                step = goal - v[active]
                turning = goal * signs[active] < 0
                if turning.any():
                    shares = np.where(turning, -v[active] / np.where(step == 0.0, 1.0, step), np.inf)
                    v[active] += shares.min() * step
                    out = active[shares == shares.min()]
                    v[out] = signs[out] = 0.0
                    continue
                v[active] = goal
            pull = self.mu - self.matrix @ v
            excess = np.where(signs == 0.0, np.abs(pull), 0.0) - l1
            entering = int(np.argmax(excess))
            if excess[entering] <= _EXACT * np.abs(self.mu).max():
                break
            signs[entering] = np.sign(pull[entering])
        return v if self._violation(l1, v) < self._violation(l1, start) else start

    def _violation(self, l1: float, v: Array) -> float:
        penalty = Penalty(l1, 0.0, np.ones_like(v))
        return penalty.distance_to_stationarity(self.matrix @ v - self.mu, v)
