"""The exponential loss exp(-m), which is a product of a sum over the positives and one over the negatives."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]
#: The largest exponent: sums of such powers are far from the largest number.
_LARGEST = 600.0


class Exponential(PairLoss):
    """Exponential loss ``exp(-m)`` of the margin m, as in RankBoost; ``O(n)``."""

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
    """The exponential loss around some scores.

    Where a margin is below -600 the value is infinite, and the derivatives are as large as they are there: but
    numbers, so that a line search that went too far can step back.
    """

    def __init__(self, pairs: PairWeights, scores: Array) -> None:
        self._pairs = pairs
        high, low = pairs.split(scores)
        # shifts of each class and group keep the powers in range, until the pair with the lowest margin is not
        bottom = np.minimum.reduceat(high, pairs.plus_starts[:-1])
        top = np.maximum.reduceat(low, pairs.minus_starts[:-1])
        up, down = np.exp(pairs.per_plus(bottom) - high), np.exp(low - pairs.per_minus(top))
        sums = pairs.plus_sums(up), pairs.minus_sums(down)
        #: share of each row in the sum of its class and group, and the loss of each group
        self._up = pairs.plus_weight * up / pairs.per_plus(sums[0])
        self._down = pairs.minus_weight * down / pairs.per_minus(sums[1])
        lowest = bottom - top
        self._losses = sums[0] * sums[1] * np.exp(np.minimum(-lowest, _LARGEST))
        self._overflows = bool(lowest.min() < -_LARGEST)

    @property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        return np.inf if self._overflows else float(self._losses.sum())

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """Diagonal of the Hessian, by class."""
        pairs = self._pairs
        return self._up * pairs.per_plus(self._losses), self._down * pairs.per_minus(self._losses)

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        return self._pairs.scatter(-self._weights[0], self._weights[1])

    @property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        return self._pairs.scatter(*self._weights)

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        pairs, (up, down) = self._pairs, self._weights
        high, low = pairs.split(v, "v")
        mean_high = np.add.reduceat(self._up * high, pairs.plus_starts[:-1])
        mean_low = np.add.reduceat(self._down * low, pairs.minus_starts[:-1])
        return pairs.scatter(up * (high - pairs.per_plus(mean_low)), down * (low - pairs.per_minus(mean_high)))
