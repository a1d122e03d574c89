"""Which losses, scalings, regions and penalties are tried, in stages, and which of them is taken."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from mbauc.estimators.cross_validation.grids import default_l2_grid, list_l1, read_values
from mbauc.estimators.cross_validation.held_out import HeldOut
from mbauc.estimators.cross_validation.problems import SplitProblems
from mbauc.estimators.cross_validation.results import Candidate, Trial, Tried
from mbauc.estimators.pair_problems import PairProblems
from mbauc.losses import PairLoss, Region, get_loss
from mbauc.solvers.matrix_free.elastic_net import Judge

Array = NDArray[np.float64]

#: Values of l2 that are tried first, in units of the mean diagonal of Σ.
_DECADES = np.logspace(-6, 2, 9)
#: Values beside the best of them that are tried next.
_BESIDE = (10**-0.5, 10**0.5)
#: Larger parts of the ROC curve to fit to: multiples of the false-alarm rate that is asked for.
_WIDER = (1.0, 3.0, 10.0, 30.0)
#: Values of l2 that are tried for them, beside the best of the whole curve.
_FOR_REGIONS = (0.1, 1.0, 10.0, 100.0)
#: Excess risk that is near enough to see which region ranks best, and sweeps after which it is given up.
_GLANCE = 1e-3
_GLANCE_SWEEPS = 200


@dataclass(frozen=True)
class LossSearch:
    """A search in stages: losses and scalings over decades of l2, its values in between, then regions.

    Attributes
    ----------
    losses : sequence of PairLoss
        The one to prefer first.
    scales : sequence of bool or "auto"
        What columns are divided by.
    region : Region
        The part of the ROC curve that is scored.
    l1_grid, l2_grid
        As for the estimators.
    tol, max_iter
        Of the solver.
    """

    losses: Sequence[PairLoss]
    scales: Sequence[Any]
    region: Region
    l1_grid: Any
    l2_grid: Any
    tol: float
    max_iter: int

    def run(self, splits: SplitProblems[PairProblems], held_out: HeldOut) -> Tried:
        """All that was tried."""
        tried = self._score(splits, held_out, self._list_first(splits.problem))
        if self.l2_grid is None:
            tried += self._score(splits, held_out, [self._beside(tried, loss) for loss in self.losses])
        if not self.region.is_whole:
            tried += self._score_regions(splits, held_out, self._list_regions(tried))
        return tried

    def _list_first(self, problem: PairProblems) -> list[Trial]:
        trials = []
        for scale in list_scales(problem, self.scales):
            squared = problem.squared(scale)
            l2 = default_l2_grid(squared.variances, _DECADES) if self.l2_grid is None else self.l2_grid
            values = read_values("l2_grid", l2)
            for loss in self.losses:
                # losses differ in their slopes at zero, and so in the smallest l1 that gives no weights
                l1 = list_l1(self.l1_grid, problem.of(loss, scale, Region()))
                trials.append(Trial(l1, values, loss, scale, Region()))
        return trials

    def _beside(self, tried: Tried, loss: PairLoss) -> Trial:
        best = tried.find(tried.best_of(list_places(tried, loss.name)))
        return Trial([best.l1], [best.l2 * ratio for ratio in _BESIDE], loss, best.scale, best.region)

    def _list_regions(self, tried: Tried) -> list[Trial]:
        """Parts of the ROC curve for the best loss and scaling of the whole one."""
        # the largest losses are those of the highest negatives only if a loss falls
        falling = [k for k, one in enumerate(tried.candidates) if one.loss is not None and one.loss.falls]
        best, asked = tried.find(tried.best_of(falling)), self.region
        regions = {min(ratio * asked.max_fpr, 1.0) for ratio in _WIDER}
        l2 = (
            [best.l2 * ratio for ratio in _FOR_REGIONS]
            if self.l2_grid is None
            else read_values("l2_grid", self.l2_grid)
        )
        return [
            Trial([best.l1], l2, best.loss, best.scale, region)
            for region in (Region(end, asked.min_tpr, asked.min_fpr) for end in sorted(regions))
            if not region.is_whole
        ]

    def _score_regions(
        self, splits: SplitProblems[PairProblems], held_out: HeldOut, trials: list[Trial]
    ) -> Tried:
        """Parts of the curve, for which a glance must do: which rows are in them changes from step to step."""
        glance = replace(self, tol=max(self.tol, _GLANCE), max_iter=min(self.max_iter, _GLANCE_SWEEPS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            return glance._score(splits, held_out, trials)

    def _score(self, splits: SplitProblems[PairProblems], held_out: HeldOut, trials: list[Trial]) -> Tried:
        def solve(problems: PairProblems, _: Judge | None) -> Array:
            grids = [
                problems.of(get_loss(trial.loss or "squared"), trial.scale, trial.region).grid(
                    trial.l1, trial.l2, tol=self.tol, max_iter=self.max_iter
                )
                for trial in trials
            ]
            return np.concatenate([W.reshape(-1, W.shape[-1]) for W in grids])

        found = held_out.score(splits, solve, with_auc=True, with_moments=False)
        return Tried.of(trials, np.array([one.auc for one in found]))


def list_scales(problem: PairProblems, scales: Sequence[Any]) -> list[Any]:
    """Ways to divide columns that differ, "auto" by what it came to: False, True, or neither of the two."""

    def resolve(scale: Any) -> Any:
        if not isinstance(scale, str):
            return scale
        own = problem.squared("auto").scales
        known = (one for one in (False, True) if np.array_equal(own, problem.squared(one).scales))
        return next(known, scale)

    return list(dict.fromkeys(resolve(scale) for scale in scales))


def list_places(tried: Tried, loss: str) -> list[int]:
    """Places of the candidates of a loss."""
    return [k for k, one in enumerate(tried.candidates) if one.loss is not None and one.loss.name == loss]


def choose_candidate(tried: Tried, losses: Sequence[PairLoss], n_folds: int, shrink: bool) -> tuple[int, str]:
    """The place of the candidate to take, and why.

    Of each loss the candidate with the highest mean score; of the losses the first whose candidate is no
    further behind the best than one standard error of the difference, paired by split. With ``shrink`` the same
    rule then takes the largest penalties of that loss, scaling and region: of others they are in other units.
    """
    best = int(np.argmax(tried.means))
    places = [tried.best_of(list_places(tried, loss.name)) for loss in losses]
    gaps = [tried.behind(place, best, n_folds) for place in places]
    number = next(k for k, (gap, error) in enumerate(gaps) if gap <= error or places[k] == best)
    taken, (gap, error) = places[number], gaps[number]
    said = [describe(tried, taken)]
    if taken != best:
        said.append(
            f"{describe(tried, best)} is ahead by {gap:.5f}, which is no more than the standard error of "
            f"{error:.5f} over the folds"
        )
    for place, (gap, error) in list(zip(places, gaps, strict=True))[:number]:
        said.append(
            f"{describe(tried, place)} is {gap:.5f} behind, by more than the standard error of {error:.5f}"
        )
    if shrink:
        own = [
            place
            for place in list_places(tried, losses[number].name)
            if tried.has_units_of(place, taken) and np.less_equal(*tried.behind(place, taken, n_folds))
        ]
        taken = tried.take_simplest(own)
        said.append(f"of its penalties the largest within one standard error: {describe(tried, taken)}")
    return taken, "; ".join(said) + "."


def describe(tried: Tried, place: int) -> str:
    """A candidate with its mean score, in a few words."""
    one: Candidate = tried.find(place)
    name = "" if one.loss is None else one.loss.name
    region = "" if one.region is None or one.region.is_whole else f", max_fpr={one.region.max_fpr:.3g}"
    return f"{name} (l1={one.l1:.3g}, l2={one.l2:.3g}, scale={one.scale}{region}: {tried.means[place]:.5f})"
