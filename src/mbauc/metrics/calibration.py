"""Scores as probabilities: increasing maps from scores to log-odds, and which of them suits rows best."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

from mbauc.checks import check_choice, check_number, check_share, check_whole
from mbauc.defaults import FOLDS, SEED
from mbauc.metrics.ranked import RankedScores
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]
Kind = Literal["moments", "logistic", "isotonic"]
KINDS = ("moments", "logistic", "isotonic")
#: Log-odds that a map rises over the range of the scores at least, so that it never makes scores equal.
_LEAST_RISE = 0.01
#: Steps of Newton's method, and of halving one of them, at most.
_STEPS, _HALVINGS = 100, 30


@dataclass(frozen=True)
class Calibration:
    """Increasing map from scores to log-odds; it changes neither the ranking nor thresholds on scores.

    Attributes
    ----------
    kind : {"moments", "logistic", "isotonic"}
        Method: closed form from the class means and variances of training scores, logistic regression on the
        score (Platt scaling), or isotonic regression (pool adjacent violators).
    slope, offset : float
        Log-odds are slope · score + offset. With knots, the offset is added to the interpolated log-odds, and
        the slope is used beyond the outer knots.
    knots : tuple of pairs of float
        Increasing scores and log-odds between which the map interpolates linearly; empty for a straight line.
    share : float or None
        Base rate (share of positives) for which the probabilities hold: that of the rows it was fitted to.

    Examples
    --------
    >>> from mbauc.metrics import Calibration
    >>> Calibration("logistic", slope=2.0, offset=-1.0, share=0.25).probability([0.0, 0.5, 1.0]).round(3)
    array([0.269, 0.5  , 0.731])
    """

    kind: Kind
    slope: float
    offset: float = 0.0
    knots: tuple[tuple[float, float], ...] = ()
    share: float | None = None

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        # the slope of the moments is what the training found, be it what it may
        check_number("slope", self.slope, low=-np.inf if self.kind == "moments" else 0.0)
        check_number("offset", self.offset, low=-np.inf)
        if self.share is not None:
            check_number("share", self.share, low=0.0, high=1.0)
        knots = tuple((float(score), float(height)) for score, height in self.knots)
        if bool(knots) != (self.kind == "isotonic"):
            raise ValueError(f"knots are for kind 'isotonic' and needed there, got kind {self.kind!r}.")
        if not np.isfinite(knots).all() or (np.diff(knots, axis=0) <= 0).any():
            raise ValueError("knots must be finite, with increasing scores and log-odds.")
        object.__setattr__(self, "knots", knots)

    def log_odds(self, scores: ArrayLike) -> Array:
        """Log-odds log(P(positive) / P(negative)) of scores."""
        s = np.asarray(scores, dtype=np.float64)
        if not self.knots:
            return np.asarray(self.slope * s + self.offset)
        knots, heights = np.array(self.knots).T
        beyond = s - np.clip(s, knots[0], knots[-1])
        return np.asarray(np.interp(s, knots, heights) + self.slope * beyond + self.offset)

    def probability(self, scores: ArrayLike) -> Array:
        """Probability of the positive class for scores."""
        return np.asarray(expit(self.log_odds(scores)))

    def with_share(self, share: float) -> Calibration:
        """Adjust the map to another base rate (prior shift).

        Log-odds are shifted by the difference of the prior log-odds (Bayes' rule), which is exact if the
        distribution of the scores within each class is unchanged.
        """
        if self.share is None:
            raise ValueError(
                "the calibration has no share of positives to correct from; calibrate on labelled rows first."
            )
        check_share("share", share)
        moved = float(logit(share) - logit(self.share))
        return replace(self, offset=self.offset + moved, share=float(share))


class CalibrationChoice(NamedTuple):
    """Maps that were tried, and the one that was chosen.

    Attributes
    ----------
    calibration : Calibration
        The map, of all rows.
    log_loss : dict of str to float
        Log-loss on rows held out, for each kind, the simplest first.
    log_odds : ndarray of shape (n,)
        Log-odds of each row by the chosen kind of map, found on rows of the other folds.
    reason : str
        Why this one, in words.
    """

    calibration: Calibration
    log_loss: dict[str, float]
    log_odds: Array
    reason: str


def fit_calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    folds: int = FOLDS,
    random_state: Any = SEED,
    current: Calibration | None = None,
) -> Calibration:
    """Select and fit a calibration map from scores to probabilities, ``O(n log n)``.

    A logistic map, an isotonic map and the ``current`` one, if given, are compared by cross-validated log-loss.
    The simplest within one standard error of the best is selected, in the order current, logistic, isotonic.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Two-valued labels of held-out rows; the larger is positive.
    y_score : array-like of shape (n,)
        Finite scores.
    sample_weight : array-like of shape (n,), optional
        Row weights as frequencies: weight 3 counts as three equal rows.
    folds : int, default=5
        Number of cross-validation folds, at least 2; fewer are used if a class has fewer rows.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the folds.
    current : Calibration, optional
        The map in use, which is not refitted.

    References
    ----------
    Platt 1999, Probabilistic outputs for support vector machines; Zadrozny, Elkan 2002, Transforming classifier
    scores into accurate multiclass probability estimates.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.metrics import fit_calibration
    >>> rng = np.random.default_rng(0)
    >>> s = rng.standard_normal(2000)
    >>> y = rng.random(2000) < 1 / (1 + np.exp(3 - 2 * s))
    >>> found = fit_calibration(y, s)
    >>> found.kind, round(found.slope, 1), round(found.offset, 1)
    ('logistic', 2.0, -3.0)
    """
    return choose_calibration(
        y_true,
        y_score,
        sample_weight=sample_weight,
        folds=folds,
        random_state=random_state,
        current=current,
    ).calibration


def choose_calibration(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    folds: int = FOLDS,
    random_state: Any = SEED,
    current: Calibration | None = None,
) -> CalibrationChoice:
    """:func:`fit_calibration`, with what the choice rests on."""
    check_whole("folds", folds, low=2)
    ranked = RankedScores.validate(y_true, y_score, sample_weight, finite=True)
    used = ranked if ranked.weight is None else ranked.take(ranked.weight > 0)
    least = int(min(used.positive.sum(), (~used.positive).sum()))
    if least < 2:
        raise ValueError("a calibration needs at least two rows of each class. Give more labelled rows.")
    fits: dict[str, Any] = {} if current is None else {"current": lambda _: current}
    fits |= {"logistic": fit_logistic, "isotonic": _fit_isotonic}
    fold = _draw_folds(ranked.positive, min(folds, least), random_state)
    held_out = {name: np.empty(ranked.values.size) for name in fits}
    for own in (fold == k for k in range(min(folds, least))):
        training = ranked.take(~own & (ranked.weights > 0))
        for name, fit in fits.items():
            held_out[name][own] = fit(training).log_odds(ranked.values[own])
    sign = np.where(ranked.positive, -1.0, 1.0)
    losses = {name: np.logaddexp(0.0, sign * odds) for name, odds in held_out.items()}
    means = {name: float(np.average(loss, weights=ranked.weight)) for name, loss in losses.items()}
    best = min(means, key=lambda name: means[name])
    worse = {name: means[name] - means[best] for name in fits}
    errors = {name: _standard_error(losses[name] - losses[best], ranked.weights) for name in fits}
    chosen = next(name for name in fits if worse[name] <= errors[name])
    reason = "lowest held-out log-loss"
    if chosen != best:
        reason = f"simpler, and its held-out log-loss is within one standard error of the {best} one's"
    return CalibrationChoice(fits[chosen](used), means, held_out[chosen], reason)


def _draw_folds(positive: NDArray[np.bool_], folds: int, random_state: Any) -> NDArray[np.intp]:
    """A fold for each row, at random, with as many rows of a class in each as can be."""
    rng, fold = generator(random_state), np.empty(positive.size, dtype=np.intp)
    for own in (positive, ~positive):
        fold[own] = rng.permutation(np.arange(np.count_nonzero(own)) % folds)
    return fold


def _standard_error(difference: Array, weight: Array) -> float:
    """Of a mean of rows; a row of weight 3 counts as three."""
    total = weight.sum()
    mean = weight @ difference / total
    return float(np.sqrt(weight @ (difference - mean) ** 2 / max(total - 1.0, 1.0) / total))


# -- the maps --------------------------------------------------------------------------------------------------


def _share(rows: RankedScores) -> float:
    return float(np.average(rows.positive, weights=rows.weight))


def _least_slope(s: Array) -> float:
    return _LEAST_RISE / (float(np.ptp(s)) or 1.0)


def fit_logistic(rows: RankedScores) -> Calibration:
    """Maximum likelihood of a line, with Platt's targets, so that scores that part the classes stay finite."""
    s, weight, positive = rows.values, rows.weights, rows.positive
    plus, minus = float(weight[positive].sum()), float(weight[~positive].sum())
    target = np.where(positive, (plus + 1.0) / (plus + 2.0), 1.0 / (minus + 2.0))
    middle, spread = float(np.average(s, weights=weight)), float(np.std(s)) or 1.0
    z = (s - middle) / spread
    slope, offset = _maximise([z, np.ones(s.size)], 0.0, target, weight)
    least = _least_slope(s)
    if slope / spread < least:  # scores that say nothing, or the contrary
        slope = least * spread
        [offset] = _maximise([np.ones(s.size)], slope * z, target, weight)
    slope /= spread
    return Calibration("logistic", float(slope), float(offset - slope * middle), share=_share(rows))


def _maximise(columns: list[Array], fixed: Array | float, target: Array, weight: Array) -> Array:
    """Coefficients of greatest likelihood, by Newton's method; ``fixed`` is added to the log-odds."""
    design = np.column_stack(columns)
    found = np.zeros(design.shape[1])

    def loss(coefficients: Array) -> float:
        odds = design @ coefficients + fixed
        return float(weight @ (np.logaddexp(0.0, odds) - target * odds))

    value = loss(found)
    for _ in range(_STEPS):
        p = expit(design @ found + fixed)
        gradient = design.T @ (weight * (p - target))
        hessian = (design * (weight * p * (1.0 - p))[:, None]).T @ design
        # equal scores leave the slope open: it stays 0
        step = np.linalg.lstsq(hessian, gradient, rcond=None)[0]
        for _ in range(_HALVINGS):
            lower = loss(found - step)
            if lower <= value:
                break
            step = step / 2
        else:
            return found
        found, gained, value = found - step, value - lower, lower
        if gained <= 1e-15 * value and np.abs(step).max() <= 1e-10 * (1.0 + np.abs(found).max()):
            break
    return found


def _fit_isotonic(rows: RankedScores) -> Calibration:
    """Pooled adjacent violators as knots in the middle of the pools.

    Each pool counts one row more, of the share of all: that makes log-odds of pools of one class finite, and
    those of small ones modest. Pools that do not rise any more are pooled again.
    """
    share = _share(rows)
    scores, place = np.unique(rows.values, return_inverse=True)
    weight = np.bincount(place, rows.weights)
    hits = np.bincount(place, rows.weights * rows.positive)
    starts = pool_adjacent_violators(hits / weight, weight)[:-1]
    pools = zip(
        np.add.reduceat(hits, starts),
        np.add.reduceat(weight, starts),
        np.add.reduceat(weight * (scores - scores[0]), starts),
        strict=True,
    )
    rising: list[tuple[float, float, float]] = []
    for pool in pools:
        rising.append(pool)
        while len(rising) > 1 and _shrunk(rising[-1], share) <= _shrunk(rising[-2], share):
            last, before = rising.pop(), rising.pop()
            rising.append((last[0] + before[0], last[1] + before[1], last[2] + before[2]))
    knots: list[tuple[float, float]] = []
    for pool in rising:
        knot = float(scores[0] + pool[2] / pool[1]), float(logit(_shrunk(pool, share)))
        if not knots or (knot[0] > knots[-1][0] and knot[1] > knots[-1][1]):  # but for rounding they rise
            knots.append(knot)
    return Calibration("isotonic", _least_slope(rows.values), knots=tuple(knots), share=share)


def pool_adjacent_violators(values: ArrayLike, weight: ArrayLike) -> NDArray[np.intp]:
    """Where the pools of the rising means nearest to values begin, and where the last one ends; ``O(n)``."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(values, weights=weight).blocks, dtype=np.intp)


def _shrunk(pool: tuple[float, float, float], share: float) -> float:
    """Share of positives of a pool and one more row."""
    return float((pool[0] + share) / (pool[1] + 1.0))
