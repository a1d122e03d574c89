"""Weights of coordinates by the log-loss of rows: penalised logistic regression.

With f = Zw + b the log-odds of a row, ℓ = Σ cᵢ log(1 + exp(-yᵢ fᵢ)) + ½ Σ λⱼ wⱼ². Weights of the squared loss
are log-odds, too, of normal classes, under the same penalties λ: the two differ where classes are not normal.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize
from scipy.special import expit

from mbauc.runtime.threads import run_threads
from mbauc.solvers.evidence import factor_given

Array = NDArray[np.float64]

#: Least curvature of a row, so that steps are defined where all rows are told apart.
_LEAST_CURVATURE = 1e-6
#: Rows that curvature is taken from, at most: so many, and so many times the number of coordinates; and its
#: share of the largest from which on a row is among them.
_ROWS, _ROWS_FOR_ONE, _NEAR = 2_000, 2, 0.05
#: Steps, at most.
_MAX_ITER = 200
#: Steps whose changes of the gradient are remembered.
_MEMORY = 20
#: Entries of Z that are worth a thread, and those that stay in cache between the two products with them.
_WORTH_A_THREAD, _IN_CACHE = 1_000_000, 1 << 18


@dataclass(frozen=True, eq=False)
class LogOdds:
    """What was found: log-odds of the penalised fit are ``Z @ coef + intercept``.

    Attributes
    ----------
    coef : ndarray of shape (coordinates,)
        w.
    intercept : float
        b.
    objective : float
        ℓ.
    optimality : float
        Largest entry of the gradient, divided by that at w = 0.
    iterations : int
        Steps.
    """

    coef: Array
    intercept: float
    objective: float
    optimality: float
    iterations: int


def fit_log_odds(
    Z: Array,
    positive: NDArray[np.bool_],
    weight: Array | None,
    strength: Array,
    *,
    start: Array | None = None,
    tol: float = 1e-10,
    n_threads: int = 1,
) -> LogOdds:
    """Minimise the penalised log-loss of rows.

    L-BFGS in coordinates in which the curvature of some of the rows, at the start, is one: ``O(n d)`` time for
    each of few steps after ``O(d³)``, and ``O(d²)`` memory besides Z.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Rows.
    positive : ndarray of shape (n,)
        Which of them are positive.
    weight : ndarray of shape (n,) or None
        c: how many rows each stands for.
    strength : ndarray of shape (d,)
        λ.
    start : ndarray of shape (d,), optional
        Weights to start from, up to a factor; by default zeros.
    tol : float, default=1e-10
        Fall of the loss in a step, as a share of the loss, at which to stop.
    n_threads : int, default=1
        Threads; sums differ in their last digits with their number.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.normal(size=(4000, 2))
    >>> found = fit_log_odds(Z, rng.random(4000) < 1 / (1 + np.exp(1 - Z[:, 0])), None, np.ones(2))
    >>> found.coef.round(1).tolist(), round(found.intercept, 1)
    ([1.0, 0.0], -1.0)
    """
    counts = np.ones(positive.size) if weight is None else weight
    rows = _Rows(Z, positive, counts, strength, min(n_threads, 1 + Z.size // _WORTH_A_THREAD))
    base = rows.best_intercept()
    w, b = np.zeros(strength.size), base
    at_zero = float(np.abs(rows.slopes(w, base)[1]).max(initial=0.0))
    if start is not None and np.any(start):
        # the multiple of the weights, and the intercept, that fit best
        line = fit_log_odds((Z @ start)[:, None], positive, weight, np.full(1, 1e-6), tol=1e-8)
        w, b = line.coef[0] * start, line.intercept
    units = rows.units(Z @ w + b)
    found = minimize(
        lambda u: units.slopes(rows, u),
        units.leave(w, b),
        jac=True,
        method="L-BFGS-B",
        options={"maxcor": _MEMORY, "maxiter": _MAX_ITER, "maxfun": 2 * _MAX_ITER, "ftol": tol, "gtol": 0.0},
    )
    w, b = units.enter(found.x)
    value, gradient, _ = rows.slopes(w, b)
    optimality = float(np.abs(gradient).max(initial=0.0)) / (at_zero or 1.0)
    return LogOdds(w, b, value, optimality, int(found.nit))


@dataclass(frozen=True, eq=False)
class _Units:
    """Coordinates u in which ℓ has about the same curvature everywhere: w = L'⁻¹u, b = c/√h - m'w."""

    root: Array
    mean: Array
    total: float

    def enter(self, u: Array) -> tuple[Array, float]:
        """Weights and intercept."""
        w = solve_triangular(self.root, u[:-1], lower=True, trans="T", check_finite=False)
        return w, float(u[-1] / np.sqrt(self.total) - self.mean @ w)

    def leave(self, w: Array, b: float) -> Array:
        """The other way."""
        return np.append(self.root.T @ w, (b + self.mean @ w) * np.sqrt(self.total))

    def slopes(self, rows: _Rows, u: Array) -> tuple[float, Array]:
        """ℓ and its derivatives by u."""
        value, gradient, rise = rows.slopes(*self.enter(u))
        inner = gradient - self.mean * rise
        return value, np.append(
            solve_triangular(self.root, inner, lower=True, check_finite=False), rise / np.sqrt(self.total)
        )


@dataclass(frozen=True, eq=False)
class _Rows:
    Z: Array
    positive: NDArray[np.bool_]
    weight: Array
    strength: Array
    n_threads: int = 1

    def best_intercept(self) -> float:
        """That of weights of zero."""
        return float(np.log(self.weight[self.positive].sum()) - np.log(self.weight[~self.positive].sum()))

    def slopes(self, w: Array, b: float) -> tuple[float, Array, float]:
        """ℓ, and its derivatives by w and by b."""
        cuts = np.linspace(0, self.positive.size, self.n_threads + 1).astype(int)
        pieces = [slice(low, high) for low, high in pairwise(cuts.tolist())]
        values, gradients, rises = zip(
            *run_threads(lambda own: self._sums(own, w, b), pieces, self.n_threads), strict=True
        )
        return (
            sum(values) + 0.5 * float((self.strength * w) @ w),
            sum(gradients) + self.strength * w,
            sum(rises),
        )

    def _sums(self, own: slice, w: Array, b: float) -> tuple[float, Array, float]:
        """The loss of some rows, without the penalty, and its derivatives."""
        value, gradient, rise = 0.0, np.zeros(w.size), 0.0
        step = max(_IN_CACHE // max(w.size, 1), 128)
        for first in range(own.start, own.stop, step):
            block = slice(first, min(first + step, own.stop))
            Z, positive, weight = self.Z[block], self.positive[block], self.weight[block]
            f = Z @ w + b
            residual = weight * (expit(f) - positive)
            value += float(weight @ np.logaddexp(0.0, np.where(positive, -f, f)))
            gradient += residual @ Z
            rise += float(residual.sum())
        return value, gradient, rise

    def units(self, f: Array) -> _Units:
        """Coordinates of about equal curvature, from some of the rows at log-odds f."""
        matrix, mean, total = self.curvature(f)
        return _Units(factor_given(matrix, self.strength + 1e-9 * total), mean, total)

    def curvature(self, f: Array) -> tuple[Array, Array, float]:
        """Second derivatives by w about the mean row, that row, and the one by b, from some of the rows."""
        p = expit(f)
        curvature = np.maximum(p * (1 - p), _LEAST_CURVATURE) * self.weight
        total = float(curvature.sum())
        # rows that are far on one side hardly bend the loss
        near = np.flatnonzero(curvature >= _NEAR * curvature.max())
        some = near[:: max(1, near.size // max(_ROWS, _ROWS_FOR_ONE * self.Z.shape[1]))]
        Z, curvature = self.Z[some], curvature[some] * (total / curvature[some].sum())
        mean = curvature @ Z / total
        scaled = (Z - mean) * np.sqrt(curvature)[:, None]
        return scaled.T @ scaled, mean, total
