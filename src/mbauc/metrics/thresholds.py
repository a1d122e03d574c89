"""Thresholds with exact counts, and the one of them that serves a purpose best.

The page of a report holds a table of them as JSON, and its script chooses by the rules of
:func:`choose_threshold`, so that both show the same numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.metrics.curves import RocCurve, roc_curve
from mbauc.metrics.intervals.binomial import clopper_pearson, upper_limit
from mbauc.metrics.ranked import RankedScores

Array = NDArray[np.float64]
Limits = tuple[Array, Array]

#: Distinct scores up to which all of them are thresholds.
MOST = 2000
#: Confidence of all intervals, and of the false-alarm limit.
CONFIDENCE = 0.95
#: False-alarm limit that the page of a model without a threshold starts with.
START = 0.05
#: Positions of a slider for a factor of ten, as in explorer.js.
SLIDER_STEPS = 50
#: Round numbers, which lie between its positions.
_ROUND = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 7.5, 8, 9)


# -- the table ------------------------------------------------------------------------------------------------


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


# -- operating point -------------------------------------------------------------------------------------------


class Rate(NamedTuple):
    """A share with its interval; NaN where there is nothing to take a share of."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class OperatingPoint:
    """What one threshold does.

    Attributes
    ----------
    row : int
        Its row in the table.
    threshold : float
        Scores above it raise an alarm.
    cut : float
        The same in few digits.
    found, missed, false_alarms, quiet : float
        The confusion table: positives above and not above, negatives above and not above.
    detection, false_alarm, precision : Rate
        Share of the positives found, of the negatives that raise an alarm, of the alarms that are right.
    promise : float
        What the false-alarm rate exceeds with a probability of 5% at most.
    cost : float
        Cost of all errors in false alarms; NaN unless a cost ratio was asked for.
    alarms, alarms_precision : float
        Alarms to expect in use, and the share of them that is right.
    in_use : InUse
        Rows in use, which they are for.
    """

    row: int
    threshold: float
    cut: float
    found: float
    missed: float
    false_alarms: float
    quiet: float
    detection: Rate
    false_alarm: Rate
    precision: Rate
    promise: float
    cost: float
    alarms: float
    alarms_precision: float
    in_use: InUse

    def rates_in_use(self, share: float | None = None) -> tuple[Rate, Rate]:
        """Share of the rows that raise an alarm, and share of the alarms that is right, with 95% limits.

        With a share of positives other than that of the rows, limits are those of detections and of false
        alarms put together, which is cautious.
        """
        raised, rows = self.found + self.false_alarms, self.found + self.missed + self.false_alarms + self.quiet
        if share is None:
            low, high = clopper_pearson(raised, rows, CONFIDENCE)
            return Rate(raised / rows, float(low), float(high)), self.precision
        right = [share * rate for rate in self.detection]
        wrong = [(1 - share) * rate for rate in self.false_alarm]
        alarms = Rate(*(a + b for a, b in zip(right, wrong, strict=True)))
        ends = ((right[0], wrong[0]), (right[1], wrong[2]), (right[2], wrong[1]))
        return alarms, Rate(*(a / (a + b) if a + b else np.nan for a, b in ends))


class InUse(NamedTuple):
    """How many rows in use one positive and one negative row stand for: tests often hold more positives."""

    positive: float = 1.0
    negative: float = 1.0

    @classmethod
    def of(cls, table: RocCurve, rows: float | None = None, share: float | None = None) -> InUse:
        """For a number of rows and a share of positives; by default as in the table."""
        rows = table.rows if rows is None else rows
        if share is None:
            return cls(rows / table.rows, rows / table.rows)
        return cls(rows * share / table.positives, rows * (1 - share) / table.negatives)


AS_HERE = InUse()


