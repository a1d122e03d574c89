"""A penalty factor for each group of columns, from the moments alone: the one under which μ is most likely.

If both classes are normal with covariance C, the mean difference of n₊ and n₋ rows is μ = C w + noise of
covariance νC, ν = 1/n₊ + 1/n₋, where w are log-odds. With normal weights of variance 1/(λ_g fⱼ) for column j
of group g, the mean of w given μ is (C + ν diag(λ f))⁻¹ μ, which ranks like Eq. (14) with l2 fⱼ = 2νλ_g fⱼ. The
λ that make μ most likely satisfy λ_g = γ_g / Σ fⱼ wⱼ², γ_g the degrees of freedom that the group uses (MacKay).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: λ beyond these say no more: columns without a penalty worth the name, and columns without weight.
_SMALLEST, _LARGEST = 1e-3, 1e8
#: Change of the scores of a step, as a share of their standard deviation, at which λ are near enough.
_STEADY = 0.01
#: Columns of a triangular matrix that is inverted as if it were any.
_SMALL = 96


@dataclass(frozen=True, eq=False)
class Evidence:
    """What was found.

    Attributes
    ----------
    strength : ndarray of shape (groups,)
        λ of each group.
    used : ndarray of shape (groups,)
        Degrees of freedom of each group.
    log_odds : ndarray of shape (d,)
        w, in units of log-odds.
    """

    strength: Array
    used: Array
    log_odds: Array


def maximise_evidence(
    covariance: Array,
    mu: Array,
    noise: float,
    factors: Array,
    group: NDArray[np.intp],
    *,
    start: Array | float = 1.0,
    max_iter: int = 8,
) -> Evidence:
    """Strengths of the penalty of each group. ``O(d³)`` for each step.

    Strengths of groups that mean nothing grow without end, so that steps end when scores no longer change.

    Parameters
    ----------
    covariance : ndarray of shape (d, d)
        Mean of the covariances of the classes.
    mu : ndarray of shape (d,)
        Difference of their means.
    noise : float
        ν.
    factors : ndarray of shape (d,)
        f, above 0.
    group : ndarray of shape (d,)
        Which group each column is in, counted from 0.
    start : float or ndarray of shape (groups,), default=1.0
        λ to start from.
    max_iter : int, default=8
        Steps, at most.

    Examples
    --------
    >>> import numpy as np
    >>> found = maximise_evidence(np.eye(2), np.array([1.0, 0.001]), 0.01, np.ones(2), np.arange(2))
    >>> found.strength.round(1).tolist()[0], found.log_odds.round(2).tolist()
    (1.0, [0.99, 0.0])
    """
    n_groups = int(group.max()) + 1
    strength = np.broadcast_to(np.asarray(start, dtype=np.float64), (n_groups,)).copy()
    before: Array | None = None
    for _ in range(max_iter):
        w, inverse = solve_given(covariance, mu, noise * strength[group] * factors)
        spent = np.bincount(group, 1.0 - noise * strength[group] * factors * inverse, minlength=n_groups)
        size = np.bincount(group, factors * w**2, minlength=n_groups)
        strength = np.clip(np.maximum(spent, 1e-10) / np.maximum(size, 1e-12), _SMALLEST, _LARGEST)
        if before is not None and _spread(covariance, w - before) <= _STEADY * _spread(covariance, w):
            break
        before = w
    return Evidence(strength, spent.astype(np.float64), w)


def _spread(covariance: Array, w: Array) -> float:
    """Standard deviation of scores."""
    return float(np.sqrt(np.maximum(w @ (covariance @ w), 0.0)))


def solve_given(covariance: Array, mu: Array, penalty: Array) -> tuple[Array, Array]:
    """(C + diag(penalty))⁻¹ μ, and the diagonal of that inverse; ``O(d³)`` time."""
    root = inverse_root(covariance, penalty)
    return root.T @ (root @ mu), np.einsum("ij,ij->j", root, root)


def inverse_root(covariance: Array, penalty: Array) -> Array:
    """R, lower triangular, with R'R = (C + diag(penalty))⁻¹; ``O(d³)`` time, without Python's lock."""
    return _invert_lower(factor_given(covariance, penalty))


def factor_given(covariance: Array, penalty: Array) -> Array:
    """L, lower triangular, with LL' = C + diag(penalty); ``O(d³)`` time, without Python's lock."""
    matrix = covariance.copy()
    matrix[np.diag_indices_from(matrix)] += penalty
    try:
        return np.asarray(np.linalg.cholesky(matrix))
    except np.linalg.LinAlgError:
        raise np.linalg.LinAlgError("the penalised covariance is not positive definite") from None


def _invert_lower(L: Array) -> Array:
    """Inverse of a lower triangular matrix, by halves: LAPACK's own holds Python's lock."""
    half = L.shape[0] // 2
    if L.shape[0] <= _SMALL:
        return np.asarray(np.linalg.inv(L))
    first, second = _invert_lower(L[:half, :half]), _invert_lower(L[half:, half:])
    result = np.zeros_like(L)
    result[:half, :half], result[half:, half:] = first, second
    result[half:, :half] = -second @ (L[half:, :half] @ first)
    return result
