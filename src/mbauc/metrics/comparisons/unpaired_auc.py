"""Whether two AUCs differ that come from different rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from mbauc.checks import check_share
from mbauc.errors import FewRowsWarning
from mbauc.metrics.intervals.delong import AucInterval
from mbauc.runtime.warn import warn


@dataclass(frozen=True)
class AucDifference:
    """Difference of two AUCs on different rows, with confidence interval and p-value.

    Attributes
    ----------
    difference, stderr : float
        First minus second, and its standard error.
    low, high : float
        Confidence interval of the difference.
    p_value : float
        Two-sided p-value of no difference.
    confidence : float
        Coverage of the interval.
    """

    difference: float
    stderr: float
    low: float
    high: float
    p_value: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"{self.difference:+.4f} ({100 * self.confidence:g}% interval {self.low:+.4f} to {self.high:+.4f}, "
            f"p = {self.p_value:.3g})"
        )


def compare_roc_auc_unpaired(
    first: AucInterval, second: AucInterval, *, confidence: float = 0.95
) -> AucDifference:
    """Test the difference of two AUCs on independent rows, such as two months or two hospitals.

    The two sets of rows must be independent; the variance of the difference is then the sum of both variances
    (DeLong's, for intervals from :func:`roc_auc_interval`). To compare scorers on the same rows, use
    :func:`compare_roc_auc`, which has far more power.

    Parameters
    ----------
    first, second : AucInterval
        From :func:`roc_auc_interval` or :func:`roc_auc_bootstrap`, with weights or clusters if there are any,
        or two of :func:`partial_roc_auc_interval` of the same region.
    confidence : float, default=0.95
        Coverage of the interval of the difference, between 0 and 1.

    Returns
    -------
    AucDifference

    Warns
    -----
    FewRowsWarning
        If an AUC is exactly 0 or 1: its variance cannot be estimated, and the p-value is too small.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.metrics import roc_auc_interval
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> may, june = (roc_auc_interval(y, rng.standard_normal(1000) + 0.8 * y) for _ in range(2))
    >>> print(compare_roc_auc_unpaired(may, june))
    -0.0041 (95% interval -0.0824 to +0.0742, p = 0.918)
    """
    check_share("confidence", confidence)
    for name, each in (("first", first), ("second", second)):
        _check_interval(name, each)
    if any(each.stderr == 0.0 and each.auc in (0.0, 1.0) for each in (first, second)):
        warn(
            "an AUC is exactly 0 or 1: its standard error is estimated as 0, and the p-value is too small.",
            FewRowsWarning,
        )
    difference, stderr = first.auc - second.auc, float(np.hypot(first.stderr, second.stderr))
    z = 0.0 if difference == 0.0 else abs(difference) / stderr if stderr > 0.0 else np.inf
    half = float(ndtri(0.5 + confidence / 2)) * stderr
    p_value = float(2 * ndtr(-z))
    return AucDifference(difference, stderr, difference - half, difference + half, p_value, confidence)


def _check_interval(name: str, value: Any) -> None:
    if not isinstance(value, AucInterval):
        raise TypeError(
            f"{name} must be an AucInterval, such as roc_auc_interval returns, got {type(value).__name__}. "
            "Scores of the same rows go to compare_roc_auc."
        )
