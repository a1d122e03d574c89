"""The numbers behind the plots of a report, from sorted scores: few, however many rows there are."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import partial_roc_auc
from mbauc.metrics.tally import Tally
from mbauc.metrics.thresholds import exact_limits

Array = NDArray[np.float64]


def average_precision(tally: Tally) -> float:
    """Mean over the positives of the precision at their scores, as scikit-learn defines it; ``O(n⁺ log n)``."""
    values, _ = tally.plus
    found = tally.plus.total - tally.plus.below(values)
    precision = found / (found + tally.minus.total - tally.minus.below(values))
    return float(tally.plus.weights() @ precision / tally.plus.total)


def partial_auc(tally: Tally, max_fpr: float) -> float:
    """:func:`mbauc.metrics.partial_roc_auc`, from the rows with the highest scores only.

    The curve up to ``max_fpr`` is that of the rows above a score that more negatives exceed; all others are
    put into one tie.
    """
    enough = max_fpr * tally.minus.total

    def leaves_too_few(score: float) -> bool:
        return bool(tally.minus.above(score) < enough)

    edge = float(tally.preceding(np.array([tally.lowest(leaves_too_few)]))[0])
    tie = edge if np.isfinite(edge) else 0.0  # then there are no others
    labels, scores, weights = [], [], []
    for part, label in zip(tally, (True, False), strict=True):
        start = int(np.searchsorted(part.values, edge, side="right"))
        scores.append(np.concatenate([[tie], part.values[start:]]))
        labels.append(np.full(scores[-1].size, label))
        weights.append(np.diff(part.first(np.arange(start, part.values.size + 1)), prepend=0.0))
    joined = (np.concatenate(part) for part in (labels, scores, weights))
    return partial_roc_auc(*joined, max_fpr=max_fpr)


def tied_pairs(tally: Tally) -> float:
    """Share of the pairs of a positive and a negative row whose scores are equal."""
    values, _ = tally.plus
    equal = tally.minus.at_most(values) - tally.minus.below(values)
    return float(tally.plus.weights() @ equal / (tally.plus.total * tally.minus.total))


class Lift(NamedTuple):
    """The rows with the highest scores.

    Attributes
    ----------
    share : float
        How many of all rows.
    found : float
        Share of the positives among them.
    lift : float
        How many times more than among as many rows drawn blindly.
    """

    share: float
    found: float
    lift: float


def lift_at(tally: Tally, share: float) -> Lift:
    """Positives in a share of the rows, the highest scores first; of rows in a tie an equal part counts."""
    wanted = share * tally.total
    edge = tally.lowest_with(wanted)
    above = [float(part.above(edge)) for part in tally]
    tied = [part.total - float(part.below(edge)) - count for part, count in zip(tally, above, strict=True)]
    part_of_tie = (wanted - sum(above)) / sum(tied)
    found = (above[0] + part_of_tie * tied[0]) / tally.plus.total
    return Lift(share, found, found / share)


class Histogram(NamedTuple):
    """Scores of both classes in the same bins.

    Attributes
    ----------
    edges : ndarray of shape (bins + 1,)
        Round numbers, from the lowest 0.1% to the highest 0.1% of either class.
    plus, minus : ndarrays of shape (bins,)
        Share of each class in each bin, zeros for a class without rows.
    outside : float
        Weight of the rows that lie further out.
    """

    edges: Array
    plus: Array
    minus: Array
    outside: float


def histogram(tally: Tally) -> Histogram:
    """Where the scores of each class lie, in 10 to 48 bins; ``O(log n)`` a bin."""
    rows = sum(part.values.size for part in tally)
    ends = []
    for part in tally:
        if part.values.size:
            ends += [_quantile(part.values, 0.001), _quantile(part.values, 0.999)]
    low, high = min(ends), max(ends)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        half = 0.5 * max(1.0, abs(low))
        low, high = low - half, high + half
    step = round_step((high - low) / np.clip(2 * rows ** (1 / 3), 10, 48))
    edges = np.arange(np.floor(low / step), np.floor(high / step) + 2) * step
    shares, inside = [], 0.0
    for part in tally:
        # the last bin holds its upper end
        up_to = np.concatenate([part.below(edges[:-1]), [part.at_most(edges[-1])]])
        inside += float(up_to[-1] - up_to[0])
        shares.append(np.diff(up_to) / (part.total or 1.0))
    return Histogram(edges, shares[0], shares[1], max(0.0, tally.total - inside))


def _quantile(values: Array, share: float) -> float:
    return float(values[round(share * (values.size - 1))])


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
        :func:`mbauc.metrics.calibration_error`: mean distance of predicted and seen.
    """

    size: Array
    predicted: Array
    seen: Array
    low: Array
    high: Array
    error: float


def reliability(probabilities: Tally) -> Reliability:
    """Up to 15 bins, fewer where a class is small; equal probabilities are never parted.

    The bins are those of :func:`mbauc.metrics.calibration_error`.
    """
    bins = int(np.clip(min(part.total for part in probabilities) // 5, 4, 15))
    edges = [probabilities.lowest(lambda p, b=b: bins * probabilities.middle(p) >= b) for b in range(1, bins)]  # type: ignore[misc]
    sums, counts = np.zeros(bins), []
    for part in probabilities:
        cuts = [0, *np.searchsorted(part.values, edges, side="left"), part.values.size]
        sums += [part.weighted_sum(start, stop) for start, stop in pairwise(cuts)]
        counts.append(np.diff(part.first(np.array(cuts))))
    size = counts[0] + counts[1]
    used = size > 0
    size, predicted, hits = size[used], sums[used] / size[used], counts[0][used]
    seen = hits / size
    error = float((size / size.sum()) @ np.abs(predicted - seen))
    return Reliability(size, predicted, seen, *exact_limits(hits, size), error)


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below ``least``."""
    unit = 10.0 ** np.floor(np.log10(least))
    return float(next(unit * k for k in (1, 2, 5, 10) if unit * k >= least * (1 - 1e-9)))
