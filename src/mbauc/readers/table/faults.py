"""Rows that cannot be used: an error at the first of them, or a count of those that were left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice

#: Called with the place of a row that cannot be read, the kind of fault and a description; raises, or notes it.
Report = Callable[[str, str, str], None]

#: Messages about skipped rows that are kept.
_MESSAGES = 10
_SKIP = Advice("{on_error} leaves such rows out.", on_error="skip")


class RowFault(NamedTuple):
    """A fault of some rows."""

    #: Which rows.
    rows: NDArray[np.bool_]
    #: The kind of fault, for counting.
    reason: str
    #: What to say about a row: what was expected, what came, what to do.
    message: Callable[[int], str]


@dataclass
class SkippedRows:
    """Rows left out of a pass over the data: how many, how many by reason, and the first ten messages."""

    count: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def note(self, place: str, reason: str, message: str) -> None:
        """Count a row."""
        self.count += 1
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if len(self.messages) < _MESSAGES:
            self.messages.append(f"{place}: " + message)

    def report(self, on_error: str) -> Report:
        """What to do about a row that cannot be used: stop at it, or count it."""
        return stop if on_error == "stop" else self.note

    def tell_empty(self) -> str:
        """What to say where no row is left: there were none, or why none can be used."""
        if not self.count:
            return "there are no rows."
        return "there are no rows that can be used. " + str(self) + "."

    def __str__(self) -> str:
        if not self.count:
            return "no rows were left out"
        reasons = ", ".join(f"{count:,} with {reason}" for reason, count in self.reasons.items())
        rows = "1 row was" if self.count == 1 else f"{self.count:,} rows were"
        return f"{rows} left out: {reasons}. The first: " + self.messages[0]


def stop(place: str, reason: str, message: str) -> None:
    """Raise at the first row that cannot be used."""
    raise ValueError(f"{place}: " + message + " " + _SKIP)


def report_faults(
    faults: list[RowFault], place: Callable[[int], str], report: Report
) -> NDArray[np.bool_] | None:
    """Report rows with faults, in order and each for its first one; which rows to keep, None for all."""
    if not faults:
        return None
    bad = np.logical_or.reduce([fault.rows for fault in faults])
    for row in np.flatnonzero(bad).tolist():
        fault = next(fault for fault in faults if fault.rows[row])
        report(place(row), fault.reason, fault.message(row))
    return np.asarray(~bad)
