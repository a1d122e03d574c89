"""What cross-validation asks of the data: problems of training rows, statistics of held-out ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mbauc.estimators.splits import Split
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.quadratic import Quadratic
from mbauc.rows.block import Rows
from mbauc.rows.scores import scores
from mbauc.solvers.column_scales import Scaling
from mbauc.solvers.problem import Problem

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
    def problem(self) -> Problem:
        """Of all rows."""

    def training(self, number: int) -> Problem:
        """The problem of the training rows of a split."""

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""


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
        self._parts, self._factors = parts, factors
        self.held_out = held_out
        self.problem = Problem(total, factors, scale=scale)
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> Problem:
        """The problem of the training rows of a split."""
        moments = self._parts[number].training()
        _require_both_classes(moments.has_pairs)
        return Problem(moments, self._factors, scale=self._scale)

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""
        test = self._parts[number].test
        return test.binormal_auc(W), test.risk(W)


class ProductSearch:
    """Splits of rows that multiply vectors; the training rows of one split are in memory at a time.

    Parameters
    ----------
    rows : Rows
        The data.
    splits : list of Split
        Who is held out.
    pairs_of : callable
        The pairs of some rows, or of all for None.
    factors : ndarray of shape (d,)
        Penalty factors.
    scale : bool or "auto"
        What columns are divided by.
    """

    def __init__(
        self,
        rows: Rows,
        splits: list[Split],
        pairs_of: Callable[[NDArray[np.intp] | None], Quadratic],
        factors: Array,
        scale: Scaling,
    ) -> None:
        self._rows, self._splits, self._pairs_of, self._factors = rows, splits, pairs_of, factors
        self.held_out = [split.test for split in splits]
        if rows.weight is not None:
            for number in range(len(splits)):
                for subset in (self.held_out[number], self._trained_on(number)):
                    _require_both_classes(all(rows.of_class(side, subset).size for side in (True, False)))
        self.problem = Problem(pairs_of(None), factors, scale=scale)
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> Problem:
        """The problem of the training rows of a split."""
        return Problem(self._pairs_of(self._trained_on(number)), self._factors, scale=self._scale)

    def _trained_on(self, number: int) -> NDArray[np.intp]:
        split = self._splits[number]
        if split.train is not None:
            return split.train
        return np.setdiff1d(np.arange(self._rows.positive.size), split.test)

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""
        means, variances = [], []
        for positive in (True, False):
            rows = self._rows.of_class(positive, self.held_out[number])
            weight = None if self._rows.weight is None else self._rows.weight[rows]
            found = scores(self._rows.X, W, rows)
            means.append(np.average(found, axis=1, weights=weight))
            variances.append(np.average((found - means[-1][:, None]) ** 2, axis=1, weights=weight))
        return binormal_and_risk(means[0] - means[1], variances[0] + variances[1])


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
