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
    def fit(cls, gap: float, middle: float, variance: float, prior_odds: float) -> ScoreModel:
        """Match the moments of the score.

        With class means m₊, m₋ and a common variance v, the log-odds at s are
        ``(m₊ - m₋)/v · (s - (m₊ + m₋)/2) + log prior_odds``.

        Parameters
        ----------
        gap, middle : float
            m₊ - m₋, not negative, and (m₊ + m₋)/2.
        variance : float
            v.
        prior_odds : float
            P(positive)/P(negative) before the score is seen.
        """
        log_prior = float(np.log(prior_odds))
        spread = max(variance, gap * gap / (2 * _MAX_LOG_ODDS))
        slope = gap / spread if gap > 0.0 and spread > 0.0 else 0.0
        if slope == 0.0:
            # a score that says nothing: the prior decides, at every score
            return cls(1.0, middle - log_prior)
        return cls(slope, middle - log_prior / slope)
