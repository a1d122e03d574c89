"""Bernstein's inequality, Eq. (23), solved for each of its three unknowns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Bernstein:
    """``P(‖mean of S terms‖ > t) ≤ dimension · exp(-S t²/2 / (variance + largest t/3))``.

    For independent terms with mean zero, matrices or vectors (Tropp 2012). All methods are ``O(1)`` for
    each number.

    Attributes
    ----------
    dimension : float
        Sum of both sides of the terms: 2 d for symmetric d×d matrices, d + 1 for vectors.
    variance : float
        Of one term: norm of the mean square of a symmetric matrix, mean squared length of a vector.
    largest : float
        No term is longer than this.

    Examples
    --------
    >>> coin = Bernstein(dimension=2, variance=0.25, largest=0.5)
    >>> round(coin.pairs(0.1, 0.05), 2)
    196.74
    >>> round(float(coin.tail(0.1, 196.74)), 4), round(coin.threshold(196.74, 0.05), 4)
    (0.05, 0.1)
    """

    dimension: float
    variance: float
    largest: float

    def tail(self, threshold: ArrayLike, pairs: ArrayLike) -> NDArray[np.float64]:
        """Bound on the probability to exceed ``threshold``, at most 1."""
        t, size = np.asarray(threshold, dtype=np.float64), np.asarray(pairs, dtype=np.float64)
        spread = self.variance + self.largest * t / 3
        # terms that are all zero never exceed anything above zero
        with np.errstate(divide="ignore", invalid="ignore"):
            exponent = np.where(t > 0, size * t * (t / 2 / spread), 0.0)
        return np.minimum(1.0, self.dimension * np.exp(-exponent))

    def pairs(self, threshold: float, probability: float) -> float:
        """Smallest S, not rounded, from which on the bound at ``threshold`` is at most ``probability``."""
        if threshold == 0.0:
            return math.inf
        spread = self.variance / threshold + self.largest / 3
        return math.log(self.dimension / probability) * 2 * spread / threshold

    def threshold(self, pairs: float, probability: float) -> float:
        """Smallest threshold at which the bound for S pairs is at most ``probability``."""
        # S t²/2 = logarithm (variance + largest t/3), a quadratic equation in t
        logarithm = math.log(self.dimension / probability)
        half = logarithm * self.largest / (3 * pairs)
        return half + math.sqrt(half**2 + 2 * logarithm * self.variance / pairs)
