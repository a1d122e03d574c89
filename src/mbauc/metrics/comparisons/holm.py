"""Holm's adjustment: p-values that may be looked at together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def holm(p_values: ArrayLike) -> Array:
    """Holm's adjustment of p-values for multiple testing; it controls the family-wise error rate.

    Multiplies the smallest of m p-values by m, the next by m - 1 and so on. If all adjusted values below 5% are
    called significant, the probability of any false positive is at most 5%. The tests need not be independent,
    and the power is never below that of the Bonferroni correction.

    Parameters
    ----------
    p_values : array-like of shape (m,) or (k, k)
        P-values of m tests, or a symmetric matrix of the p-values of all pairs, each of which is counted once.

    Returns
    -------
    ndarray
        Adjusted p-values of the same shape; ones on the diagonal of a matrix.

    References
    ----------
    Holm 1979, A simple sequentially rejective multiple test procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03, 0.005])
    array([0.03, 0.06, 0.06, 0.02])
    """
    try:
        p = np.asarray(p_values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("p_values must hold numbers.") from None
    if p.ndim == 2 and p.shape[0] == p.shape[1] and np.array_equal(p, p.T, equal_nan=True):
        result, pairs = np.ones_like(p), np.triu_indices(len(p), 1)
        result[pairs] = result.T[pairs] = _step_down(p[pairs])
        return result
    if p.ndim != 1:
        raise ValueError(
            f"p_values must be a list of p-values or a symmetric matrix of one a pair, got shape {p.shape}."
        )
    return _step_down(p)


def _step_down(p: Array) -> Array:
    if p.size == 0:
        raise ValueError("p_values must hold at least one p-value.")
    outside = ~((p >= 0.0) & (p <= 1.0))
    if outside.any():
        raise ValueError(f"p_values must lie between 0 and 1, got {p[outside][0]:g}.")
    order = np.argsort(p, kind="stable")
    result = np.empty_like(p)
    result[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)))
    return result
