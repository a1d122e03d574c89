"""Area under the ROC curve, as the mean of placements.

The placement of a positive row is the share of negatives that it beats, that of a negative row the share of
positives that beat it; ties count one half. DeLong's variance of an AUC is that of the placements.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.ranked import ClassScores, RankedScores
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

#: Rows of a class looked at for a first idea of the AUC.
_GLANCE = 1000
#: Rows from which on scores are rounded before they are sorted …
_MANY = 20_000
#: … if that moves the AUC by no more than this.
_NEGLIGIBLE = 1e-7


def roc_auc(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Area under the ROC curve: the share of pairs in which the positive row has the higher score (Eq. 5).

    Ties count one half. ``O(n log n)``: the classes are sorted separately and then merged.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Two-valued labels; the larger is positive.
    y_score : array-like of shape (n,)
        Scores.
    sample_weight : array-like of shape (n,), optional
        Weight of each row; the weight of a pair is the product of the weights of its rows.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return auc(RankedScores.validate(y_true, y_score, sample_weight))


def auc(ranked: RankedScores) -> float:
    """AUC of rows of both classes; as the mean of shares it stays within 0 and 1."""
    if ranked.weight is None:
        return placement_spread(ranked).auc
    return mean_of_positives(ranked, ranked.minus.share_below(ranked.values[ranked.positive]))


def auc_of_classes(plus: Array, minus: Array) -> float:
    """AUC of two arrays of scores, within 1e-7.

    Scores of many rows are rounded to single precision, of which twice as many are sorted in the same time.
    Rounding makes ties and turns no pair around, so half the share of ties is what it can cost at most: where
    that is more than 1e-7, or rows are few, scores are sorted as they are, and the AUC is exact.
    """
    if plus.size + minus.size >= _MANY:
        # about their middle, numbers lose least
        some = np.concatenate([side[:: max(1, side.size // _GLANCE)] for side in (plus, minus)])
        middle = np.median(some)
        rounded = (np.subtract(side, middle, out=np.empty(side.size, np.float32)) for side in (plus, minus))
        with np.errstate(over="ignore"):  # infinities are tied
            area, ties = _sorted_area(*rounded)
        if ties <= 2 * _NEGLIGIBLE:
            return area
    return _sorted_area(plus.copy(), minus.copy())[0]


def _sorted_area(plus: NDArray[np.floating], minus: NDArray[np.floating]) -> tuple[float, float]:
    """AUC and share of tied pairs of two arrays, which are sorted in place."""
    plus.sort()
    minus.sort()
    few, many = (plus, minus) if plus.size <= minus.size else (minus, plus)
    below = np.searchsorted(many, few)
    met = np.flatnonzero(many.take(below, mode="clip") == few)
    ties = int((np.searchsorted(many, few[met], side="right") - below[met]).sum(dtype=np.int64))
    pairs = plus.size * minus.size
    share = (int(below.sum(dtype=np.int64)) + ties / 2) / pairs
    return share if few is plus else 1.0 - share, ties / pairs


def weighted_auc_of_classes(plus: Array, minus: Array, plus_weight: Array, minus_weight: Array) -> float:
    """AUC of two arrays of scores with weights."""
    return float(np.average(ClassScores.sort(minus, minus_weight).share_below(plus), weights=plus_weight))


# -- placements -----------------------------------------------------------------------------------------------


def placements(ranked: RankedScores) -> Array:
    """The placement of every row, in the order of the rows; weights count as shares."""
    result = np.empty(ranked.values.size)
    result[ranked.positive] = ranked.minus.share_below(ranked.values[ranked.positive])
    result[~ranked.positive] = 1.0 - ranked.plus.share_below(ranked.values[~ranked.positive])
    return result


def mean_of_positives(ranked: RankedScores, values: Array) -> float:
    """Mean over the positive rows of a value each, by their weights: of their placements it is the AUC."""
    weight = None if ranked.weight is None else ranked.weight[ranked.positive]
    return float(np.average(values, weights=weight))


class Spread(NamedTuple):
    """An AUC with the variance of the placements of each class."""

    auc: float
    plus: float
    minus: float


def placement_spread(ranked: RankedScores) -> Spread:
    """AUC and variances of the placements, each row counting one; ``O(n log n)``, threads for many."""
    plus, minus = ranked.plus.values, ranked.minus.values
    pairs = plus.size * minus.size
    if not ranked.many:
        below = (np.searchsorted(minus, plus, "left") + np.searchsorted(minus, plus, "right")) / 2
        above = plus.size - (np.searchsorted(plus, minus, "left") + np.searchsorted(plus, minus, "right")) / 2
        return Spread(
            float(below.sum() / pairs),
            _variance(below / minus.size),
            _variance(above / plus.size),
        )
    from mbauc.metrics import kernels

    some = plus[:: max(1, plus.size // _GLANCE)]
    centre = float(np.searchsorted(minus, some).mean() / minus.size)
    n_threads = thread_count(None)
    cuts = [_find_cut(plus, minus, k / n_threads) for k in range(n_threads + 1)]

    def walk(k: int) -> tuple[int, float, float]:
        (i, j), (end_plus, end_minus) = cuts[k], cuts[k + 1]
        won, squares_plus, squares_minus = kernels.merge(plus, minus, i, end_plus, j, end_minus, centre)
        return won, squares_plus, squares_minus

    parts = run_threads(walk, range(n_threads), n_threads)
    won = sum(part[0] for part in parts)
    area = won / 2 / pairs
    return Spread(
        area,
        _variance_about(sum(part[1] for part in parts), area - centre, plus.size),
        _variance_about(sum(part[2] for part in parts), area - centre, minus.size),
    )


def _find_cut(plus: Array, minus: Array, share: float) -> tuple[int, int]:
    """Places of both arrays before which about that share of all scores stands, and no tie is torn apart."""
    if share == 0.0:
        return 0, 0
    if share == 1.0:
        return plus.size, minus.size
    larger = plus if plus.size >= minus.size else minus
    at = larger[int(share * larger.size)]
    return int(np.searchsorted(plus, at)), int(np.searchsorted(minus, at))


def _variance(values: Array) -> float:
    return float(values.var(ddof=1)) if values.size > 1 else np.nan


def _variance_about(squares: float, shift: float, n: int) -> float:
    """Sample variance from squares about a centre that is off by ``shift``."""
    return max(0.0, (squares - n * shift**2) / (n - 1)) if n > 1 else np.nan
