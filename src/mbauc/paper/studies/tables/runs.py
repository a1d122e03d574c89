"""The runs of the study: each fit in a process of its own, one after the other, in ledgers that resume.

Our methods have a ledger of their own: after a change to them it is deleted, and the rivals' hours are kept.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from mbauc.errors import CheckpointError, FewRowsWarning
from mbauc.metrics import compare_roc_auc
from mbauc.metrics.intervals.delong import auc_interval
from mbauc.metrics.intervals.sample_design import frequency_design
from mbauc.metrics.ranked import RankedScores
from mbauc.paper.studies.tables.comparison import REAL_TABLES, Comparison
from mbauc.paper.studies.tables.findings import Facts, Findings, Settings
from mbauc.paper.studies.tables.methods import Method
from mbauc.paper.studies.tables.sets import Rows, Table, fingerprint, load_table
from mbauc.paper.studies.tables.task import THREADS, Task, run_apart
from mbauc.paper.study import Key, Record, Request, Study, load_available
from mbauc.store.atomic import atomic_write

#: Figures of a fit that failed.
_NOTHING = dict.fromkeys(("auc", "low", "high", "fit_seconds", "peak_mb", "before_mb", "others"), float("nan"))


class Split(NamedTuple):
    """Rows to learn from and to be judged on."""

    X: Any
    y: NDArray[np.int64]
    X_test: Any
    y_test: NDArray[np.int64]

    @property
    def facts(self) -> Facts:
        """What it measures."""
        texts = (
            0 if isinstance(self.X, np.ndarray) else self.X.select_dtypes(exclude=["number", "bool"]).shape[1]
        )
        return Facts(self.y.size, self.y_test.size, self.X.shape[1], texts, int(self.y.sum()))


class _Present(NamedTuple):
    """A table that is here."""

    data: str
    splits: int
    facts: Facts


def split_rows(rows: Rows, number: int, seed: int) -> Split:
    """The rows as provided, or stratified halves."""
    if rows.y_test is not None:
        return Split(rows.X, rows.y, rows.X_test, rows.y_test)
    drawn = int(np.random.default_rng([seed, 7, number]).integers(2**31))
    X, X_test, y, y_test = train_test_split(rows.X, rows.y, test_size=0.5, stratify=rows.y, random_state=drawn)
    return Split(X, y, X_test, y_test)


def run_requested(
    request: Request, comparison: Comparison = REAL_TABLES, whole: Settings | None = None
) -> Findings:
    """The runs that a user asks for; a quick answer is of one split, with nothing tuned unless it is named."""
    settings = replace(whole or Settings(), seed=request.seed)
    if request.quick:
        settings = replace(settings, small_splits=1, large_splits=1, quick=True)
    if request.splits is not None:
        settings = replace(settings, small_splits=request.splits, large_splits=request.splits)
    methods = request.methods or tuple(
        key for key, method in comparison.methods.items() if not (request.quick and method.tuned)
    )
    tables = request.datasets or tuple(comparison.tables)
    return run(settings, request.out, tables, methods, request.data_dir, comparison, request.again)


def run(
    settings: Settings,
    out: Path,
    tables: tuple[str, ...],
    methods: tuple[str, ...],
    folder: Path | None = None,
    comparison: Comparison = REAL_TABLES,
    again: tuple[str, ...] = (),
) -> Findings:
    """Run what is not yet in the ledgers, and once more the methods that are named in ``again``.

    Tables that are not here are named in ``missing``, methods that cannot be run in ``absent``.
    """
    present, missing = load_available(tables, lambda name: _look_at(comparison.tables[name], settings, folder))
    absent = {key: why for key in methods if (why := comparison.methods[key].explain_absence()) is not None}
    chosen = [comparison.methods[key] for key in methods if key not in absent]

    def perform(table: str, split: int, key: str) -> Record:
        part = split_rows(load_table(comparison.tables[table], folder), split, settings.seed)
        method = comparison.methods[key]
        task = Task(method.make, method.warm_up or method.make, part.X, part.y, part.X_test, settings.seed)
        found, scores = run_apart(task, min(settings.most_seconds, method.most_seconds))
        if scores is not None:
            _keep(scores, _place(out, comparison, table, split, key))
            found |= measure(part.y_test, scores)
        return {"choice": "", **_NOTHING, **part.facts._asdict(), "data": present[table].data, **found}

    records: dict[Key, Record] = {}
    for whose in ("rivals", "ours"):
        ours = whose == "ours"
        depends_on = _depends_on(settings, comparison, ours)
        study = Study(out, f"{comparison.name}_{whose}", ("dataset", "split", "method"), depends_on)
        for table, one in present.items():
            study.check_data(table, one.data)
        tasks = _list_tasks(present, [method for method in chosen if method.is_ours == ours])
        # one at a time: nothing else may run while the clock does
        records |= study.run(
            perform,
            tasks,
            n_jobs=1,
            what=f"{comparison.name}, {whose}",
            unit="fit",
            again=lambda _table, _split, key: key in again,
        )
    # in the order of the tables and methods that were asked for
    ordered = {key: records[key] for key in _list_tasks(present, chosen)}
    compared = compare(comparison, settings, out, ordered, folder)
    return Findings(settings, compared, missing, absent, comparison)


def _look_at(table: Table, settings: Settings, folder: Path | None) -> _Present:
    rows = load_table(table, folder)
    splits = 1 if rows.y_test is not None else settings.count_splits(rows.y.size)
    return _Present(fingerprint(table, folder), splits, split_rows(rows, 0, settings.seed).facts)


def _list_tasks(present: Mapping[str, _Present], methods: list[Method]) -> list[Key]:
    return [
        (table, split, method.key)
        for table, one in present.items()
        for split in range(one.splits)
        for method in methods
        if method.takes(one.facts.rows, one.facts.columns)
    ]


def _depends_on(settings: Settings, comparison: Comparison, ours: bool) -> Record:
    same = {"seed": settings.seed, "threads": THREADS}
    return same if ours else {**same, **comparison.rivals_depend_on, "rivals": rival_versions(comparison)}


def rival_versions(comparison: Comparison) -> dict[str, str]:
    """Versions of the libraries that the rivals come from."""
    found = {}
    for name in comparison.packages:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "absent"
    return found


# -- figures --------------------------------------------------------------------------------------------------


def measure(y: NDArray[np.int64], scores: NDArray[np.float64]) -> Record:
    """AUC with DeLong's interval."""
    ranked = RankedScores.validate(y, scores)
    found = auc_interval(ranked, frequency_design(ranked))
    return {"auc": found.auc, "low": found.low, "high": found.high}


