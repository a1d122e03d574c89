"""The squared loss ½ (1 - m)²: that of Eq. (14), up to the constant ½."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]


class Squared(PairLoss):
    """``½ (1 - m)²``; ``O(n)`` from the mean and the variance of each class in each group."""

    name = "squared"

    def of_margins(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(0.5 * (1.0 - m) ** 2)

    def slopes(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(m - 1.0)

    def curvatures(self, m: Array) -> Array:
        """By definition."""
        return np.ones_like(m)

    def expand(self, pairs: PairWeights, scores: Array) -> SquaredExpansion:
        """The loss around scores."""
        return SquaredExpansion(pairs, scores)


class SquaredExpansion:
    """The squared loss around some scores."""

    def __init__(self, pairs: PairWeights, scores: Array) -> None:
        self._pairs, self._scores = pairs, scores
        self._sizes = pairs.plus_sizes, pairs.minus_sizes
        self._A, self._B = pairs.plus_totals, pairs.minus_totals

    def _sums(self, v: Array) -> tuple[Array, Array, Array, Array]:
        """Values of the positives and of the negatives, and their mean in each group."""
        pairs = self._pairs
        high, low = v[pairs.plus], v[pairs.minus]
        mean_high = np.add.reduceat(pairs.plus_weight * high, pairs.plus_starts[:-1]) / self._A
        mean_low = np.add.reduceat(pairs.minus_weight * low, pairs.minus_starts[:-1]) / self._B
        return high, low, mean_high, mean_low

    @cached_property
    def value(self) -> float:
        """½ Σ A B [(1 - gap)² + both variances]."""
        pairs = self._pairs
        high, low, mean_high, mean_low = self._sums(self._scores)
        spread_high = (high - mean_high.repeat(self._sizes[0])) ** 2
        spread_low = (low - mean_low.repeat(self._sizes[1])) ** 2
        gap = (1.0 - mean_high + mean_low) ** 2
        return float(
            0.5
            * (
                self._A * self._B @ gap
                + (pairs.plus_weight * self._B.repeat(self._sizes[0])) @ spread_high
                + (pairs.minus_weight * self._A.repeat(self._sizes[1])) @ spread_low
            )
        )

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        return self._apply(self._scores, 1.0)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        pairs = self._pairs
        return pairs.scatter(
            pairs.plus_weight * self._B.repeat(self._sizes[0]),
            pairs.minus_weight * self._A.repeat(self._sizes[1]),
        )

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        return self._apply(v, 0.0)

    def _apply(self, v: Array, target: float) -> Array:
        pairs = self._pairs
        high, low, mean_high, mean_low = self._sums(v)
        up = pairs.plus_weight * self._B.repeat(self._sizes[0])
        down = pairs.minus_weight * self._A.repeat(self._sizes[1])
        return pairs.scatter(
            up * (high - (mean_low + target).repeat(self._sizes[0])),
            down * (low - (mean_high - target).repeat(self._sizes[1])),
        )
