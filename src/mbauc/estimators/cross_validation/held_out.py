"""Scores of held-out rows: their AUC, and whether their moments agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, BinormalWarning
from mbauc.estimators.cross_validation.fold_scores import (
    FoldScores,
    ScoreBlocks,
    ScorePacked,
    merge_fold_scores,
)
from mbauc.estimators.cross_validation.measure import Groups, Measure, Weights
from mbauc.estimators.cross_validation.problems import SplitProblems, binormal_and_risk
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.rows.block import Block
from mbauc.rows.matrix import is_sparse
from mbauc.rows.parts.accumulate import accumulate
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.scores import scores
from mbauc.runtime.threads import run_threads
from mbauc.runtime.warn import warn
from mbauc.solvers.matrix_free.elastic_net import Judge

Array = NDArray[np.float64]
#: Weight vectors that are tried for a problem, shape (k, d); NaN for those that need not be.
Solve = Callable[[Any, Judge | None], Array]

#: Binormal and true AUC that differ by more than this, and by more than noise explains, are worth a warning.
_DISAGREEMENT = 0.02
#: Rows of a class in a split that are looked at for it, if scores come from moments otherwise.
_CHECKED_ROWS = 10_000
#: Test rows of a split from which on threads share the work …
_MANY = 10_000
#: … and weights that put this many of them in the same order share one AUC: none of 45,000 pairs among these
#: is turned around, so the AUC of all rows differs by about 1e-5 at most.
_ALIKE = 300
#: Bytes of weights that go to the workers at a time.
_WEIGHTS = 1 << 28


class SplitScores(NamedTuple):
    """If asked for, binormal AUC, pairwise risk and AUC of each weight vector on the test rows of a split."""

    binormal: Array | None
    risk: Array | None
    auc: Array | None


class HeldOut(Protocol):
    """The test rows of all splits."""

    @property
    def smaller(self) -> int:
        """Rows of the smaller class, of all splits together."""

    def score(
        self, splits: SplitProblems[Any], solve: Solve, with_auc: bool, with_moments: bool = True
    ) -> list[SplitScores]:
        """Scores of the test rows of each split under the weights that its training rows lead to."""

    def mean_auc(self, weights: Sequence[Array]) -> float:
        """Mean over the splits of the AUC of one weight vector each; NaN where that is not known."""


class HeldOutBlock:
    """Test rows in memory, by their numbers for each split; AUC by definition."""

    def __init__(
        self, block: Block, tests: Sequence[NDArray[np.intp]], n_threads: int, measure: Measure | None = None
    ) -> None:
        self._X = block.X.tocsr() if is_sparse(block.X) else block.X
        self._block, self._tests, self._n_threads = block, tests, n_threads
        self._measure = measure or Measure()

    @property
    def smaller(self) -> int:
        """Rows of the smaller class."""
        plus = int(self._block.positive.sum())
        return min(plus, self._block.n_rows - plus)

    def score(
        self, splits: SplitProblems[Any], solve: Solve, with_auc: bool, with_moments: bool = True
    ) -> list[SplitScores]:
        """One split after the other, so that the weights of one are in memory at a time."""
        found = []
        for number, rows in enumerate(self._tests):
            W = solve(splits.training(number), partial(_Promising, self, rows) if with_auc else None)
            # all are known but for those that need not be tried
            known = np.isfinite(W.sum(axis=1))
            binormal = risk = auc = None
            if with_moments:
                binormal, risk = splits.statistics(number, W[known]) or self._statistics(rows, W[known])
                binormal, risk = _put_back(binormal, known), _put_back(risk, known)
            if with_auc:
                auc = _put_back(self.auc(rows, W[known]), known)
            found.append(SplitScores(binormal, risk, auc))
        return found

    def count_smaller(self, subset: NDArray[np.intp]) -> int:
        """Rows of the smaller class among some."""
        plus = int(self._block.positive[subset].sum())
        return min(plus, subset.size - plus)

    def _statistics(self, subset: NDArray[np.intp], W: Array) -> tuple[Array, Array]:
        plus, minus = (self._block.rows_of(positive, subset) for positive in (True, False))
        weights, groups = self._weights_and_groups(plus, minus)
        high, low = scores(self._X, W, plus), scores(self._X, W, minus)
        return binormal_and_risk(*self._measure.margins(high, low, weights, groups))

    def _weights_and_groups(self, plus: NDArray[np.intp], minus: NDArray[np.intp]) -> tuple[Weights, Groups]:
        """Those of the positive and of the negative rows, as a measure takes them."""
        weight, keys = self._block.weight, self._block.groups
        weights = None if weight is None else (weight[plus], weight[minus])
        return weights, None if keys is None else (keys[plus], keys[minus])

    def auc(self, subset: NDArray[np.intp], W: Array) -> Array:
        """AUC on the rows for each weight vector; weights that rank a sample of many rows alike share one."""
        if len(W) > 1 and subset.size > _MANY:
            some = subset[:: subset.size // _ALIKE]
            order = np.argsort(scores(self._X, W, some), axis=1, kind="stable")
            _, first, place = np.unique(order, axis=0, return_index=True, return_inverse=True)
            return self._auc(subset, W[first])[place.reshape(-1)]
        return self._auc(subset, W)

    def _auc(self, subset: NDArray[np.intp], W: Array) -> Array:
        positive = self._block.positive
        plus, minus = subset[positive[subset]], subset[~positive[subset]]
        weights, groups = self._weights_and_groups(plus, minus)
        n_threads = self._n_threads if subset.size > _MANY else 1
        high, low = scores(self._X, W, plus, n_threads), scores(self._X, W, minus, n_threads)
        measure = self._measure.of_rows(plus.size, minus.size, weights, groups)
        return np.array(run_threads(lambda k: measure(high[k], low[k]), range(len(W)), n_threads))

    def mean_auc(self, weights: Sequence[Array]) -> float:
        """Mean over the splits of the AUC on held-out rows, some of them where there are many."""
        positive, values = self._block.positive, []
        for rows, w in zip(self._tests, weights, strict=True):
            classes = rows[positive[rows]], rows[~positive[rows]]
            some = np.concatenate([part[:: -(-part.size // _CHECKED_ROWS)] for part in classes])
            values.append(self.auc(some, w[None, :])[0])
        return float(np.mean(values))


class _Promising:
    """Whether smaller penalties may still rank the test rows of a split best.

    Not once the AUC has fallen from the best so far by more than a standard error of that: under less and less
    of a penalty it goes on falling.
    """

    def __init__(self, held_out: HeldOutBlock, rows: NDArray[np.intp]) -> None:
        self._held_out, self._rows = held_out, rows
        self._smaller, self._best = held_out.count_smaller(rows), 0.0

    def __call__(self, w: Array) -> bool:
        auc = float(self._held_out.auc(self._rows, w[None, :])[0])
        self._best = max(self._best, auc)
        return auc >= self._best - float(np.sqrt(self._best * (1.0 - self._best) / self._smaller))


def _put_back(values: Array, known: NDArray[np.bool_]) -> Array:
    """Numbers of those that are known among NaN for the others."""
    result = np.full(known.size, np.nan)
    result[known] = values
    return result


class HeldOutParts:
    """Test rows in parts, scored in one job for each repeat once all splits have their weights.

    Parameters
    ----------
    smaller : int
        Rows of the smaller class.
    jobs : list of callables
        For each repeat, the scores of each of its folds under weights of its own.
    """

    def __init__(self, smaller: int, jobs: list[FoldJob]) -> None:
        self.smaller, self._jobs = smaller, jobs

    def score(
        self, splits: SplitProblems[Any], solve: Solve, with_auc: bool, with_moments: bool = True
    ) -> list[SplitScores]:
        """All splits of a repeat together."""
        grids = [solve(splits.training(number), None) for number in range(splits.n_splits)]
        known = [splits.statistics(number, W) for number, W in enumerate(grids)]
        if not with_auc and None not in known:
            return [SplitScores(*one, None) for one in known if one is not None]
        found: list[FoldScores] = []
        for job in self._jobs:
            found += job(grids[len(found) : len(found) + job.n_folds], with_auc)
        statistics = [
            one or binormal_and_risk(*fold.class_statistics()) for one, fold in zip(known, found, strict=True)
        ]
        return [
            SplitScores(*one, fold.auc if with_auc else None)
            for one, fold in zip(statistics, found, strict=True)
        ]

    def mean_auc(self, weights: Sequence[Array]) -> float:
        """Not known without another pass over the rows."""
        return float("nan")


class FoldJob(Protocol):
    """Scores of the folds of one repeat."""

    @property
    def n_folds(self) -> int:
        """How many there are."""

    def __call__(self, W: list[Array], with_auc: bool) -> list[FoldScores]:
        """Of each fold under its weights."""


class ScoreRows:
    """Scores of folds from the rows themselves."""

    def __init__(self, rows: PartedRows, classes: NDArray[Any], rule: FoldRule) -> None:
        self._rows, self._classes, self._rule = rows, classes, rule
        self.n_folds = rule.n_folds

    def __call__(self, W: list[Array], with_auc: bool) -> list[FoldScores]:
        """Of each fold under its weights; one job."""
        task = ScoreBlocks(self._rows.schema, folds=self._rule, W=W)
        return accumulate(self._rows.parts, task, self._classes)[0]


class ScorePackedRows:
    """Scores of folds from packed rows."""

    def __init__(self, packed: PackedRows, measure: Measure | None = None) -> None:
        self._packed, self.n_folds, self._measure = packed, len(packed.sums), measure

    def __call__(self, W: list[Array], with_auc: bool) -> list[FoldScores]:
        """Scores of each fold under its weights, in batches of weights that workers take at once."""
        columns = self._packed.order.columns
        W = [grid[:, columns] for grid in W]
        # scores of all rows come back where bins do not tell what is asked for
        kept = 0 if self._measure is None else int(self._packed.total.counts.sum())
        step = max(1, int(_WEIGHTS / (8 * max(columns.size * len(W), kept))))
        pieces = [self._score([w[k : k + step] for w in W], with_auc) for k in range(0, len(W[0]), step)]
        return [FoldScores.stack([piece[fold] for piece in pieces]) for fold in range(len(W))]

    def _score(self, W: list[Array], with_auc: bool) -> list[FoldScores]:
        task = ScorePacked(W, with_auc, self._measure)
        found: list[FoldScores] = self._packed.packed.reduce(task, merge_fold_scores)
        return [fold.judged() for fold in found]


def compare_binormal(actual: float, binormal: float, smaller: int) -> None:
    """Warn if moments and rows, given the smaller class, disagree about the AUC by more than chance."""
    if not np.isfinite(actual):
        return
    smaller = min(smaller, _CHECKED_ROWS)
    # one row more on either side: a few rows that happen to rank perfectly are not without noise
    likely = (actual * smaller + 1) / (smaller + 2)
    noise = 3 * np.sqrt(likely * (1 - likely) / smaller)
    if abs(actual - binormal) > _DISAGREEMENT + noise:
        warn(
            f"held-out AUC is {actual:.4f}, but the binormal estimate from moments is {binormal:.4f}: scores "
            "have heavy tails or several modes. "
            + Advice(
                "Use {scoring}, and check for outliers or transform the features.",
                command="Check for outliers, or transform the features.",
                scoring="roc_auc",
            ),
            BinormalWarning,
        )
