"""The columns of Table III: the paper's six, the same rivals run to convergence, and what else there is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier

from mbauc.paper.rivals import OAM, AdaOAM, FTRLProximal, OnlineLogisticRegression
from mbauc.paper.studies.contenders import (
    Contender,
    Draw,
    Mask,
    complete_moments,
    elastic_net,
    in_order,
    lasso,
    matched_moments,
    mba,
    mean_difference,
    ridge,
)

#: Passes of an online method that is run to convergence.
PASSES = 20
#: Passes of each setting that it tries before.
TRIAL_PASSES = 4
#: Settings that each method may try; those run to convergence try every other one, on one held-out fold.
SETTINGS = 8
#: Columns from which AdaAUC keeps a sketch of the covariances instead of d² numbers.
_WIDE = 500
#: Rank of that sketch.
_RANK = 50

Weights = Callable[[Draw, Mask, tuple[float, ...]], Any]


class Method(NamedTuple):
    """A column."""

    #: Name in files.
    key: str
    #: How it learns and what it tries.
    contender: Contender
    #: Whether it takes part in every run, or in the first few only.
    cost: Literal["cheap", "dear"] = "cheap"
    #: Cross-validations to choose the setting by.
    repeats: int = 1
    #: Folds of five that are held out in turn.
    folds: int = 3
    #: How the weights are learned with the setting chosen, if not as it was chosen.
    final: Weights | None = None

    def weights(self, draw: Draw, setting: float) -> Any:
        """Weights learned from all rows of a draw."""
        learn = self.contender.weights if self.final is None else self.final
        return learn(draw, np.ones(draw.y.size, dtype=bool), (setting,))[0]


class _AdaAUC:
    """AdaOAM with a sketch of the covariances where there are many columns."""

    def __init__(self, eta0: float, **more: Any) -> None:
        self.eta0, self.more = eta0, more

    def fit(self, X: Any, y: Any) -> Any:
        rank = _RANK if X.shape[1] >= _WIDE else None
        return AdaOAM(eta0=self.eta0, rank=rank, **self.more).fit(X, y)


#: SOLR with the paper's penalty.
_SOLR = partial(FTRLProximal, lambda_1=1.0)


def _once(make: Callable[..., Any]) -> Weights:
    # the seed is for what is drawn beside the order of the rows: OAM's buffers
    return in_order(lambda setting: make(setting, shuffle=False, random_state=0))


def _passes(make: Callable[..., Any], number: int) -> Weights:
    return in_order(lambda setting: make(setting, max_iter=number, shuffle=True, random_state=0))


def _converge(key: str, once: Contender, make: Callable[..., Any]) -> Method:
    """The same rival again, with settings tried over a few passes and the chosen one run for many."""
    contender = Contender(f"{once.name}, converged", once.setting, once.grid[1::2], _passes(make, TRIAL_PASSES))
    return Method(key, contender, "dear", folds=1, final=_passes(make, PASSES))


def _logistic(class_weight: str | None) -> Weights:
    def weights(draw: Draw, usable: Mask, grid: tuple[float, ...]) -> Any:
        X, y = draw.take(usable)
        model = LogisticRegression(class_weight=class_weight, warm_start=True, max_iter=2000)
        return np.concatenate([model.set_params(C=C).fit(X, y).coef_.copy() for C in grid])

    return weights


def _balanced_ridge(draw: Draw, usable: Mask, grid: tuple[float, ...]) -> Any:
    X, y = draw.take(usable)
    # in the units of l2, so that it tries what the exact fit tries
    models = (RidgeClassifier(alpha=len(y) * l2 / 2, class_weight="balanced") for l2 in grid)
    return np.array([model.fit(X, y).coef_.ravel() for model in models])


def _lda(draw: Draw, usable: Mask, grid: tuple[float, ...]) -> Any:
    X, y = draw.take(usable)
    models = (LinearDiscriminantAnalysis(solver="lsqr", shrinkage=share) for share in grid)
    return np.concatenate([model.fit(X, y).coef_ for model in models])


def _grid(first: float, last: float) -> tuple[float, ...]:
    return tuple(float(f"{value:.3g}") for value in np.geomspace(first, last, SETTINGS))


_L2 = _grid(10.0, 1e-6)
_SHARES = _grid(0.3, 1e-4)
_ETA = _grid(0.01, 300.0)
_ALPHA = _grid(0.01, 100.0)
_COST = _grid(1e-7, 10.0)
_ADA = _grid(1e-4, 10.0)

#: The paper's columns, in its order.
PRINTED = (
    Method("mba-l2", Contender("MBA-ℓ2", "l2", _L2, mba(matched_moments, ridge))),
    Method("mba-l1", Contender("MBA-ℓ1", "l1 / max", _SHARES, mba(matched_moments, lasso))),
    Method("olr", Contender("OLR", "eta0", _ETA, _once(OnlineLogisticRegression))),
    Method("solr", Contender("SOLR", "alpha", _ALPHA, _once(_SOLR))),
    Method("oam", Contender("OAM", "C", _COST, _once(OAM))),
    Method("adaauc", Contender("AdaAUC", "eta0", _ADA, _once(_AdaAUC))),
)
#: The same rivals after many passes.
_MAKERS: tuple[Callable[..., Any], ...] = (OnlineLogisticRegression, _SOLR, OAM, _AdaAUC)
CONVERGED = tuple(
    _converge(f"{method.key}-converged", method.contender, make)
    for method, make in zip(PRINTED[2:], _MAKERS, strict=True)
)
#: What the paper does not have.
OURS = (
    Method("mba-exact", Contender("MBA-ℓ2 exact", "l2", _L2, mba(complete_moments, ridge)), repeats=5),
    Method(
        "mba-el",
        Contender("MBA-EL exact", "(l1 + l2) / max", _SHARES, mba(complete_moments, elastic_net)),
        "dear",
    ),
    Method("ridge-balanced", Contender("balanced ridge", "l2", _L2, _balanced_ridge), "dear"),
    Method("logistic", Contender("logistic", "C", _grid(1e-4, 100.0), _logistic(None)), "dear"),
    Method(
        "logistic-balanced",
        Contender("balanced logistic", "C", _grid(1e-4, 100.0), _logistic("balanced")),
        "dear",
    ),
    Method("lda", Contender("LDA", "shrinkage", _grid(1.0, 1e-6), _lda), "dear"),
    Method("mean-difference", Contender("mean difference", "none", (0.0,), mean_difference)),
)
METHODS = (*PRINTED, *CONVERGED, *OURS)
