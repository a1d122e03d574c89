"""The share of the pairs that count which scores rank right: AUC, within groups, or of a part of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairWeights, Region
from mbauc.metrics.roc_auc import auc_of_classes, weighted_auc_of_classes
from mbauc.rows.block import Block

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class Measure:
    """What held-out scores are judged by.

    Of a region of the ROC curve it is the share of its area below the curve, mapped so that ½ is what a coin
    reaches and 1 is all of it, as :func:`mbauc.metrics.partial_roc_auc` has it.
    """

    region: Region = Region()
    equal_groups: bool = False

    def of_rows(self, block: Block, plus: Index, minus: Index, high: Array, low: Array) -> float:
        """Of the scores of some positive and negative rows of a block; NaN where no group has both."""
        weight = block.weight
        if block.groups is None and self.region.is_whole:
            if weight is None:
                return auc_of_classes(np.sort(high), np.sort(low))
            return weighted_auc_of_classes(high, low, weight[plus], weight[minus])
        rows = np.concatenate([plus, minus])
        scores = np.concatenate([high, low])
        pairs = PairWeights.build(
            np.arange(rows.size) < plus.size,
            None if weight is None else weight[rows],
            None if block.groups is None else block.groups[rows],
            equal_groups=self.equal_groups,
        )
        return self._standardise(share_ranked_right(self.region.select(pairs, scores), scores))

    def _standardise(self, share: float) -> float:
        """The share of the region's area as a number that is ½ for a coin."""
        low, high, floor = self.region.min_fpr, self.region.max_fpr, self.region.min_tpr
        largest = (high - low) * (1.0 - floor)
        chance = (max(high - floor, 0.0) ** 2 - max(low - floor, 0.0) ** 2) / 2 / largest
        return 0.5 + 0.5 * (share - chance) / (1.0 - chance)


def share_ranked_right(pairs: PairWeights, scores: Array) -> float:
    """Weight of the pairs whose positive has the higher score, a half for ties; ``O(n log n)`` for all groups."""
    ranks = np.unique(scores, return_inverse=True)[1]
    n_ranks = int(ranks.max()) + 1
    starts = pairs.plus_starts, pairs.minus_starts
    groups = [np.repeat(np.arange(pairs.n_groups), np.diff(one)) for one in starts]
    high = groups[0] * n_ranks + ranks[pairs.plus]
    low = groups[1] * n_ranks + ranks[pairs.minus]
    order = np.argsort(low, kind="stable")
    low, below = low[order], np.concatenate([[0.0], np.cumsum(pairs.minus_weight[order])])
    lost, tied = np.searchsorted(low, high, side="left"), np.searchsorted(low, high, side="right")
    won = (below[lost] + below[tied]) / 2 - below[pairs.minus_starts[groups[0]]]
    total = np.diff(below[pairs.minus_starts])[groups[0]]
    return float(pairs.plus_weight @ won) / float(pairs.plus_weight @ total)
