"""How good probabilities are: log-loss, normalised entropy and calibration error."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.rows.labels import positive_rows
from mbauc.rows.matrix import check_weights

Array = NDArray[np.float64]

#: Probabilities of 0 and 1 count as this far from them, so that one wrong row does not make a loss infinite.
_EPSILON = float(np.finfo(np.float64).eps)
#: How far both probabilities of a row may be from a sum of one: float32 ones are, by rounding.
_SUM_TOLERANCE = 1e-6


def log_loss(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Mean of -log of the probability that was given to what happened, ``O(n)``.

    Probabilities are kept 2.2e-16 away from 0 and 1, as scikit-learn does with float64.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two-valued labels; the larger is positive. One class alone will do if labels are 0/1, ±1 or boolean.
    p : array-like of shape (n,) or (n, 2)
        Probability of the positive class, or of both as ``predict_proba`` gives them; the second is used.
    sample_weight : array-like of shape (n,), optional
        How much each row counts for.

    Returns
    -------
    float

    Examples
    --------
    >>> round(log_loss([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]), 4)
    0.4723
    """
    return _mean_loss(_checked_probabilities(y, p, sample_weight))


def normalized_entropy(y: ArrayLike, p: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Log-loss divided by the entropy of the base rate, ``O(n)``.

    1 is what always saying the base rate reaches, 0 is certainty that is right; unlike those of the log-loss,
    values for data of different base rates can be compared.

    Parameters
    ----------
    y, p, sample_weight
        As for :func:`log_loss`; both classes must be there.

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
    checked = _checked_probabilities(y, p, sample_weight)
    rate = float(np.average(checked.positive, weights=checked.weight))
    if rate in (0.0, 1.0):
        raise ValueError(
            f"all rows that count are {'positive' if rate else 'negative'}; the entropy of the base rate is 0 "
            "then, and normalized_entropy needs both classes. Use log_loss, or more rows."
        )
    entropy = -(rate * np.log(rate) + (1.0 - rate) * np.log1p(-rate))
    return float(_mean_loss(checked) / entropy)


def calibration_error(
    y: ArrayLike,
    p: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    bins: int = 15,
    strategy: Literal["quantile", "uniform"] = "quantile",
    norm: Literal["l1", "l2", "max"] = "l1",
) -> float:
    """How far probabilities are from the shares of positives where they were given.

    Rows are put into bins by probability; in each bin the mean probability is compared with the share of
    positives. The norm "l1" gives the expected calibration error. Where bins hold few rows, chance
    alone makes it greater than zero. ``O(n log n)``.

    Parameters
    ----------
    y, p, sample_weight
        As for :func:`log_loss`.
    bins : int
        Number of bins, at least 1.
    strategy : {"quantile", "uniform"}
        Bins of equal weight, or of equal width. Equal probabilities are never parted: all of them go where
        the middle of them lies, so that heavy ones leave fewer bins. A probability on the edge of two bins
        of equal width belongs to the lower.
    norm : {"l1", "l2", "max"}
        Mean of the distances weighted by bin, root of the mean of their squares, or the largest.

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
    positive, p, weight = _checked_probabilities(y, p, sample_weight)
    weight = np.ones(p.size) if weight is None else weight
    if strategy == "uniform":
        place = np.searchsorted(np.linspace(0.0, 1.0, bins + 1)[1:-1], p)
    else:
        place = _quantile_bins(p, weight, bins)
    size = np.bincount(place, weight)
    excess = np.bincount(place, weight * (p - positive))
    used = size > 0
    gap, share = np.abs(excess[used] / size[used]), size[used] / size.sum()
    if norm == "max":
        return float(gap.max())
    return float((share * gap).sum() if norm == "l1" else np.sqrt((share * gap**2).sum()))


def _quantile_bins(p: Array, weight: Array, bins: int) -> NDArray[np.intp]:
    """Bin of each row: that in which the middle of the rows with its probability lies."""
    distinct, which = np.unique(p, return_inverse=True)
    size = np.bincount(which, weight, distinct.size)
    upper = np.cumsum(size)
    middle = (upper - size / 2) / upper[-1]
    place: NDArray[np.intp] = np.minimum((bins * middle).astype(np.intp), bins - 1)
    return place[which]


class _Probabilities(NamedTuple):
    """Checked probabilities of the positive class, with the mask of the positive rows and, if any, weights."""

    positive: NDArray[np.bool_]
    p: Array
    weight: Array | None


def _mean_loss(checked: _Probabilities) -> float:
    positive, p, weight = checked
    given = np.clip(np.where(positive, p, 1.0 - p), _EPSILON, 1.0 - _EPSILON)
    return float(np.average(-np.log(given), weights=weight))


def _checked_probabilities(y: Any, p: Any, sample_weight: Any) -> _Probabilities:
    """Probabilities from what a caller passed, or an error that names what is wrong with it."""
    try:
        values = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("p must hold numbers: the probability of the positive class for each row.") from None
    if values.ndim != 1 and not (values.ndim == 2 and values.shape[1] == 2):
        raise ValueError(
            f"p must have shape (n,), or (n, 2) as predict_proba gives it, got shape {values.shape}."
        )
    positive = positive_rows(y)
    if positive.size != len(values):
        raise ValueError(f"y has {positive.size:,} labels and there are {len(values):,} probabilities.")
    outside = ~((values >= 0.0) & (values <= 1.0))
    if outside.any():
        place = tuple(np.argwhere(outside)[0])
        raise ValueError(
            f"p has {values[place]} at row {place[0]:,}; probabilities lie between 0 and 1. Scores of "
            "decision_function are not probabilities: pass those of predict_proba, or calibrate the scores."
        )
    if values.ndim == 2:
        off = np.abs(values.sum(axis=1) - 1.0) > _SUM_TOLERANCE
        if off.any():
            row = int(np.flatnonzero(off)[0])
            raise ValueError(
                f"p has {values[row, 0]} and {values[row, 1]} at row {row:,}; both probabilities of a row must "
                "add up to 1. Pass the column of the positive class alone if they are not of the same model."
            )
        values = values[:, 1]
    return _Probabilities(positive, values, check_weights(sample_weight, values.size))
