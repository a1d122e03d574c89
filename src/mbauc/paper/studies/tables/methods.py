"""Who takes part: each method is an entry that makes a scikit-learn classifier of frames or arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import FunctionTransformer, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

#: Folds by which settings are chosen.
FOLDS = 5
#: From a seed to an estimator.
Make = Callable[[int], Any]
Grid = tuple[Mapping[str, Any], ...]


class Method(NamedTuple):
    """A method, what it needs, and the tables that it can be asked to take."""

    key: str
    name: str
    #: What makes the estimator; a function of a module, because it is sent to another process.
    make: Make
    #: What is fitted before the clock runs, so that compiled code is there; ``make`` if None.
    warm_up: Make | None = None
    #: A module, or a name in a module after a colon.
    requires: str = "sklearn"
    tuned: bool = False
    #: Training rows, and training rows times columns, up to which it takes part.
    most_rows: float = float("inf")
    most_cells: float = float("inf")
    most_columns: float = float("inf")
    #: After which a fit is stopped, if that is sooner than for the whole study.
    most_seconds: float = float("inf")

    @property
    def is_ours(self) -> bool:
        """Whether it comes from this package."""
        return self.requires.startswith("mbauc")

    def takes(self, rows: int, columns: int) -> bool:
        """Whether so many training rows and columns are not too many."""
        return rows <= self.most_rows and rows * columns <= self.most_cells and columns <= self.most_columns

    def explain_absence(self) -> str | None:
        """Why the method cannot be run here; None if it can."""
        module, _, name = self.requires.partition(":")
        if find_spec(module) is None:
            return f"{module} is not installed"
        if name and not hasattr(import_module(module), name):
            return f"this version of {module} has no {name}"
        return None


# -- at their defaults ----------------------------------------------------------------------------------------


def _additive(settings: Mapping[str, Any], _seed: int) -> Any:
    # by its name: versions without it can still run the others
    return import_module("mbauc").AdditiveAUCClassifier(**settings)


def _lightgbm(_seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier()


def _ebm(_seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier()


def make_brief_ebm(_seed: int) -> Any:
    """For a warm-up: it has nothing to compile, and noise keeps it at work for long."""
    return _ebm(_seed).set_params(outer_bags=1, interactions=0, max_rounds=10)


def _name_columns(X: Any) -> Any:
    import pandas as pd

    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)


def _standardise_and_encode() -> Any:
    """Numbers standardised, missing ones at the median with a column that says so; texts one-hot."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    return make_pipeline(
        FunctionTransformer(_name_columns),
        make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        ),
    )


def _logistic(_seed: int) -> Any:
    return Pipeline([("columns", _standardise_and_encode()), ("model", LogisticRegression(max_iter=1000))])


def _svm(_seed: int) -> Any:
    return Pipeline([("columns", _standardise_and_encode()), ("model", SVC())])


# -- tuned ----------------------------------------------------------------------------------------------------


def _search(make: Make, grid: Grid, seed: int) -> Any:
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    settings = [{name: [value] for name, value in one.items()} for one in grid]
    return GridSearchCV(make(seed), settings, scoring="roc_auc", cv=folds, error_score="raise")


_BOOSTING = ("num_leaves", "learning_rate", "n_estimators", "min_child_samples", "reg_lambda")
#: Settings that are tried; the defaults are among them wherever they are on the grid at all.
GRIDS: dict[str, Grid] = {
    "lightgbm-tuned": tuple(
        dict(zip(_BOOSTING, values, strict=True))
        for values in (
            (31, 0.1, 100, 20, 0.0),
            (7, 0.1, 100, 20, 0.0),
            (7, 0.05, 300, 20, 1.0),
            (7, 0.03, 500, 50, 10.0),
            (15, 0.05, 200, 20, 0.0),
            (15, 0.03, 500, 50, 5.0),
            (31, 0.05, 200, 20, 1.0),
            (31, 0.03, 300, 100, 10.0),
            (63, 0.05, 100, 20, 0.0),
            (63, 0.03, 300, 50, 10.0),
        )
    ),
    "ebm-tuned": ({}, {"interactions": 0}, {"smoothing_rounds": 500, "max_leaves": 2}),
    "logistic-tuned": tuple({"model__C": 10.0 ** (-4 + 8 * k / 9)} for k in range(10)),
    "svm-tuned": tuple(
        {"model__C": C, "model__gamma": gamma}
        for C in (0.1, 1.0, 10.0, 100.0)
        for gamma in ("scale", 0.001, 0.01, 0.1)
    ),
}
_OURS = "mbauc:AdditiveAUCClassifier"
#: Seconds after which fits of rivals that take minutes are stopped.
_LONGEST = 240.0


def _make_ours(key: str, name: str, **settings: Any) -> Method:
    return Method(key, name, partial(_additive, settings), requires=_OURS)


def _tune(key: str, name: str, make: Make, warm_up: Make | None = None, **more: Any) -> Method:
    # one fit loads all that the search needs
    search = partial(_search, make, GRIDS[key])
    return Method(key, name, search, warm_up or make, tuned=True, most_seconds=_LONGEST, **more)


#: Training rows times columns up to which methods run that take minutes on more.
_CELLS = 450_000
AUTO, LIGHTGBM, EBM, LIGHTGBM_TUNED = "auto", "lightgbm", "ebm", "lightgbm-tuned"
METHODS = {
    method.key: method
    for method in (
        *(_make_ours(key, key, features=key) for key in ("linear", "curves", "interactions", AUTO)),
        _make_ours("squared", 'auto, loss="squared"', loss="squared"),
        Method(LIGHTGBM, "LightGBM", _lightgbm, requires="lightgbm"),
        Method(
            EBM,
            "EBM",
            _ebm,
            make_brief_ebm,
            requires="interpret",
            most_cells=_CELLS,
            most_columns=30,
            most_seconds=_LONGEST,
        ),
        Method("logistic", "logistic regression", _logistic),
        Method("svm", "RBF SVM", _svm, most_rows=10_000),
        _tune(LIGHTGBM_TUNED, "LightGBM, tuned", _lightgbm, requires="lightgbm", most_cells=_CELLS),
        _tune("ebm-tuned", "EBM, tuned", _ebm, make_brief_ebm, requires="interpret", most_cells=40_000),
        _tune("logistic-tuned", "logistic regression, tuned", _logistic),
        _tune("svm-tuned", "RBF SVM, tuned", _svm, most_rows=5_000),
    )
}


def baseline(key: str) -> str:
    """Whom a method is compared with: LightGBM at its defaults, or auto, which tunes itself, if it is tuned."""
    return AUTO if METHODS[key].tuned else LIGHTGBM
