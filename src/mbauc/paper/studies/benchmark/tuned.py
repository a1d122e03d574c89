"""Losses over all pairs against linear rivals that are tuned as well: the second half of Table III."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

from mbauc.estimators import PairwiseAUCClassifierCV
from mbauc.metrics import compare_roc_auc, roc_auc
from mbauc.paper.datasets.registry import find
from mbauc.paper.studies.benchmark.runs import DATASETS, RunSplit, fingerprint, is_halved, split_rows
from mbauc.paper.studies.benchmark.runs import Settings as BenchmarkSettings
from mbauc.paper.studies.contenders import FOLDS, draw_folds
from mbauc.paper.study import Record, Request, Results, Study, load_available

Array = NDArray[np.float64]
Labels = NDArray[np.int64]


class Rival(NamedTuple):
    """A linear model with one setting: from its values, rows and labels to weights, one row a value."""

    key: str
    name: str
    setting: str
    grid: tuple[float, ...]
    weights: Callable[[tuple[float, ...], Array, Labels], Array]


def _logistic(class_weight: str | None, grid: tuple[float, ...], X: Array, y: Labels) -> Array:
    model = LogisticRegression(
        class_weight=class_weight, solver="newton-cholesky", warm_start=True, max_iter=200
    )
    return np.concatenate([model.set_params(C=C).fit(X, y).coef_.copy() for C in grid])


def _svm(class_weight: str | None, grid: tuple[float, ...], X: Array, y: Labels) -> Array:
    # few entries other than zero: the same solution, sooner
    rows = sp.csr_matrix(X) if np.count_nonzero(X) < X.size / 4 else X
    models = (LinearSVC(C=C, class_weight=class_weight, dual=False, max_iter=5000) for C in grid)
    return np.concatenate([model.fit(rows, y).coef_ for model in models])


def _ridge(class_weight: str | None, grid: tuple[float, ...], X: Array, y: Labels) -> Array:
    # in units of the mean variance of the columns
    unit = float(X.var(axis=0).mean()) * len(y)
    models = (RidgeClassifier(alpha=value * unit, class_weight=class_weight) for value in grid)
    return np.array([model.fit(X, y).coef_.ravel() for model in models])


def _lda(grid: tuple[float, ...], X: Array, y: Labels) -> Array:
    models = (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=value) for value in grid)
    return np.concatenate([model.fit(X, y).coef_ for model in models])


def _decades(first: int, last: int) -> tuple[float, ...]:
    return tuple(10.0**k for k in range(first, last + 1))


#: What a user would try. The SVM's solver takes very long beyond, and some sets choose its last value.
RIVALS = (
    Rival("tuned-logistic", "logistic", "C", _decades(-5, 3), partial(_logistic, None)),
    Rival("tuned-logistic-balanced", "balanced logistic", "C", _decades(-5, 3), partial(_logistic, "balanced")),
    Rival("tuned-svm", "linear SVM", "C", _decades(-5, 1), partial(_svm, None)),
    Rival("tuned-svm-balanced", "balanced SVM", "C", _decades(-5, 1), partial(_svm, "balanced")),
    Rival("tuned-ridge", "ridge", "alpha", _decades(-6, 2), partial(_ridge, None)),
    Rival("tuned-ridge-balanced", "balanced ridge", "alpha", _decades(-6, 2), partial(_ridge, "balanced")),
    Rival("tuned-lda", "LDA", "shrinkage", (0.0, *_decades(-6, -2), 0.03, 0.1, 0.3, 1.0), _lda),
)
#: Our columns: name in files, name on the page, loss.
PAIRWISE = (
    ("pairs-squared-hinge", "pairs, squared hinge", "squared_hinge"),
    ("pairs-logistic", "pairs, logistic", "logistic"),
    ("pairs-auto", "pairs, auto", "auto"),
)
AUTO = "pairs-auto"
#: Halves of sets with fewer rows than this differ much.
_SMALL = 5_000


@dataclass(frozen=True)
class Settings:
    """What the results depend on."""

    #: Runs on sets that are halved and small; all others have one.
    halves_runs: int = 3
    #: Whether all settings are tried.
    thorough: bool = True
    #: Of everything drawn.
    seed: int = 0

    def runs(self, dataset: str) -> int:
        """Runs on a data set."""
        small = sum(find(dataset).rows) < _SMALL
        return self.halves_runs if is_halved(dataset) and small else 1


QUICK = Settings(halves_runs=1, thorough=False)


class Outcome(NamedTuple):
    """What a method reached in a run, and how far auto is above it: AUC, not in percent."""

    auc: float
    #: Of auto over this method, and its standard error (paired DeLong).
    gain: float
    stderr: float
    #: Of the penalty; and what else was chosen.
    setting: float
    choice: str
    seconds: float


class Tuned(Results[Settings]):
    """What the runs have found."""

    def outcomes(self, dataset: str, key: str) -> list[Outcome]:
        """One entry for each run."""
        runs = range(self.settings.runs(dataset))
        return [Outcome(**self.records[dataset, run]["methods"][key]) for run in runs]

    def auc(self, dataset: str, key: str) -> Array:
        """AUC of each run, in percent."""
        return np.array([100 * one.auc for one in self.outcomes(dataset, key)])

    def gain(self, dataset: str, key: str) -> tuple[float, float]:
        """How far auto is above a method, in points, and its standard error: means over the runs.

        Halves of one set share rows. The mean of the standard errors is no smaller than the error of the mean,
        whatever they share.
        """
        found = self.outcomes(dataset, key)
        return 100 * float(np.mean([one.gain for one in found])), 100 * float(
            np.mean([one.stderr for one in found])
        )


def run_requested(request: Request, datasets: tuple[str, ...]) -> Tuned:
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
) -> Tuned:
    """Run what is not yet in the journal; sets that are not there are named in ``missing``."""
    present, missing = load_available(datasets, lambda name: fingerprint(name, folder))
    depends_on = {**asdict(settings), "folds": FOLDS, "grids": {rival.key: rival.grid for rival in RIVALS}}
    study = Study(out, "tuned", ("dataset", "run"), depends_on)
    for name, data in present.items():
        study.check_data(name, data)
    records = study.run(
        lambda dataset, number: one_run(dataset, number, settings, folder),
        [(name, number) for name in present for number in range(settings.runs(name))],
        n_jobs=n_jobs,
        what="tuned runs",
        unit="run",
    )
    return Tuned(settings, records, missing)


class _Fitted(NamedTuple):
    weights: Array
    setting: float
    choice: str
    seconds: float


def one_run(dataset: str, run: int, settings: Settings, folder: Path | None) -> Record:
    """All methods on one split, each tuned on its training rows, and how far auto is above each."""
    part = split_rows(dataset, run, BenchmarkSettings(seed=settings.seed), folder)
    rng = np.random.default_rng([settings.seed, 5, DATASETS.index(dataset), run])
    fold = draw_folds(part.y, rng)
    fitted = {key: _fit_pairs(loss, part, settings) for key, _, loss in PAIRWISE}
    fitted |= {rival.key: tune(rival, part, fold, settings.thorough) for rival in RIVALS}
    scores = {key: part.X_test @ one.weights for key, one in fitted.items()}
    compared = compare_roc_auc(part.y_test, scores)
    auto = compared.names.index(AUTO)
    found = {
        key: Outcome(
            roc_auc(part.y_test, scores[key]),
            float(compared.difference[auto, place]),
            float(compared.stderr[auto, place]),
            one.setting,
            one.choice,
            one.seconds,
        )._asdict()
        for place, (key, one) in enumerate(fitted.items())
    }
    return {"data": fingerprint(dataset, folder), "methods": found}


def _fit_pairs(loss: str, part: RunSplit, settings: Settings) -> _Fitted:
    began = time.perf_counter()
    some: dict[str, Any] = {} if settings.thorough else {"cv": 3}
    model = PairwiseAUCClassifierCV(loss, random_state=settings.seed, n_jobs=1, **some).fit(part.X, part.y)
    columns = "as they are" if np.all(model.scale_ == 1.0) else "standardised"
    return _Fitted(model.coef_[0], model.l2_, f"{model.loss_}, columns {columns}", time.perf_counter() - began)


def tune(
    rival: Rival,
    part: RunSplit,
    fold: NDArray[np.intp],
    thorough: bool,
    measure: Callable[[Labels, Array], float] = roc_auc,
) -> _Fitted:
    """The rival with the setting and the columns, as they are or standardised, that rank held-out rows best."""
    began = time.perf_counter()
    deviation = part.X.std(axis=0)
    deviation[deviation == 0.0] = 1.0
    columns = {"as they are": np.ones_like(deviation), "standardised": deviation}
    grid = rival.grid if thorough else rival.grid[1::3]
    held_out = [fold == k for k in range(FOLDS if thorough else 1)]
    found: dict[tuple[str, float], float] = {}
    for name, divisor in columns.items():
        X, y = part.X / divisor, part.y
        tables = (X[out] @ rival.weights(grid, X[~out], y[~out]).T for out in held_out)
        means = np.mean(
            [[measure(y[out], s) for s in table.T] for out, table in zip(held_out, tables, strict=True)], axis=0
        )
        found |= {(name, value): float(mean) for value, mean in zip(grid, means, strict=True)}
    name, value = max(found, key=lambda one: found[one])
    weights = rival.weights((value,), part.X / columns[name], part.y)[0] / columns[name]
    return _Fitted(weights, value, f"columns {name}", time.perf_counter() - began)
