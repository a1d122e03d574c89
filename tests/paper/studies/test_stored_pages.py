"""Pages in docs/results are what the studies write today, given the figures that are stored beside them."""

import csv
import json
import re

import pytest

pytest.importorskip("matplotlib")

from mbauc.paper.studies import linearity
from mbauc.paper.studies.benchmark import partial_auc, table3, tuned
from mbauc.paper.studies.benchmark.runs import DATASETS, Benchmark
from mbauc.paper.studies.benchmark.runs import Settings as BenchmarkSettings
from mbauc.paper.studies.contenders import WHOLE
from mbauc.paper.studies.one_door import page as one_door_page
from mbauc.paper.studies.one_door.findings import ONE_DOOR, SETTINGS, OneDoor
from mbauc.paper.studies.one_door.snippets import RANKER
from mbauc.paper.studies.printed import RATIOS
from mbauc.paper.studies.simulation import table2
from mbauc.paper.studies.simulation.runs import Settings, Simulation
from mbauc.paper.studies.tables import page as tables_page
from mbauc.paper.studies.tables.findings import Facts, Findings
from mbauc.paper.studies.tables.findings import Settings as TablesSettings


@pytest.fixture
def stored(request):
    folder = request.config.rootpath / "docs" / "results"

    def read(name):
        text = (folder / name).read_text(encoding="utf-8")
        return list(csv.DictReader(text.splitlines())) if name.endswith(".csv") else text

    return read


def without_origin(page):
    """All but the last line, which tells versions and time."""
    lines = page.rstrip("\n").split("\n")
    assert lines[-1].startswith("Seed ")
    return lines[:-1]


def test_table2(stored, tmp_path):
    records = {}
    whole = {contender.name for contender in WHOLE}
    for row in stored("table2.csv"):
        methods = records.setdefault((int(row["components"]), int(row["set"])), {"methods": {}, "seconds": 0.0})
        ratio = row["sample_ratio"]
        name = row["method"] if row["method"] in whole else f"{row['method']} {float(ratio):g}"
        methods["methods"][name] = {"auc": float(row["auc"]) / 100, "setting": float(row["value"]), "roc": []}
    assert len(records) == 3 * Settings().sets
    assert all(len(record["methods"]) == 2 + 6 * len(RATIOS) for record in records.values())
    table, page = table2.render(Simulation(Settings(), records), tmp_path)
    assert without_origin(page.read_text()) == without_origin(stored("table2.md"))
    assert list(csv.DictReader(table.open())) == stored("table2.csv")


def test_table3(stored, tmp_path):
    settings = BenchmarkSettings()
    records = {}
    for row in stored("table3_runs.csv"):
        record = records.setdefault((row["dataset"], int(row["run"])), {"methods": {}, "seconds": 0.0})
        record["methods"][row["algorithm"]] = {
            "auc": float(row["auc"]) / 100,
            "setting": float(row["setting"]),
            "seconds": float(row["seconds"]),
        }
    missing = {name: "not here" for name in DATASETS if (name, 0) not in records}
    study = Benchmark(settings, records, missing)
    _, runs, tuned_runs, page = table3.render(study, read_tuned(stored, missing), DATASETS, tmp_path)
    # who is best there hangs on digits that are not stored
    tie = re.compile(r"(\| mushrooms \| 100\.00 \| -0\.00 \| -0\.00 \| 100\.00 ).*")
    ours, theirs = (tie.sub(r"\1", text) for text in (page.read_text(), stored("table3.md")))
    assert without_origin(ours) == without_origin(theirs)
    assert list(csv.DictReader(runs.open())) == stored("table3_runs.csv")
    assert list(csv.DictReader(tuned_runs.open())) == stored("table3_tuned.csv")


def read_tuned(stored, missing):
    records = {}
    for row in stored("table3_tuned.csv"):
        record = records.setdefault((row["dataset"], int(row["run"])), {"methods": {}, "seconds": 0.0})
        numbers = {"auc": "auc", "gain": "auto_minus", "stderr": "stderr"}
        record["methods"][row["algorithm"]] = {
            **{name: float(row[column]) / 100 for name, column in numbers.items()},
            **{name: float(row[name]) for name in ("setting", "seconds")},
            "choice": row["choice"],
        }
    return tuned.Tuned(tuned.Settings(), records, missing)


def test_partial_auc(stored, tmp_path):
    records = {}
    for row in stored("partial_auc.csv"):
        record = records.setdefault((row["dataset"],), {"methods": {}, "seconds": 0.0})
        number = {
            name: float(text) for name, text in row.items() if name not in ("dataset", "algorithm", "choice")
        }
        record["methods"][row["algorithm"]] = {
            **{name: number[name] for name in ("detections", "partial_auc", "auc", "seconds")},
            "gain": [number[name] for name in ("gain", "low", "high")],
            "partial_gain": [number[name] for name in ("partial_gain", "partial_low", "partial_high")],
            "choice": row["choice"],
        }
    missing = {name: "not here" for name in partial_auc.SETS if (name,) not in records}
    study = partial_auc.TopOfList(partial_auc.Settings(), records, missing)
    table, page = partial_auc.render(study, partial_auc.SETS, tmp_path)
    assert without_origin(page.read_text()) == without_origin(stored("partial_auc.md"))
    assert list(csv.DictReader(table.open())) == stored("partial_auc.csv")


def read_fits(rows):
    """Records of a study of tables."""
    words = ("dataset", "method", "choice", "error")
    counts = ("split", *Facts._fields)
    records = {}
    for row in rows:
        values = {
            name: text if name in words else int(text) if name in counts else float(text)
            for name, text in row.items()
        }
        key = tuple(values.pop(name) for name in ("dataset", "split", "method"))
        records[key] = {**values, "seconds": 0.0}
    return records


def test_one_door(stored, tmp_path):
    records, plans = read_fits(stored("one_door.csv")), {}
    for row in stored("one_door_guesses.csv"):
        plans.setdefault(row["dataset"], []).append([row["column"], row["kind"], row["why"]])
    for table, plan in plans.items():
        records[table, 0, RANKER]["plan"] = json.dumps(plan)
    found = OneDoor(SETTINGS, records, comparison=ONE_DOOR)
    table, guesses, page = one_door_page.render(found, tmp_path)
    assert without_gaps(page.read_text()) == without_gaps(stored("one_door.md"))
    assert list(csv.DictReader(table.open())) == stored("one_door.csv")
    assert list(csv.DictReader(guesses.open())) == stored("one_door_guesses.csv")


def test_tables(stored, tmp_path):
    records = read_fits(stored("tables.csv"))
    table, page = tables_page.render(
        Findings(TablesSettings(small_splits=1, large_splits=1), records), tmp_path
    )
    assert without_gaps(page.read_text()) == without_gaps(stored("tables.md"))
    assert list(csv.DictReader(table.open())) == stored("tables.csv")


def without_gaps(page):
    """All but what was not there, which the figures do not tell."""
    lines = without_origin(page)
    return lines[: lines.index("## Missing results")] if "## Missing results" in lines else lines


def test_linearity(stored):
    findings = [
        linearity.Finding(row.pop("family"), *(float(value) for value in row.values()))
        for row in stored("linearity.csv")
    ]
    # at which ratio zero is largest hangs on digits that are not stored
    tie = re.compile(r"(\* Shared covariance: .*, 0\.00 at worst) \(\S+ dB\)")
    ours, theirs = (
        tie.sub(r"\1", text)
        for text in (linearity.page(linearity.Settings(), findings), stored("linearity.md"))
    )
    assert ours == theirs
