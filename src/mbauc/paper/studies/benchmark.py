"""Section V-B on the real files: the runs behind Table III and Figure 3."""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from mbauc.errors import NotAvailableError
from mbauc.metrics import roc_auc
from mbauc.paper.datasets.registry import find, load
from mbauc.paper.studies.benchmark_methods import CONVERGED, METHODS, PASSES, TRIAL_PASSES, Method
from mbauc.paper.studies.contenders import FOLDS, Draw, chosen, folds_of
from mbauc.paper.studies.ledger import Ledger
from mbauc.paper.studies.outputs import none_of
from mbauc.paper.studies.provenance import versions
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import run_threads, single_threaded_blas, thread_count

Array = NDArray[np.float64]

#: The data sets of Table III, in its order.
DATASETS = (
    "a1a",
    "a9a",
    "amazon",
    "bank",
    "codrna",
    "german",
    "ijcnn",
    "madelon",
    "mnist",
    "mushrooms",
    "phishing",
    "svmguide3",
    "usps",
    "w1a",
    "w7a",
)


@dataclass(frozen=True)
class Settings:
    """What the results depend on.

    Attributes
    ----------
    provided_runs, halves_runs : int
        Runs on sets with a test file (other draws and orders each) and on sets that are halved (other halves).
    few : int
        Runs of the methods that cost much.
    thorough : bool
        Whether methods try all their settings, and rivals are run to convergence as well.
    seed : int
        Of everything drawn.
    """

    provided_runs: int = 20
    halves_runs: int = 50
    few: int = 3
    thorough: bool = True
    seed: int = 0

    def runs(self, dataset: str) -> int:
        """Runs on a data set."""
        return self.halves_runs if is_halved(dataset) else self.provided_runs

    def methods(self, run: int) -> tuple[Method, ...]:
        """Who takes part in a run."""
        return tuple(
            method
            for method in METHODS
            if (method.cost == "cheap" or run < self.few) and (self.thorough or method not in CONVERGED)
        )


QUICK = Settings(provided_runs=2, halves_runs=3, few=1, thorough=False)


class Found(NamedTuple):
    """What a method reached in a run."""

    auc: float
    setting: float
    seconds: float


class Study:
    """All that the runs have found; AUCs are percentages."""

    def __init__(self, settings: Settings, records: Iterable[dict[str, Any]], missing: dict[str, str]) -> None:
        self.settings, self.missing = settings, missing
        self._records = {(record["dataset"], record["run"]): record for record in records}

    def found(self, dataset: str, key: str) -> list[Found]:
        """One entry for each run that the method took part in."""
        return [
            Found(**self._records[dataset, run]["methods"][key])
            for run in range(self.settings.runs(dataset))
            if key in self._records[dataset, run]["methods"]
        ]

    def auc(self, dataset: str, key: str) -> Array:
        """AUC of each run."""
        return np.array([100 * one.auc for one in self.found(dataset, key)])

    @property
    def seconds(self) -> float:
        """Computing time of all runs together."""
        return float(sum(record["seconds"] for record in self._records.values()))

    def at_the_edge(self, dataset: str, method: Method) -> float:
        """Share of the runs whose setting was the first or the last that the method tried."""
        ends = {method.contender.grid[0], method.contender.grid[-1]}
        return float(np.mean([one.setting in ends for one in self.found(dataset, method.key)]))


def is_halved(dataset: str) -> bool:
    """Whether a data set comes without a test file."""
    return find(dataset).split == "halves"


