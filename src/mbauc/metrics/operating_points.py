"""One threshold of a table: the best for a purpose, and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.metrics.thresholds import ThresholdTable

Array = NDArray[np.float64]

#: False-alarm limit that a page without a threshold of its own starts with.
START = 0.05


class Rate(NamedTuple):
    """A share with its interval; NaN where there is nothing to take a share of."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Position:
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


class InUse(NamedTuple):
    """What rows stand for where the model is used; tests often hold more positives than there will be.

    Attributes
    ----------
    positive, negative : float
        How many rows in use one positive and one negative row stand for.
    """

    positive: float = 1.0
    negative: float = 1.0

    @classmethod
    def of(cls, table: ThresholdTable, rows: float | None = None, share: float | None = None) -> InUse:
        """For so many rows of which so large a share is positive; as in the table where it is not said."""
        total = table.positives + table.negatives
        rows = total if rows is None else rows
        if share is None:
            return cls(rows / total, rows / total)
        return cls(rows * share / table.positives, rows * (1 - share) / table.negatives)


AS_HERE = InUse()


def explore(
    table: ThresholdTable,
    *,
    false_alarm: float | None = None,
    cost_ratio: float | None = None,
    alarms: float | None = None,
    in_use: InUse = AS_HERE,
) -> Position:
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
    in_use : InUse
        What costs and alarms are told for.

    Returns
    -------
    Position
        Without a limit and a ratio that of the model's own threshold.
    """
    rules = {"false_alarm": false_alarm, "cost_ratio": cost_ratio, "alarms": alarms}
    given = {name: value for name, value in rules.items() if value is not None}
    if len(given) > 1 or (not given and table.chosen is None):
        raise ValueError(
            "explore needs false_alarm, cost_ratio or alarms, one of them; this table has no other start."
        )
    for name, value in given.items():
        check_number(name, value, low=0.0, high=1.0 if name == "false_alarm" else np.inf)
    right, wrong = in_use.positive * table.found, in_use.negative * table.false_alarms
    cost = np.nan
    if false_alarm is not None:
        row = int(np.flatnonzero(table.false_alarms / table.negatives <= false_alarm)[-1])
    elif cost_ratio is not None:
        costs = cost_ratio * (in_use.positive * (table.positives - table.found)) + wrong
        row = int(costs.argmin())
        cost = float(costs[row])
    elif alarms is not None:
        row = int(np.flatnonzero(right + wrong <= alarms)[-1])
    else:
        row = int(table.chosen or 0)
    found, false_alarms = float(table.found[row]), float(table.false_alarms[row])
    raised = float(right[row] + wrong[row])
    return Position(
        row,
        float(table.threshold[row]),
        float(table.cut[row]),
        found,
        table.positives - found,
        false_alarms,
        table.negatives - false_alarms,
        _rate(found, table.positives, table.detection, row),
        _rate(false_alarms, table.negatives, table.false_alarm, row),
        _rate(found, found + false_alarms, table.precision, row),
        float(table.promise[row]),
        cost,
        raised,
        float(right[row]) / raised if raised else np.nan,
    )


def start(table: ThresholdTable) -> Position:
    """Where the explorer of a page stands at first."""
    return explore(table) if table.chosen is not None else explore(table, false_alarm=START)


def _rate(hits: float, trials: float, limits: tuple[Array, Array], row: int) -> Rate:
    low, high = limits
    return Rate(hits / trials if trials else np.nan, float(low[row]), float(high[row]))
