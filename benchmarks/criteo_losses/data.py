"""A click log in the shape of Criteo's as Parquet files: 13 counts, 26 categories, the label, and the user."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

#: Rows of the training part of Criteo's log.
ROWS = 45_840_617
PART_ROWS, TEST_ROWS = 1 << 19, 500_000
NUMBERS = [f"I{k}" for k in range(1, 14)]
CATEGORIES = [f"C{k}" for k in range(1, 27)]
#: Users that share a value of C10.
_USERS = 200


def folder():
    """Where the files are made and kept: $MBAUC_BENCHMARK_FILES, or a folder that can be deleted."""
    return Path(os.environ.get("MBAUC_BENCHMARK_FILES", "benchmarks/files")) / "criteo_losses"


def train_files(rows=ROWS):
    """Files that hold the first rows, a multiple of PART_ROWS or all; made where they are not there."""
    paths = [folder() / f"part-{number:03}.parquet" for number in range(-(-rows // PART_ROWS))]
    jobs = [(path, k * PART_ROWS, min(PART_ROWS, ROWS - k * PART_ROWS)) for k, path in enumerate(paths)]
    _write_missing(jobs)
    return [str(path) for path in paths]


def test_file():
    """A file of other rows of the same log."""
    path = folder() / "test.parquet"
    _write_missing([(path, ROWS, TEST_ROWS)])
    return str(path)


def few_rows_file():
    """A file of a few rows, for fits that load compiled loops."""
    path = folder() / "few.parquet"
    _write_missing([(path, ROWS + TEST_ROWS, 20_000)])
    return str(path)


def _write_missing(jobs):
    folder().mkdir(parents=True, exist_ok=True)
    missing = [job for job in jobs if not job[0].exists()]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: _write(*job), missing))


def _write(path, start, rows):
    partial = path.with_suffix(".partial")
    pq.write_table(make_table(start, rows), partial, row_group_size=1 << 17, write_statistics=False)
    partial.rename(path)


def make_table(start, rows):
    """Rows of the log: counts as numbers, categories as texts, and users who share traits and thus C10."""
    from mbauc.paper.clicks import ClickLog

    table = ClickLog(rows, start=start, n_jobs=1).table()
    for name in NUMBERS:
        column = table[name].cast(pa.string()).cast(pa.int32())
        table = table.set_column(table.column_names.index(name), name, column)
    known = table["C10"].combine_chunks()
    trait = np.array([int(text, 16) for text in known.dictionary.to_pylist()])[known.indices.to_numpy()]
    user = trait * _USERS + np.random.default_rng([0, start]).integers(_USERS, size=rows)
    return table.append_column("user", pa.array(user))


def test_columns():
    """Labels and users of the test rows."""
    table = pq.read_table(test_file(), columns=["label", "user"])
    return table["label"].to_numpy(), table["user"].to_numpy()
