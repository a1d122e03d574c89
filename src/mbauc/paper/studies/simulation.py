"""The simulation study of Section V-A: Table II and Figure 2 are two views of one run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import roc_auc, roc_auc_interval
from mbauc.metrics.curves import roc_curve
from mbauc.metrics.ranked import RankedScores
from mbauc.paper.studies.contenders import FOLDS, SAMPLED, WHOLE, Draw, folds_of, tuned
from mbauc.paper.studies.ledger import Ledger
from mbauc.paper.studies.printed import COMPONENTS, DIMENSION, RATIOS, hypotheses
from mbauc.paper.studies.provenance import versions
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import run_threads, single_threaded_blas, thread_count

Array = NDArray[np.float64]

#: False-alarm rates at which detection is recorded, closer together where the curves bend.
FALSE_ALARMS = np.linspace(0.0, 1.0, 101) ** 2


@dataclass(frozen=True)
class Settings:
    """What the results depend on.

    Attributes
    ----------
    sets : int
        Training sets for each number of components.
    train, test : int
        Rows of a training set and of the test set.
    positive : float
        Share of positive rows.
    seed : int
        Of everything drawn.
    """

    sets: int = 50
    train: int = 20_000
    test: int = 100_000
    positive: float = 0.1
    seed: int = 0


class Study:
    """All that a run has found; AUCs are percentages, as the paper prints them.

    Parameters
    ----------
    settings : Settings
        As asked for.
    ledger : Ledger
        Finished training sets.
    """

    def __init__(self, settings: Settings, ledger: Ledger) -> None:
        self.settings = settings
        self._records = {(record["k"], record["set"]): record for record in ledger.records}

    def auc(self, name: str, k: int, ratio: float) -> Array:
        """AUC of a method on the test set, one for each training set."""
        return np.array([self._one(k, number, name, ratio)["auc"] * 100 for number in self._sets])

    def chosen(self, name: str, k: int, ratio: float) -> Array:
        """The setting that each training set led to."""
        return np.array([self._one(k, number, name, ratio)["setting"] for number in self._sets])

    def curve(self, name: str, k: int, ratio: float) -> Array:
        """Detection rate at :data:`FALSE_ALARMS`, mean over the training sets."""
        curves = [self._one(k, number, name, ratio)["roc"] for number in self._sets]
        return np.asarray(np.mean(curves, axis=0))

    def _one(self, k: int, number: int, name: str, ratio: float) -> dict[str, Any]:
        methods = self._records[k, number]["methods"]
        return dict(methods[_key(name, ratio)] if _key(name, ratio) in methods else methods[name])

    @property
    def _sets(self) -> range:
        return range(self.settings.sets)

    @property
    def seconds(self) -> float:
        """Computing time of all training sets together."""
        return float(sum(self._records[k, number]["seconds"] for k in COMPONENTS for number in self._sets))


def run(settings: Settings, folder: Path, n_jobs: int | None = None) -> Study:
    """Run what is not yet in the folder's ledger, with a progress bar, and return the whole study.

    Memory: a test set (80 MB) and, for each thread, a training set and its draws (about 100 MB).
    """
    folder.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(folder / "simulation.ledger", _dependencies(settings))
    done = {(record["k"], record["set"]) for record in ledger.records if record["set"] < settings.sets}
    todo = [(k, number) for k in COMPONENTS for number in range(settings.sets) if (k, number) not in done]
    lock, stopped = threading.Lock(), threading.Event()
    with progress(len(COMPONENTS) * settings.sets, "training sets", unit="set", delay=0.0) as advance:
        advance(len(done))

        def task(which: tuple[int, int]) -> None:
            if stopped.is_set():
                return
            record = train_and_test(settings, *which)
            with lock:
                ledger.append(record)
                advance(1)

        with single_threaded_blas():
            run_threads(task, todo, thread_count(n_jobs), stopped.set)
    return Study(settings, ledger)


def _dependencies(settings: Settings) -> dict[str, Any]:
    """What a training set's results depend on; how many other sets there are is not among it."""
    return {
        **{name: value for name, value in asdict(settings).items() if name != "sets"},
        "dimension": DIMENSION,
        "ratios": RATIOS,
        "folds": FOLDS,
        "false_alarms": FALSE_ALARMS.size,
        "grids": {contender.name: contender.grid for contender in (*SAMPLED, *WHOLE)},
        **versions(),
    }


@lru_cache(maxsize=1)
def draw_test_set(settings: Settings, k: int) -> tuple[Array, NDArray[np.int64]]:
    """The one test set of each number of components."""
    return hypotheses(k).sample(settings.test, settings.positive, [settings.seed, 0, k])


def train_and_test(settings: Settings, k: int, number: int) -> dict[str, Any]:
    """All methods on one training set."""
    started = time.perf_counter()
    rng = np.random.default_rng([settings.seed, 1, k, number])
    X, y = hypotheses(k).sample(settings.train, settings.positive, rng)
    fold = folds_of(y, rng)
    found: dict[str, tuple[Array, float]] = {}
    everything = Draw(X, y, *(np.empty(0, dtype=np.intp),) * 2, rng.permutation(settings.train), fold)
    for contender in WHOLE:
        found[contender.name] = tuned(contender, everything)
    for ratio in RATIOS:
        draw = _drawn(X, y, fold, max(1, round(ratio * settings.train)), rng)
        for contender in SAMPLED:
            found[_key(contender.name, ratio)] = tuned(contender, draw)
    X_test, y_test = draw_test_set(settings, k)
    table = X_test @ np.column_stack([w for w, _ in found.values()])
    methods = {
        name: {"auc": roc_auc(y_test, s), "setting": setting, "roc": _curve(y_test, s)}
        for (name, (_, setting)), s in zip(found.items(), table.T, strict=True)
    }
    return {"k": k, "set": number, "seconds": time.perf_counter() - started, "methods": methods}


def _drawn(
    X: Array, y: NDArray[np.int64], fold: NDArray[np.intp], pairs: int, rng: np.random.Generator
) -> Draw:
    """S positive and S negative rows with replacement (Algorithm 1), and both together, shuffled."""
    plus, minus = (rng.choice(np.flatnonzero(y == label), pairs) for label in (1, 0))
    return Draw(X, y, plus, minus, rng.permutation(np.concatenate([plus, minus])), fold)


def _key(name: str, ratio: float) -> str:
    return f"{name} {ratio:g}"


def _curve(y: NDArray[np.int64], s: Array) -> list[float]:
    curve = roc_curve(RankedScores.validate(y, s))
    return np.interp(FALSE_ALARMS, curve.false_alarm, curve.detection).round(6).tolist()  # type: ignore[no-any-return]


@dataclass(frozen=True)
class BestPossible:
    """The Neyman–Pearson detector: in closed form and on the study's test set, in percent."""

    closed_form: float
    on_test_set: float
    stderr: float
    curve: Array

    @property
    def luck(self) -> float:
        """What the draw of the test set adds to every method."""
        return self.on_test_set - self.closed_form


def best_possible(settings: Settings) -> Iterator[tuple[int, BestPossible]]:
    """For each number of components what no method can beat."""
    for k in COMPONENTS:
        X, y = draw_test_set(settings, k)
        both = hypotheses(k)
        s = both.log_likelihood_ratio(X)
        interval = roc_auc_interval(y, s)
        exact = both.closed_form_auc()
        yield (
            k,
            BestPossible(
                np.nan if exact is None else 100 * exact,
                100 * interval.auc,
                100 * interval.stderr,
                np.array(_curve(y, s)),
            ),
        )
