"""What cross-validation asks of the data: problems of training rows, statistics of held-out ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mbauc.estimators.fitted_scores import FittedScores
from mbauc.estimators.moment_ranker import ProductFit, Solved
from mbauc.estimators.splits import Split
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.rows.scores import scores
from mbauc.solvers.column_scales import Scaling
from mbauc.solvers.problem import Problem
from mbauc.solvers.product_problem import ProductProblem

Array = NDArray[np.float64]


class Search(Protocol):
    """The splits of a search over penalties.

    Attributes
    ----------
    held_out : list
        Test rows of each split: their numbers, or whatever the :class:`~mbauc.estimators.held_out.Truth` knows
        them by.
    """

    held_out: list[Any]

    @property
    def problem(self) -> Problem | ProductProblem:
        """Of all rows."""

    def training(self, number: int) -> Problem | ProductProblem:
        """The problem of the training rows of a split."""

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""

    def settled(
        self, l1: float, l2: float, *, tol: float, max_iter: int
    ) -> tuple[Solved, FittedScores, PairMoments | None]:
        """The solution for all rows."""


@dataclass(frozen=True)
class Part:
    """Moments of the test rows of a split, and those that the training moments come from."""

    test: PairMoments
    train: PairMoments | None = None
    whole: PairMoments | None = None

    def training(self) -> PairMoments:
        """Moments of the training rows; made when asked for, so that few are in memory at a time."""
        if self.train is not None:
            return self.train
        return self.whole - self.test  # type: ignore[operator]


class MomentSearch:
    """Splits of which the moments are there: training moments are the total minus a fold."""

    def __init__(
        self,
        total: PairMoments,
        parts: list[Part],
        held_out: list[Any],
        factors: Array,
        scale: Scaling,
    ) -> None:
        self._total, self._parts, self._factors = total, parts, factors
        self.held_out = held_out
        self.problem = Problem.of(total, factors, scale=scale)
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> Problem:
        """The problem of the training rows of a split."""
        moments = self._parts[number].training()
        _require_both_classes(moments.has_pairs)
        return Problem.of(moments, self._factors, scale=self._scale)

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""
        test = self._parts[number].test
        return test.binormal_auc(W), test.risk(W)

    def settled(
        self, l1: float, l2: float, *, tol: float, max_iter: int
    ) -> tuple[Solved, FittedScores, PairMoments | None]:
        """The solution for all rows."""
        problem = self.problem
        solution = problem.solve(l1, l2, tol=tol, max_iter=max_iter)
        w = solution.coef / problem.scales
        solved = Solved(solution, w, problem.scales, problem.factors, l1, l2)
        return solved, FittedScores.of_moments(self._total, w), self._total


class ProductSearch:
    """Splits of rows that multiply vectors; the training rows of one split are in memory at a time.

    Parameters
    ----------
    rows : Block
        The data.
    splits : list of Split
        Who is held out.
    fit_of : callable
        The problem of some rows, or of all for None, in columns scaled in some way.
    scale : bool or "auto"
        In which way.
    """

    def __init__(
        self,
        rows: Block,
        splits: list[Split],
        fit_of: Callable[[NDArray[np.intp] | None, Scaling], ProductFit],
        scale: Scaling,
    ) -> None:
        self._rows, self._splits, self._fit_of = rows, splits, fit_of
        self.held_out = [split.test for split in splits]
        if rows.weight is not None:
            for number in range(len(splits)):
                for subset in (self.held_out[number], self._trained_on(number)):
                    _require_both_classes(all(rows.group(side, subset).size for side in (True, False)))
        self._fit = fit_of(None, scale)
        self.problem = self._fit.problem
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> ProductProblem:
        """The problem of the training rows of a split."""
        return self._fit_of(self._trained_on(number), self._scale).problem

    def _trained_on(self, number: int) -> NDArray[np.intp]:
        split = self._splits[number]
        if split.train is not None:
            return split.train
        return np.setdiff1d(np.arange(self._rows.positive.size), split.test)

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""
        means, variances = [], []
        for positive in (True, False):
            rows = self._rows.group(positive, self.held_out[number])
            weight = None if self._rows.weight is None else self._rows.weight[rows]
            found = scores(self._rows.X, W, rows)
            means.append(np.average(found, axis=1, weights=weight))
            variances.append(np.average((found - means[-1][:, None]) ** 2, axis=1, weights=weight))
        return binormal_and_risk(means[0] - means[1], variances[0] + variances[1])

    def settled(
        self, l1: float, l2: float, *, tol: float, max_iter: int
    ) -> tuple[Solved, FittedScores, PairMoments | None]:
        """The solution for all rows."""
        problem = self.problem
        solution = problem.solve(l1, l2, tol=tol, max_iter=max_iter)
        return (*self._fit.settled(solution, l1, l2), None)


def for_splits(scale: Scaling, scales: Array) -> Scaling:
    """How to scale the columns of each split: where that was decided from all rows, in the same way."""
    return scales if isinstance(scale, str) else scale


def binormal_and_risk(gap: Array, spread: Array) -> tuple[Array, Array]:
    """Binormal AUC and pairwise squared risk of scores with that difference of means and sum of variances."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gap == 0.0, 0.0, gap / np.sqrt(spread))
    return ndtr(ratio), (1.0 - gap) ** 2 + spread


def _require_both_classes(has_both: bool) -> None:
    if not has_both:
        raise ValueError(
            "a split is left with one class once rows of zero weight are dropped; AUC needs both classes."
        )
