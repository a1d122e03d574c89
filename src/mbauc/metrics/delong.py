"""Confidence interval of an AUC."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from mbauc.metrics.roc_auc import check_scores


@dataclass(frozen=True)
class AucInterval:
    """An AUC and the interval that holds the true one with the stated confidence.

    Attributes
    ----------
    auc, low, high : float
        Estimate and ends of the interval.
    stderr : float
        Standard error of the estimate.
    confidence : float
        Coverage aimed at.
    """

    auc: float
    low: float
    high: float
    stderr: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.auc:.4f} ({self.confidence:.0%} interval {self.low:.4f} to {self.high:.4f})"


def roc_auc_interval(y: ArrayLike, s: ArrayLike, *, confidence: float = 0.95) -> AucInterval:
    """AUC with DeLong's confidence interval, on the logit scale so that it stays within [0, 1].

    The variance is that of the placements: for a positive row the share of negatives below it, for a
    negative row the share of positives above it. ``O(n log n)``. With a handful of rows in a class the
    interval is too narrow, as all intervals that rest on a measured variance are.

    Parameters
    ----------
    y, s
        As for :func:`roc_auc`.
    confidence : float
        Coverage, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> print(roc_auc_interval(y, rng.standard_normal(1000) + y))
    0.7122 (95% interval 0.6579 to 0.7609)
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}.")
    positive, scores = check_scores(y, s)
    plus, minus = np.sort(scores[positive]), np.sort(scores[~positive])
    below = (np.searchsorted(minus, plus, "left") + np.searchsorted(minus, plus, "right")) / 2 / minus.size
    above = 1 - (np.searchsorted(plus, minus, "left") + np.searchsorted(plus, minus, "right")) / 2 / plus.size
    auc = float(below.mean())
    if min(plus.size, minus.size) < 2:
        raise ValueError(
            "an interval needs at least 2 rows of each class, "
            f"got {plus.size} positive and {minus.size} negative."
        )
    variance = sum(float(placements.var(ddof=1)) / placements.size for placements in (below, above))
    stderr = float(np.sqrt(variance))
    if stderr == 0.0 and auc in (0.0, 1.0):
        # no spread to measure: the interval of as many successes in a row as the smaller class has rows
        reach = ((1 - confidence) / 2) ** (1 / min(plus.size, minus.size))
        low, high = (reach, 1.0) if auc == 1.0 else (0.0, 1.0 - reach)
        return AucInterval(auc, low, high, stderr, confidence)
    half = float(ndtri(0.5 + confidence / 2)) * stderr / (auc * (1 - auc))
    centre = float(logit(auc))
    return AucInterval(auc, float(expit(centre - half)), float(expit(centre + half)), stderr, confidence)
