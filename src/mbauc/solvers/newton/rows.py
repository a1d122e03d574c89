"""The rows of pairs in scaled columns, and the loss around weights."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.objective import PairObjective
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.solvers.gap import binormal_auc
from mbauc.solvers.newton.certificate import excess_bound
from mbauc.solvers.newton.selection import expand
from mbauc.solvers.penalty import Penalty

Array = NDArray[np.float64]


class ScaledRows:
    """Scores of the rows and sums over the rows, with columns divided by ``scales``.

    Columns of one value have no part in it: pairs do not see them.

    Attributes
    ----------
    half_sweeps : int
        Times that the rows were swept over so far, for scores or for a sum.
    """

    def __init__(self, pairs: PairOperator, scales: Array) -> None:
        self._pairs = pairs
        self._unit = np.where(pairs.diagonal > 0.0, 1.0 / scales, 0.0)
        self.known = pairs.diagonal > 0.0
        self.diagonal = pairs.diagonal * self._unit**2
        self.largest_difference = float(np.abs(pairs.mu * self._unit).max(initial=0.0))
        self.half_sweeps = 0

    def curvature(self, r: Array) -> Array:
        """About X'HX, r the diagonal of H; empty where columns are too many for it to be cheap."""
        block = self._pairs.curvature(r)
        unit = self._unit[: len(block)]
        return np.asarray(block * np.outer(unit, unit))

    @property
    def sweeps(self) -> int:
        """Sweeps so far; scores, or a sum, are half of one."""
        return (self.half_sweeps + 1) // 2

    @sweeps.setter
    def sweeps(self, count: int) -> None:
        self.half_sweeps = 2 * count

    def scores(self, w: Array) -> Array:
        """Score of each row, but for a constant."""
        self.half_sweeps += 1
        return self._pairs.scores(self._unit * w)

    def combine(self, r: Array) -> Array:
        """Σ rᵢ xᵢ."""
        self.half_sweeps += 1
        return self._unit * self._pairs.combine(r)

    def weighted_variances(self, r: Array) -> Array:
        """Σ rᵢ (xᵢ - mean)² of each column, for r ≥ 0."""
        self.half_sweeps += 2
        squares, sums, total = self._pairs.combine_squares(r), self._pairs.combine(r), float(r.sum())
        spread = squares - sums**2 / total if total > 0.0 else squares
        return np.asarray(np.maximum(spread, 0.0) * self._unit**2)


class Point:
    """Weights with their scores, and the loss around these."""

    def __init__(self, rows: ScaledRows, objective: PairObjective, penalty: Penalty, w: Array) -> None:
        self._rows, self._objective, self._penalty = rows, objective, penalty
        self.w = w
        self.scores = rows.scores(w)
        self.expansion = expand(objective, self.scores)
        self.value = self.expansion.value + penalty.value(w)

    def move(self, w: Array) -> Point:
        """Another point of the same problem."""
        return Point(self._rows, self._objective, self._penalty, w)

    @cached_property
    def gradient(self) -> Array:
        """Gradient of the loss."""
        return self._rows.combine(self.expansion.gradient)

    @cached_property
    def excess_bound(self) -> float:
        """What the regularised pairwise risk, twice the value, is above its minimum at most."""
        if not is_convex(self._objective):
            return float("inf")
        known = self._rows.known
        penalty = Penalty(self._penalty.l1, self._penalty.l2, self._penalty.factors[known])
        return 2.0 * excess_bound(penalty, self.w[known], self.gradient[known], self.expansion.value)

    def value_between(self, goal: Point, t: float) -> float:
        """The value at w + t (goal - w); no sweep."""
        scores = self.scores + t * (goal.scores - self.scores)
        w = self.w + t * (goal.w - self.w)
        return self._objective.expand(scores).value + self._penalty.value(w)

    def binormal_auc(self) -> float:
        """AUC that normal scores with these means and variances would have."""
        pairs, mean, variance = self._objective.pairs, 0.0, 0.0
        for rows, weight, sign in (
            (pairs.plus, pairs.plus_weight, 1.0),
            (pairs.minus, pairs.minus_weight, -1.0),
        ):
            scores, share = self.scores[rows], weight / weight.sum()
            middle = float(share @ scores)
            mean, variance = mean + sign * middle, variance + float(share @ (scores - middle) ** 2)
        return binormal_auc(mean, variance + mean**2)


def is_convex(objective: PairObjective) -> bool:
    """Whether a loss is convex: over all pairs, or a falling one over those for which it is largest."""
    region = objective.region
    return region.is_whole or (region.min_fpr == 0.0 and objective.loss.falls)
