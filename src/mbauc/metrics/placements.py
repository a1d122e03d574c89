"""Placements: where each row stands among the rows of the other class. AUC is their mean.

The placement of a positive row is the share of negatives that it beats, that of a negative row the share of
positives that beat it; ties count one half. DeLong's variance of an AUC is that of the placements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.labels import find_classes, positive_rows
from mbauc.rows.matrix import check_weights
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

#: From so many scores on, compiled loops in threads are worth the time to load them.
_MANY = 1 << 19
#: Rows of a class looked at for a first idea of the AUC.
_GLANCE = 1000


class Scores(NamedTuple):
    """Checked scores with the mask of the positive rows and, if any, weights."""

    positive: NDArray[np.bool_]
    values: Array
    weight: Array | None


def checked_scores(y: Any, s: Any, sample_weight: Any = None) -> Scores:
    """Scores from what a caller passed, or an error that names what is wrong with it."""
    values = np.asarray(s, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f"scores must be one-dimensional, got shape {values.shape}; pass one score per row.")
    positive = positive_rows(y, find_classes(y))
    if positive.size != values.size:
        raise ValueError(f"y has {positive.size:,} labels and there are {values.size:,} scores.")
    if np.isnan(values).any():
        raise ValueError(f"the score of row {int(np.flatnonzero(np.isnan(values))[0]):,} is NaN.")
    weight = check_weights(sample_weight, values.size)
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        raise ValueError("sample_weight is zero for all rows of a class; AUC needs both classes.")
    return Scores(positive, values, weight)


class Spread(NamedTuple):
    """An AUC with the variance of the placements of each class."""

    auc: float
    plus: float
    minus: float


def spread(positive: NDArray[np.bool_], values: Array) -> Spread:
    """AUC and variances of the placements of unweighted scores, ``O(n log n)``.

    Memory: a copy of the scores.
    """
    plus, minus = sorted_classes(positive, values)
    return spread_of_sorted(plus, minus)


def sorted_classes(positive: NDArray[np.bool_], values: Array) -> tuple[Array, Array]:
    """The scores of the positive rows and of the negative ones, each sorted."""
    if values.size < _MANY:
        return np.sort(values[positive]), np.sort(values[~positive])
    from mbauc.metrics import kernels

    count = int(np.count_nonzero(positive))
    plus, minus = np.empty(count + 1), np.empty(values.size - count + 1)
    kernels.split(values, positive, plus, minus)
    plus, minus = plus[:-1], minus[:-1]
    run_threads(lambda part: part.sort(), (plus, minus), thread_count(None))
    return plus, minus


def spread_of_sorted(plus: Array, minus: Array) -> Spread:
    """The same of two sorted arrays."""
    pairs = plus.size * minus.size
    if pairs < _MANY or plus.size + minus.size < _MANY:
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
    cuts = [_cut(plus, minus, k / n_threads) for k in range(n_threads + 1)]

    def walk(k: int) -> tuple[int, float, float]:
        (i, j), (end_plus, end_minus) = cuts[k], cuts[k + 1]
        won, squares_plus, squares_minus = kernels.merge(plus, minus, i, end_plus, j, end_minus, centre)
        return won, squares_plus, squares_minus

    parts = run_threads(walk, range(n_threads), n_threads)
    won = sum(part[0] for part in parts)
    auc = won / 2 / pairs
    return Spread(
        auc,
        _corrected(sum(part[1] for part in parts), auc - centre, plus.size),
        _corrected(sum(part[2] for part in parts), auc - centre, minus.size),
    )


def _cut(plus: Array, minus: Array, share: float) -> tuple[int, int]:
    """Places of both arrays before which about that share of all scores stands, and no tie is torn apart."""
    if share == 0.0:
        return 0, 0
    if share == 1.0:
        return plus.size, minus.size
    larger = plus if plus.size >= minus.size else minus
    at = larger[int(share * larger.size)]
    return int(np.searchsorted(plus, at)), int(np.searchsorted(minus, at))


def _variance(placements: Array) -> float:
    return float(placements.var(ddof=1)) if placements.size > 1 else np.nan


def _corrected(squares: float, shift: float, n: int) -> float:
    """Sample variance from squares about a centre that is off by ``shift``."""
    return max(0.0, (squares - n * shift**2) / (n - 1)) if n > 1 else np.nan


def placements(scores: Scores) -> tuple[float, Array]:
    """AUC and the placement of every row, in the order of the rows; weights count as shares."""
    positive, values, weight = scores
    result = np.empty(values.size)
    for mask in (positive, ~positive):
        share = share_below(values[mask], values[~mask], None if weight is None else weight[~mask])
        result[mask] = share if mask is positive else 1.0 - share
    return mean_of_positives(scores, result), result


def share_below(values: Array, others: Array, weight: Array | None) -> Array:
    """For each value the share of the others, by weight, that are smaller; ties count one half."""
    if weight is None:
        ranked, up_to = np.sort(others), np.arange(others.size + 1.0)
    else:
        order = np.argsort(others, kind="stable")
        ranked, up_to = others[order], np.append(0.0, np.cumsum(weight[order]))
    lost = up_to[np.searchsorted(ranked, values, "left")]
    won = up_to[np.searchsorted(ranked, values, "right")]
    return np.asarray((lost + won) / 2 / up_to[-1])


def mean_of_positives(scores: Scores, placements: Array) -> float:
    """Mean over the positive rows, by their weights: of their placements it is the AUC."""
    weight = None if scores.weight is None else scores.weight[scores.positive]
    return float(np.average(placements[scores.positive], weights=weight))