@lru_cache(maxsize=8)
def _rows(dataset: str, folder: str | None) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Training and test rows, as provided or as any halves."""
    data = load(dataset, folder)
    X, X_test = (
        np.asarray(part.toarray() if is_sparse(part) else part, dtype=np.float64)
        for part in (data.X, data.X_test)
    )
    for name, labels in (("training", data.y), ("test", data.y_test)):
        if labels.min() == labels.max():
            raise ValueError(
                f"the {name} rows of {dataset} are of one class only; AUC needs both. Check its files."
            )
    return X, data.y.astype(np.int64), X_test, data.y_test.astype(np.int64)


@lru_cache(maxsize=64)
def _fingerprint(dataset: str, folder: str | None) -> str:
    """A checksum of all rows and labels: results of other files of that name are never taken for these."""
    sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in _rows(dataset, folder)]
    return "-".join(f"{number:08x}" for number in sums)


class Split(NamedTuple):
    """Rows to learn from and to be judged on, every column divided by its largest training value."""

    X: Array
    y: NDArray[np.int64]
    X_test: Array
    y_test: NDArray[np.int64]


def split(dataset: str, run: int, settings: Settings, folder: Path | None) -> Split:
    """The split of a run."""
    X, y, X_test, y_test = _rows(dataset, None if folder is None else str(folder))
    if is_halved(dataset):
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
        seed = int(np.random.default_rng([settings.seed, 2, run]).integers(2**31))
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    largest = np.abs(X).max(axis=0)
    largest[largest == 0.0] = 1.0
    return Split(np.ascontiguousarray(X / largest), y, X_test / largest, y_test)


def drawn(part: Split, rng: np.random.Generator) -> Draw:
    """S = n pairs for the sampled MBA, and all rows in random order for the others."""
    n = part.y.size
    plus, minus = (rng.choice(np.flatnonzero(part.y == label), n) for label in (1, 0))
    return Draw(part.X, part.y, plus, minus, rng.permutation(n), folds_of(part.y, rng))


def one_run(
    dataset: str, run: int, settings: Settings, folder: Path | None, known: dict[str, float] | None = None
) -> dict[str, Any]:
    """All methods on one split; settings are chosen on its training rows, unless they are known from another
    run on the same rows.
    """
    started = time.perf_counter()
    part = split(dataset, run, settings, folder)
    rng = np.random.default_rng([settings.seed, 3, DATASETS.index(dataset), run])
    draw = drawn(part, rng)
    more_folds = [folds_of(part.y, rng) for _ in range(max(method.repeats for method in METHODS) - 1)]
    found = {}
    for method in settings.methods(run):
        began = time.perf_counter()
        contender = method.contender
        if known is not None:
            setting = known[method.key]
        elif settings.thorough:
            setting = chosen(contender, draw, more_folds[: method.repeats - 1], method.folds)
        else:
            setting = chosen(contender._replace(grid=contender.grid[::3]), draw, n_folds=1)
        w = method.weights(draw, setting)
        found[method.key] = Found(
            roc_auc(part.y_test, part.X_test @ w), setting, time.perf_counter() - began
        )._asdict()
    return {
        "dataset": dataset,
        "data": _fingerprint(dataset, None if folder is None else str(folder)),
        "run": run,
        "seconds": time.perf_counter() - started,
        "methods": found,
    }


def run(
    settings: Settings,
    out: Path,
    *,
    datasets: tuple[str, ...] = DATASETS,
    folder: Path | None = None,
    n_jobs: int | None = None,
) -> Study:
    """Run what is not yet in the ledger, with a progress bar.

    Sets that are not there are left out and named in ``Study.missing``. Memory: some data sets (at most 750 MB)
    and a training set for each thread.
    """
    present, missing = [], {}
    for name in datasets:
        try:
            _rows(name, None if folder is None else str(folder))
            present.append(name)
        except NotAvailableError as error:
            missing[name] = str(error)
    if not present:
        raise NotAvailableError(next(iter(missing.values())) if len(missing) == 1 else none_of(datasets))
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / "benchmark.ledger", _dependencies(settings))
    for record in ledger.records:
        name = record["dataset"]
        if name in present and record["data"] != _fingerprint(name, None if folder is None else str(folder)):
            raise ValueError(
                f"{out / 'benchmark.ledger'} has results of other files of {name}. "
                "Delete it, or choose another folder."
            )
    lock, stopped = threading.Lock(), threading.Event()
    total = sum(settings.runs(name) for name in present)

    def records() -> dict[tuple[str, int], dict[str, Any]]:
        return {(record["dataset"], record["run"]): record for record in ledger.records}

    with progress(total, "runs", unit="run", delay=0.0) as advance, single_threaded_blas():
        done = {key for key in records() if key[0] in present and key[1] < settings.runs(key[0])}
        advance(len(done))

        def perform(todo: list[tuple[str, int]], known: Callable[[str], dict[str, float] | None]) -> None:
            def task(which: tuple[str, int]) -> None:
                if stopped.is_set():
                    return
                record = one_run(*which, settings, folder, known(which[0]))
                with lock:
                    ledger.append(record)
                    advance(1)

            run_threads(task, [which for which in todo if which not in done], thread_count(n_jobs), stopped.set)

        # on the same training rows settings are chosen once, in the first run
        perform(
            [
                (name, number)
                for name in present
                for number in range(settings.runs(name) if is_halved(name) else 1)
            ],
            lambda _: None,
        )
        first = {
            name: {key: one["setting"] for key, one in records()[name, 0]["methods"].items()}
            for name in present
        }
        perform(
            [
                (name, number)
                for name in present
                if not is_halved(name)
                for number in range(1, settings.runs(name))
            ],
            first.__getitem__,
        )
    return Study(settings, ledger.records, missing)


def _dependencies(settings: Settings) -> dict[str, Any]:
    return {
        **asdict(settings),
        "folds": [FOLDS, *(method.folds for method in METHODS)],
        "passes": [TRIAL_PASSES, PASSES],
        "grids": {method.key: method.contender.grid for method in METHODS},
        **versions(),
    }
