"""How good probabilities are: normalised entropy and calibration."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.metrics.intervals.binomial import clopper_pearson
from mbauc.metrics.ranked import RankedScores

Array = NDArray[np.float64]

#: Probabilities of 0 and 1 count as this far from them, so that one wrong row does not make a loss infinite.
_EPSILON = float(np.finfo(np.float64).eps)
#: How far both probabilities of a row may be from a sum of one: float32 ones are, by rounding.
_SUM_TOLERANCE = 1e-6


def normalized_entropy(
    y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Normalised entropy: log-loss divided by the entropy of the base rate, ``O(n)``.

    Predicting the base rate gives 1, perfect predictions give 0. Unlike the log-loss it is comparable between
    data sets of different base rates. Probabilities are clipped to 2.2e-16 from 0 and 1.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Two-valued labels; the larger is positive.
    y_prob : array-like of shape (n,) or (n, 2)
        Probability of the positive class, or the output of ``predict_proba``, whose second column is used.
    sample_weight : array-like of shape (n,), optional
        Weight of each row.

    Returns
    -------
    float

    References
    ----------
    He et al. 2014, Practical lessons from predicting clicks on ads at Facebook.

    Examples
    --------
    >>> round(normalized_entropy([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.6814
    >>> normalized_entropy([0, 0, 0, 1], [0.25, 0.25, 0.25, 0.25])
    1.0
    """
    ranked = _validate(y_true, y_prob, sample_weight)
    positive, weight = ranked.positive, ranked.weight
    rate = float(np.average(positive, weights=weight))
    if rate in (0.0, 1.0):
        raise ValueError(
            f"all rows that count are {'positive' if rate else 'negative'}; the entropy of the base rate is 0 "
            "then, and normalized_entropy needs both classes. Use sklearn.metrics.log_loss, or more rows."
        )
    entropy = -(rate * np.log(rate) + (1.0 - rate) * np.log1p(-rate))
    given = np.clip(np.where(positive, ranked.values, 1.0 - ranked.values), _EPSILON, 1.0 - _EPSILON)
    return float(np.average(-np.log(given), weights=weight) / entropy)


def calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    bins: int = 15,
    strategy: Literal["quantile", "uniform"] = "quantile",
    norm: Literal["l1", "l2", "max"] = "l1",
) -> float:
    """Expected calibration error: distance of predicted probabilities from observed frequencies, by bins.

    Rows are binned by probability; in each bin the mean probability is compared with the share of positives.
    The norm "l1" gives the expected calibration error (ECE). The estimate is biased upwards if bins contain few
    rows. ``O(n log n)``.

    Parameters
    ----------
    y_true, y_prob, sample_weight
        As for :func:`normalized_entropy`; a single class is allowed if labels are 0/1, ±1 or boolean.
    bins : int, default=15
        Number of bins, at least 1.
    strategy : {"quantile", "uniform"}, default="quantile"
        Bins of equal weight, or of equal width. Equal probabilities always share a bin, the one in which the
        middle of them falls, so that frequent values reduce the number of bins. With equal widths, a
        probability on the edge of two bins belongs to the lower.
    norm : {"l1", "l2", "max"}, default="l1"
        Mean absolute distance, root mean squared distance (both weighted by bin), or maximum distance.

    Returns
    -------
    float

    References
    ----------
    Naeini, Cooper, Hauskrecht 2015, Obtaining well calibrated probabilities using Bayesian binning;
    Kumar, Liang, Ma 2019, Verified uncertainty calibration.

    Examples
    --------
    >>> round(calibration_error([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], bins=2), 4)
    0.1875
    """
    check_whole("bins", bins)
    check_choice("strategy", strategy, ("quantile", "uniform"))
    check_choice("norm", norm, ("l1", "l2", "max"))
    ranked = _validate(y_true, y_prob, sample_weight)
    if strategy == "uniform":
        size, predicted, hits = _bins(ranked, np.linspace(0.0, 1.0, bins + 1)[1:-1], "right")
    else:
        size, predicted, hits = _bins(ranked, _quantile_edges(ranked, bins), "left")
    gap, share = np.abs(predicted - hits / size), size / size.sum()
    if norm == "max":
        return float(gap.max())
    return float((share * gap).sum() if norm == "l1" else np.sqrt((share * gap**2).sum()))


