"""What the runs have found: gains of each method over each other, where TableRanker stands, its guesses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mbauc.paper.studies.one_door.sets import EXPECTED, TABLES, is_right
from mbauc.paper.studies.one_door.snippets import EBM_SECONDS, METHODS, RANKER, SNIPPETS
from mbauc.paper.studies.tables.comparison import Comparison
from mbauc.paper.studies.tables.findings import SIGNIFICANT, Findings, Gain, Settings, adjust
from mbauc.paper.studies.tables.runs import compare, run_requested
from mbauc.paper.study import Key, Record, Request


def _always(other: str, _key: str) -> str:
    return other


#: Share of the tables on which TableRanker is to be first or level.
AIM = 2 / 3
ONE_DOOR = Comparison(
    "one_door",
    TABLES,
    METHODS,
    partial(_always, RANKER),
    ("lightgbm", "interpret-core", "skrub", "pandas"),
    {
        "snippets": {key: snippet.text for key, snippet in SNIPPETS.items() if not METHODS[key].is_ours},
        "EBM seconds": EBM_SECONDS,
    },
)
SETTINGS = Settings(small_splits=1, large_splits=1)


class Standing(NamedTuple):
    """TableRanker and the best rival on a table; points of TableRanker above it."""

    rival: str
    gain: Gain
    #: After Holm's adjustment over the tables.
    p_value: float

    @property
    def is_first(self) -> bool:
        """Whether its AUC is no smaller than that of all rivals."""
        return self.gain.value >= 0

    @property
    def is_behind(self) -> bool:
        """Whether the best rival is significantly better."""
        return not self.is_first and self.p_value < SIGNIFICANT


class Guess(NamedTuple):
    """What a column was taken for, why, and what it is."""

    column: str
    kind: str
    why: str
    expected: str
    right: bool


def minus(other: str) -> list[str]:
    """Fields of a record: its AUC minus that of another method, and the standard error."""
    return [f"minus_{other}", f"minus_{other}_stderr"]


class OneDoor(Findings):
    """Findings in which each method is compared with each other."""

    def against(self, other: str) -> Findings:
        """The same outcomes, with gains over another method."""
        value, stderr = minus(other)
        records = {
            key: {**record, "gain": record[value], "gain_stderr": record[stderr]}
            for key, record in self.records.items()
        }
        return Findings(self.settings, records, self.missing, self.absent, self.comparison)

    @property
    def rivals(self) -> list[str]:
        """Methods with results that are not ours."""
        return [key for key in self.methods if not self.comparison.methods[key].is_ours]

    def standings(self) -> dict[str, Standing]:
        """By table, TableRanker against the rival with the largest mean AUC, where both have results."""
        best, gains = {}, {}
        for table in self.tables:
            aucs = {key: self.mean(table, key, "auc") for key in self.rivals if self.outcomes(table, key)}
            if aucs and self.outcomes(table, RANKER):
                best[table] = max(aucs, key=lambda key: aucs[key])
                gain = self.against(best[table]).gain(table, RANKER)
                if gain is not None:
                    gains[table] = gain
        adjusted = adjust(gains)
        return {table: Standing(best[table], gain, adjusted[table]) for table, gain in gains.items()}

    def guesses(self, table: str) -> list[Guess]:
        """What TableRanker took the columns of a table for on the first split; nothing of tables of numbers."""
        plan = self.records.get((table, 0, RANKER), {}).get("plan")
        if plan is None or table not in EXPECTED:
            return []
        return [
            Guess(name, kind, why, EXPECTED[table][name], is_right(table, name, kind))
            for name, kind, why in json.loads(plan)
        ]


def run_one_door(request: Request, comparison: Comparison = ONE_DOOR) -> OneDoor:
    """Run what is not done yet, and compare each method with each other."""
    found = run_requested(request, comparison, SETTINGS)
    records = compare_all(found, request.out, request.data_dir)
    return OneDoor(found.settings, records, found.missing, found.absent, comparison)


def compare_all(found: Findings, out: Path, folder: Path | None) -> Mapping[Key, Record]:
    """The records with the gains over each method, on the same test rows."""
    records = {key: dict(record) for key, record in found.records.items()}
    for other in found.methods:
        one = replace(found.comparison, baseline=partial(_always, other))
        for key, record in compare(one, found.settings, out, found.records, folder).items():
            records[key] |= dict(zip(minus(other), (record["gain"], record["gain_stderr"]), strict=True))
    return records
