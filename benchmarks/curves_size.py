"""Curves from Parquet files within a limit of memory, and all interactions of rows in memory.

``python -m benchmarks.curves_size`` makes the files in a temporary folder; ``--rows`` and others for trials.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.timing import peak_megabytes, report

ROWS, MEMORY_ROWS, COLUMNS = 10_000_000, 1_000_000, 50
FILE_ROWS, TEST_ROWS = 500_000, 200_000
LIMIT = "4GB"
#: Log-odds where all else is zero, so that one row in twenty is positive.
_BASE = -5.3


def make_rows(rows, columns, seed):
    """Numbers with heavy tails, few values and gaps, and labels by smooth functions of some of them.

    Columns take turns: normal, heavy tails, few values, normal with a sixth missing. A missing value says
    something of itself.
    """
    rng = np.random.default_rng([0, seed])
    X = rng.standard_normal((rows, columns))
    kind = np.arange(columns) % 4
    score = np.full(rows, _BASE)
    for j in range(min(columns, 16)):
        x = X[:, j]
        bends = (np.sin(2 * x), x**2 - 1, np.abs(x), np.tanh(2 * x))[j // 4 % 4]
        score += bends * (0.5 if j % 3 else -0.5)
    score += 0.6 * np.sign(X[:, 0] * X[:, min(4, columns - 1)])
    X[:, kind == 1] = np.exp(2.0 * X[:, kind == 1])
    X[:, kind == 2] = np.floor(2.0 * X[:, kind == 2])
    gaps = rng.random((rows, int((kind == 3).sum()))) < 1 / 6
    score += 0.4 * gaps[:, :1].sum(axis=1) if gaps.size else 0.0
    X[:, kind == 3] = np.where(gaps, np.nan, X[:, kind == 3])
    y = rng.random(rows) < 1 / (1 + np.exp(-score))
    return X, y.astype(np.int8)


def write_files(folder, rows, columns):
    """Files of half a million rows each; a missing number is null."""
    import pyarrow as pa
    from pyarrow import parquet

    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        X, y = make_rows(min(FILE_ROWS, rows - start), columns, number)
        table = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(columns)} | {"y": y}
        parquet.write_table(pa.table(table), Path(folder) / f"{number:04}.parquet")


class Stages:
    """Seconds and peaks of the resident memory of what a fit does, stage by stage."""

    def __init__(self):
        self.found = {}

    def run(self, name, task):
        """What a task returns."""
        kept, started = [], time.perf_counter()
        more = peak_megabytes(lambda: kept.append(task())) / 1e3
        took = time.perf_counter() - started
        status = Path("/proc/self/status").read_text().splitlines()
        [peak] = [int(line.split()[1]) / 1e6 for line in status if line.startswith("VmHWM")]
        self.found[name] = took, more, peak
        return kept[0]

    @contextmanager
    def watch(self):
        """Within this context a fit of curves is told apart into its stages."""
        from mbauc.estimators.additive import classifier, fit

        places = (
            (classifier, "sample_once", "sample of the rows"),
            (classifier, "choose_features", "choice of features"),
            (fit, "sum_moments", "moments of all rows"),
            (fit, "open_operator", None),
        )
        originals = [getattr(module, name) for module, name, _ in places]
        for (module, name, said), original in zip(places, originals, strict=True):
            setattr(module, name, self._timed(original, said) if said else self._opened(original))
        try:
            yield
        finally:
            for (module, name, _), original in zip(places, originals, strict=True):
                setattr(module, name, original)

    def _timed(self, original, said):
        return lambda *given, **named: self.run(said, lambda: original(*given, **named))

    def _opened(self, original):
        @contextmanager
        def opened(*given, **named):
            held = original(*given, **named)
            yield self.run("packing of all rows", held.__enter__)
            # what holds the rows lets them go
            held.__exit__(None, None, None)

        return opened


def fit(kind, folder, columns, rows):
    """One fit in this process; prints what was measured as JSON."""
    from mbauc import AdditiveAUCClassifier
    from mbauc.metrics import roc_auc
    from mbauc.readers import TableSource

    # compiled loops are loaded once, by a fit to a few rows
    few = make_rows(3000, columns, 9_999_999)
    AdditiveAUCClassifier("interactions", interactions=[(0, 1)], search_rows=1000).fit(*few)
    stages, started = Stages(), time.perf_counter()
    if kind == "files":
        paths = sorted(Path(folder).glob("*.parquet"))
        source = stages.run("opening the files", lambda: TableSource(paths, label="y", encode="codes"))
        ranker = AdditiveAUCClassifier("curves", random_state=0)
        with stages.watch():
            ranker.fit_source(source, memory=LIMIT)
    else:
        X, y = make_rows(rows, columns, 0)
        pairs = list(combinations(range(columns), 2))
        ranker = AdditiveAUCClassifier("interactions", interactions=pairs, random_state=0)
        started = time.perf_counter()
        with stages.watch():
            ranker.fit(X, y)
    total = time.perf_counter() - started
    test, labels = make_rows(TEST_ROWS, columns, 8_888_888)
    scores = stages.run(f"scores of {TEST_ROWS:,} rows", lambda: ranker.decision_function(test))
    auc = float(roc_auc(labels, scores))
    print(
        json.dumps(
            {
                "stages": stages.found,
                "all": total,
                "features": ranker.feature_map_.n_features,
                "coordinates": int(ranker.penalty_factors_.size),
                "auc": auc,
                "choice": ranker.choice_,
                "share": float(labels.mean()),
            }
        )
    )


def measured(*arguments):
    """What a process of its own has measured."""
    command = [sys.executable, "-m", "benchmarks.curves_size", "--fit", *map(str, arguments)]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return json.loads(found.splitlines()[-1])


def describe(name, got):
    """Rows of the report."""
    peak = max(peak for _, _, peak in got["stages"].values())
    yield (
        name,
        f"{got['all']:.1f} s, {peak:.1f} GB, AUC {got['auc']:.4f}, {got['features']:,} features, "
        f"{got['coordinates']:,} coordinates",
        "",
    )
    for stage, (seconds, more, peak) in got["stages"].items():
        yield f"    {stage}", f"{seconds:.1f} s, {more:.2f} GB more, {peak:.2f} GB in all", ""
    left = got["all"] - sum(took for stage, (took, _, _) in got["stages"].items() if "scores" not in stage)
    yield "    solving, errors and all else", f"{left:.1f} s", ""


def run(rows=ROWS, memory_rows=MEMORY_ROWS, columns=COLUMNS):
    table = []
    if rows:
        with tempfile.TemporaryDirectory(prefix="mbauc-curves-") as folder:
            write_files(folder, rows, columns)
            size = sum(path.stat().st_size for path in Path(folder).glob("*.parquet")) / 1e9
            got = measured("files", folder, columns, rows)
        about = f"{rows / 1e6:.1f}M rows × {columns} columns in Parquet ({size:.1f} GB)"
        table += describe(f"curves of {about}, memory={LIMIT!r}", got)
    if memory_rows:
        got = measured("memory", "-", columns, memory_rows)
        pairs = columns * (columns - 1) // 2
        table += describe(f"all {pairs:,} interactions of {memory_rows / 1e6:.1f}M rows in memory", got)
    report(
        "curves_size",
        table,
        notes=[
            "numbers with heavy tails, few values and gaps, one row in twenty positive; peaks are how far the "
            "resident memory of the process rises in a stage",
        ],
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fit"]:
        kind, folder, columns, rows = sys.argv[2:]
        fit(kind, folder, int(columns), int(rows))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--rows", type=int, default=ROWS, help="rows in files; 0 for none")
        parser.add_argument("--memory-rows", type=int, default=MEMORY_ROWS, help="rows in memory; 0 for none")
        parser.add_argument("--columns", type=int, default=COLUMNS)
        run(**vars(parser.parse_args()))
