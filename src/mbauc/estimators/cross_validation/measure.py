"""What held-out scores are judged by: AUC, within groups if rows have groups, or of a part of the ROC curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairWeights, Region, Squared
from mbauc.metrics.grouped import GroupedAuc
from mbauc.metrics.region_area import standardized_area
from mbauc.metrics.roc_auc import auc_of_classes, weighted_auc_of_classes

Array = NDArray[np.float64]
#: Of the positives and of the negatives, if there are any.
Weights = tuple[Array, Array] | None
Groups = tuple[NDArray[np.uint64], NDArray[np.uint64]] | None


@dataclass(frozen=True)
class Measure:
    """The share of the pairs that count which scores rank right.

    Of a region of the ROC curve it is the share of its area below the curve, mapped so that ½ is what a coin
    reaches and 1 is all of it, as :func:`mbauc.metrics.partial_roc_auc` has it.
    """

    region: Region = field(default_factory=Region)
    equal_groups: bool = False

    def of_rows(
        self, n_plus: int, n_minus: int, weights: Weights = None, groups: Groups = None
    ) -> Callable[[Array, Array], float]:
        """The measure of scores of the positives and negatives; who is paired with whom is found out once."""
        if groups is None and self.region.is_whole:
            if weights is None:
                return auc_of_classes
            return lambda high, low: weighted_auc_of_classes(high, low, *weights)
        pairs = self._pair_up(n_plus, n_minus, weights, groups)

        def measure(high: Array, low: Array) -> float:
            scores = np.concatenate([high, low])
            if self.region.is_whole:
                return GroupedAuc.of(pairs, scores).auc
            return standardized_area(pairs, scores, self.region)

        return measure

    def margins(
        self, high: Array, low: Array, weights: Weights = None, groups: Groups = None
    ) -> tuple[Array, Array]:
        """Mean and variance of the margins of the pairs, of scores in k rows each; whatever the region."""
        pairs = self._pair_up(high.shape[1], low.shape[1], weights, groups)
        loss, scores = Squared(), np.hstack([high, low])
        mean = -scores @ loss.expand(pairs, np.zeros(scores.shape[1])).gradient
        risk = np.array([2.0 * loss.expand(pairs, row).value for row in scores])
        return mean, np.maximum(risk - (1.0 - mean) ** 2, 0.0)

    def _pair_up(self, n_plus: int, n_minus: int, weights: Weights, groups: Groups) -> PairWeights:
        """Pairs of rows of which the positives stand first."""
        return PairWeights.build(
            np.arange(n_plus + n_minus) < n_plus,
            None if weights is None else np.concatenate(weights),
            None if groups is None else np.concatenate(groups),
            equal_groups=self.equal_groups,
        )
