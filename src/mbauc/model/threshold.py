"""A cut: scores above it raise an alarm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_number, check_whole

Array = NDArray[np.float64]

#: Rules that a cut without a promise can be chosen by, in words.
RULES = {
    "false_alarm": "false-alarm rate at most {:g}",
    "top": "at most {:,.0f} alarms in as many rows",
    "alarms_per_10000": "at most {:,g} alarms per 10,000 rows",
    "cost": "lowest cost, a missed positive costing {:,g} false alarms",
}


@dataclass(frozen=True)
class Threshold:
    """Decision threshold, usually with a guaranteed limit of the false-positive rate.

    Attributes
    ----------
    value : float
        Scores above it raise an alarm.
    false_alarm : float or None
        Guaranteed limit of the false-positive rate; None without a guarantee.
    confidence : float or None
        Probability with which the limit holds; None without a guarantee.
    negatives : int
        Number of negative rows used to set the threshold.
    rule : {"false_alarm", "top", "alarms_per_10000", "cost"} or None
        Rule for a threshold without a guarantee; None with a guarantee, or if set by hand.
    number : float or None
        Parameter of the rule: a rate, a number of alarms, or a cost.
    """

    value: float
    false_alarm: float | None = None
    confidence: float | None = None
    negatives: int = 0
    rule: str | None = None
    number: float | None = None

    def __post_init__(self) -> None:
        check_number("the threshold", self.value, low=-np.inf)
        if self.false_alarm is not None or self.confidence is not None:
            for name in ("false_alarm", "confidence"):
                check_number(name, getattr(self, name), low=0.0, high=1.0)
        check_whole("negatives", self.negatives, low=0)
        if self.rule is not None or self.number is not None:
            check_choice("rule", self.rule, tuple(RULES))
            check_number("number", self.number, low=0.0)

    def describe(self) -> str:
        """Describe in words how the threshold was chosen."""
        if self.false_alarm is not None:
            return (
                f"at most {self.false_alarm:g} of the negatives, with {self.confidence:g} confidence (from "
                f"{self.negatives:,} negatives)"
            )
        if self.rule is None:
            return "set by hand, no guarantee"
        return (
            RULES[self.rule].format(self.number) + ", on the rows used to select it; no guarantee for new rows"
        )


def clear_cut(value: float, s: Array) -> float:
    """A cut halfway from a score to the next one that is clearly higher.

    Alarms are the same as above the score itself, also for programs that sum in another order and whose scores
    differ in the last digits. A false-alarm promise holds all the more, since the cut is not lower.

    Parameters
    ----------
    value : float
        The score.
    s : ndarray
        All scores.

    Examples
    --------
    >>> import numpy as np
    >>> clear_cut(0.25, np.array([0.0, 0.25, 0.25 + 1e-16, 0.75]))
    0.5
    """
    if np.isneginf(value):  # all rows raise an alarm
        return float(s.min() - (np.ptp(s) / 50 or max(1.0, abs(s.min())) / 50))
    clearly = 1e-9 * max(float(np.abs(s).max(initial=0.0)), np.finfo(float).tiny)
    higher = s[s > value + clearly]
    return float(value + ((higher.min() - value) / 2 if higher.size else clearly))
