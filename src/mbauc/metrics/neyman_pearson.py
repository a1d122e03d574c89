"""Thresholds with a guaranteed false-alarm rate, from order statistics of the scores of negative rows.

Among n negative scores take the k-th smallest as threshold. The true false-alarm rate above it has a
distribution that depends on n and k alone (for continuous scores Beta(n - k + 1, k); ties only lower it), so
that the smallest k with P(rate > alpha) ≤ delta can be read off a binomial table: no assumption on the scores,
no large-sample limit (Tong, Feng and Li 2018, Neyman-Pearson classification algorithms and NP receiver
operating characteristics).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincc
from scipy.stats import binom

from mbauc.checks import check_share, check_whole
from mbauc.metrics.curves import roc_curve
from mbauc.metrics.intervals.binomial import clopper_pearson, upper_limit
from mbauc.metrics.ranked import RankedScores

Array = NDArray[np.float64]

__all__ = [
    "DetectionInterval",
    "FalseAlarmThreshold",
    "NpBand",
    "detection_interval",
    "false_alarm_threshold",
    "negatives_needed",
    "np_roc_band",
    "threshold_rank",
    "violation_probability",
]

#: Points of a band.
_POINTS = 1000


def check_promise(alpha: Any, delta: Any) -> tuple[float, float]:
    """Both as floats; raises unless they lie strictly between 0 and 1."""
    return check_share("alpha", alpha), check_share("delta", delta)


def negatives_needed(alpha: float, delta: float) -> int:
    """Minimum number of negative rows for an (alpha, delta) guarantee: ⌈log delta / log(1 - alpha)⌉.

    Examples
    --------
    >>> negatives_needed(0.05, 0.05), negatives_needed(0.01, 0.05)
    (59, 299)
    """
    alpha, delta = check_promise(alpha, delta)
    return max(1, int(np.ceil(np.log(delta) / np.log1p(-alpha))))


def violation_probability(n: int, k: ArrayLike, alpha: float) -> Any:
    """Bound on P(false-positive rate > alpha) for a threshold at the k-th smallest of n negative scores.

    ``P(Binomial(n, 1 - alpha) ≥ k)``; attained by continuous scores.
    """
    alpha, rank = check_share("alpha", alpha), np.asarray(k)
    return betaincc(n - rank + 1, rank, alpha)


def threshold_rank(n: int, alpha: float, delta: float) -> int:
    """Smallest rank k among n negative scores that satisfies the (alpha, delta) guarantee.

    Raises
    ------
    ValueError
        If n is too small for any rank.

    Examples
    --------
    >>> threshold_rank(59, 0.05, 0.05), threshold_rank(1000, 0.05, 0.05)
    (59, 962)
    """
    check_whole("n", n)
    alpha, delta = check_promise(alpha, delta)
    needed = negatives_needed(alpha, delta)
    if n < needed:
        raise ValueError(
            f"alpha={alpha:g} and delta={delta:g} need at least {needed:,} negative rows to set the threshold, "
            f"got {n:,}. Collect more negatives, or raise alpha or delta."
        )
    # the probability falls with the rank
    return bisect_left(range(1, n), True, key=lambda k: bool(violation_probability(n, k, alpha) <= delta)) + 1


@dataclass(frozen=True)
class FalseAlarmThreshold:
    """Threshold with a guaranteed limit of the false-positive rate.

    Attributes
    ----------
    threshold : float
        Raise the alarm where a score is above it.
    rank, n_negatives : int
        The threshold is the rank-th smallest of this number of negative scores.
    alpha, delta : float
        The false-positive rate exceeds alpha with probability at most delta.
    violation_probability : float
        Bound on that probability, at most delta.
    """

    threshold: float
    rank: int
    n_negatives: int
    alpha: float
    delta: float
    violation_probability: float


def false_alarm_threshold(
    negative_scores: ArrayLike, *, alpha: float = 0.05, delta: float = 0.05
) -> FalseAlarmThreshold:
    """Lowest threshold whose false-positive rate is at most alpha with probability at least 1 - delta.

    Parameters
    ----------
    negative_scores : array-like of shape (n,)
        Scores of held-out negative rows, independent and identically distributed with future negative rows.
    alpha, delta : float
        Limit of the false-positive rate, and probability that it is exceeded (over the draw of these rows).

    Returns
    -------
    FalseAlarmThreshold

    Notes
    -----
    ``O(n)``.

    Examples
    --------
    >>> import numpy as np
    >>> found = false_alarm_threshold(np.random.default_rng(0).standard_normal(1000), alpha=0.05)
    >>> round(found.threshold, 3), found.rank, round(found.violation_probability, 3)
    (1.713, 962, 0.043)
    """
    alpha, delta = check_promise(alpha, delta)
    values = np.asarray(negative_scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"negative_scores must be one-dimensional, got shape {values.shape}.")
    if np.isnan(values).any():
        raise ValueError(f"negative_scores has NaN at row {int(np.flatnonzero(np.isnan(values))[0]):,}.")
    if values.size == 0:
        raise ValueError("negative_scores is empty; the threshold comes from negative rows.")
    rank = threshold_rank(values.size, alpha, delta)
    return FalseAlarmThreshold(
        float(np.partition(values, rank - 1)[rank - 1]),
        rank,
        values.size,
        alpha,
        delta,
        float(violation_probability(values.size, rank, alpha)),
    )


@dataclass(frozen=True)
class NpBand:
    """Neyman–Pearson band of a ROC curve.

    Attributes
    ----------
    false_alarm : ndarray of shape (m,)
        Upper limit of the false-positive rate at each threshold, exceeded with probability at most delta.
    low, high : ndarray of shape (m,)
        Limits of the true-positive rate at each threshold, with confidence 1 - delta.
    threshold : ndarray of shape (m,)
        The thresholds, increasing.
    delta : float
        Error probability, for each threshold individually.
    """

    false_alarm: Array
    low: Array
    high: Array
    threshold: Array
    delta: float


def np_roc_band(y_true: ArrayLike, y_score: ArrayLike, *, delta: float = 0.05) -> NpBand:
    """Neyman–Pearson band of the ROC curve: true-positive rates at guaranteed false-positive rates.

    At each threshold (a score of a negative row) the abscissa is the upper limit of the false-positive rate
    with confidence 1 - delta, and the band is the interval of the true-positive rate with the same confidence
    (Clopper–Pearson). ``O(n log n)``; at most 1,000 thresholds, spread evenly and towards low false-positive
    rates.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels and scores of held-out rows.
    delta : float, default=0.05
        Probability that each limit is exceeded.

    Returns
    -------
    NpBand
    """
    delta = check_share("delta", delta)
    ranked = RankedScores.validate(y_true, y_score)
    minus = ranked.minus.values
    n = minus.size
    near_the_end = n + 1 - np.geomspace(1, n, min(n, _POINTS // 2))
    ranks = np.unique(np.concatenate([np.linspace(1, n, min(n, _POINTS // 2)), near_the_end]).round())
    return promise_band(ranked, np.unique(minus[ranks.astype(np.intp) - 1]), delta)


def promise_band(ranked: RankedScores, threshold: Array, delta: float) -> NpBand:
    """The band at rising thresholds; weights count as numbers of rows."""
    curve = roc_curve(ranked, threshold)
    limit = upper_limit(curve.false_alarms, curve.negatives, delta)
    return NpBand(limit, *clopper_pearson(curve.found, curve.positives, 1 - delta), threshold, delta)


@dataclass(frozen=True)
class DetectionInterval:
    """True-positive (detection) rate at a fixed false-positive rate, with a confidence interval.

    Attributes
    ----------
    detection, low, high : float
        Estimate and ends.
    false_alarm : float
        The false-positive rate.
    threshold : float
        Empirical threshold at that rate.
    confidence : float
        Minimum coverage.
    """

    detection: float
    low: float
    high: float
    false_alarm: float
    threshold: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"P_D {self.detection:.4f} at P_F {self.false_alarm:g} "
            f"({100 * self.confidence:g}% interval {self.low:.4f} to {self.high:.4f})"
        )


def detection_interval(
    y_true: ArrayLike, y_score: ArrayLike, false_alarm: float, *, confidence: float = 0.95
) -> DetectionInterval:
    """True-positive rate P_D at a fixed false-positive rate P_F, with a distribution-free interval.

    The interval is valid for any distribution of the scores and any number of rows. Half of the error
    probability is spent on the location of the threshold (order statistics of the negative scores), half on the
    true-positive rate there (Clopper–Pearson), so it is conservative. Scores tied at the threshold are
    randomised so that P_F is met exactly. With too few negatives to resolve P_F, the lower end is 0. ``O(n log
    n)``.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n,)
        Labels and scores of held-out rows.
    false_alarm : float
        False-positive rate P_F, strictly between 0 and 1.
    confidence : float, default=0.95
        Coverage.

    Returns
    -------
    DetectionInterval

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [9000, 1000])
    >>> print(detection_interval(y, rng.standard_normal(10_000) + 2 * y, false_alarm=0.01))
    P_D 0.4030 at P_F 0.01 (95% interval 0.3407 to 0.4608)
    """
    false_alarm, confidence = check_share("false_alarm", false_alarm), check_share("confidence", confidence)
    return detection_at(RankedScores.validate(y_true, y_score), false_alarm, confidence)


def detection_at(ranked: RankedScores, false_alarm: float, confidence: float) -> DetectionInterval:
    """P_D at a fixed P_F with its interval, of rows without weights; see :func:`detection_interval`."""
    plus, minus = ranked.plus.values, ranked.minus.values
    n, share = minus.size, (1 - confidence) / 4
    # the count of negatives at or below the true threshold is binomial
    above = int(binom.ppf(1 - share, n, 1 - false_alarm)) + 1
    below = int(binom.ppf(share, n, 1 - false_alarm))
    ends = (
        minus[above - 1] if above <= n else np.inf,
        minus[below - 1] if below >= 1 else -np.inf,
    )
    # scores at the true threshold may count or not, as the false-alarm rate demands: not for the lower end,
    # all of them for the upper one
    above_all, from_below = np.searchsorted(plus, ends[0], "right"), np.searchsorted(plus, ends[1], "left")
    lows, highs = clopper_pearson(plus.size - np.array([above_all, from_below]), plus.size, 1 - 2 * share)
    curve = roc_curve(ranked, max_fpr=false_alarm)
    return DetectionInterval(
        float(np.interp(false_alarm, curve.false_alarm, curve.detection)),
        float(lows[0]),
        float(highs[1]),
        false_alarm,
        float(np.quantile(minus, 1 - false_alarm, method="higher")),
        confidence,
    )
