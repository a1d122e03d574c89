"""Several losses over the same pairs: the problem of each, with the columns divided as each wants them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairLoss, PairObjective, PairWeights, Region, Squared
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic
from mbauc.solvers.column_scales import Scaling
from mbauc.solvers.newton.problem import LossProblem
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]


#: Mean curvature of a loss that an automatic l2 goes by at least: where the signal is weak, all pairs may lie
#: on the straight part of a hinge, which has none.
_LEAST_CURVATURE = 0.1


class PairProblems:
    """The problems of different losses over the pairs of some rows.

    Parameters
    ----------
    pairs : PairOperator
        The rows.
    factors : ndarray of shape (d,)
        Penalty factor of each column.
    scale : bool, "auto" or ndarray of shape (d,)
        What columns are divided by.
    region : Region
        Which pairs count, by their ranks.
    quadratic : Quadratic, optional
        The same pairs for the squared loss, if there is something faster than the operator.
    """

    def __init__(
        self,
        pairs: PairOperator,
        factors: Array,
        *,
        scale: Scaling,
        region: Region,
        quadratic: Quadratic | None = None,
    ) -> None:
        self.pairs, self.factors, self._scale = pairs, factors, scale
        self.region = region
        self._quadratic = pairs if quadratic is None else quadratic
        self._squared: dict[Any, Problem] = {}

    @cached_property
    def weights(self) -> PairWeights:
        """Who is paired with whom, among the operator's rows."""
        if isinstance(self.pairs, GroupedPairOperator):
            return self.pairs.pair_weights
        return PairWeights.build(*self.pairs.row_labels())

    @property
    def scales(self) -> Array:
        """What each column is divided by."""
        return self.squared().scales

    def squared(self, scale: Scaling | None = None) -> Problem:
        """Eq. (14) over all pairs, whatever the region; "auto" is as the problems were made."""
        if scale is None or isinstance(scale, str):
            scale = self._scale
        key = None if isinstance(scale, np.ndarray) else scale
        if key not in self._squared:
            self._squared[key] = Problem(self._quadratic, self.factors, scale=scale)
        return self._squared[key]

    def of(
        self, loss: PairLoss, scale: Scaling | None = None, region: Region | None = None
    ) -> Problem | LossProblem:
        """The problem of a loss, over the pairs of the region if no other is given."""
        if isinstance(loss, Squared) and (region or self.region).is_whole:
            return self.squared(scale)
        return self.newton(loss, scale, region)

    def newton(self, loss: PairLoss, scale: Scaling | None = None, region: Region | None = None) -> LossProblem:
        """The problem of a loss as one that is solved step by step."""
        objective = PairObjective(loss, self.weights, region or self.region)
        return LossProblem(self.pairs, objective, self.factors, scale=self.squared(scale).scales)

    def choose_l2(self, loss: PairLoss, *, tol: float, max_iter: int) -> tuple[float, Array]:
        """An l2 for a loss, from the automatic one of the squared loss, and the weights of that."""
        squared = self.squared().solve(0.0, "auto", tol=tol, max_iter=max_iter)
        curvature = max(self.mean_curvature(loss, squared.coef), _LEAST_CURVATURE)
        return squared.l2 * curvature, squared.coef

    def mean_curvature(self, loss: PairLoss, coef: Array) -> float:
        """Mean of the second derivative of a loss over all pairs under some weights; 1 for the squared loss."""
        expansion = loss.expand(self.weights, self.pairs.scores(coef[self.pairs.columns]))
        return float(expansion.diagonal[self.weights.plus].sum())
