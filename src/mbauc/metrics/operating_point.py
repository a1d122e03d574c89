"""The threshold that serves a purpose best, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.metrics.curves import RocCurve
from mbauc.metrics.intervals.binomial import clopper_pearson
from mbauc.metrics.thresholds import CONFIDENCE, Limits, ThresholdTable

Array = NDArray[np.float64]

#: False-alarm limit that the page of a model without a threshold starts with.
START = 0.05


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
