"""The runs on simulated data behind Table II and Figure 2."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import roc_auc, roc_auc_interval
from mbauc.metrics.curves import roc_curve
from mbauc.metrics.ranked import RankedScores
from mbauc.paper.studies.contenders import FOLDS, SAMPLED, WHOLE, Draw, draw_folds, draw_pairs, tune
from mbauc.paper.studies.printed import COMPONENTS, DIMENSION, RATIOS, hypotheses
from mbauc.paper.study import Request, Results, Study

Array = NDArray[np.float64]

#: False-alarm rates at which detection is recorded, closer together where the curves bend.
FALSE_ALARMS = np.linspace(0.0, 1.0, 101) ** 2


@dataclass(frozen=True)
class Settings:
    """What the results depend on."""

    #: Training sets for each number of components.
    sets: int = 50
    #: Rows of a training set and of the test set.
    train: int = 20_000
    test: int = 100_000
    #: Share of positive rows.
    positive: float = 0.1
    #: Of everything drawn.
    seed: int = 0


QUICK = Settings(sets=3)


class Simulation(Results[Settings]):
    """What the study has found; AUCs are percentages, as the paper prints them."""

    def auc(self, name: str, k: int, ratio: float) -> Array:
        """AUC of a method on the test set, one for each training set."""
        return np.array([self._one(k, number, name, ratio)["auc"] * 100 for number in self._sets])

    def choices(self, name: str, k: int, ratio: float) -> Array:
        """The setting that each training set led to."""
        return np.array([self._one(k, number, name, ratio)["setting"] for number in self._sets])

    def curve(self, name: str, k: int, ratio: float) -> Array:
        """Detection rate at :data:`FALSE_ALARMS`, mean over the training sets."""
        curves = [self._one(k, number, name, ratio)["roc"] for number in self._sets]
        return np.asarray(np.mean(curves, axis=0))

    def _one(self, k: int, number: int, name: str, ratio: float) -> dict[str, Any]:
        methods = self.records[k, number]["methods"]
        return dict(methods[_key(name, ratio)] if _key(name, ratio) in methods else methods[name])

    @property
    def _sets(self) -> range:
        return range(self.settings.sets)


def run_requested(request: Request) -> Simulation:
    """The study that a user asks for."""
    settings = replace(QUICK if request.quick else Settings(), seed=request.seed)
    return run(settings, request.out, request.n_jobs)


def run(settings: Settings, folder: Path, n_jobs: int | None = None) -> Simulation:
    """Run what is not yet in the folder's journal, and return the whole.

    Memory: a test set (80 MB) and, for each thread, a training set and its draws (about 100 MB).
    """
    depends_on = asdict(settings) | {
        "dimension": DIMENSION,
        "ratios": RATIOS,
        "folds": FOLDS,
        "false_alarms": FALSE_ALARMS.size,
        "grids": {contender.name: contender.grid for contender in (*SAMPLED, *WHOLE)},
    }
    del depends_on["sets"]  # what a training set gives does not depend on how many others there are
    study = Study(folder, "simulation", ("k", "set"), depends_on)
    records = study.run(
        partial(train_and_test, settings),
        [(k, number) for k in COMPONENTS for number in range(settings.sets)],
        n_jobs=n_jobs,
        what="training sets",
        unit="set",
    )
    return Simulation(settings, records)


@lru_cache(maxsize=1)
def draw_test_set(settings: Settings, k: int) -> tuple[Array, NDArray[np.int64]]:
    """The one test set of each number of components."""
    return hypotheses(k).sample(settings.test, settings.positive, [settings.seed, 0, k])


def train_and_test(settings: Settings, k: int, number: int) -> dict[str, Any]:
    """All methods on one training set."""
    rng = np.random.default_rng([settings.seed, 1, k, number])
    X, y = hypotheses(k).sample(settings.train, settings.positive, rng)
    fold = draw_folds(y, rng)
    found: dict[str, tuple[Array, float]] = {}
    everything = Draw(X, y, *(np.empty(0, dtype=np.intp),) * 2, rng.permutation(settings.train), fold)
    for contender in WHOLE:
        found[contender.name] = tune(contender, everything)
    for ratio in RATIOS:
        draw = draw_rows(X, y, fold, max(1, round(ratio * settings.train)), rng)
        for contender in SAMPLED:
            found[_key(contender.name, ratio)] = tune(contender, draw)
    X_test, y_test = draw_test_set(settings, k)
    table = X_test @ np.column_stack([w for w, _ in found.values()])
    methods = {
        name: {"auc": roc_auc(y_test, s), "setting": setting, "roc": _curve(y_test, s)}
        for (name, (_, setting)), s in zip(found.items(), table.T, strict=True)
    }
    return {"methods": methods}


def draw_rows(
    X: Array, y: NDArray[np.int64], fold: NDArray[np.intp], pairs: int, rng: np.random.Generator
) -> Draw:
    """The rows of some pairs, and both kinds together, shuffled."""
    plus, minus = draw_pairs(y, pairs, rng)
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
