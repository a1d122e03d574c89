"""The methods that are compared: from rows to weights, and how each one's setting is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from mbauc.metrics import roc_auc
from mbauc.pairs.moments import PairMoments
from mbauc.paper.rivals import AdaOAM, OnlineLogisticRegression
from mbauc.rows.parts.folds import FoldsByRank
from mbauc.solvers import Penalty, RidgePath, elastic_net_path, solve_elastic_net

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]

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

    def take(self, usable: Mask) -> tuple[Array, NDArray[np.int64]]:
        """The rows that may be used and their labels, in order."""
        rows = self.order[usable[self.order]]
        return self.X[rows], self.y[rows]


class Contender(NamedTuple):
    """A method with one setting, and the values that are tried, those that hold back most first.

    ``weights`` takes a draw, the mask of the training rows that may be used, and settings; it returns weights
    for each of these, shape (number of settings, d).
    """

    name: str
    setting: str
    grid: tuple[float, ...]
    weights: Callable[[Draw, Mask, tuple[float, ...]], Array]


def draw_pairs(y: NDArray[np.int64], pairs: int, rng: np.random.Generator) -> tuple[Places, Places]:
    """Positive and negative rows with replacement (Algorithm 1)."""
    return rng.choice(np.flatnonzero(y == 1), pairs), rng.choice(np.flatnonzero(y == 0), pairs)


def draw_folds(y: NDArray[np.int64], rng: np.random.Generator) -> Places:
    """Number of the fold of each row, both classes spread evenly."""
    classes = [np.flatnonzero(y == label) for label in (0, 1)]
    fold = np.empty(y.size, dtype=np.intp)
    drawn = FoldsByRank.draw((classes[0].size, classes[1].size), FOLDS, rng)
    for rows, folds in zip(classes, drawn.folds, strict=True):
        fold[rows] = folds
    return fold


def tune(
    contender: Contender, draw: Draw, more_folds: Sequence[Places] = (), n_folds: int = FOLDS
) -> tuple[Array, float]:
    """Weights with the setting that ranks held-out rows best, and the setting.

    Looks at the drawn rows alone: every method chooses on the data that it is trained on. ``more_folds``
    repeats the cross-validation with other folds; ``n_folds`` of them are held out in turn.
    """
    best = choose(contender, draw, more_folds, n_folds)
    return contender.weights(draw, np.ones(len(draw.y), dtype=bool), (best,))[0], best


def choose(contender: Contender, draw: Draw, more_folds: Sequence[Places] = (), n_folds: int = FOLDS) -> float:
    """The setting alone."""
    held_out = np.zeros(len(contender.grid))
    if len(contender.grid) > 1:
        for folds in (draw.fold, *more_folds):
            for fold in range(n_folds):
                rows = draw.order[folds[draw.order] == fold]
                candidates = contender.weights(draw, folds != fold, contender.grid)
                held_out += [roc_auc(draw.y[rows], draw.X[rows] @ w) for w in candidates]
    return contender.grid[int(held_out.argmax())]


# -- MBA: which pairs, and which penalty ----------------------------------------------------------------------


def matched_moments(draw: Draw, usable: Mask) -> PairMoments:
    """Moments of the pairs that were drawn (Eq. 17)."""
    both = usable[draw.plus] & usable[draw.minus]
    return PairMoments.from_pairs(draw.X[draw.plus[both]], draw.X[draw.minus[both]], n_jobs=1)


def complete_moments(draw: Draw, usable: Mask) -> PairMoments:
    """Moments of all pairs among the drawn rows (Eq. 13)."""
    return PairMoments.from_arrays(*draw.take(usable), n_jobs=1)


def ridge(moments: PairMoments, grid: tuple[float, ...]) -> Array:
    """MBA-ℓ2 for values of l2."""
    sigma, mu = moments.second_moment, moments.mean_difference
    return RidgePath(sigma, mu, np.ones(mu.size)).coefficients(grid)


def lasso(moments: PairMoments, grid: tuple[float, ...]) -> Array:
    """MBA-ℓ1 for values of l1, given as shares of the one that makes all weights zero."""
    sigma, mu = moments.second_moment, moments.mean_difference
    largest = float(np.abs(mu).max())
    path = elastic_net_path(sigma, mu, [share * largest for share in grid], 0.0, np.ones(mu.size), tol=1e-4)
    return np.array([solution.coef for solution in path])


def elastic_net(moments: PairMoments, grid: tuple[float, ...]) -> Array:
    """MBA-EL with half of a penalty for either term, as Figure 4 has it; shares as for the lasso."""
    sigma, mu = moments.second_moment, moments.mean_difference
    largest = float(np.abs(mu).max())
    coefs = []
    for share in grid:
        penalty = Penalty(share * largest / 2, share * largest / 2, np.ones(mu.size))
        coefs.append(solve_elastic_net(sigma, mu, penalty, tol=1e-4).coef)
    return np.array(coefs)


def mba(
    pairs: Callable[[Draw, Mask], PairMoments],
    solve: Callable[[PairMoments, tuple[float, ...]], Array],
) -> Callable[[Draw, Mask, tuple[float, ...]], Array]:
    """A variant of MBA from its two parts."""
    return lambda draw, usable, grid: solve(pairs(draw, usable), grid)


# -- the others -----------------------------------------------------------------------------------------------


def mean_difference(draw: Draw, usable: Mask, grid: tuple[float, ...]) -> Array:
    """What any l2 tends to as it grows; the trivial baseline."""
    X, y = draw.take(usable)
    positive = y == 1
    return np.tile(X[positive].mean(axis=0) - X[~positive].mean(axis=0), (len(grid), 1))


def in_order(make: Callable[[float], Any]) -> Callable[[Draw, Mask, tuple[float, ...]], Array]:
    """A linear model that is fitted to the rows in the order in which they come."""

    def weights(draw: Draw, usable: Mask, grid: tuple[float, ...]) -> Array:
        X, y = draw.take(usable)
        return np.concatenate([make(value).fit(X, y).coef_ for value in grid])

    return weights


def _logistic(draw: Draw, usable: Mask, grid: tuple[float, ...]) -> Array:
    # a row that was drawn k times counts k times
    rows, times = np.unique(draw.order[usable[draw.order]], return_counts=True)
    X, y = draw.X[rows], draw.y[rows]
    model = LogisticRegression(class_weight="balanced", warm_start=True, max_iter=1000)
    return np.concatenate([model.set_params(C=C).fit(X, y, sample_weight=times).coef_.copy() for C in grid])


_L2 = tuple(np.logspace(4, -2, 13).tolist())
_C = tuple(np.logspace(-6, 0, 7).tolist())

MBA = Contender("MBA-ℓ2", "l2", _L2, mba(matched_moments, ridge))
ONLR = Contender(
    "ONLR",
    "eta0",
    (0.0001, 0.001, 0.01, 0.03, 0.1, 0.3),
    in_order(partial(OnlineLogisticRegression, shuffle=False)),
)
ADA_AUC = Contender("AdaAUC", "eta0", (0.0001, 0.001, 0.01, 0.1), in_order(partial(AdaOAM, shuffle=False)))
COMPLETE = Contender("complete U", "l2", _L2, mba(complete_moments, ridge))
LOGISTIC = Contender("balanced LR", "C", _C, _logistic)
MEANS = Contender("mean difference", "none", (0.0,), mean_difference)

#: Trained on the rows of the sampled pairs.
SAMPLED = (MBA, ONLR, ADA_AUC, COMPLETE, LOGISTIC, MEANS)
#: Trained on all rows of a training set.
WHOLE = (
    Contender("exact", "l2", _L2, mba(complete_moments, ridge)),
    Contender("balanced LR, all rows", "C", _C, _logistic),
)
