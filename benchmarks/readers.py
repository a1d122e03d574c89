"""Tables of numbers, 2,000,000 rows of 30 columns, from files to blocks and fits, against pyarrow alone."""

import os
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.timing import interleaved, peak_megabytes, report
from mbauc import MBAClassifier
from mbauc.readers import TableSource

COLUMNS = 30
STEP = 250_000


def tables(n, seed=0):
    """Normal columns with six digits, three rows in ten positive."""
    rng = np.random.default_rng(seed)
    for _ in range(0, n, STEP):
        y = (rng.random(STEP) < 0.3).astype(np.int64)
        X = np.round(rng.standard_normal((COLUMNS, STEP)) + 0.1 * y, 6)
        yield pa.table({"y": y, **{f"x{j}": column for j, column in enumerate(X)}})


def write(folder, n):
    """The same rows as Parquet, in groups of as many rows as pyarrow writes by itself, and as CSV."""
    whole = pa.concat_tables(tables(n))
    parquet.write_table(whole, Path(folder, "rows.parquet"))
    csv.write_csv(whole, Path(folder, "rows.csv"))
    return {"Parquet": Path(folder, "rows.parquet"), "CSV": Path(folder, "rows.csv")}


def read_parquet(path):
    """All rows as Arrow tables, by Arrow's threads."""
    with parquet.ParquetFile(path) as opened:
        for _ in opened.iter_batches():
            pass


def read_csv(path):
    """All rows as one Arrow table, by Arrow's threads."""
    csv.read_csv(path)


def blocks(source):
    for _ in source:
        pass


def fit(path):
    MBAClassifier().fit_source(TableSource(path, label="y"))


def run(n=2_000_000):
    load = os.getloadavg()[0]
    rows, memory = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in write(folder, n).items():
            source = TableSource(path, label="y")
            tasks = {
                "alone": lambda path=path, name=name: (read_csv if name == "CSV" else read_parquet)(path),
                "blocks": lambda source=source: blocks(source),
                "fit": lambda path=path: fit(path),
            }
            took = interleaved(tasks, repeats=5)
            busy = interleaved(tasks, repeats=2, clock=time.process_time)
            memory = max(memory, peak_megabytes(tasks["fit"]))
            speed = {task: f"{n / seconds / 1e6:.2f}M rows/s" for task, seconds in took.items()}
            target = "at least 2M rows/s" if name == "Parquet" else ""
            rows += [
                (f"{name}: pyarrow alone", f"{speed['alone']}, {busy['alone']:.2f} s of CPU", ""),
                (f"{name}: into blocks", f"{speed['blocks']}, {busy['blocks']:.2f} s of CPU", ""),
                (f"{name}: from opening it to a fit", f"{speed['fit']}, {busy['fit']:.2f} s of CPU", target),
                (
                    f"{name}: into blocks / pyarrow alone",
                    f"{took['blocks'] / took['alone']:.2f}, CPU {busy['blocks'] / busy['alone']:.2f}",
                    "at most 1.3" if name == "CSV" else "",
                ),
                (
                    f"{name}: fit / pyarrow alone",
                    f"{took['fit'] / took['alone']:.2f}, CPU {busy['fit'] / busy['alone']:.2f}",
                    "",
                ),
            ]
    rows.append(("peak extra memory of a fit", f"{memory:.0f} MB", "at most 512 MB"))
    report(
        "readers",
        rows,
        notes=[
            f"{n:,} rows of {COLUMNS} floating-point columns and a label, files in the page cache; a fit reads "
            "the file once, inference of column types and scales included",
            "best of 5 runs that take turns, CPU of all threads; load of the machine before the run: "
            f"{load:.1f} on {os.cpu_count()} cores",
        ],
    )


if __name__ == "__main__":
    run()
