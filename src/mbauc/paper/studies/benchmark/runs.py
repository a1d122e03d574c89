"""The runs on the real files behind Table III and Figure 3."""

from __future__ import annotations

import time
import zlib
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from mbauc.metrics import roc_auc
from mbauc.paper.datasets.registry import find, load
from mbauc.paper.studies.benchmark.methods import CONVERGED, METHODS, PASSES, TRIAL_PASSES, Method
from mbauc.paper.studies.contenders import FOLDS, Draw, choose, draw_folds, draw_pairs
from mbauc.paper.study import Record, Request, Results, Study, load_available
from mbauc.rows.matrix import as_dense

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
    """What the results depend on."""

    #: Runs on sets with a test file (other draws and orders each) and on sets that are halved (other halves).
    provided_runs: int = 20
    halves_runs: int = 50
    #: Runs of the methods that cost much.
    few: int = 3
    #: Whether methods try all their settings, and rivals are run to convergence as well.
    thorough: bool = True
    #: Of everything drawn.
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


class Outcome(NamedTuple):
    """What a method reached in a run."""

    auc: float
    setting: float
    seconds: float


class Benchmark(Results[Settings]):
    """What the runs have found; AUCs are percentages."""

    def outcomes(self, dataset: str, key: str) -> list[Outcome]:
        """One entry for each run that the method took part in."""
        return [
            Outcome(**self.records[dataset, run]["methods"][key])
            for run in range(self.settings.runs(dataset))
            if key in self.records[dataset, run]["methods"]
        ]

    def auc(self, dataset: str, key: str) -> Array:
        """AUC of each run."""
        return np.array([100 * one.auc for one in self.outcomes(dataset, key)])

    def share_at_edge(self, dataset: str, method: Method) -> float:
        """Share of the runs whose setting was the first or the last that the method tried."""
        ends = {method.contender.grid[0], method.contender.grid[-1]}
        return float(np.mean([one.setting in ends for one in self.outcomes(dataset, method.key)]))


def is_halved(dataset: str) -> bool:
    """Whether a data set comes without a test file."""
    return find(dataset).split == "halves"


@lru_cache(maxsize=8)
def load_rows(dataset: str, folder: Path | None) -> tuple[Array, NDArray[np.int64], Array, NDArray[np.int64]]:
    """Training and test rows, as provided or as any halves."""
    data = load(dataset, folder)
    X, X_test = as_dense(data.X), as_dense(data.X_test)
    for name, labels in (("training", data.y), ("test", data.y_test)):
        if labels.min() == labels.max():
            raise ValueError(
                f"the {name} rows of {dataset} are of one class only; AUC needs both. Check its files."
            )
    return X, data.y.astype(np.int64), X_test, data.y_test.astype(np.int64)


@lru_cache(maxsize=64)
def fingerprint(dataset: str, folder: Path | None) -> str:
    """A checksum of all rows and labels: results of other files of that name are never taken for these."""
    sums = [zlib.crc32(np.ascontiguousarray(part).tobytes()) for part in load_rows(dataset, folder)]
    return "-".join(f"{number:08x}" for number in sums)


class RunSplit(NamedTuple):
    """Rows to learn from and to be judged on, every column divided by its largest training value."""

    X: Array
    y: NDArray[np.int64]
    X_test: Array
    y_test: NDArray[np.int64]


def split_rows(dataset: str, run: int, settings: Settings, folder: Path | None) -> RunSplit:
    """The split of a run."""
    X, y, X_test, y_test = load_rows(dataset, folder)
    if is_halved(dataset):
        X, y = np.concatenate([X, X_test]), np.concatenate([y, y_test])
        seed = int(np.random.default_rng([settings.seed, 2, run]).integers(2**31))
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
    largest = np.abs(X).max(axis=0)
    largest[largest == 0.0] = 1.0
    return RunSplit(np.ascontiguousarray(X / largest), y, X_test / largest, y_test)


def draw_rows(part: RunSplit, rng: np.random.Generator) -> Draw:
    """S = n pairs for the sampled MBA, and all rows in random order for the others."""
    n = part.y.size
    plus, minus = draw_pairs(part.y, n, rng)
    return Draw(part.X, part.y, plus, minus, rng.permutation(n), draw_folds(part.y, rng))


def one_run(
    dataset: str, run: int, settings: Settings, folder: Path | None, known: dict[str, float] | None = None
) -> Record:
    """All methods on one split; settings are chosen on its training rows, unless they are known from another
    run on the same rows.
    """
    part = split_rows(dataset, run, settings, folder)
    rng = np.random.default_rng([settings.seed, 3, DATASETS.index(dataset), run])
    draw = draw_rows(part, rng)
    more_folds = [draw_folds(part.y, rng) for _ in range(max(method.repeats for method in METHODS) - 1)]
    found = {}
    for method in settings.methods(run):
        began = time.perf_counter()
        contender = method.contender
        if known is not None:
            setting = known[method.key]
        elif settings.thorough:
            setting = choose(contender, draw, more_folds[: method.repeats - 1], method.folds)
        else:
            setting = choose(contender._replace(grid=contender.grid[::3]), draw, n_folds=1)
        w = method.weights(draw, setting)
        found[method.key] = Outcome(
            roc_auc(part.y_test, part.X_test @ w), setting, time.perf_counter() - began
        )._asdict()
    return {"data": fingerprint(dataset, folder), "methods": found}


def run_requested(request: Request, datasets: tuple[str, ...]) -> Benchmark:
    """The runs that a user asks for."""
    settings = replace(QUICK if request.quick else Settings(), seed=request.seed)
    return run(settings, request.out, datasets=datasets, folder=request.data_dir, n_jobs=request.n_jobs)


def run(
    settings: Settings,
    out: Path,
    *,
    datasets: tuple[str, ...] = DATASETS,
    folder: Path | None = None,
    n_jobs: int | None = None,
) -> Benchmark:
    """Run what is not yet in the journal.

    Sets that are not there are left out and named in ``missing``. Memory: some data sets (at most 750 MB) and a
    training set for each thread.
    """
    present, missing = load_available(datasets, lambda name: fingerprint(name, folder))
    study = Study(out, "benchmark", ("dataset", "run"), depends_on(settings))
    for name, data in present.items():
        study.check_data(name, data)

    def perform(dataset: str, number: int) -> Record:
        known = None
        if number > 0 and not is_halved(dataset):
            methods = study.records[dataset, 0]["methods"]
            known = {key: one["setting"] for key, one in methods.items()}
        return one_run(dataset, number, settings, folder, known)

    # on the same training rows settings are chosen once, in the first run
    tasks = [(name, number) for name in present for number in range(settings.runs(name))]
    records = study.run(
        perform,
        [task for task in tasks if task[1] == 0 or is_halved(task[0])],
        [task for task in tasks if task[1] > 0 and not is_halved(task[0])],
        n_jobs=n_jobs,
        what="runs",
        unit="run",
    )
    return Benchmark(settings, records, missing)


def depends_on(settings: Settings) -> dict[str, Any]:
    """What a run depends on."""
    return {
        **asdict(settings),
        "folds": [FOLDS, *(method.folds for method in METHODS)],
        "passes": [TRIAL_PASSES, PASSES],
        "grids": {method.key: method.contender.grid for method in METHODS},
    }
