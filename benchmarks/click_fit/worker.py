"""One contender in a process of its own: settings come in as JSON, a line of JSON goes out at each step."""

import contextlib
import ctypes
import json
import os
import resource
import signal
import sys
import time
import warnings
from pathlib import Path

from benchmarks.click_fit.contender import all_contenders
from benchmarks.click_fit.data import load, megabytes
from benchmarks.timing import peak_megabytes
from mbauc.metrics import roc_auc

WARM_ROWS = 1000


def work(task, say):
    """Fit each setting of the task in turn; stop at the first that ranks as well as ``stop_at``."""
    contender = all_contenders()[task["contender"]]
    threads, folder = task["threads"], Path(task["folder"])
    X, y = load(folder / "train.npz")
    size = megabytes(X)
    few = X[:WARM_ROWS, : contender.warm_columns], y[:WARM_ROWS]
    warm = contender.convert(*few, _own_folder(folder, task["contender"], "few"))
    started = time.perf_counter()
    data = contender.convert(X, y, _own_folder(folder, task["contender"], "train"))
    say(at="ready", converted=time.perf_counter() - started, csr_megabytes=size)
    del X
    for number, setting in enumerate(task["settings"]):
        say(at="start", number=number)
        try:
            contender.scores(contender.fit(warm, threads, **setting), few[0])
            say(at="fit", number=number)
            model, seconds, peak = _timed(lambda setting=setting: contender.fit(data, threads, **setting))
            say(at="fitted", number=number)
            X_test, y_test = load(folder / "test.npz")
            auc = roc_auc(y_test, contender.scores(model, X_test))
        except Exception as error:
            say(at="failed", number=number, why=f"{type(error).__name__}: {error}"[:300])
            continue
        say(at="done", number=number, seconds=seconds, auc=auc, megabytes=peak)
        del model, X_test
        if auc >= task["stop_at"]:
            break
    say(at="end", remarks=contender.remarks(data, threads) if task["remarks"] else {})


def _timed(fit):
    kept = {}

    def task():
        started = time.perf_counter()
        kept["model"] = fit()
        kept["seconds"] = time.perf_counter() - started

    peak = peak_megabytes(task)
    return kept["model"], kept["seconds"], peak


def _own_folder(folder, name, part):
    own = folder / name / part
    own.mkdir(parents=True, exist_ok=True)
    return own


def _end_with_parent():
    """A run that is killed must not leave a fit behind that disturbs the next (Linux)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def main():
    task = json.load(sys.stdin)
    # whatever a contender prints must not come between the lines
    lines = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    _end_with_parent()
    resource.setrlimit(resource.RLIMIT_AS, (task["memory"] << 30,) * 2)

    def say(**what):
        print(json.dumps(what), file=lines, flush=True)

    work(task, say)


if __name__ == "__main__":
    main()