def choose_row(
    curve: RocCurve,
    *,
    false_alarm: float | None = None,
    cost_ratio: float | None = None,
    alarms: float | None = None,
    in_use: InUse = AS_HERE,
) -> int:
    """The place of the best threshold by one of the rules of :func:`choose_threshold`."""
    raised = in_use.positive * curve.found + in_use.negative * curve.false_alarms
    if false_alarm is not None:
        return int(np.flatnonzero(curve.false_alarm <= false_alarm)[-1])
    if cost_ratio is not None:
        return int(_costs(curve, cost_ratio, in_use).argmin())
    # sums of what rows stand for are rounded
    return int(np.flatnonzero(raised <= (alarms or 0.0) * (1 + 1e-12))[-1])


def _costs(curve: RocCurve, cost_ratio: float, in_use: InUse) -> Array:
    missed = in_use.positive * (curve.positives - curve.found)
    return cost_ratio * missed + in_use.negative * curve.false_alarms


def choose_threshold(
    table: ThresholdTable,
    *,
    false_alarm: float | None = None,
    cost_ratio: float | None = None,
    alarms: float | None = None,
    at: float | None = None,
    in_use: InUse = AS_HERE,
) -> OperatingPoint:
    """The best threshold of the table under a limit of false alarms or of alarms, or for a ratio of costs.

    Parameters
    ----------
    table : ThresholdTable
        Where to look.
    false_alarm : float
        Largest share of the negatives that may raise an alarm. The lowest threshold that keeps it is taken.
    cost_ratio : float
        Cost of a missed positive in false alarms. The threshold of least cost is taken, of equal ones the
        highest.
    alarms : float
        Most alarms that can be looked at in use. The lowest threshold that raises no more is taken.
    at : float
        A score. The threshold next to it is taken, of two the higher.
    in_use : InUse, default=InUse(positive=1.0, negative=1.0)
        Rows in use, to which costs and alarms refer.

    Returns
    -------
    OperatingPoint
        Without a limit and a ratio that of the model's own threshold.
    """
    rules = {"false_alarm": false_alarm, "cost_ratio": cost_ratio, "alarms": alarms, "at": at}
    given = {name: value for name, value in rules.items() if value is not None}
    if len(given) > 1 or (not given and table.chosen is None):
        raise ValueError(
            "choose_threshold needs exactly one of false_alarm, cost_ratio, alarms and at; none is needed only "
            "if the table is of a model with a threshold."
        )
    for name, value in given.items():
        check_number(
            name, value, low=-np.inf if name == "at" else 0.0, high=1.0 if name == "false_alarm" else np.inf
        )
    right, wrong = in_use.positive * table.found, in_use.negative * table.false_alarms
    cost = np.nan
    if at is not None:
        row = int(np.abs(table.cut[:-1] - at).argmin())
    else:
        row = choose_row(table, in_use=in_use, **given) if given else int(table.chosen or 0)
    if cost_ratio is not None:
        cost = float(_costs(table, cost_ratio, in_use)[row])
    found, false_alarms = float(table.found[row]), float(table.false_alarms[row])
    raised = float(right[row] + wrong[row])
    return OperatingPoint(
        row,
        float(table.threshold[row]),
        float(table.cut[row]),
        found,
        table.positives - found,
        false_alarms,
        table.negatives - false_alarms,
        _rate(found, table.positives, table.detection_limits, row),
        _rate(false_alarms, table.negatives, table.false_alarm_limits, row),
        _rate(found, found + false_alarms, table.precision_limits, row),
        float(table.promise[row]),
        cost,
        raised,
        float(right[row]) / raised if raised else np.nan,
        in_use,
    )


def starting_point(table: ThresholdTable) -> OperatingPoint:
    """Where the explorer of a page stands at first."""
    return choose_threshold(table) if table.chosen is not None else choose_threshold(table, false_alarm=START)


def _rate(hits: float, trials: float, limits: Limits, row: int) -> Rate:
    low, high = limits
    return Rate(hits / trials if trials else np.nan, float(low[row]), float(high[row]))
