"""Scores of the training rows in a few numbers: what threshold and probabilities come from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.scorer import match_log_odds
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.pair_sums import PairSums

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FittedScores:
    """Mean and spread of the scores x'w in each class.

    Attributes
    ----------
    gap, middle : float
        Difference of the class means, and their mean.
    variance : float
        Within a class.
    weights, effective_sizes : (float, float)
        Of the data, (positives, negatives).
    """

    gap: float
    middle: float
    variance: float
    weights: tuple[float, float]
    effective_sizes: tuple[float, float]

    @classmethod
    def of_moments(cls, moments: PairMoments, w: Array) -> FittedScores:
        """Of the rows behind moments."""
        means = moments.score_means(w)
        if moments.is_closed:
            # what classes differ in across blocks is not what w was fitted to
            gap, spread = moments.score_difference(w)
            variance = spread / 2
        else:
            gap = means[0] - means[1]
            variance = float(np.average(moments.score_variances(w), weights=moments.weights))
        return cls(gap, (means[0] + means[1]) / 2, variance, moments.weights, moments.effective_sizes)

    @classmethod
    def of_rows(
        cls,
        rows: PairSums,
        w: Array,
        middle: float,
        weights: tuple[float, float],
        effective_sizes: tuple[float, float],
    ) -> FittedScores:
        """Of rows that multiply vectors, w over their columns; one sweep over them."""
        _, variances = rows.product_and_variances(w)
        variance = variances[0] / 2 if len(variances) == 1 else float(np.average(variances, weights=weights))
        return cls(float(rows.mu @ w), middle, variance, weights, effective_sizes)

    def log_odds(self, negative_rate: float) -> tuple[float, float]:
        """Intercept and slope that make log-odds of the scores."""
        # downsampled negatives stood for more of their kind
        prior_odds = self.weights[0] / (self.weights[1] / negative_rate)
        return match_log_odds(self.gap, self.middle, self.variance, prior_odds)
