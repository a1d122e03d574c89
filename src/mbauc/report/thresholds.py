"""A table of thresholds with exact counts, and what the threshold explorer of a report reads from it.

The page holds this table as JSON and its script looks positions up by the rules of :func:`explore`, so that
both show the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.neyman_pearson import clopper_pearson
from mbauc.report.tally import Tally
from mbauc.settings import check_number

Array = NDArray[np.float64]

#: Up to so many distinct scores all of them are thresholds.
MOST = 2000
#: Of all intervals, and of the false-alarm limit.
CONFIDENCE = 0.95
#: Positions of a slider for a factor of ten, as in explorer.js; numbers between its positions that people like.
SLIDER_STEPS = 50
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 7.5, 8, 9)
#: False-alarm limit that a page without a threshold of its own starts with.
START = 0.05


class Rate(NamedTuple):
    """A share with its interval; NaN where there is nothing to take a share of."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class ThresholdTable:
    """Rows above each of some thresholds.

    Attributes
    ----------
    threshold : ndarray of shape (m,)
        Falling; the last is minus infinity, above which all rows lie.
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
        """All of it for JSON."""
        return {
            "threshold": [*(float(t) for t in self.threshold[:-1]), None],
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
    return np.unique(np.concatenate([jumps, lower[np.isfinite(lower)], minus[_evenly(minus.size)], limits]))


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


def slider_decades(negatives: float) -> int:
    """Powers of ten that the slider for false-alarm limits goes down from 1."""
    return math.ceil(math.log10(max(negatives, 10.0)))


# -- one position ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Position:
    """What one threshold does.

    Attributes
    ----------
    row : int
        Its row in the table.
    threshold : float
        Scores above it raise an alarm.
    found, missed, false_alarms, quiet : float
        The confusion table: positives above and not above, negatives above and not above.
    detection, false_alarm, precision : Rate
        Share of the positives found, of the negatives that raise an alarm, of the alarms that are right.
    promise : float
        What the false-alarm rate exceeds with a probability of 5% at most.
    cost : float
        Cost of all errors in false alarms; NaN unless a cost ratio was asked for.
    """

    row: int
    threshold: float
    found: float
    missed: float
    false_alarms: float
    quiet: float
    detection: Rate
    false_alarm: Rate
    precision: Rate
    promise: float
    cost: float


def explore(
    table: ThresholdTable, *, false_alarm: float | None = None, cost_ratio: float | None = None
) -> Position:
    """The best threshold of the table under a false-alarm limit or for a ratio of costs.

    Parameters
    ----------
    table : ThresholdTable
        Where to look.
    false_alarm : float
        Largest share of the negatives that may raise an alarm. The lowest threshold that keeps it is taken.
    cost_ratio : float
        Cost of a missed positive in false alarms. The threshold of least cost is taken, of equal ones the
        highest.

    Returns
    -------
    Position
        Without a limit and a ratio that of the model's own threshold.
    """
    cost = np.nan
    if false_alarm is not None and cost_ratio is None:
        check_number("false_alarm", false_alarm, low=0.0, high=1.0)
        row = int(np.flatnonzero(table.false_alarms / table.negatives <= false_alarm)[-1])
    elif cost_ratio is not None and false_alarm is None:
        check_number("cost_ratio", cost_ratio, low=0.0)
        costs = cost_ratio * (table.positives - table.found) + table.false_alarms
        row = int(costs.argmin())
        cost = float(costs[row])
    elif table.chosen is not None and false_alarm is None:
        row = table.chosen
    else:
        raise ValueError("explore needs false_alarm or cost_ratio, one of them; this table has no other start.")
    found, alarms = float(table.found[row]), float(table.false_alarms[row])
    return Position(
        row,
        float(table.threshold[row]),
        found,
        table.positives - found,
        alarms,
        table.negatives - alarms,
        _rate(found, table.positives, table.detection, row),
        _rate(alarms, table.negatives, table.false_alarm, row),
        _rate(found, found + alarms, table.precision, row),
        float(table.promise[row]),
        cost,
    )


def start(table: ThresholdTable) -> Position:
    """Where the explorer of a page stands at first."""
    return explore(table) if table.chosen is not None else explore(table, false_alarm=START)


def _rate(hits: float, trials: float, limits: tuple[Array, Array], row: int) -> Rate:
    low, high = limits
    return Rate(hits / trials if trials else np.nan, float(low[row]), float(high[row]))


def _rounded(values: Array) -> Array:
    return np.array([float(f"{value:.6g}") for value in values])


def _plain(values: Any) -> Any:
    """Numbers for JSON, whole ones without a fraction."""
    if np.ndim(values):
        return [_plain(value) for value in values]
    value = float(values)
    return int(value) if value.is_integer() else value
