"""What cross-validation asks of the data: the problem of all rows, and of the training rows of each split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings
from mbauc.metrics.grouped import warn_of_one_class_groups
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.pairs.operator.lost_digits import warn_of_lost_digits
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic
from mbauc.rows.block import Block
from mbauc.solvers.column_scales import Scaling

Array = NDArray[np.float64]


class ScaledProblem(Protocol):
    """What is known of every problem."""

    @property
    def scales(self) -> Array:
        """What each column was divided by."""


P = TypeVar("P", bound=ScaledProblem)
Made = TypeVar("Made", bound=ScaledProblem, covariant=True)
#: The problem of some pairs, whose columns are divided by something.
MakeProblem = Callable[[Any, Scaling], P]


class SplitProblems(Protocol[Made]):
    """The splits of a search over penalties."""

    @property
    def problem(self) -> Made:
        """Of all rows."""

    @property
    def n_splits(self) -> int:
        """How many there are."""

    def training(self, number: int) -> Made:
        """The problem of the training rows of a split."""

    def statistics(self, number: int, W: Array) -> tuple[Array, Array] | None:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split; None if unknown."""


@dataclass(frozen=True)
class SplitMoments:
    """Moments of the test rows of a split, and those that the training moments come from."""

    test: PairMoments
    train: PairMoments | None = None
    whole: PairMoments | None = None

    def training(self) -> PairMoments:
        """Moments of the training rows; made when asked for, so that few are in memory at a time."""
        if self.train is not None:
            return self.train
        return self.whole - self.test  # type: ignore[operator]


class MomentSplits(Generic[P]):
    """Splits of which the moments are there: training moments are the total minus a fold."""

    def __init__(
        self, total: PairMoments, parts: list[SplitMoments], make: MakeProblem[P], scale: Scaling
    ) -> None:
        self._parts, self._make, self.n_splits = parts, make, len(parts)
        self.problem = make(total, scale)
        self._scale = for_splits(scale, self.problem.scales)

    @classmethod
    def from_folds(
        cls, repeats: list[list[PairMoments]], make: MakeProblem[P], scale: Scaling
    ) -> MomentSplits[P]:
        """Of the moments of each fold, for each repeat."""
        parts, totals = [], []
        for folds in repeats:
            totals.append(sum(folds[1:], folds[0]))
            for fold in folds:
                _require_fold(fold.has_pairs)
                parts.append(SplitMoments(fold, whole=totals[-1]))
        return cls(totals[0], parts, make, scale)

    def training(self, number: int) -> P:
        """The problem of the training rows of a split."""
        moments = self._parts[number].training()
        _require_both_classes(moments.has_pairs)
        return self._make(moments, self._scale)

    def statistics(self, number: int, W: Array) -> tuple[Array, Array]:
        """Binormal AUC and pairwise risk of weight vectors on the test rows of a split."""
        test = self._parts[number].test
        return test.binormal_auc(W), test.risk(W)


class OperatorSplits(Generic[P]):
    """Splits of rows in memory whose Σ is only multiplied by; the training rows of one split at a time.

    Parameters
    ----------
    block : Block
        The data.
    splits : list of Split
        Who is held out.
    pairs_of : callable
        The pairs of some rows, or of all for None.
    make : callable
        The problem of these pairs.
    scale : bool or "auto"
        What columns are divided by.
    """

    def __init__(
        self,
        block: Block,
        splits: list[Split],
        pairs_of: Callable[[NDArray[np.intp] | None], Quadratic],
        make: MakeProblem[P],
        scale: Scaling,
    ) -> None:
        self._n_rows, self._splits, self._pairs_of, self._make = block.n_rows, splits, pairs_of, make
        self.n_splits = len(splits)
        require_classes(block, splits)
        self.problem = make(pairs_of(None), scale)
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> P:
        """The problem of the training rows of a split."""
        return self._make(self._pairs_of(_list_training(self._n_rows, self._splits[number])), self._scale)

    def statistics(self, number: int, W: Array) -> None:
        """None: these need the scores of the rows."""


class PackedSplits(Generic[P]):
    """Splits of packed rows in parts; the training rows of a split are the other folds."""

    def __init__(
        self,
        repeats: list[PackedRows],
        make: MakeProblem[P],
        scale: Scaling,
        settings: PairSettings,
        *,
        grouped: bool,
    ) -> None:
        self._make, self._settings, self._grouped = make, settings, grouped
        for one in repeats:
            for sums in one.sums:
                _require_fold(bool(sums.counts.all()))
        self._splits = [(one, fold) for one in repeats for fold in range(len(one.sums))]
        self.n_splits = len(self._splits)
        pairs = repeats[0].operator()
        warn_of_lost_digits(pairs)
        own = self._pairs(pairs)
        if isinstance(own, GroupedPairOperator):
            warn_of_one_class_groups(own.pair_weights)
        self.problem = make(own, scale)
        self._scale = for_splits(scale, self.problem.scales)

    def training(self, number: int) -> P:
        """The problem of the training rows of a split."""
        packed, fold = self._splits[number]
        return self._make(self._pairs(packed.operator(fold)), self._scale)

    def _pairs(self, pairs: PairOperator) -> PairOperator:
        if self._grouped:
            pairs = GroupedPairOperator(pairs, equal_groups=self._settings.equal_groups)
        return pairs.as_frequencies() if self._settings.frequencies else pairs

    def statistics(self, number: int, W: Array) -> None:
        """None: these need the scores of the rows."""


def for_splits(scale: Scaling, scales: Array) -> Scaling:
    """How to scale the columns of each split: where that was decided from all rows, in the same way."""
    return scales if isinstance(scale, str) else scale


def binormal_and_risk(gap: Array, spread: Array) -> tuple[Array, Array]:
    """Binormal AUC and pairwise squared risk of scores with that difference of means and sum of variances."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(gap == 0.0, 0.0, gap / np.sqrt(spread))
    return ndtr(ratio), (1.0 - gap) ** 2 + spread


def require_classes(block: Block, splits: list[Split]) -> None:
    """Raise if training or test rows of a split are of one class, once rows of weight zero are dropped."""
    if block.weight is None:
        return
    for split in splits:
        for subset in (split.test, _list_training(block.n_rows, split)):
            _require_both_classes(all(block.rows_of(side, subset).size for side in (True, False)))


def _list_training(n_rows: int, split: Split) -> NDArray[np.intp]:
    return np.setdiff1d(np.arange(n_rows), split.test) if split.train is None else split.train


def _require_fold(has_both: bool) -> None:
    if not has_both:
        raise ValueError("a fold is left with one class; AUC needs both. Use fewer folds.")


def _require_both_classes(has_both: bool) -> None:
    if not has_both:
        raise ValueError(
            "a split is left with one class once rows of zero weight are dropped; AUC needs both classes."
        )
