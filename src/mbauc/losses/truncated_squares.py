"""Losses made of truncated squares (k - m)₊²: squared and smoothed hinge, by one sort and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.losses.class_rows import ClassRows, for_both
from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]


class TruncatedSquares(PairLoss):
    """Loss ``½ Σ cₖ (k - m)₊²`` of the margin m, with knots k and coefficients cₖ; ``O(n log n)``."""

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
    """Squared hinge loss ``½ (1 - m)₊²``; zero for pairs with a margin m of 1 or more."""

    name = "squared_hinge"
    terms = ((1.0, 1.0),)


class SmoothHinge(TruncatedSquares):
    """Smoothed hinge loss: ``(1 - m)₊`` with a parabola in place of the kink, from 1 - width to 1.

    Parameters
    ----------
    width : float, default=0.5
        Width of the parabola. The rounding error is 1e-16 times the range of the scores divided by it.
    """

    name = "hinge"

    def __init__(self, width: float = 0.5) -> None:
        self.width = check_number("width", width, low=0.0, open_low=True)
        self.terms = ((1.0, 1.0 / width), (1.0 - width, -1.0 / width))


class TruncatedExpansion:
    """Truncated squares around some scores, with the active pairs frozen in the Hessian.

    Each part costs what it needs when it is first asked for: the value a sort and a sweep over the sorted rows,
    the gradient one sweep more, a product one pass over the rows in the order that was found.
    """

    def __init__(self, terms: Sequence[tuple[float, float]], pairs: PairWeights, scores: Array) -> None:
        self._terms, self._pairs, self._scores = terms, pairs, scores

    @cached_property
    def _sides(self) -> tuple[_Side, _Side]:
        plus, minus = for_both(ClassRows.sort, *ClassRows.split(self._pairs, self._scores), self._pairs.n_rows)
        up = _Side(plus, minus, [(0.0, k, c) for k, c in self._terms], 1)
        return up, _Side(minus, plus, [(k, 0.0, c) for k, c in self._terms], -1)

    @cached_property
    def _value_and_lift(self) -> tuple[float, Array]:
        return self._sides[0].lift_and_add()

    @property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        return self._value_and_lift[0]

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        rows = np.zeros(self._pairs.n_rows)
        plus, minus = self._sides
        rows[plus.target.rows] = -plus.target.weight * self._value_and_lift[1]
        rows[minus.target.rows] = minus.target.weight * minus.lift()
        return rows

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        rows = np.zeros(self._pairs.n_rows)
        for side in self._sides:
            rows[side.target.rows] = side.diagonal
        return rows

    def product(self, v: Array) -> Array:
        """Hessian times v; ``O(n)``."""
        v, n_rows = np.asarray(v, dtype=np.float64), self._pairs.n_rows
        plus, minus = self._sides
        origins = plus.target.rows[plus.target.starts[:-1]]
        high, low = for_both(lambda side: side.gather(v, origins), plus, minus, n_rows)
        out = np.zeros(n_rows)
        for_both(lambda side: side[0].put(*side[1:], out), (plus, high, low), (minus, low, high), n_rows)
        return out


class _Side:
    """Rows of one class, on which those of the other act."""

    def __init__(
        self, target: ClassRows, source: ClassRows, knots: list[tuple[float, float, float]], side: int
    ) -> None:
        self.target, self._source, self._side = target, source, side
        #: moves of target and source, and coefficients
        self._knots = np.array(knots)
        self._coefficients = np.array([c for _, _, c in knots])

    def lift(self) -> Array:
        """What the rows of the other class add to the slope of each of these."""
        from mbauc.losses.truncated_kernels import lift

        sums = np.zeros_like(self.target.scores)
        source = self._source
        lift(
            self.target.scores,
            self.target.starts,
            source.scores,
            source.weight,
            source.starts,
            self._knots,
            self._side,
            sums,
        )
        return sums

    def lift_and_add(self) -> tuple[float, Array]:
        """The same of the positives, after the value of the loss."""
        from mbauc.losses.truncated_kernels import lift_and_add

        sums = np.zeros_like(self.target.scores)
        target, source = self.target, self._source
        value = lift_and_add(
            target.scores,
            target.weight,
            target.starts,
            source.scores,
            source.weight,
            source.starts,
            self._knots,
            sums,
        )
        return float(value), sums

    @cached_property
    def _ends(self) -> NDArray[np.signedinteger]:
        """For each knot and row: where the running sums over the rows that act on it end."""
        from mbauc.losses.truncated_kernels import reach

        target, source = self.target, self._source
        ends = np.empty((len(self._knots), target.scores.size), dtype=target.rows.dtype)
        for row, (move, source_move, _) in zip(ends, self._knots, strict=True):
            reach(
                target.scores, target.starts, source.scores, source.starts, move, source_move, self._side, row
            )
        return ends

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian, in sorted order."""
        from mbauc.losses.truncated_kernels import weigh

        sums, found = self._run(np.ones_like(self._source.weight)), np.empty_like(self.target.weight)
        weigh(self.target.weight, self._ends, self._coefficients, sums, found)
        return found

    def _run(self, values: Array) -> Array:
        from mbauc.losses.truncated_kernels import run

        sums = np.empty(values.size + self._source.starts.size - 1)
        run(values, self._source.weight, self._source.starts, self._side, sums)
        return sums

    def gather(self, v: Array, origins: NDArray[np.signedinteger]) -> Array:
        """The values of these rows in sorted order, each less that of its group's origin."""
        from mbauc.losses.truncated_kernels import gather

        values = np.empty_like(self.target.scores)
        gather(v, self.target.rows, values, self.target.starts, origins)
        return values

    def put(self, values: Array, source_values: Array, out: Array) -> None:
        """Rows of a Hessian product."""
        from mbauc.losses.truncated_kernels import put

        sums = self._run(source_values)
        put(
            values,
            self.target.weight,
            self.diagonal,
            self._ends,
            self._coefficients,
            sums,
            self.target.rows,
            out,
        )