class Reliability(NamedTuple):
    """Probabilities against what happened, in bins of equal weight.

    Attributes
    ----------
    size : ndarray of shape (bins,)
        Weight of the rows in each bin.
    predicted, seen : ndarrays of shape (bins,)
        Mean probability and share of positives.
    low, high : ndarrays of shape (bins,)
        Interval of the share.
    error : float
        :func:`calibration_error`: mean distance of predicted and seen.
    """

    size: Array
    predicted: Array
    seen: Array
    low: Array
    high: Array
    error: float


def reliability(ranked: RankedScores, confidence: float = 0.95) -> Reliability:
    """The bins of :func:`calibration_error`: up to 15, fewer where a class is small, with exact intervals."""
    bins = int(np.clip(min(part.total for part in ranked.classes) // 5, 4, 15))
    size, predicted, hits = _bins(ranked, _quantile_edges(ranked, bins), "left")
    seen = hits / size
    error = float((size / size.sum()) @ np.abs(predicted - seen))
    return Reliability(size, predicted, seen, *clopper_pearson(hits, size, confidence), error)


def _quantile_edges(ranked: RankedScores, bins: int) -> Array:
    """Lowest probability of each bin but the first: that from which on the middle of equal ones lies in it."""
    wanted = np.arange(1, bins)
    edges = np.full(wanted.size, np.inf)
    for values, _ in ranked.classes:
        low, high = np.zeros(wanted.size, dtype=np.intp), np.full(wanted.size, values.size)
        # all edges are looked for at once, by halving
        while (searched := low < high).any():
            half = (low + high) // 2
            reached = bins * ranked.middle(values[np.minimum(half, values.size - 1)]) >= wanted
            high, low = np.where(searched & reached, half, high), np.where(searched & ~reached, half + 1, low)
        there = low < values.size
        edges[there] = np.minimum(edges[there], values[low[there]])
    return edges


def _bins(ranked: RankedScores, edges: Array, side: Literal["left", "right"]) -> tuple[Array, Array, Array]:
    """Weight, mean probability and weight of the positives of each bin that has rows."""
    sums, counts = np.zeros(edges.size + 1), []
    for part in ranked.classes:
        cuts = [0, *np.searchsorted(part.values, edges, side=side), part.values.size]
        sums += [part.weighted_sum(start, stop) for start, stop in pairwise(cuts)]
        counts.append(np.diff(part.first(np.array(cuts))))
    size = counts[0] + counts[1]
    used = size > 0
    return size[used], sums[used] / size[used], counts[0][used]


def check_probabilities(values: Array, name: str) -> None:
    """Numbers between 0 and 1, or an error that names the first row that is not."""
    outside = ~((values >= 0.0) & (values <= 1.0))
    if outside.any():
        place = tuple(np.argwhere(outside)[0])
        raise ValueError(
            f"{name} has {values[place]} at row {place[0]:,}; probabilities lie between 0 and 1. Scores of "
            "decision_function are not probabilities: pass the ones of predict_proba, or calibrate the scores."
        )


def _validate(y_true: Any, y_prob: Any, sample_weight: Any) -> RankedScores:
    """Probabilities of the positive class from what a caller passed, or an error that names what is wrong."""
    try:
        values = np.asarray(y_prob, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "y_prob must hold numbers: the probability of the positive class for each row."
        ) from None
    if values.ndim != 1 and not (values.ndim == 2 and values.shape[1] == 2):
        raise ValueError(
            f"y_prob must have shape (n,), or (n, 2) as predict_proba gives it, got shape {values.shape}."
        )
    check_probabilities(values, "y_prob")
    if values.ndim == 2:
        off = np.abs(values.sum(axis=1) - 1.0) > _SUM_TOLERANCE
        if off.any():
            row = int(np.argmax(off))
            first, second = values[row]
            raise ValueError(
                f"y_prob has {first} and {second} at row {row:,}; both probabilities of a row must add up to "
                "1. Pass the column of the positive class alone if they are not of the same model."
            )
        values = values[:, 1]
    return RankedScores.validate(y_true, values, sample_weight, s_name="y_prob", both_classes=False)
