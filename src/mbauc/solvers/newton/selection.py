"""Curvature of a loss over rows selected by rank: where scores pass each other, other rows count."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.objective import PairObjective
from mbauc.losses.pair_loss import Expansion

Array = NDArray[np.float64]

#: Weight around the last row that is selected, on either side, as a share of what is selected or left out.
_WINDOW = 0.2


def expand(objective: PairObjective, scores: Array) -> Expansion:
    """The objective around scores, with the curvature of its selection where that is of one group."""
    expansion = objective.expand(scores)
    if objective.region.is_whole or objective.pairs.n_groups > 1:
        return expansion
    return SelectedExpansion(expansion, objective, scores)


class SelectedExpansion:
    """A loss over selected rows, whose Hessian knows that the selection follows the scores.

    A negative row counts if its score is above a threshold τ. Where rows near τ move by δⱼ and τ by their mean,
    weight passes from some to others, and with it the slope c' that their scores have: the gradient changes by
    ``c' ρ(τ) (δⱼ - mean)``, ρ the density of the rows there. Both are estimated in a window around τ. The same
    holds for positives below a threshold.
    """

    def __init__(self, expansion: Expansion, objective: PairObjective, scores: Array) -> None:
        self._expansion, self._objective, self._scores = expansion, objective, scores

    @property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        return self._expansion.value

    @property
    def gradient(self) -> Array:
        """Derivative of the value by the score of each row."""
        return self._expansion.gradient

    @property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        diagonal = self._expansion.diagonal.copy()
        for rows, weight in self._edges:
            diagonal[rows] += weight
        return diagonal

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        product = self._expansion.product(v)
        for rows, weight in self._edges:
            own = v[rows]
            product[rows] += weight * (own - float(weight @ own) / float(weight.sum()))
        return product

    @cached_property
    def _edges(self) -> list[tuple[NDArray[np.intp], Array]]:
        """Rows around each threshold, and the weights of their curvature."""
        region, pairs = self._objective.region, self._objective.pairs
        sides = (
            (pairs.minus, pairs.minus_weight, 1.0, region.max_fpr),
            (pairs.plus, pairs.plus_weight, -1.0, 1.0 - region.min_tpr),
        )
        found = []
        for rows, weight, sign, share in sides:
            if share < 1.0:
                near, curvature = find_edge(
                    sign * self._scores[rows], weight, sign * self.gradient[rows], share
                )
                found.append((rows[near], curvature))
        return [(rows, weight) for rows, weight in found if weight.sum() > 0.0]


def find_edge(keys: Array, weight: Array, slope: Array, share: float) -> tuple[NDArray[np.intp], Array]:
    """Rows around the key down to which a share of the weight is, and the weights of their curvature."""
    order = np.argsort(-keys, kind="stable")
    end = np.cumsum(weight[order])
    place, half = share * end[-1], _WINDOW * min(share, 1.0 - share) * end[-1]
    first, middle, last = np.searchsorted(end, [place - half, place, place + half]).tolist()
    near, inside = order[first : last + 1], order[first : middle + 1]
    width = float(keys[near[0]] - keys[near[-1]])
    if width <= 0.0:
        return near, np.zeros(near.size)
    steepness = max(float(slope[inside].sum()) / float(weight[inside].sum()), 0.0)
    return near, steepness / width * weight[near]
