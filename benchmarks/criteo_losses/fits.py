"""The fits, each in a process of its own: ``python -m benchmarks.criteo_losses.fits NAME ROWS``."""

import json
import os
import resource
import shutil
import sys
import threading
import time
import zlib
from pathlib import Path

import numpy as np

from benchmarks.criteo_losses.data import (
    CATEGORIES,
    NUMBERS,
    few_rows_file,
    folder,
    test_columns,
    test_file,
    train_files,
)

COLUMNS = 10_000
#: What a fit may take.
MEMORY = "8GB"


def hashed(files, **options):
    """All 39 columns as categories, hashed."""
    from mbauc.readers import TableSource

    left_out = {} if "group" in options else {"ignore": ["user"]}
    return TableSource(
        files,
        label="label",
        encode="hash",
        hash_dim=COLUMNS,
        scale=None,
        types=dict.fromkeys(NUMBERS + CATEGORIES, "category"),
        **left_out,
        **options,
    )


def codes(files, **options):
    """Counts as numbers, categories as levels."""
    from mbauc.readers import TableSource

    types = dict.fromkeys(NUMBERS, "numeric") | dict.fromkeys(CATEGORIES, "category")
    return TableSource(files, label="label", encode="codes", types=types, ignore=["user"], **options)


def squared():
    """The squared loss: the yardstick."""
    from mbauc import MBAClassifier

    return MBAClassifier, {}, hashed, {}


def squared_hinge():
    """The squared hinge over all pairs, of the same columns."""
    from mbauc import PairwiseAUCClassifier

    return PairwiseAUCClassifier, {"loss": "squared_hinge"}, hashed, {}


def groups():
    """The squared loss over the pairs of each user."""
    from mbauc import MBAClassifier

    return MBAClassifier, {}, hashed, {"group": "user"}


def curves():
    """A curve for each count, a height for each level of a category."""
    from mbauc import AdditiveAUCClassifier

    return AdditiveAUCClassifier, {"features": "curves", "random_state": 0}, codes, {}


def interactions():
    """The same and screened interactions."""
    from mbauc import AdditiveAUCClassifier

    return AdditiveAUCClassifier, {"features": "interactions", "random_state": 0}, codes, {}


FITS = {one.__name__: one for one in (squared, squared_hinge, groups, curves, interactions)}


class _Watched:
    """A source that counts its complete passes, and their seconds; all else is the source's own."""

    def __init__(self, inner):
        self._inner, self.passes, self.seconds = inner, 0, 0.0

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def __iter__(self):
        blocks = iter(self._inner)
        while True:
            started = time.perf_counter()
            block = next(blocks, None)
            self.seconds += time.perf_counter() - started
            if block is None:
                self.passes += 1
                return
            yield block


class _Peak:
    """The most that this process has held apart from pages of files, looked at four times a second."""

    def __init__(self):
        self.bytes, self._over = 0, threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self):
        while not self._over.wait(0.25):
            self.bytes = max(self.bytes, _status("RssAnon") + _status("RssShmem"))

    def stop(self):
        self._over.set()
        self._thread.join()
        return self.bytes


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    return 0


def fit(name, rows):
    """One fit in this process; returns what was measured."""
    from mbauc.metrics import grouped_roc_auc, roc_auc

    made, settings, source, options = FITS[name]()
    files = train_files(rows)
    place = folder() / f"state-{name}-{os.getpid()}"
    # compiled loops are loaded once, by a fit to a few rows
    made(**settings).fit_source(source(few_rows_file(), **options))
    load, peak = os.getloadavg()[0], _Peak()
    cpu, started = _cpu(), time.perf_counter()
    reader = _Watched(source(files, verbose=True, **options))
    opened = time.perf_counter() - started
    try:
        ranker = made(verbose=True, **settings).fit_source(reader, memory=MEMORY, checkpoint=place)
        took, spent, kept = time.perf_counter() - started, _cpu() - cpu, _size(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    held = peak.stop()
    y, users = test_columns()
    scores = np.concatenate([ranker.decision_function(block[0]) for block in reader.on(test_file())])
    found = {
        "rows": int(reader.n_rows),
        "seconds": took,
        "cpu": spent,
        "opening": opened,
        "passes": reader.passes,
        "reading": reader.seconds,
        "sweeps": int(ranker.n_iter_),
        "held": held / 1e9,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "kept": kept / 1e9,
        "load": load,
        "load_after": os.getloadavg()[0],
        "auc": float(roc_auc(y, scores)),
        "auc_within": float(grouped_roc_auc(y, scores, users)),
        "solver": str(getattr(getattr(ranker, "solver_", None), "name", "")),
    }
    if hasattr(ranker, "feature_map_"):
        found |= {
            "features": ranker.feature_map_.n_features,
            "coordinates": int(ranker.penalty_factors_.size),
            "interactions": [" × ".join(pair) for pair in ranker.interactions_],
            "choice": ranker.choice_,
        }
    return found


def _cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _size(place):
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def resumable(name, rows, place):
    """A fit with a checkpoint that is kept; returns a checksum of its weights."""
    made, settings, source, options = FITS[name]()
    started = time.perf_counter()
    reader = _Watched(source(train_files(rows), **options))
    ranker = made(**settings).fit_source(reader, memory=MEMORY, checkpoint=place)
    return {
        "weights": zlib.crc32(ranker.coef_.tobytes()),
        "passes": reader.passes,
        "seconds": time.perf_counter() - started,
    }


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(fit(sys.argv[1], int(sys.argv[2]))), flush=True)
    else:
        print(json.dumps(resumable(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))), flush=True)
