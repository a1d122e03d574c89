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
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

Array = NDArray[np.float64]

#: λ beyond these say no more: columns without a penalty worth the name, and columns without weight.
_SMALLEST, _LARGEST = 1e-3, 1e8
#: Steps at which λ are near enough, as a change of their logarithm.
_STEADY = 0.05


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
    start : float or ndarray of shape (groups,)
        λ to start from.
    max_iter : int
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
    for _ in range(max_iter):
        solved = solve_given(covariance, mu, noise * strength[group] * factors)
        spent = np.bincount(group, 1.0 - noise * strength[group] * factors * solved[1], minlength=n_groups)
        size = np.bincount(group, factors * solved[0] ** 2, minlength=n_groups)
        found = np.clip(np.maximum(spent, 1e-10) / np.maximum(size, 1e-12), _SMALLEST, _LARGEST)
        change = float(np.abs(np.log(found / strength)).max())
        strength = found
        if change < _STEADY:
            break
    return Evidence(strength, spent.astype(np.float64), solved[0])


def solve_given(covariance: Array, mu: Array, penalty: Array) -> tuple[Array, Array]:
    """(C + diag(penalty))⁻¹ μ, and the diagonal of that inverse; ``O(d³)`` time."""
    matrix = np.array(covariance, order="F")
    matrix[np.diag_indices_from(matrix)] += penalty
    factor, info = dpotrf(matrix, lower=1, overwrite_a=1)
    if info != 0:
        raise np.linalg.LinAlgError("the penalised covariance is not positive definite")
    w, _ = dpotrs(factor, mu, lower=1)
    inverse, _ = dpotri(factor, lower=1, overwrite_c=1)
    return w, np.diagonal(inverse).copy()
