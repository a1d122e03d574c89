"""Runs the fits one after the other and puts their times side by side."""

import json
import subprocess
import sys
from importlib.metadata import version

import numpy as np

from benchmarks.clusters.data import COLUMNS, FILES, ROWS, TEST_ROWS, make, test_rows
from benchmarks.clusters.fits import SMALL
from benchmarks.timing import report

#: AUC that counts as the same.
SAME = 0.0005


def run(rows=ROWS):
    for size, files, seed in ((rows, FILES, 0), (SMALL, FILES, 2)):
        make(size, files, seed)
    test_rows()
    found = {
        (name, workers): measured(name, workers, rows)
        for name in ("local", "dask", "spark")
        for workers in (2, 1)
    }
    ladder = measured("logistic", 2, rows)["ladder"]
    local, spark = found["local", 2], found["spark", 2]
    table = [("local, 2 threads", _told(local, rows), "")]
    for name, title in (("dask", "Dask"), ("spark", "Spark")):
        two, one = found[name, 2], found[name, 1]
        apart = _apart(two, local)
        table += [
            (
                f"{title}, 2 workers",
                f"{_told(two, rows)}; {two['seconds'] / local['seconds']:.2f} times the local fit; moments "
                f"differ by {apart:.0e}",
                "moments within 1e-10",
            ),
            (
                f"{title}, 1 worker",
                f"{_told(one, rows)}; a second worker makes it {one['seconds'] / two['seconds']:.2f} times "
                "as fast",
                "",
            ),
        ]
    table.append(
        (
            "local, 1 thread",
            f"{_told(found['local', 1], rows)}; a second thread makes it "
            f"{found['local', 1]['seconds'] / local['seconds']:.2f} times as fast",
            "",
        )
    )
    # what both reach: logistic regression may be the worse of the two whatever its time
    common = min(spark["auc"], max(step["auc"] for step in ladder)) - SAME
    reached = next(step for step in ladder if step["auc"] >= common)
    last = ladder[-1]
    table += [
        (
            f"Spark ML LogisticRegression, 2 workers, to the common AUC of {common:.4f}",
            f"{reached['seconds']:.1f} s with maxIter={reached['steps']}, AUC {reached['auc']:.4f}: "
            f"{reached['seconds'] / spark['seconds']:.1f} times ours on Spark",
            "at least 3 times",
        ),
        (
            "Spark ML LogisticRegression, 2 workers, until it stops by itself",
            f"{last['seconds']:.1f} s, {last['done']} iterations, AUC {last['auc']:.4f}: "
            f"{last['seconds'] / spark['seconds']:.1f} times ours on Spark",
            "",
        ),
    ]
    report(
        "clusters",
        table,
        notes=[
            f"{rows:,} rows of {COLUMNS} float32 columns in {FILES} Parquet files, {TEST_ROWS:,} other rows to "
            "test on; from files to weights, best of two, after a fit to a few rows on the same cluster",
            f"Dask: LocalCluster of processes with one thread, {version('dask')}; Spark: local-cluster of "
            f"executors with one core, {version('pyspark')}; both on the two cores of this machine",
            "time and AUC of logistic regression by maxIter: "
            + ", ".join(f"{step['steps']}: {step['seconds']:.1f} s, AUC {step['auc']:.4f}" for step in ladder),
        ],
    )


def measured(name, workers, rows):
    command = [sys.executable, "-m", "benchmarks.clusters.fits", name, str(workers), str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result = json.loads(done.stdout.splitlines()[-1])
    shown = {key: value for key, value in result.items() if key not in ("coef", "moments")}
    print(f"  {name}, {workers}: {shown}", flush=True)
    return result


def _told(result, rows):
    return f"{result['seconds']:.1f} s, {rows / result['seconds'] / 1e6:.2f}M rows/s, AUC {result['auc']:.4f}"


def _apart(one, other):
    pairs = zip(one["moments"], other["moments"], strict=True)
    return max(float(np.abs(np.subtract(a, b)).max() / np.abs(b).max()) for a, b in pairs)
