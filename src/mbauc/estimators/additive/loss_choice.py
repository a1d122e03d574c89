"""Which loss the weights of chosen features lower: the one that is asked for, or the one that ranks better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.defaults import LOG_LOSS
from mbauc.errors import Advice
from mbauc.estimators.additive.choice import Chosen
from mbauc.estimators.additive.coordinates import FoldedRows, noise_of, pick
from mbauc.estimators.additive.gain import mean_gain, paired_gain
from mbauc.estimators.additive.log_loss import LogOdds, fit_log_odds
from mbauc.losses import LOSSES, PairLoss, Squared, get_loss
from mbauc.metrics.calibration import Calibration, fit_logistic
from mbauc.metrics.ranked import RankedScores
from mbauc.runtime.threads import single_threaded_blas

Array = NDArray[np.float64]

#: Rows, and coordinates, up to which losses are compared on all folds.
_FEW_ROWS, _FEW_COORDINATES = 5_000, 600
#: Rows for each coordinate from which on the log-loss is tried.
_ENOUGH_ROWS = 10
#: How exact the log-loss is lowered where losses are compared.
_AT_A_GLANCE = 1e-5


def check_loss(loss: str | PairLoss) -> None:
    """Raise for a loss that is not known."""
    if isinstance(loss, str) and loss not in (*LOSSES, "auto", LOG_LOSS):
        known = ", ".join(map(repr, ("auto", LOG_LOSS, *LOSSES)))
        raise ValueError(f"loss must be one of {known}, or a PairLoss, got {loss!r}.")
    if not isinstance(loss, str):
        get_loss(loss)


@dataclass(frozen=True, eq=False)
class HeldOutLogOdds:
    """What rows held out say of the log-loss.

    Attributes
    ----------
    gain, error : float
        What it gains over the squared loss, and the standard error of that.
    start : ndarray
        Weights of some of the rows, to start from.
    line : Calibration
        What makes probabilities of log-odds, which penalties flatten and chance makes too sure.
    """

    gain: float
    error: float
    start: Array
    line: Calibration

    def straighten(self, found: LogOdds) -> tuple[float, float]:
        """Slope and intercept that make log-odds of the scores of all rows' weights."""
        return self.line.slope, self.line.slope * found.intercept + self.line.offset


@dataclass(frozen=True, eq=False)
class ChosenLoss:
    """A loss, what is said of the choice, and what rows held out say of the log-loss if it is taken."""

    loss: str | PairLoss
    note: str = ""
    held_out: HeldOutLogOdds | None = None

    @property
    def is_log_loss(self) -> bool:
        """Whether it is that of rows."""
        return isinstance(self.loss, str) and self.loss == LOG_LOSS


def choose_loss(chosen: Chosen, loss: str | PairLoss, *, whole: bool) -> ChosenLoss:
    """The loss to take, and what is said of it.

    The log-loss needs rows again and again, so that it is for features whose search held all rows. With fewer
    than ten rows for each coordinate it ranks no better than the squared loss, which is taken without a try.
    Otherwise it is taken unless it ranks held-out rows worse by more than a standard error, because its
    probabilities are better. Rows count as those of a table with as many positives as negatives and the same
    noise.

    Parameters
    ----------
    chosen : Chosen
        Features and penalties.
    loss : str or PairLoss
        What is asked for.
    whole : bool
        Whether the rows of the search are all rows.
    """
    asked = isinstance(loss, str) and loss == LOG_LOSS
    if not asked and not (isinstance(loss, str) and loss == "auto"):
        return ChosenLoss(loss)
    obstacle = _find_obstacle(chosen, whole)
    if asked and obstacle:
        raise ValueError(Advice("{loss} is not available here: ", loss=LOG_LOSS) + f"{obstacle}.")
    if obstacle:
        return ChosenLoss(Squared.name, f" Loss: squared; {obstacle}.")
    if not asked and 4.0 / chosen.rows.noise < _ENOUGH_ROWS * chosen.strength.size:
        few = f"comparing losses needs {_ENOUGH_ROWS} rows per coefficient"
        return ChosenLoss(Squared.name, f" Loss: squared; {few}.")
    # small systems: threads of BLAS would wait for each other longer than they work
    with single_threaded_blas():
        found = _hold_out(chosen)
    if asked:
        return ChosenLoss(LOG_LOSS, held_out=found)
    said = f"the log-loss changes the held-out AUC by {found.gain:+.4f} (standard error {found.error:.4f})"
    if found.gain > (-found.error if np.isfinite(found.error) else 0.0):
        return ChosenLoss(LOG_LOSS, f" Loss: {LOG_LOSS}; {said}.", found)
    return ChosenLoss(Squared.name, f" Loss: {Squared.name}; {said}.")


