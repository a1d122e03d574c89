"""The curves of ranked scores: ROC, precision, gains, where scores lie; and held-out scores over a penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.ranked import RankedScores

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RocCurve:
    """Rows above each of some thresholds, from none to all.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Falling, to minus infinity, above which all rows lie; or as they were asked for.
    found, false_alarms : ndarrays of shape (m,)
        Weight of the positive and of the negative rows with a score above.
    positives, negatives : float
        Weight of all rows of each class.
    """

    threshold: Array
    found: Array
    false_alarms: Array
    positives: float
    negatives: float

    @property
    def false_alarm(self) -> Array:
        """False-alarm rate at each threshold."""
        return self.false_alarms / self.negatives

    @property
    def detection(self) -> Array:
        """Detection rate at each threshold."""
        return self.found / self.positives

    @property
    def alarms(self) -> Array:
        """Weight of all rows above each threshold."""
        return self.found + self.false_alarms

    @property
    def rows(self) -> float:
        """Weight of all rows."""
        return self.positives + self.negatives

    @property
    def prevalence(self) -> float:
        """Share of the positives among all rows."""
        return self.positives / self.rows

    def with_alarms(self) -> RocCurve:
        """The same without the thresholds that no row lies above."""
        some = self.alarms > 0
        return RocCurve(
            self.threshold[some], self.found[some], self.false_alarms[some], self.positives, self.negatives
        )


def roc_curve(
    ranked: RankedScores, thresholds: ArrayLike | None = None, *, max_fpr: float | None = None
) -> RocCurve:
    """Rows above thresholds; above every distinct score unless some thresholds are given.

    With ``max_fpr`` only as far as the first point with a larger false-alarm rate; ``O(n log n)`` at most.
    """
    plus, minus = ranked.classes
    least = -np.inf if max_fpr is None else _score_at(ranked, max_fpr)
    at = np.asarray(ranked.distinct(least)[::-1] if thresholds is None else thresholds, dtype=np.float64)
    found, false_alarms = plus.above(at), minus.above(at)
    if thresholds is None and np.isneginf(least):
        # the last point has all rows, also those with a score of minus infinity
        at = np.append(at, -np.inf)
        found, false_alarms = np.append(found, plus.total), np.append(false_alarms, minus.total)
    return RocCurve(at, found, false_alarms, plus.total, minus.total)


def _score_at(ranked: RankedScores, max_fpr: float) -> float:
    """The highest score above which more than a share of the negatives lies; -∞ if there is none."""
    minus = ranked.minus
    last_within = ranked.lowest(lambda score: bool(minus.above(score) / minus.total <= max_fpr))
    return float(ranked.next_lower(np.array([last_within]))[0])


def average_precision(ranked: RankedScores) -> float:
    """Mean over the positives of the precision at their scores, as scikit-learn defines it; ``O(n⁺ log n)``."""
    plus, minus = ranked.classes
    found = plus.total - plus.below(plus.values)
    precision = found / (found + minus.total - minus.below(plus.values))
    return float(plus.weights() @ precision / plus.total)


def tied_pairs(ranked: RankedScores) -> float:
    """Share of the pairs of a positive and a negative row whose scores are equal."""
    plus, minus = ranked.classes
    equal = minus.at_most(plus.values) - minus.below(plus.values)
    return float(plus.weights() @ equal / (plus.total * minus.total))


class Lift(NamedTuple):
    """Share of the rows, highest scores first; share of the positives among them; the ratio of both."""

    share: float
    found: float
    lift: float


def lift_at(ranked: RankedScores, share: float) -> Lift:
    """Positives in a share of the rows, the highest scores first; of rows in a tie an equal part counts."""
    wanted = share * ranked.total
    edge = ranked.lowest_with(wanted)
    above = [float(part.above(edge)) for part in ranked.classes]
    tied = [
        part.total - float(part.below(edge)) - count for part, count in zip(ranked.classes, above, strict=True)
    ]
    part_of_tie = (wanted - sum(above)) / sum(tied)
    found = (above[0] + part_of_tie * tied[0]) / ranked.plus.total
    return Lift(share, found, found / share)


# -- score histograms -----------------------------------------------------------------------------------------


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


def histogram(ranked: RankedScores) -> Histogram:
    """Where the scores of each class lie, in 10 to 48 bins; ``O(log n)`` a bin."""
    rows = sum(part.values.size for part in ranked.classes)
    ends = []
    for part in ranked.classes:
        if part.values.size:
            ends += [_quantile(part.values, 0.001), _quantile(part.values, 0.999)]
    low, high = min(ends), max(ends)
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        half = 0.5 * max(1.0, abs(low))
        low, high = low - half, high + half
    step = round_step((high - low) / np.clip(2 * rows ** (1 / 3), 10, 48))
    edges = np.arange(np.floor(low / step), np.floor(high / step) + 2) * step
    shares, inside = [], 0.0
    for part in ranked.classes:
        # the last bin holds its upper end
        up_to = np.concatenate([part.below(edges[:-1]), [part.at_most(edges[-1])]])
        inside += float(up_to[-1] - up_to[0])
        shares.append(np.diff(up_to) / (part.total or 1.0))
    return Histogram(edges, shares[0], shares[1], max(0.0, ranked.total - inside))


def _quantile(values: Array, share: float) -> float:
    return float(values[round(share * (values.size - 1))])


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below ``least``."""
    unit = 10.0 ** np.floor(np.log10(least))
    return float(next(unit * k for k in (1, 2, 5, 10) if unit * k >= least * (1 - 1e-9)))


# -- penalty path ---------------------------------------------------------------------------------------------


class PenaltyPath(NamedTuple):
    """Held-out scores over one penalty.

    Attributes
    ----------
    name : {"l1", "l2"}
        The penalty; where both were varied, l2, and the other is the best for each of its values.
    entries : list of dict
        As in the model, by rising penalty.
    other_varied : bool
        Whether the other penalty was varied as well.
    """

    name: str
    entries: list[dict[str, Any]]
    other_varied: bool


def penalty_path(path: Sequence[dict[str, Any]]) -> PenaltyPath | None:
    """What can be drawn of a path; None if it has fewer than two values of any penalty."""
    # JSON has no NaN: null stands for a score that could not be computed
    finite = [entry for entry in path if entry["score"] is not None and math.isfinite(entry["score"])]
    varied = {name: len({entry[name] for entry in finite}) > 1 for name in ("l1", "l2")}
    if not any(varied.values()):
        return None
    name = "l2" if varied["l2"] else "l1"
    best: dict[float, dict[str, Any]] = {}
    for entry in finite:
        known = best.setdefault(float(entry[name]), entry)
        if entry["score"] > known["score"]:
            best[float(entry[name])] = entry
    return PenaltyPath(name, [best[value] for value in sorted(best)], all(varied.values()))
