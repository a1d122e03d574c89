"""Scores of held-out rows in parts: their AUC, and their moments."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.estimators.cross_validation.measure import Measure
from mbauc.metrics import StreamingAUC
from mbauc.metrics.rank_sums import merge_spreads
from mbauc.pairs.compact.rows import CompactRows
from mbauc.pairs.operator.row_tasks import PackedChunk
from mbauc.rows.block import Block
from mbauc.rows.parts.accumulate import AccumulateTask
from mbauc.rows.scores import scores

Array = NDArray[np.float64]

#: Bytes of the bins in which the scores of one weight vector are counted.
_BINS = 1 << 17


class KeptScores(NamedTuple):
    """Scores of some rows under k weight vectors, shape (k, n), and what the rows are."""

    values: Array
    positive: NDArray[np.bool_]
    weight: Array | None
    groups: NDArray[np.uint64] | None

    @classmethod
    def of_class(cls, pieces: list[KeptScores], side: bool) -> KeptScores:
        """Those of all positives, or of all negatives."""
        own = [piece.positive == side for piece in pieces]
        several = list(zip(pieces, own, strict=True))
        values = np.concatenate([piece.values[:, mask] for piece, mask in several], axis=1)
        weight = groups = None
        if any(piece.weight is not None for piece in pieces):
            ones = (np.ones(mask.size) if piece.weight is None else piece.weight for piece, mask in several)
            weight = np.concatenate([w[mask] for w, mask in zip(ones, own, strict=True)])
        if pieces[0].groups is not None:
            groups = np.concatenate([piece.groups[mask] for piece, mask in several if piece.groups is not None])
        return cls(values, np.full(values.shape[1], side), weight, groups)


@dataclass
class FoldScores:
    """Scores of the rows of one fold under several weight vectors; several parts add up."""

    #: weight and mean of the scores of each class, positives first, and sum of their squares about the mean,
    #: shape (2, 3, k)
    sums: Array
    #: scores in bins: exact AUC up to several thousand distinct scores, in a narrow bracket beyond
    counts: list[StreamingAUC] = field(default_factory=list)
    #: what the scores themselves are kept for, where bins do not tell it
    measure: Measure | None = None
    kept: list[KeptScores] = field(default_factory=list)
    #: of each weight vector, once all rows are there
    judgement: Array | None = None
    #: mean and variance of the margins of the pairs within groups, shape (2, k)
    margins: Array | None = None

    @classmethod
    def empty(cls, k: int, with_auc: bool, measure: Measure | None = None) -> FoldScores:
        """Of no rows."""
        bins = k if with_auc and measure is None else 0
        return cls(np.zeros((2, 3, k)), [StreamingAUC(_BINS, classes=(0, 1)) for _ in range(bins)], measure)

    @classmethod
    def stack(cls, pieces: list[FoldScores]) -> FoldScores:
        """Of the same rows under all weights."""
        sums = np.concatenate([piece.sums for piece in pieces], axis=2)
        found = cls(sums, [counted for piece in pieces for counted in piece.counts], pieces[0].measure)
        judged = [piece.judgement for piece in pieces if piece.judgement is not None]
        found.judgement = np.concatenate(judged) if judged else None
        margins = [piece.margins for piece in pieces if piece.margins is not None]
        found.margins = np.concatenate(margins, axis=1) if margins else None
        return found

    def add(
        self,
        values: Array,
        positive: NDArray[np.bool_],
        weight: Array | None,
        groups: NDArray[np.uint64] | None = None,
    ) -> None:
        """Count rows with their scores, shape (k, n)."""
        if self.measure is not None:
            self.kept.append(KeptScores(values, positive, weight, groups))
        own = np.ones(positive.size) if weight is None else weight
        for side, mask in enumerate((positive, ~positive)):
            total = float(own[mask].sum())
            if total > 0:
                w, s = own[mask], values[:, mask]
                mean = s @ w / total
                spread = (s - mean[:, None]) ** 2 @ w
                self.sums[side] = merge_spreads(
                    self.sums[side], np.stack([np.full(mean.size, total), mean, spread])
                )
        for counted, row in zip(self.counts, values, strict=False):
            counted.update(positive.astype(np.int8), row, sample_weight=weight)

    def merge(self, other: FoldScores) -> FoldScores:
        """Of the rows of both."""
        counts = [mine.merge(theirs) for mine, theirs in zip(self.counts, other.counts, strict=True)]
        sums = [merge_spreads(*both) for both in zip(self.sums, other.sums, strict=True)]
        return FoldScores(np.stack(sums), counts, self.measure, self.kept + other.kept)

    def judged(self) -> FoldScores:
        """The same with the scores that were kept given up for what they say."""
        if self.measure is None:
            return self
        plus, minus = (KeptScores.of_class(self.kept, side) for side in (True, False))
        weights = None if plus.weight is None or minus.weight is None else (plus.weight, minus.weight)
        groups = None if plus.groups is None or minus.groups is None else (plus.groups, minus.groups)
        measure = self.measure.of_rows(plus.values.shape[1], minus.values.shape[1], weights, groups)
        judgement = [measure(high, low) for high, low in zip(plus.values, minus.values, strict=True)]
        margins = None
        if groups is not None:
            margins = np.stack(self.measure.margins(plus.values, minus.values, weights, groups))
        return FoldScores(self.sums, [], self.measure, judgement=np.array(judgement), margins=margins)

    @property
    def auc(self) -> Array:
        """AUC of each weight vector."""
        if self.judgement is not None:
            return self.judgement
        return np.array([counted.auc for counted in self.counts])

    def class_statistics(self) -> tuple[Array, Array]:
        """Mean and variance of the margins: difference of the class means, and sum of their variances."""
        if self.margins is not None:
            return self.margins[0], self.margins[1]
        weight, mean, spread = self.sums.transpose(1, 0, 2)
        return mean[0] - mean[1], (spread / weight).sum(axis=0)


@dataclass(frozen=True)
class ScoreBlocks(AccumulateTask):
    """Task: scores of the rows of each fold under the weights ``W[fold]``, from the rows themselves."""

    W: list[Array] = field(default_factory=list)

    def start(self, fold: int) -> _Scorer:
        """No rows yet."""
        return _Scorer(self.W[fold], FoldScores.empty(len(self.W[fold]), True))

    def finish(self, accumulator: _Scorer) -> FoldScores:
        """The scores without the weights."""
        return accumulator.found


@dataclass(frozen=True)
class _Scorer:
    """Scores rows under some weights."""

    W: Array
    found: FoldScores

    def add(self, block: Block, subset: NDArray[np.intp]) -> None:
        weight = None if block.weight is None else block.weight[subset]
        self.found.add(scores(block.X, self.W, subset), block.positive[subset], weight)


@dataclass(frozen=True)
class ScorePacked:
    """Task: the same from compact rows; W over the columns in use."""

    W: list[Array]
    with_auc: bool
    measure: Measure | None = None

    def __call__(self, number: int, packed: Iterable[PackedChunk]) -> list[FoldScores]:
        """Of each fold."""
        found = [FoldScores.empty(len(W), self.with_auc, self.measure) for W in self.W]
        for fold, rows, _ in packed:
            positive = np.full(rows.n_rows, rows.stratum == 0)
            values = (_matrix(rows, self.W[fold].shape[1]) @ self.W[fold].T).T
            found[fold].add(values, positive, rows.weight, rows.groups)
        return found


def _matrix(chunk: CompactRows, n_columns: int) -> Any:
    values = np.ones(chunk.columns.size) if chunk.values is None else chunk.values.astype(np.float64)
    indices = chunk.columns.astype(np.int32)
    return sp.csr_array((values, indices, chunk.starts.astype(np.int64)), shape=(chunk.n_rows, n_columns))


def merge_fold_scores(first: list[FoldScores], second: list[FoldScores]) -> list[FoldScores]:
    """Of the rows of both."""
    return [mine.merge(theirs) for mine, theirs in zip(first, second, strict=True)]