def _place(out: Path, comparison: Comparison, table: str, split: int, key: str) -> Path:
    return out / f"{comparison.name}_scores" / f"{table}-{split}-{key}.npy"


def _keep(scores: NDArray[np.float64], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as stream:
        np.save(stream, scores)


def _recall(path: Path, comparison: Comparison) -> NDArray[np.float64]:
    if not path.exists():
        raise CheckpointError(
            f"{path} is missing: the scores of a fit that is in the ledger. Delete {comparison.name}_rivals."
            f"ledger and {comparison.name}_ours.ledger to start again, or choose another folder."
        )
    return np.asarray(np.load(path), dtype=np.float64)


def compare(
    comparison: Comparison,
    settings: Settings,
    out: Path,
    records: Mapping[Key, Record],
    folder: Path | None,
) -> dict[Key, Record]:
    """The records, each with its gain over its baseline on the same test rows."""
    labels: dict[Key, NDArray[np.int64]] = {}
    compared = {}
    for (table, split, key), record in records.items():
        gain = (float("nan"), float("nan"))
        other = records.get((table, split, comparison.baseline(key)))
        if other is not None and not (record["error"] or other["error"]):
            if (table, split) not in labels:
                rows = load_table(comparison.tables[table], folder)
                labels[table, split] = split_rows(rows, split, settings.seed).y_test
            paths = (_place(out, comparison, table, split, one) for one in (key, comparison.baseline(key)))
            gain = compare_scores(labels[table, split], *(_recall(path, comparison) for path in paths))
        compared[table, split, key] = {**record, "gain": gain[0], "gain_stderr": gain[1]}
    return compared


def compare_scores(
    y: NDArray[np.int64], ours: NDArray[np.float64], theirs: NDArray[np.float64]
) -> tuple[float, float]:
    """Difference of two AUCs on the same rows, and its standard error (paired DeLong)."""
    with warnings.catch_warnings():
        # the page says where rows are few
        warnings.simplefilter("ignore", FewRowsWarning)
        found = compare_roc_auc(y, [ours, theirs])
    return float(found.difference[0, 1]), float(found.stderr[0, 1])
