"""Exact limits of a probability, from how often it came true."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import beta

Array = NDArray[np.float64]


def clopper_pearson(successes: ArrayLike, trials: ArrayLike, confidence: float) -> tuple[Array, Array]:
    """Exact confidence limits of a probability; weights count as numbers of trials."""
    hits, total = (np.asarray(values, dtype=np.float64) for values in (successes, trials))
    half = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(hits > 0, beta.ppf(half, hits, total - hits + 1), 0.0)
    return low, upper_limit(hits, total, half)


def upper_limit(successes: ArrayLike, trials: ArrayLike, delta: float) -> Array:
    """What the probability exceeds with a probability of at most delta (Clopper–Pearson, one-sided)."""
    hits, total = (np.asarray(values, dtype=np.float64) for values in (successes, trials))
    with np.errstate(invalid="ignore"):
        return np.where(hits < total, beta.isf(delta, hits + 1, total - hits), 1.0)
