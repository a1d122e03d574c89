"""Exact fits at the size of Criteo's log, from files on disk: time, share of reading, memory, growth."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.memory_group import memory_group
from benchmarks.timing import report

#: Rows of the training part of Criteo's log, and fewer.
SIZES = (1_000_000, 4_000_000, 16_000_000, 45_840_617)
FIELDS, COLUMNS, TEST_ROWS = 39, 10_000, 1_000_000
#: Bytes of memory for the fits that keep their rows on disk.
LIMIT = 2_000_000_000


def folder():
    """Where the files are made and kept: $MBAUC_BENCHMARK_FILES, or a folder that can be deleted."""
    return Path(os.environ.get("MBAUC_BENCHMARK_FILES", "benchmarks/files"))


def make(kind, rows, seed=0):
    """The file of so many rows; made if it is not there."""
    from mbauc.paper.clicks import ClickLog

    path = folder() / f"clicks-{rows}.{kind}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        log = ClickLog(rows, seed=seed)
        (log.write_libsvm if kind == "libsvm" else log.write_parquet)(path)
    return path


def source(kind, path):
    from mbauc.readers import LibsvmSource, TableSource

    if kind == "libsvm":
        # what a user knows of such a file; without it, it is read once more to find out
        return LibsvmSource(path, n_features=COLUMNS, zero_based=False, classes=(-1, 1))
    return TableSource(path, label="label", encode="hash", hash_dim=COLUMNS, scale=None)


def fit(kind, rows, memory, solver):
    """One fit in this process; prints what was measured as JSON."""
    import numpy as np

    from mbauc import MBAClassifier
    from mbauc.metrics import roc_auc
    from mbauc.paper.clicks import ClickLog

    path = make(kind, rows)
    # compiled loops are loaded once, by a fit to a few rows
    MBAClassifier(solver=solver).fit_source(source(kind, make(kind, 10_000)))
    marks = {}
    started = time.perf_counter()
    reader = _Timed(source(kind, path))
    marks["open"] = time.perf_counter() - started
    ranker = MBAClassifier(solver=solver).fit_source(reader, memory=None if memory == "free" else memory)
    marks["all"] = time.perf_counter() - started
    status = Path("/proc/self/status").read_text().splitlines()
    kept = {line.split(":")[0]: int(line.split()[1]) for line in status if line.startswith("VmHWM")}
    test = ClickLog(TEST_ROWS, start=SIZES[-1] + 1).rows()
    marks |= {
        "read": reader.seconds,
        "solver": ranker.solver_.name,
        "products": ranker.n_iter_,
        "l2": ranker.l2_,
        "auc": float(roc_auc(test.y, test.X @ np.ravel(ranker.coef_))),
        "peak": kept["VmHWM"] / 1e6,
    }
    print(json.dumps(marks))


class _Timed:
    """A source that notes how long its blocks take to read."""

    def __init__(self, inner):
        self._inner, self.seconds = inner, 0.0
        self.n_features, self.classes = inner.n_features, inner.classes
        self.n_rows = getattr(inner, "n_rows", None)

    def __iter__(self):
        blocks = iter(self._inner)
        while True:
            started = time.perf_counter()
            block = next(blocks, None)
            self.seconds += time.perf_counter() - started
            if block is None:
                return
            yield block


def measured(*arguments, enter=None):
    command = [sys.executable, "-m", "benchmarks.criteo_size", *map(str, arguments)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, preexec_fn=enter).stdout
    return json.loads(found.splitlines()[-1])


def run(sizes=SIZES):
    rows = []
    for kind in ("libsvm", "parquet"):
        for size in sizes:
            make(kind, size)
    make("libsvm", 10_000)
    make("parquet", 10_000)
    for kind, name in (("libsvm", "LIBSVM text"), ("parquet", "Parquet")):
        base = None
        for size in sizes:
            got = measured(kind, size, "8GB", "auto")
            base = base or got["all"] / size
            last = size == sizes[-1]
            rows.append(
                (
                    f"{name}, {size / 1e6:.1f}M rows: {got['solver']}, {got['products']} products",
                    f"{got['all']:.1f} s, {size / got['all'] / 1e6:.2f}M rows/s, "
                    f"{got['read'] / got['all']:.0%} reading, {got['peak']:.1f} GB, AUC {got['auc']:.4f}, "
                    f"{got['all'] / size / base:.2f} of the time a row at {sizes[0] / 1e6:.0f}M",
                    "at most 180 s and 8 GB" if last else "",
                )
            )
        with memory_group(LIMIT) as enter:
            # within the group nothing has to be said: half of what is left there is what the fit takes for rows
            memory = "1GB" if enter is None else "free"
            got = measured(kind, sizes[-1], memory, "matrix-free", enter=enter)
        enforced = "not enforced here" if enter is None else "enforced by a control group"
        rows.append(
            (
                f"{name}, {sizes[-1] / 1e6:.1f}M rows within 2 GB ({enforced}), rows on disk",
                f"{got['all']:.1f} s, {got['read'] / got['all']:.0%} of it reading, {got['peak']:.2f} GB, "
                f"AUC {got['auc']:.4f}",
                "at most 600 s and 2 GB",
            )
        )
    text, table = (make(kind, sizes[-1]).stat().st_size / 1e9 for kind in ("libsvm", "parquet"))
    report(
        "criteo_size",
        rows,
        notes=[
            f"synthetic clicks in the shape of Criteo's log (ClickLog, seed 0), {FIELDS} fields hashed to "
            f"{COLUMNS:,} columns; files of {text:.1f} and {table:.1f} GB; from opening a file to the ranker",
            "peak memory is the largest resident set of the process, pages of mapped files included; the paper "
            "reports up to an hour for sampled chunks of such a log",
        ],
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        fit(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
    else:
        run()
