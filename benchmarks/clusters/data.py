"""Rows on disk: numbers of which some tell, few positives, a truth that is not quite linear, and users."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, FILES, COLUMNS = 10_000_000, 16, 30
TEST_ROWS = 1_000_000
#: Users, to whom rows belong at random.
USERS = 100_000
NAMES = [f"x{k}" for k in range(COLUMNS)]


def folder():
    """Where the files are made and kept: $MBAUC_BENCHMARK_FILES, or a folder that can be deleted."""
    return Path(os.environ.get("MBAUC_BENCHMARK_FILES", "benchmarks/files")) / "clusters"


def make(rows, files, seed):
    """A folder of Parquet files; made if it is not there."""
    place = folder() / f"rows-{rows}-{seed}-users"
    if (place / "_DONE").exists():
        return place
    place.mkdir(parents=True, exist_ok=True)
    mix = np.random.default_rng(0).standard_normal((COLUMNS, COLUMNS)) / np.sqrt(COLUMNS)
    truth = np.random.default_rng(1).standard_normal(COLUMNS) / np.sqrt(COLUMNS)
    for number, size in enumerate(np.diff(np.linspace(0, rows, files + 1).astype(int))):
        rng = np.random.default_rng([seed, number])
        X = (rng.standard_normal((size, COLUMNS), dtype=np.float32) @ mix + 1.0).astype(np.float32)
        signal = (X - 1.0) @ truth + 0.3 * (X[:, 0] - 1.0) * (X[:, 1] - 1.0)
        y = rng.random(size) < 1 / (1 + np.exp(4.0 - 1.5 * signal))
        user = np.random.default_rng([seed, number, 1]).integers(USERS, size=size, dtype=np.int32)
        table = pa.table(
            {name: X[:, k] for k, name in enumerate(NAMES)} | {"label": y.astype(np.int32), "user": user}
        )
        pq.write_table(table, place / f"part-{number:02}.parquet", row_group_size=1 << 17)
    (place / "_DONE").touch()
    return place


def test_rows():
    """Features and labels of rows that no fit has seen."""
    table = pq.read_table(make(TEST_ROWS, 1, seed=1) / "part-00.parquet")
    return np.column_stack([table[name].to_numpy() for name in NAMES]), table["label"].to_numpy()
