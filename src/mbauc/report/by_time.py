"""The part of a report about time: AUC period by period, and whether it is lower at the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.comparisons.unpaired_auc import AucDifference, compare_roc_auc_unpaired
from mbauc.metrics.intervals.delong import AucInterval, auc_interval
from mbauc.metrics.intervals.sample_design import frequency_design
from mbauc.metrics.ranked import RankedScores
from mbauc.report.figures import period_plot
from mbauc.report.levels import Levels, cut_periods, measure_levels
from mbauc.report.pieces import Section, figure, side_by_side, table
from mbauc.report.text import count, escape_name, percent

#: How much lower the AUC is at the end where a word is due, and how sure that must be.
_LOWER, _SURE = 0.01, 0.05


@dataclass(frozen=True)
class ByTime:
    """AUC over time.

    Attributes
    ----------
    column : str
        What the time is called.
    periods : Levels
        In the order of time.
    n_last : int
        Periods that are the end: the last third.
    before, last : AucInterval or None
        AUC before the end and at the end; None where there are too few rows.
    missing : int
        Rows without a time.
    """

    column: str
    periods: Levels
    n_last: int
    before: AucInterval | None
    last: AucInterval | None
    missing: int

    @property
    def change(self) -> AucDifference | None:
        """The end compared with what was before, if both are known and vary."""
        if self.before is None or self.last is None or not (self.before.stderr and self.last.stderr):
            return None
        return compare_roc_auc_unpaired(self.last, self.before)

    @property
    def worse(self) -> bool:
        """Whether the end is worse, by more than chance explains."""
        change = self.change
        return change is not None and change.difference < -_LOWER and change.p_value < _SURE

    def trend(self) -> str:
        """How the end compares with what was before, in a sentence."""
        change = self.change
        if change is None or self.before is None or self.last is None:
            return (
                "Too few periods, or too few rows of one class, to compare the last periods with earlier ones."
            )
        if self.worse:
            words = "The AUC has dropped significantly in the last periods"
        elif change.p_value < _SURE:
            words = (
                "The AUC has risen in the last periods"
                if change.difference > 0
                else "The AUC is slightly lower in the last periods"
            )
        else:
            words = "No significant change of the AUC"
        last = "the last period" if self.n_last == 1 else f"the last {self.n_last} periods"
        return (
            f"{words}: {self.last.auc:.4f} ({self.last.low:.4f} to {self.last.high:.4f}) in {last}, "
            f"{self.before.auc:.4f} ({self.before.low:.4f} to {self.before.high:.4f}) before."
        )


def measure_time(ranked: RankedScores, values: Any, column: str) -> ByTime:
    """AUC period by period; ``O(n log n)``."""
    codes, names = cut_periods(values, ranked.values.size, column)
    n_last = len(names) // 3
    periods = measure_levels(ranked, codes, names)
    cut = len(names) - n_last if n_last else len(names) + 1
    before, last = (_interval(ranked, rows) for rows in ((codes >= 0) & (codes < cut), codes >= cut))
    return ByTime(column, periods, n_last, before, last, int((codes < 0).sum()))


def _interval(ranked: RankedScores, rows: NDArray[np.bool_]) -> AucInterval | None:
    some = ranked.take(rows)
    if min(part.total for part in some.classes) < 2:
        return None
    return auc_interval(some, frequency_design(some))


def about_time(found: ByTime) -> Iterator[str]:
    """An end that is worse, and rows without a time."""
    if found.worse:
        yield f"By {found.column}: {found.trend()} Expect new rows to score like the last periods."
    if found.missing:
        yield f"{count(found.missing)} rows have no value in {found.column} and belong to no period."


def time_section(found: ByTime, auc: float) -> Section:
    """The section of the page."""
    periods = found.periods
    plot = figure(
        "time-plot",
        period_plot(periods, auc),
        "AUC of the rows of each period, with its 95% confidence interval (DeLong). The dotted line is the AUC "
        "of all rows.",
    )
    rows = [
        (
            escape_name(name, 60),
            "–" if np.isnan(periods.auc[k]) else f"{periods.auc[k]:.4f}",
            "–" if np.isnan(periods.low[k]) else f"{periods.low[k]:.3f}–{periods.high[k]:.3f}",
            count(periods.rows[k]),
            percent(periods.positives[k] / periods.rows[k]),
        )
        for k, name in enumerate(periods.names)
    ]
    name = escape_name(found.column, 60)
    shown = table(f"By {name}", ("Period", "AUC", "95% interval", "Rows", "Positives"), rows, named=True)
    return Section("time", "Over time", f"<p>{found.trend()}</p>" + side_by_side(plot, shown))
