"""Squared hinge, curves and groups on Dask and Spark beside the local fit: time, memory, agreement.

``python -m benchmarks cluster_losses`` runs all of it, ``python -m benchmarks.cluster_losses dask curves`` one
fit. Each keeps its own result, and the table is made of those that are there.
"""

import glob
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.clusters.data import COLUMNS, FILES, NAMES, ROWS, TEST_ROWS, USERS, make, test_rows
from benchmarks.clusters.fits import SMALL, start_spark
from benchmarks.timing import RESULTS, report

ENGINES = {"local": "local, 2 threads", "dask": "Dask, 2 workers", "spark": "Spark, 2 workers"}
KINDS = {
    "squared": ("MBAClassifier", {}, "squared loss"),
    "squared_hinge": ("PairwiseAUCClassifier", {"loss": "squared_hinge"}, "squared hinge over all pairs"),
    "curves": ("AdditiveAUCClassifier", {"features": "curves", "random_state": 0}, "curves"),
    "groups": ("MBAClassifier", {}, "squared loss over the pairs of each user"),
}
PARTS = RESULTS / "cluster_losses_parts"


def fit(engine, kind, rows):
    """One fit on an engine, after one to a few rows there; prints what was measured and keeps the scores."""
    name, settings, _ = KINDS[kind]
    made = getattr(import_module("mbauc" if engine == "local" else f"mbauc.{engine}"), name)
    options = {"group": "user"} if kind == "groups" else {}
    if engine == "local":
        found = _time(lambda place: made(**settings).fit_source(_source(place, kind, options)), rows)
    elif engine == "spark":
        spark = start_spark(2)
        found = _time(
            lambda place: made(**settings).fit(
                spark.read.parquet(str(place)), features=NAMES, label="label", **options
            ),
            rows,
        )
    else:
        found = _time_on_dask(
            lambda frame, more: made(**settings).fit(frame[NAMES], frame["label"], **more), kind, rows
        )
    ranker, took, held, load = found
    X, y = test_rows()
    scores = ranker.decision_function(X)
    from mbauc.metrics import roc_auc

    np.save(_scores_of(engine, kind, rows), scores)
    return {
        "rows": rows,
        "seconds": took,
        "held": held / 1e9,
        "load": load,
        "auc": float(roc_auc(y, scores)),
        "sweeps": int(ranker.n_iter_),
    }


def _source(place, kind, options):
    from mbauc.readers import TableSource

    encoding = {"encode": "codes"} if kind == "curves" else {"missing": "mean", "scale": None}
    left_out = {} if options else {"ignore": ["user"]}
    files = sorted(glob.glob(str(place / "*.parquet")))
    return TableSource(
        files, label="label", types=dict.fromkeys(NAMES, "numeric"), **encoding, **left_out, **options
    )


def _time_on_dask(fit_frame, kind, rows):
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    def fit_place(place):
        frame = dd.read_parquet(str(place / "*.parquet"))
        return fit_frame(frame, {"groups": frame["user"]} if kind == "groups" else {})

    with (
        LocalCluster(2, threads_per_worker=1, dashboard_address=None, memory_limit="6GB") as cluster,
        Client(cluster),
    ):
        return _time(fit_place, rows)


def _time(fit_place, rows):
    """The ranker, seconds, the most memory of all processes together, and the load before."""
    fit_place(make(SMALL, FILES, seed=2))
    place, load, peak = make(rows, FILES, seed=0), os.getloadavg()[0], _TreePeak()
    started = time.perf_counter()
    ranker = fit_place(place)
    return ranker, time.perf_counter() - started, peak.stop(), load


class _TreePeak:
    """The most memory that this process and all below it held, pages of files not counted."""

    def __init__(self):
        self._most, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self):
        while not self._over.wait(0.5):
            self._most = max(self._most, _held_below(os.getpid()))

    def stop(self):
        self._over.set()
        self._thread.join()
        return self._most


