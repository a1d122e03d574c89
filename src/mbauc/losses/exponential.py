"""The exponential loss exp(-m), which is a product of a sum over the positives and one over the negatives."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]


class Exponential(PairLoss):
    """``exp(-m)``, as in RankBoost; ``O(n)``."""

    name = "exponential"

    def of_margins(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(np.exp(-m))

    def slopes(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(-np.exp(-m))

    def curvatures(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(np.exp(-m))

    def expand(self, pairs: PairWeights, scores: Array) -> ExponentialExpansion:
        """The loss around scores."""
        return ExponentialExpansion(pairs, scores)


class ExponentialExpansion:
    """The exponential loss around some scores."""

    def __init__(self, pairs: PairWeights, scores: Array) -> None:
        self._pairs = pairs
        self._sizes = pairs.plus_sizes, pairs.minus_sizes
        high, low = scores[pairs.plus], scores[pairs.minus]
        # a shift of each group cancels and keeps the powers in range
        top = np.maximum.reduceat(low, pairs.minus_starts[:-1])
        self._up = pairs.plus_weight * np.exp(top.repeat(self._sizes[0]) - high)
        self._down = pairs.minus_weight * np.exp(low - top.repeat(self._sizes[1]))
        self._U = np.add.reduceat(self._up, pairs.plus_starts[:-1])
        self._D = np.add.reduceat(self._down, pairs.minus_starts[:-1])

    @cached_property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        return float(self._U @ self._D)

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        return self._pairs.scatter(*self._weights(-1.0))

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        return self._pairs.scatter(*self._weights(1.0))

    def _weights(self, sign: float) -> tuple[Array, Array]:
        return sign * self._up * self._D.repeat(self._sizes[0]), self._down * self._U.repeat(self._sizes[1])

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        pairs = self._pairs
        high, low = v[pairs.plus], v[pairs.minus]
        up, down = self._weights(1.0)
        mean_high = np.add.reduceat(self._up * high, pairs.plus_starts[:-1]) / self._U
        mean_low = np.add.reduceat(self._down * low, pairs.minus_starts[:-1]) / self._D
        return pairs.scatter(
            up * (high - mean_low.repeat(self._sizes[0])), down * (low - mean_high.repeat(self._sizes[1]))
        )
