"""A table of thresholds with exact counts, from which the threshold explorer of a report reads.

The page holds this table as JSON and its script looks positions up by the rules of
:func:`mbauc.metrics.operating_points.explore`, so that both show the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.neyman_pearson import clopper_pearson
from mbauc.metrics.tally import Tally

Array = NDArray[np.float64]

#: Up to so many distinct scores all of them are thresholds.
MOST = 2000
#: Of all intervals, and of the false-alarm limit.
CONFIDENCE = 0.95
#: Positions of a slider for a factor of ten, as in explorer.js; numbers between its positions that people like.
SLIDER_STEPS = 50
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 7.5, 8, 9)


@dataclass(frozen=True)
class ThresholdTable:
    """Rows above each of some thresholds.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Falling; the last is minus infinity, above which all rows lie.
    cut : ndarray of shape (m,)
        Numbers of few digits that the same rows lie above, for people.
    found, false_alarms : ndarrays of shape (m,)
        Weight of the positive and of the negative rows with a score above.
    positives, negatives : float
        Weight of all rows of each class.
    detection, false_alarm, precision : tuples of two ndarrays of shape (m,)
        Exact (Clopper–Pearson) limits of each rate, rounded to six digits.
    promise : ndarray of shape (m,)
        What the false-alarm rate exceeds with a probability of 5% at most, for a threshold fixed beforehand.
    chosen : int or None
        Row of the model's own threshold.
    """

    threshold: Array
    cut: Array
    found: Array
    false_alarms: Array
    positives: float
    negatives: float
    detection: tuple[Array, Array]
    false_alarm: tuple[Array, Array]
    precision: tuple[Array, Array]
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
            "detection": [_plain(end) for end in self.detection],
            "false_alarm": [_plain(end) for end in self.false_alarm],
            "precision": [_plain(end) for end in self.precision],
            "promise": _plain(self.promise),
            "chosen": self.chosen,
        }


def threshold_table(tally: Tally, own: float | None = None) -> ThresholdTable:
    """Thresholds at all distinct scores, or at no more than about 2,000, dense where alarms are few.

    Parameters
    ----------
    tally : Tally
        Rows of both classes.
    own : float, optional
        A threshold that is to be in the table, the model's.

    Returns
    -------
    ThresholdTable
    """
    scores = tally.distinct(MOST)
    if scores is None or scores.size > MOST:
        scores = _some_scores(tally)
    extra = [-np.inf] if own is None else [-np.inf, own]
    threshold = np.unique(np.concatenate([scores, extra]))[::-1]
    found, false_alarms = tally.plus.above(threshold), tally.minus.above(threshold)
    positives, negatives = tally.plus.total, tally.minus.total
    return ThresholdTable(
        threshold,
        _few_digits(threshold, *tally.around(threshold)),
        found,
        false_alarms,
        positives,
        negatives,
        exact_limits(found, positives),
        exact_limits(false_alarms, negatives),
        exact_limits(found, found + false_alarms),
        # the limit of one side with 95% is the upper one of two sides with 90%
        exact_limits(false_alarms, negatives, 2 * CONFIDENCE - 1)[1],
        None if own is None else int(np.flatnonzero(threshold == own)[0]),
    )


def exact_limits(hits: Any, trials: Any, confidence: float = CONFIDENCE) -> tuple[Array, Array]:
    """Clopper–Pearson limits of shares, rounded to six digits; weights count as numbers of rows."""
    low, high = clopper_pearson(hits, trials, confidence)
    return _rounded(low), _rounded(high)


def _some_scores(tally: Tally) -> Array:
    """Scores of both classes, evenly and towards the highest, and those that limits of false alarms lead to.

    Just above and just below a row the curves jump; both ends of the jump are kept for all chosen positives and
    for the highest negatives.
    """
    plus, minus = tally.plus.values, tally.minus.values
    positives = plus[plus.size - 1 - np.concatenate([_towards_first(plus.size), _evenly(plus.size)])]
    jumps = np.concatenate([positives, minus[-100:]])
    lower = tally.preceding(jumps)
    limits = [tally.minus.lowest_within(limit) for limit in slider_limits(tally.minus.total)]
    limits += [tally.lowest_with(alarms) for alarms in slider_alarms(tally.total)]
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
    """False-alarm limits that get a threshold of their own: those of the slider, and round ones."""
    powers = range(-SLIDER_STEPS * slider_decades(negatives), 1)
    limits = {float(f"{10 ** (power / SLIDER_STEPS):.3g}") for power in powers}
    limits |= {float(f"{k}e{-decade - 1}") for decade in range(slider_decades(negatives)) for k in _ROUND}
    return sorted(limit for limit in limits if limit * negatives >= 1)


def slider_alarms(rows: float) -> list[float]:
    """Numbers of alarms that get a threshold of their own: those of the slider, and round ones."""
    decades = range(slider_decades(rows))
    alarms = {float(f"{10 ** (power / SLIDER_STEPS):.3g}") for power in range(SLIDER_STEPS * len(decades))}
    alarms |= {float(f"{k}e{decade}") for decade in decades for k in _ROUND}
    return sorted({float(math.floor(number)) for number in alarms if number <= rows})


def slider_decades(rows: float) -> int:
    """Powers of ten between one row and all of them, which sliders go through."""
    return math.ceil(math.log10(max(rows, 10.0)))


def _rounded(values: Array) -> Array:
    return np.array([float(f"{value:.6g}") for value in values])


def _plain(values: Any) -> Any:
    """Numbers for JSON, whole ones without a fraction."""
    if np.ndim(values):
        return [_plain(value) for value in values]
    value = float(values)
    return int(value) if value.is_integer() else value
