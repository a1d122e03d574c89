"""Probabilities in closed form from the moments of the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Largest log-odds at the class means; reached only by scores without spread.
_MAX_LOG_ODDS = 500.0


@dataclass(frozen=True)
class ScoreModel:
    """Normal scores with one variance for both classes: P(positive | s) is logistic in s.

    Attributes
    ----------
    slope : float
        Log-odds gained per unit of score.
    threshold : float
        Score at which both classes are equally likely.
    """

    slope: float
    threshold: float

    @classmethod
    def fit(
        cls,
        means: tuple[float, float],
        variances: tuple[float, float],
        prior_odds: float,
        shares: tuple[float, float],
    ) -> ScoreModel:
        """Match class means and variances of the score, (positives, negatives).

        With means m₊, m₋ and the pooled variance v, the log-odds at s are
        ``(m₊ - m₋)/v · (s - (m₊ + m₋)/2) + log prior_odds``.

        Parameters
        ----------
        means, variances : pairs of float
            Of the score, (positives, negatives).
        prior_odds : float
            P(positive)/P(negative) before the score is seen.
        shares : pair of float
            How much each class variance counts in the pooled one; they sum to 1.
        """
        gap = means[0] - means[1]
        middle = (means[0] + means[1]) / 2
        log_prior = float(np.log(prior_odds))
        if gap == 0.0:
            # a score that says nothing: the prior decides, at every score
            return cls(1.0, middle - log_prior)
        pooled = shares[0] * variances[0] + shares[1] * variances[1]
        slope = gap / max(pooled, gap**2 / (2 * _MAX_LOG_ODDS))
        return cls(slope, middle - log_prior / slope)