def _held_below(root):
    parent, held = {}, {}
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            fields = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
        except OSError:
            continue
        number = int(path.parent.name)
        parent[number], held[number] = int(fields["PPid"]), int(fields.get("RssAnon", "0 kB").split()[0]) * 1024

    def is_below(number):
        while number and number != root:
            number = parent.get(number, 0)
        return number == root

    return sum(size for number, size in held.items() if is_below(number))


def _scores_of(engine, kind, rows):
    return Path(tempfile.gettempdir()) / f"mbauc-cluster-losses-{engine}-{kind}-{rows}.npy"


def _note_agreement():
    """Say in each result how far scores are from those of the local fit, where both are still there."""
    for path in PARTS.glob("*.json"):
        engine, kind = path.stem.split("_", 1)
        files = [_scores_of(one, kind, ROWS) for one in (engine, "local")]
        if engine != "local" and all(file.exists() for file in files):
            scores, local = (np.load(file) for file in files)
            apart = np.abs((scores - scores.mean()) - (local - local.mean())).max() / local.std()
            found = json.loads(path.read_text()) | {"apart": float(apart)}
            path.write_text(json.dumps(found, indent=1) + "\n")


def run(engines=ENGINES, kinds=KINDS, rows=ROWS):
    for size, files, seed in ((rows, FILES, 0), (SMALL, FILES, 2)):
        make(size, files, seed)
    test_rows()
    for engine in engines:
        for kind in kinds:
            command = [sys.executable, "-m", "benchmarks.cluster_losses", "--fit", engine, kind, str(rows)]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            print(engine, kind, found, flush=True)
            if rows == ROWS:
                PARTS.mkdir(parents=True, exist_ok=True)
                (PARTS / f"{engine}_{kind}.json").write_text(json.dumps(found, indent=1) + "\n")
    if rows == ROWS:
        write_table()


def write_table():
    """The table of the fits that have been measured."""
    _note_agreement()
    table, loads = [], []
    for kind, (_, _, title) in KINDS.items():
        local = None
        for engine, where in ENGINES.items():
            path = PARTS / f"{engine}_{kind}.json"
            if not path.exists():
                continue
            got = json.loads(path.read_text())
            loads.append(got["load"])
            local = got if engine == "local" else local
            table.append((f"{title}: {where}", _told(got, local), ""))
    report(
        "cluster_losses",
        table,
        notes=[
            f"{ROWS:,} rows of {COLUMNS} float32 columns and {USERS:,} users in {FILES} Parquet files, "
            f"{TEST_ROWS:,} other rows to test on; from files to weights, one fit each, after one to a few "
            "rows on the same cluster",
            "memory of all processes together, Spark's JVMs and executors included, without the page cache; "
            "scores apart by: the largest difference of a test row's score, in standard deviations of the "
            "scores",
            f"Dask {version('dask')}: LocalCluster of processes with one thread; Spark {version('pyspark')}: "
            "local-cluster of executors with one core; both on the two cores of this machine, whose load "
            f"before the fits was {min(loads):.1f} to {max(loads):.1f}",
            "curves over the pairs of each user are for files and rows in memory; clusters refuse them",
        ],
    )


def _told(got, local):
    said = f"{got['seconds']:.0f} s, {got['held']:.1f} GB, {got['sweeps']} sweeps, AUC {got['auc']:.5f}"
    if local is None or got is local:
        return said
    apart = f"; scores apart by {got['apart']:.0e}" if got.get("apart") is not None else ""
    return f"{said}; {got['seconds'] / local['seconds']:.1f} times the local fit{apart}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        print(json.dumps(fit(sys.argv[2], sys.argv[3], int(sys.argv[4]))), flush=True)
    elif sys.argv[1:] == ["table"]:
        write_table()
    else:
        asked = set(sys.argv[1:])
        if asked - {*ENGINES, *KINDS}:
            sys.exit(f"usage: python -m benchmarks.cluster_losses [{' | '.join([*ENGINES, *KINDS])} | table] …")
        run(
            [one for one in ENGINES if one in asked] or ENGINES, [one for one in KINDS if one in asked] or KINDS
        )
