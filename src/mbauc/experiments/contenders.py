"""The methods of the simulation study: from drawn rows to weights, and how each one's setting is chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import roc_auc
from mbauc.moments import PairMoments
from mbauc.solvers import RidgePath

Array = NDArray[np.float64]
Places = NDArray[np.intp]

FOLDS = 5


class Draw(NamedTuple):
    """Rows drawn from a training set, in the order in which they are handed out.

    Row numbers may repeat. ``fold`` belongs to the rows of the training set, so that copies of a row are held
    out together.
    """

    X: Array
    y: NDArray[np.int64]
    plus: Places
    minus: Places
    order: Places
    fold: Places


class Contender(NamedTuple):
    """A method with one setting, and the values that are tried, those that hold back most first."""

    name: str
    setting: str
    grid: tuple[float, ...]
    weights: Callable[[Draw, NDArray[np.bool_], tuple[float, ...]], Array]


def tuned(contender: Contender, draw: Draw) -> tuple[Array, float]:
    """Weights with the setting that ranks held-out rows best, and the setting.

    Looks at the drawn rows alone: every method chooses on the data that it is trained on.
    """
    held_out = np.zeros(len(contender.grid))
    for fold in range(FOLDS):
        rows = draw.order[draw.fold[draw.order] == fold]
        candidates = contender.weights(draw, draw.fold != fold, contender.grid)
        held_out += [roc_auc(draw.y[rows], draw.X[rows] @ w) for w in candidates]
    best = contender.grid[int(held_out.argmax())]
    return contender.weights(draw, np.ones(len(draw.y), dtype=bool), (best,))[0], best


def _path(moments: PairMoments, grid: tuple[float, ...]) -> Array:
    sigma, mu = moments.second_moment, moments.mean_difference
    return RidgePath(sigma, mu, np.ones(mu.size)).coefficients(grid)


def _matched(draw: Draw, kept: NDArray[np.bool_], grid: tuple[float, ...]) -> Array:
    both = kept[draw.plus] & kept[draw.minus]
    return _path(PairMoments.from_pairs(draw.X[draw.plus[both]], draw.X[draw.minus[both]], n_jobs=1), grid)


def _complete(draw: Draw, kept: NDArray[np.bool_], grid: tuple[float, ...]) -> Array:
    rows = draw.order[kept[draw.order]]
    return _path(PairMoments.from_arrays(draw.X[rows], draw.y[rows], n_jobs=1), grid)


def _mean_difference(draw: Draw, kept: NDArray[np.bool_], grid: tuple[float, ...]) -> Array:
    """What any l2 tends to as it grows; the trivial baseline."""
    rows = draw.order[kept[draw.order]]
    X, positive = draw.X[rows], draw.y[rows] == 1
    return np.tile(X[positive].mean(axis=0) - X[~positive].mean(axis=0), (len(grid), 1))


def _one_pass(make: Callable[[float], Any]) -> Callable[[Draw, NDArray[np.bool_], tuple[float, ...]], Array]:
    """A rival that goes once over the rows in the order in which they come."""

    def weights(draw: Draw, kept: NDArray[np.bool_], grid: tuple[float, ...]) -> Array:
        rows = draw.order[kept[draw.order]]
        X, y = draw.X[rows], draw.y[rows]
        return np.concatenate([make(value).fit(X, y).coef_ for value in grid])

    return weights


def _online_logistic(eta0: float) -> Any:
    from mbauc.rivals import OnlineLogisticRegression

    return OnlineLogisticRegression(eta0=eta0, shuffle=False)


def _ada_oam(eta0: float) -> Any:
    from mbauc.rivals import AdaOAM

    return AdaOAM(eta0=eta0, shuffle=False)


def _logistic(draw: Draw, kept: NDArray[np.bool_], grid: tuple[float, ...]) -> Array:
    from sklearn.linear_model import LogisticRegression

    # a row that was drawn k times counts k times
    rows, times = np.unique(draw.order[kept[draw.order]], return_counts=True)
    X, y = draw.X[rows], draw.y[rows]
    model = LogisticRegression(class_weight="balanced", warm_start=True, max_iter=1000)
    return np.concatenate([model.set_params(C=C).fit(X, y, sample_weight=times).coef_.copy() for C in grid])


_L2 = tuple(np.logspace(4, -2, 13).tolist())
_C = tuple(np.logspace(-6, 0, 7).tolist())

MBA = Contender("MBA-ℓ2", "l2", _L2, _matched)
ONLR = Contender("ONLR", "eta0", (0.0001, 0.001, 0.01, 0.03, 0.1, 0.3), _one_pass(_online_logistic))
ADA_AUC = Contender("AdaAUC", "eta0", (0.0001, 0.001, 0.01, 0.1), _one_pass(_ada_oam))
COMPLETE = Contender("complete U", "l2", _L2, _complete)
LOGISTIC = Contender("balanced LR", "C", _C, _logistic)
MEANS = Contender("mean difference", "none", (0.0,), _mean_difference)

#: Trained on the rows of the sampled pairs.
SAMPLED = (MBA, ONLR, ADA_AUC, COMPLETE, LOGISTIC, MEANS)
#: Trained on all rows of a training set.
WHOLE = (
    Contender("exact", "l2", _L2, _complete),
    Contender("balanced LR, all rows", "C", _C, _logistic),
)
