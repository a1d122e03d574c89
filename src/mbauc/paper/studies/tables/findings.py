"""What the runs have found: means over splits, paired gains, Holm's adjustment, ratios of times."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from mbauc.metrics import holm
from mbauc.paper.studies.tables.comparison import REAL_TABLES, Comparison
from mbauc.paper.study import Key, Record, Results

#: P-values below this, after Holm's adjustment, count.
SIGNIFICANT = 0.05
#: Fits that took longer than this are said to be disturbed where others used so many cores meanwhile.
_LONG_SECONDS, _BUSY = 1.0, 0.2


@dataclass(frozen=True)
class Settings:
    """What is asked for; results depend on the seed alone."""

    #: Of splits and folds.
    seed: int = 0
    #: Stratified halves of tables without test rows of their own, of few rows and of many.
    small_splits: int = 5
    large_splits: int = 3
    #: Rows from which on a table has many.
    large: int = 20_000
    #: Whether it is a rough answer.
    quick: bool = False
    #: After which a fit is stopped.
    most_seconds: float = 3600.0

    def count_splits(self, rows: int) -> int:
        """Halves that a table of that many rows is split into."""
        return self.small_splits if rows < self.large else self.large_splits


class Facts(NamedTuple):
    """What a split of a table measures."""

    rows: int
    test_rows: int
    columns: int
    #: Columns that are categories.
    texts: int
    #: Training rows that are positive.
    positives: int


class Outcome(NamedTuple):
    """What a method reached on a split, and what it cost. AUC with DeLong's interval, not in percent."""

    auc: float
    low: float
    high: float
    #: Above the method that it is compared with, and its standard error (paired DeLong); NaN without.
    gain: float
    gain_stderr: float
    fit_seconds: float
    #: Peak of the process, and what it was before the fit.
    peak_mb: float
    before_mb: float
    #: Cores that other programs used in the meantime.
    others: float
    choice: str
    #: Why there is nothing of all this; empty if there is.
    error: str


class Gain(NamedTuple):
    """How far a method is above another, with a 95% interval, in points."""

    value: float
    low: float
    high: float
    p_value: float


class Verdicts(NamedTuple):
    """Tables on which a method is significantly better than another, worse, and neither."""

    better: list[str]
    worse: list[str]
    level: list[str]


def adjust(gains: Mapping[str, Gain]) -> dict[str, float]:
    """P-values with Holm's adjustment for the number of tables."""
    if not gains:
        return {}
    return dict(zip(gains, holm([gain.p_value for gain in gains.values()]).tolist(), strict=True))


def judge(gains: Mapping[str, Gain]) -> Verdicts:
    """Which gains by table are significant after Holm's adjustment."""
    found = Verdicts([], [], [])
    for table, p_value in adjust(gains).items():
        if p_value >= SIGNIFICANT:
            found.level.append(table)
        else:
            (found.better if gains[table].value > 0 else found.worse).append(table)
    return found


class Findings(Results[Settings]):
    """Outcomes by table, split and method; means over the splits of a table."""

    def __init__(
        self,
        settings: Settings,
        records: Mapping[Key, Record],
        missing: Mapping[str, str] | None = None,
        absent: Mapping[str, str] | None = None,
        comparison: Comparison = REAL_TABLES,
    ) -> None:
        super().__init__(settings, records, missing)
        self.comparison = comparison
        #: Methods that cannot be run here, and why.
        self.absent = dict(absent or {})

    @property
    def tables(self) -> list[str]:
        """Tables with results, in the order in which they were asked for."""
        return list(dict.fromkeys(table for table, _, _ in self.records))

    @property
    def methods(self) -> list[str]:
        """Methods with results, in the order of the study."""
        found = {key for _, _, key in self.records}
        return [key for key in self.comparison.methods if key in found]

    def facts(self, table: str) -> Facts:
        """Of the first split."""
        first = next(record for key, record in self.records.items() if key[0] == table)
        return Facts(*(first[name] for name in Facts._fields))

    def splits(self, table: str) -> int:
        """How many splits of a table were run."""
        return len({split for name, split, _ in self.records if name == table})

    def outcomes(self, table: str, key: str) -> list[Outcome]:
        """One for each split; none where a fit failed, because means over other splits do not compare."""
        records = (one for (name, _, own), one in self.records.items() if (name, own) == (table, key))
        found = [Outcome(*(record[name] for name in Outcome._fields)) for record in records]
        return [] if any(one.error for one in found) else found

    def mean(self, table: str, key: str, what: str) -> float:
        """Mean of a figure over the splits; NaN where a method was not run."""
        found = [getattr(one, what) for one in self.outcomes(table, key)]
        return float(np.mean(found)) if found else float("nan")

    def errors(self) -> list[tuple[str, str, str]]:
        """Table, method and reason of what failed, each once."""
        found = ((name, key, record["error"]) for (name, _, key), record in self.records.items())
        return list(dict.fromkeys(one for one in found if one[2]))

    def disturbed(self) -> list[tuple[str, str]]:
        """Table and method of fits beside which other programs were at work; short ones cannot be told."""
        return [
            (table, key)
            for table in self.tables
            for key in self.methods
            if any(one.fit_seconds > _LONG_SECONDS and one.others > _BUSY for one in self.outcomes(table, key))
        ]

    def gain(self, table: str, key: str) -> Gain | None:
        """Mean gain over the splits; None where there is nothing to compare.

        Splits of one table share rows. The mean of the standard errors is no smaller than the error of the
        mean, whatever they share.
        """
        value, stderr = (100 * self.mean(table, key, what) for what in ("gain", "gain_stderr"))
        if np.isnan(value):
            return None
        half = float(ndtri(0.975)) * stderr
        p_value = 2 * float(ndtr(-abs(value) / stderr)) if stderr > 0 else float(value == 0)
        return Gain(value, value - half, value + half, p_value)

    def adjusted(self, key: str) -> dict[str, float]:
        """P-values of a method's gains, by table, with Holm's adjustment for the number of tables."""
        return adjust(self.gains(key))

    def gains(self, key: str) -> dict[str, Gain]:
        """Gains of a method, by table, where there is something to compare."""
        return {table: gain for table in self.tables if (gain := self.gain(table, key)) is not None}

    def judge(self, key: str) -> Verdicts:
        """On which tables a method is better than the one that it is compared with."""
        return judge(self.gains(key))

    def ratios(self, key: str, other: str) -> dict[str, float]:
        """Seconds of a fit of one method over those of another, by table, where both were run."""
        found = {
            table: self.mean(table, key, "fit_seconds") / self.mean(table, other, "fit_seconds")
            for table in self.tables
        }
        return {table: ratio for table, ratio in found.items() if np.isfinite(ratio)}

    def shared_means(self, keys: Iterable[str]) -> tuple[dict[str, float], list[str]]:
        """Mean AUC of each method over the tables that all of them were run on, in percent, and the tables."""
        keys = list(keys)
        aucs = {table: [100 * self.mean(table, key, "auc") for key in keys] for table in self.tables}
        shared = [table for table, row in aucs.items() if np.isfinite(row).all()]
        if not shared:
            return {}, []
        return dict(zip(keys, np.mean([aucs[table] for table in shared], axis=0).tolist(), strict=True)), shared
