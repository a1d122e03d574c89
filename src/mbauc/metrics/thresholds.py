"""Thresholds with exact counts.

The page of a report holds a table of them as JSON, and its script chooses by the rules of
:func:`mbauc.metrics.operating_point.choose_threshold`, so that both show the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.curves import RocCurve, roc_curve
from mbauc.metrics.intervals.binomial import clopper_pearson, upper_limit
from mbauc.metrics.ranked import RankedScores

Array = NDArray[np.float64]
Limits = tuple[Array, Array]

#: Distinct scores up to which all of them are thresholds.
MOST = 2000
#: Confidence of all intervals, and of the false-alarm limit.
CONFIDENCE = 0.95
#: Positions of a slider for a factor of ten, as in explorer.js.
SLIDER_STEPS = 50
#: Round numbers, which lie between its positions.
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 7.5, 8, 9)


@dataclass(frozen=True)
class ThresholdTable(RocCurve):
    """Rows above each of some falling thresholds, and what is known of the rates behind the counts.

    Attributes
    ----------
    cut : ndarray of shape (m,)
        Numbers of few digits that the same rows lie above, for people.
    detection_limits, false_alarm_limits, precision_limits : tuples of two ndarrays of shape (m,)
        Exact (Clopper–Pearson) limits of each rate, rounded to six digits.
    promise : ndarray of shape (m,)
        What the false-alarm rate exceeds with a probability of 5% at most, for a threshold fixed beforehand.
    chosen : int or None
        Row of the model's own threshold.
    """

    cut: Array
    detection_limits: Limits
    false_alarm_limits: Limits
    precision_limits: Limits
    promise: Array
    chosen: int | None

    def to_dict(self) -> dict[str, Any]:
        """What the script of the page needs; thresholds in few digits."""
        return {
            "threshold": [*(float(cut) for cut in self.cut[:-1]), None],
            "found": _plain(self.found),
            "false_alarms": _plain(self.false_alarms),
            "positives": _plain(self.positives),
            "negatives": _plain(self.negatives),
            "detection": [_plain(end) for end in self.detection_limits],
            "false_alarm": [_plain(end) for end in self.false_alarm_limits],
            "precision": [_plain(end) for end in self.precision_limits],
            "promise": _plain(self.promise),
            "chosen": self.chosen,
        }


def threshold_table(ranked: RankedScores, own: float | None = None) -> ThresholdTable:
    """Counts at some thresholds, ``own`` (the model's) among them, with exact limits."""
    curve = roc_curve(ranked, spread_thresholds(ranked, own))
    found, false_alarms = curve.found, curve.false_alarms
    return ThresholdTable(
        **vars(curve),
        cut=_few_digits(curve.threshold, *ranked.around(curve.threshold)),
        detection_limits=_round_limits(found, curve.positives),
        false_alarm_limits=_round_limits(false_alarms, curve.negatives),
        precision_limits=_round_limits(found, curve.alarms),
        promise=_round(upper_limit(false_alarms, curve.negatives, 1 - CONFIDENCE)),
        chosen=None if own is None else int(np.flatnonzero(curve.threshold == own)[0]),
    )


def spread_thresholds(ranked: RankedScores, own: float | None = None) -> Array:
    """All distinct scores, or about 2,000 of many, dense where alarms are few; falling, to minus infinity."""
    scores = None if ranked.has_more_distinct(MOST) else ranked.distinct()
    if scores is None or scores.size > MOST:
        scores = _some_scores(ranked)
    return np.unique(np.concatenate([scores, [-np.inf] if own is None else [-np.inf, own]]))[::-1]


def _some_scores(ranked: RankedScores) -> Array:
    """Scores of both classes, evenly and towards the highest, and those that limits of false alarms lead to.

    Just above and just below a row the curves jump; both ends of the jump are kept for all chosen positives and
    for the highest negatives.
    """
    plus, minus = ranked.plus.values, ranked.minus.values
    positives = plus[plus.size - 1 - np.concatenate([_towards_first(plus.size), _evenly(plus.size)])]
    jumps = np.concatenate([positives, minus[-100:]])
    lower = ranked.next_lower(jumps)
    limits = [ranked.minus.lowest_within(limit) for limit in slider_limits(ranked.minus.total)]
    limits += [ranked.lowest_with(alarms) for alarms in slider_alarms(ranked.total)]
    return np.unique(np.concatenate([jumps, lower[np.isfinite(lower)], minus[_evenly(minus.size)], limits]))


def _few_digits(threshold: Array, lower: Array, higher: Array) -> Array:
    """Numbers that the same rows lie above as above thresholds, with as few digits as that takes.

    They lie well between the neighbouring scores, so that programs that sum in another order see the same rows.
    """
    ends = threshold[np.isfinite(threshold)]
    room = float(np.ptp(ends)) / 50 or max(1.0, float(np.abs(ends).max())) / 50
    found = threshold.copy()
    for k in np.flatnonzero(np.isfinite(threshold)):
        low = lower[k] if np.isfinite(lower[k]) else min(threshold[k], higher[k] - room)
        high = higher[k] if np.isfinite(higher[k]) else max(threshold[k], low) + room
        middle, margin = low + (high - low) / 2, (high - low) / 10
        rounded = (float(f"{middle:.{digits}g}") for digits in range(1, 18))
        found[k] = next((cut for cut in rounded if low + margin <= cut <= high - margin), threshold[k])
    return found


def _towards_first(n: int) -> NDArray[np.intp]:
    return (np.geomspace(1, n, 250) - 1).astype(np.intp)


def _evenly(n: int) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, 250).astype(np.intp)


def slider_limits(negatives: float) -> list[float]:
    """False-alarm limits that get a threshold of their own: the positions of the slider, and round numbers."""
    powers = range(-SLIDER_STEPS * slider_decades(negatives), 1)
    limits = {float(f"{10 ** (power / SLIDER_STEPS):.3g}") for power in powers}
    limits |= {float(f"{k}e{-decade - 1}") for decade in range(slider_decades(negatives)) for k in _ROUND}
    return sorted(limit for limit in limits if limit * negatives >= 1)


def slider_alarms(n_rows: float) -> list[float]:
    """Numbers of alarms that get a threshold of their own: the positions of the slider, and round numbers."""
    decades = range(slider_decades(n_rows))
    alarms = {float(f"{10 ** (power / SLIDER_STEPS):.3g}") for power in range(SLIDER_STEPS * len(decades))}
    alarms |= {float(f"{k}e{decade}") for decade in decades for k in _ROUND}
    # the same as numbers of alarms in 10,000 rows
    alarms |= {number * n_rows / 10.0 ** len(decades) for number in alarms}
    return sorted({float(math.floor(number)) for number in alarms if number <= n_rows})


def slider_decades(n_rows: float) -> int:
    """Powers of ten between one row and all of them, which sliders go through."""
    return math.ceil(math.log10(max(n_rows, 10.0)))


def _round_limits(hits: Array, trials: Any) -> Limits:
    low, high = clopper_pearson(hits, trials, CONFIDENCE)
    return _round(low), _round(high)


def _round(values: Array) -> Array:
    return np.array([float(f"{value:.6g}") for value in values])


def _plain(values: Any) -> Any:
    """Numbers for JSON, whole ones without a fraction."""
    if np.ndim(values):
        return [_plain(value) for value in values]
    value = float(values)
    return int(value) if value.is_integer() else value
