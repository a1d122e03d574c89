"""One fit in a process of its own, so that its time and its peak of memory are its own.

``python -m mbauc.paper.studies.tables.task FOLDER`` is that process.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.paper.studies.tables.methods import Make
from mbauc.paper.study import Record

#: Threads of a fit.
THREADS = 2
#: Rows of the made-up table that is fitted before the clock runs, and columns of each kind at most.
_WARM_ROWS, _WARM_COLUMNS = 400, 4
_TASK, _FOUND, _SCORES = "task.pickle", "found.json", "scores.npy"
_LIMITS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"),
    # what joblib takes for the number of cores
    "LOKY_MAX_CPU_COUNT",
)


class Task(NamedTuple):
    """What to fit, on what, and which rows to score."""

    make: Make
    warm_up: Make
    X: Any
    y: NDArray[np.int64]
    X_test: Any
    seed: int


def run_apart(task: Task, most_seconds: float) -> tuple[Record, NDArray[np.float64] | None]:
    """Run a task in a new process: what is to be recorded, and the scores of the test rows.

    A fit that fails or takes too long is recorded as such, with no scores: that is a result, too.
    """
    environment = {**os.environ, **dict.fromkeys(_LIMITS, str(THREADS))}
    # the process must find what this one has found
    environment["PYTHONPATH"] = os.pathsep.join(path or os.getcwd() for path in sys.path)
    with TemporaryDirectory(prefix="mbauc-task-") as name:
        folder = Path(name)
        with open(folder / _TASK, "wb") as stream:
            pickle.dump(task, stream, protocol=pickle.HIGHEST_PROTOCOL)
        try:
            done = subprocess.run(
                [sys.executable, "-m", __name__, name],
                env=environment,
                capture_output=True,
                text=True,
                timeout=most_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {"error": f"stopped after {most_seconds:g} seconds"}, None
        if done.returncode != 0:
            last = (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
            return {"error": last[:300]}, None
        found = json.loads((folder / _FOUND).read_text(encoding="utf-8"))
        return {**found, "error": ""}, np.load(folder / _SCORES)


def run_here(task: Task) -> tuple[Record, NDArray[np.float64]]:
    """Fit and score in this process. The clock runs for the fit alone."""
    task.warm_up(task.seed).fit(*make_up_rows(task.X, task.seed))
    started_with = measure_peak()
    model = task.make(task.seed)
    busy, began = _count_others(), time.perf_counter()
    model.fit(task.X, task.y)
    seconds = time.perf_counter() - began
    found = {
        "fit_seconds": seconds,
        "peak_mb": measure_peak(),
        "before_mb": started_with,
        "others": (_count_others() - busy) / seconds,
    }
    scores = score_rows(model, task.X_test)
    # a model may have more to tell
    more = model.record() if hasattr(model, "record") else {}
    return {**found, "choice": describe_choice(model), **more}, scores


def make_up_rows(X: Any, seed: int) -> tuple[Any, NDArray[np.int64]]:
    """A small table with columns of the same kinds, of which nothing but noise can be learnt."""
    rng = np.random.default_rng(seed)
    y = np.arange(_WARM_ROWS) % 2
    noise = rng.standard_normal((_WARM_ROWS, 2 * _WARM_COLUMNS))
    if isinstance(X, np.ndarray):
        return noise[:, : X.shape[1]], y
    import pandas as pd

    texts = [kind for kind in X.dtypes if not pd.api.types.is_numeric_dtype(kind)]
    columns: dict[str, Any] = {}
    for place in range(_WARM_COLUMNS):
        if len(texts) < X.shape[1]:
            columns[f"number {place}"] = noise[:, place]
        if texts:
            values = pd.Series(np.where(noise[:, _WARM_COLUMNS + place] > 0, "a", "b"))
            # by its name: the categories of the table are not those of the made-up one
            columns[f"text {place}"] = values.astype(texts[0].name)
    return pd.DataFrame(columns), y


def score_rows(model: Any, X: Any) -> NDArray[np.float64]:
    """Scores by ``decision_function``, or probabilities where there is none."""
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    return np.asarray(model.predict_proba(X)[:, 1], dtype=np.float64)


def describe_choice(model: Any) -> str:
    """What a model that chooses has chosen, in one line."""
    chosen = getattr(model, "choice_", None) or getattr(model, "best_params_", None)
    if isinstance(chosen, dict):
        chosen = ", ".join(f"{name.removeprefix('model__')} {value}" for name, value in chosen.items())
    return "" if chosen is None else " ".join(str(chosen).split())[:300]


def measure_peak() -> float:
    """Peak of this process's memory so far, in MB; NaN where the system does not tell."""
    status = Path("/proc/self/status")
    if status.exists():
        # not ru_maxrss: a process that is started from a large one begins with the peak of that one
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    try:
        import resource
    except ImportError:
        return float("nan")
    unit = 1024**2 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _count_others() -> float:
    """Seconds for which all cores together worked for others than this process; NaN if unknown."""
    try:
        rest = Path("/proc/stat").read_text(encoding="ascii").partition("\n")[0].split()[1:]
        # of user, nice, system, idle, iowait, irq, softirq and steal: all but the two in which nothing is done
        ticks = sum(int(count) for place, count in enumerate(rest[:8]) if place not in (3, 4))
        own = os.times()
        return ticks / os.sysconf("SC_CLK_TCK") - sum(own[:4])
    except (AttributeError, OSError, ValueError):
        return float("nan")


def main(folder: Path) -> None:
    """What the new process does."""
    with open(folder / _TASK, "rb") as stream:
        task = pickle.load(stream)
    found, scores = run_here(task)
    np.save(folder / _SCORES, scores)
    (folder / _FOUND).write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