def _find_obstacle(chosen: Chosen, whole: bool) -> str:
    """What stands in the way of the log-loss; nothing if nothing does."""
    if chosen.rows.groups is not None:
        return "the log-loss does not support groups"
    if not whole:
        return "the log-loss needs all rows of the table in the search (search_rows)"
    if not chosen.columns.size:
        return "too many features to compare losses"
    return ""


def _hold_out(chosen: Chosen) -> HeldOutLogOdds:
    """The log-loss on rows held out, beside the squared one.

    Pairs of columns may have been chosen with these rows in view; both losses have the same.
    """
    rows, columns = chosen.rows, chosen.columns
    # of interactions there are the rows of one fold, and all others
    many = chosen.kind == "interactions" or rows.positive.size > _FEW_ROWS or columns.size > _FEW_COORDINATES
    gains, odds, start = [], [], np.zeros(columns.size)
    folds = range(1 if many else rows.n_folds)
    for k in folds:
        own = rows.fold == k
        [squared] = rows.statistics(k).select(columns).solve(chosen.strength[None, :])
        found = lower_log_loss(chosen, ~own, start=squared, tol=_AT_A_GLANCE)
        after, before = rows.held_out(k, np.array([found.coef, squared]), columns)
        gains.append(paired_gain(rows.positive[own], after, before, pick(rows.weight, own), rows.frequencies))
        odds.append(after + found.intercept)
        start = found.coef
    seen = np.isin(rows.fold, folds)
    # rows of a fold stand together, the first fold first
    weight = _count_rows(rows, seen)
    labelled = RankedScores.validate(rows.positive[seen].astype(np.int8), np.concatenate(odds), weight)
    return HeldOutLogOdds(*mean_gain(gains), start, fit_logistic(labelled))


def lower_log_loss(
    chosen: Chosen, mask: NDArray[np.bool_] | None = None, *, start: Array, tol: float = 1e-8
) -> LogOdds:
    """The log-loss of the rows of the search, or of some of them, under the chosen penalties."""
    rows = chosen.rows
    mask = np.ones(rows.positive.size, dtype=bool) if mask is None else mask
    Z = rows.take(np.flatnonzero(mask), chosen.columns)
    weight, threads = _count_rows(rows, mask), rows.n_threads
    with single_threaded_blas():
        return fit_log_odds(
            Z, rows.positive[mask], weight, chosen.strength, start=start, tol=tol, n_threads=threads
        )


def _count_rows(rows: FoldedRows, mask: NDArray[np.bool_]) -> Array | None:
    """How many rows each stands for: weights, so that they say as much as moments take them to say."""
    weight = pick(rows.weight, mask)
    if weight is None or rows.frequencies:
        return weight
    positive = rows.positive[mask]
    by_class = weight[positive], weight[~positive]
    sums = [float(own.sum()) for own in by_class]
    sizes = [total**2 / float(own @ own) for total, own in zip(sums, by_class, strict=True)]
    return weight * ((1.0 / sums[0] + 1.0 / sums[1]) / noise_of((sizes[0], sizes[1])))
