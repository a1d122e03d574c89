"""Ridge (l1 = 0): one Cholesky factorisation for one l2, one eigendecomposition for a path of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dpocon

from mbauc.errors import Advice, SingularWarning
from mbauc.runtime.warn import warn
from mbauc.solvers.gram.eigen import decompose
from mbauc.solvers.gram.unpenalised import Reduced, pseudo_inverse
from mbauc.solvers.leave_one_out import Spectrum
from mbauc.solvers.penalty import Penalty
from mbauc.solvers.solution import Solution, certify

Array = NDArray[np.float64]

#: A matrix with a reciprocal condition number below this is singular.
_SINGULAR = 16 * np.finfo(np.float64).eps


def solve_ridge(sigma: Array, mu: Array, penalty: Penalty) -> Solution:
    """Ridge from Σ and μ: minimise ½ w'Σw - w'μ + ½ l2 Σ fⱼ wⱼ². ``O(d³/3)``.

    If Σ + l2·diag(f) is singular, the minimum-norm solution is returned, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> solve_ridge(np.eye(2), np.array([1.0, 2.0]), Penalty(0.0, 1.0, np.ones(2))).coef
    array([0.5, 1. ])
    """
    diagonal = np.diagonal(sigma) + penalty.l2 * penalty.factors
    # unit diagonal: features in other units or under other penalties do not make it look singular
    units = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    matrix = sigma * units[:, None]
    matrix *= units
    matrix[np.diag_indices_from(matrix)] = np.where(diagonal > 0, 1.0, 0.0)
    norm = _norm1(matrix)
    try:
        # symmetric: the transposed view is the same matrix in the order that LAPACK works on in place
        factor, lower = cho_factor(matrix.T, lower=True, overwrite_a=True, check_finite=False)
        singular = bool(_reciprocal_condition(factor, norm) < _SINGULAR)
    except LinAlgError:
        singular = True
    if not singular:
        w = units * cho_solve((factor, lower), units * mu, check_finite=False)
    else:
        warn(
            f"Σ + l2 is singular to machine precision (l2={penalty.l2:g}); returning the solution of "
            "smallest norm. Features are collinear or constant: " + Advice("raise {l2} or drop some."),
            SingularWarning,
        )
        matrix = sigma.copy()
        matrix[np.diag_indices_from(matrix)] = diagonal
        values, vectors = decompose(matrix, overwrite=True)
        w = vectors @ (pseudo_inverse(values) * (vectors.T @ mu))
    return certify(penalty, mu, w, sigma @ w, 1)


class RidgePath:
    """Ridge solutions for many values of l2 from one eigendecomposition.

    ``O(d³)`` once, then ``O(d²)`` for each l2.

    Parameters
    ----------
    sigma, mu : ndarrays of shape (d, d) and (d,)
        Second and first moment of the differences.
    factors : ndarray of shape (d,)
        Penalty factor of each feature; 0 leaves it unpenalised.

    Examples
    --------
    >>> import numpy as np
    >>> path = RidgePath(np.eye(2), np.array([1.0, 2.0]), np.ones(2))
    >>> path.coefficients([0.0, 1.0])
    array([[1. , 2. ],
           [0.5, 1. ]])
    """

    def __init__(self, sigma: Array, mu: Array, factors: Array) -> None:
        self._sigma, self._mu, self._factors = sigma, mu, factors
        self._reduced = Reduced(sigma, mu, factors)
        # with v = √f w the penalty is the same for all features
        self._root = np.sqrt(self._reduced.factors)
        inner = self._reduced.sigma / self._root[:, None]
        inner /= self._root
        self._values, self._vectors = decompose(inner, overwrite=True)
        self._rotated = self._vectors.T @ (self._reduced.mu / self._root)

    def coefficients(self, l2: ArrayLike) -> Array:
        """Weights for each l2, shape (number of values, d); for l2 = 0 the minimum-norm solution."""
        column = np.atleast_1d(np.asarray(l2, dtype=np.float64))[:, None]
        inner = (self._rotated * pseudo_inverse(self._values, column)) @ self._vectors.T
        return self._reduced.restore(inner / self._root)

    @property
    def spectrum(self) -> Spectrum:
        """Spectrum of Σ, the input of :func:`~mbauc.solvers.leave_one_out.choose_l2`."""
        values = np.maximum(self._values, 0.0)
        return Spectrum(values, np.ones_like(values), self._rotated**2, self._reduced.free, self._reduced.gain)

    def solve(self, l2: float) -> Solution:
        """Solution for one l2, with its optimality."""
        w = self.coefficients(l2)[0]
        return certify(Penalty(0.0, float(l2), self._factors), self._mu, w, self._sigma @ w, 1)


def condition_estimate(matrix: Array) -> float:
    """Estimated 1-norm condition number of a positive semidefinite matrix; infinite if singular."""
    norm = _norm1(matrix)
    try:
        factor, _ = cho_factor(matrix.T, lower=True, check_finite=False)
    except LinAlgError:
        return float("inf")
    reciprocal = _reciprocal_condition(factor, norm) if norm > 0 else 0.0
    return 1.0 / reciprocal if reciprocal > 0 else float("inf")


def _norm1(matrix: Array) -> float:
    """Largest absolute column sum of a symmetric matrix, without a second matrix."""
    return max(float(np.abs(row).sum()) for row in matrix)


def _reciprocal_condition(factor: Array, norm: float) -> float:
    reciprocal, _ = dpocon(factor, norm, uplo="L")
    return float(reciprocal)
