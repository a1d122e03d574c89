"""Losses made of truncated squares (k - m)₊²: squared and smoothed hinge, by one sort and running sums."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]


class TruncatedSquares(PairLoss):
    """``½ Σ cₖ (k - m)₊²`` for some knots k and coefficients cₖ; ``O(n log n)``."""

    #: (knot, coefficient)
    terms: Sequence[tuple[float, float]]

    def of_margins(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(sum(0.5 * c * np.maximum(k - m, 0.0) ** 2 for k, c in self.terms))

    def slopes(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(sum(-c * np.maximum(k - m, 0.0) for k, c in self.terms))

    def curvatures(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(sum(c * (m < k) for k, c in self.terms))

    def expand(self, pairs: PairWeights, scores: Array) -> TruncatedExpansion:
        """The loss around scores."""
        return TruncatedExpansion(self.terms, pairs, scores)


class SquaredHinge(TruncatedSquares):
    """``½ (1 - m)₊²``: pairs that are apart by 1 or more count nothing."""

    name = "squared_hinge"
    terms = ((1.0, 1.0),)


class SmoothHinge(TruncatedSquares):
    """The hinge ``(1 - m)₊`` with its kink rounded: a parabola from 1 - width to 1, a line below.

    Parameters
    ----------
    width : float
        Of the rounding.
    """

    name = "hinge"

    def __init__(self, width: float = 0.5) -> None:
        self.width = width
        self.terms = ((1.0, 1.0 / width), (1.0 - width, -1.0 / width))


class TruncatedExpansion:
    """Truncated squares around some scores, with the active pairs frozen in the Hessian."""

    def __init__(self, terms: Sequence[tuple[float, float]], pairs: PairWeights, scores: Array) -> None:
        self._terms, self._pairs = terms, pairs
        self._high, self._low = scores[pairs.plus], scores[pairs.minus]

    def _groups(self) -> Iterator[tuple[slice, slice]]:
        for g in range(self._pairs.n_groups):
            yield (
                slice(*self._pairs.plus_starts[g : g + 2]),
                slice(*self._pairs.minus_starts[g : g + 2]),
            )

    def _above(self, x: Array, at: Array, *values: Array) -> list[Array]:
        """For each place: sums of the values over all x above it."""
        order = np.argsort(x, kind="stable")
        first = np.searchsorted(x[order], at, side="right")
        found = []
        for value in values:
            sums = np.concatenate([np.cumsum(value[order][::-1])[::-1], [0.0]])
            found.append(sums[first])
        return found

    def _below(self, x: Array, at: Array, *values: Array) -> list[Array]:
        """For each place: sums of the values over all x below it."""
        return self._above(-x, -at, *values)

    @cached_property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        total = 0.0
        for plus, minus in self._groups():
            high, low, b = self._high[plus], self._low[minus], self._pairs.minus_weight[minus]
            for k, c in self._terms:
                n, s, q = self._above(low, high - k, b, b * low, b * low**2)
                gap = k - high
                total += 0.5 * c * float(self._pairs.plus_weight[plus] @ (n * gap**2 + 2 * gap * s + q))
        return total

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        return self._apply(self._high, self._low, with_knots=True)

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        return self._apply(v[self._pairs.plus], v[self._pairs.minus], with_knots=False)

    def _apply(self, vh: Array, vl: Array, *, with_knots: bool) -> Array:
        pairs = self._pairs
        up, down = np.zeros(self._high.size), np.zeros(self._low.size)
        for plus, minus in self._groups():
            high, low = self._high[plus], self._low[minus]
            a, b = pairs.plus_weight[plus], pairs.minus_weight[minus]
            for k, c in self._terms:
                shift = k if with_knots else 0.0
                n, s = self._above(low, high - k, b, b * vl[minus])
                up[plus] += c * a * (n * (vh[plus] - shift) - s)
                n, s = self._below(high, low + k, a, a * vh[plus])
                down[minus] += c * b * (n * (vl[minus] + shift) - s)
        return pairs.scatter(up, down)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        pairs = self._pairs
        up, down = np.zeros(self._high.size), np.zeros(self._low.size)
        for plus, minus in self._groups():
            a, b = pairs.plus_weight[plus], pairs.minus_weight[minus]
            for k, c in self._terms:
                up[plus] += c * a * self._above(self._low[minus], self._high[plus] - k, b)[0]
                down[minus] += c * b * self._below(self._high[plus], self._low[minus] + k, a)[0]
        return pairs.scatter(up, down)
