"""The squared loss ½ (1 - m)²: that of Eq. (14), up to the constant ½."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]


class Squared(PairLoss):
    """Squared loss ``½ (1 - m)²`` of the margin m; ``O(n)`` from class means and variances in each group."""

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
        self._pairs = pairs
        self._high, self._low = pairs.split(scores)

    def _means(self, high: Array, low: Array) -> tuple[Array, Array]:
        """Means of both classes in each group."""
        pairs = self._pairs
        return pairs.plus_sums(high) / pairs.plus_totals, pairs.minus_sums(low) / pairs.minus_totals

    @cached_property
    def value(self) -> float:
        """½ Σ A B [(1 - gap)² + both variances], A and B the weights of the classes of a group."""
        pairs = self._pairs
        mean_high, mean_low = self._means(self._high, self._low)
        spread_high = pairs.plus_sums((self._high - pairs.per_plus(mean_high)) ** 2)
        spread_low = pairs.minus_sums((self._low - pairs.per_minus(mean_low)) ** 2)
        A, B = pairs.plus_totals, pairs.minus_totals
        return float(0.5 * np.sum(A * B * (1.0 - mean_high + mean_low) ** 2 + B * spread_high + A * spread_low))

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        return self._apply(self._high, self._low, 1.0)

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """Diagonal of the Hessian, by class."""
        pairs = self._pairs
        return (
            pairs.plus_weight * pairs.per_plus(pairs.minus_totals),
            pairs.minus_weight * pairs.per_minus(pairs.plus_totals),
        )

    @property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        return self._pairs.scatter(*self._weights)

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        return self._apply(*self._pairs.split(v, "v"), 0.0)

    def _apply(self, high: Array, low: Array, target: float) -> Array:
        pairs, (up, down) = self._pairs, self._weights
        mean_high, mean_low = self._means(high, low)
        return pairs.scatter(
            up * (high - pairs.per_plus(mean_low + target)), down * (low - pairs.per_minus(mean_high - target))
        )
