"""What held-out scores are judged by: AUC, within groups if rows have groups, or of a part of the ROC curve."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairWeights, Region
from mbauc.metrics.grouped import GroupedAuc, group_shares
from mbauc.metrics.roc_auc import auc_of_classes, weighted_auc_of_classes

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Measure:
    """The share of the pairs that count which scores rank right.

    Of a region of the ROC curve it is the share of its area below the curve, mapped so that ½ is what a coin
    reaches and 1 is all of it, as :func:`mbauc.metrics.partial_roc_auc` has it.
    """

    region: Region = field(default_factory=Region)
    equal_groups: bool = False

    def of_classes(
        self,
        high: Array,
        low: Array,
        weights: tuple[Array, Array] | None = None,
        groups: tuple[NDArray[np.uint64], NDArray[np.uint64]] | None = None,
    ) -> float:
        """Of the scores of the positives and of the negatives, with their weights and groups."""
        if groups is None and self.region.is_whole:
            if weights is None:
                return auc_of_classes(np.sort(high), np.sort(low))
            return weighted_auc_of_classes(high, low, *weights)
        scores = np.concatenate([high, low])
        pairs = PairWeights.build(
            np.arange(scores.size) < high.size,
            None if weights is None else np.concatenate(weights),
            None if groups is None else np.concatenate(groups),
            equal_groups=self.equal_groups,
        )
        if self.region.is_whole:
            return GroupedAuc.of(pairs, scores).auc
        return self._standardise(share_of_region(pairs, scores, self.region))

    def _standardise(self, share: float) -> float:
        """The share of the region's area as a number that is ½ for a coin."""
        low, high, floor = self.region.min_fpr, self.region.max_fpr, self.region.min_tpr
        largest = (high - low) * (1.0 - floor)
        chance = (max(high - floor, 0.0) ** 2 - max(low - floor, 0.0) ** 2) / 2 / largest
        return 0.5 + 0.5 * (share - chance) / (1.0 - chance)


def share_of_region(pairs: PairWeights, scores: Array, region: Region) -> float:
    """Share of a region's area that is below the ROC curve, averaged over groups; ties are joined by a line."""
    steps = _list_steps(pairs, scores)
    low, high = np.maximum(steps.x, region.min_fpr), np.minimum(steps.x + steps.width, region.max_fpr)
    inside = high > low
    own = steps.group[inside]
    x, t, low, high = steps.x[inside], steps.t[inside], low[inside], high[inside]
    slope = steps.height[inside] / steps.width[inside]
    # how far the line is above the floor where it enters and where it leaves
    begin, end = (t + slope * (place - x) - region.min_tpr for place in (low, high))
    rise = np.where(end > begin, end - begin, 1.0)
    mean = np.where(begin >= 0, (begin + end) / 2, np.where(end > 0, end**2 / rise / 2, 0.0))
    areas = np.bincount(own, weights=(high - low) * mean, minlength=pairs.n_groups)
    largest = (region.max_fpr - region.min_fpr) * (1.0 - region.min_tpr)
    return float(areas @ group_shares(pairs)) / largest


class _Steps(NamedTuple):
    """Steps of the ROC curves of all groups: where each begins, how far it goes, and whose it is."""

    x: Array
    t: Array
    width: Array
    height: Array
    group: NDArray[np.intp]


def _list_steps(pairs: PairWeights, scores: Array) -> _Steps:
    """One step for all rows of a group that tie."""
    rows = np.concatenate([pairs.plus, pairs.minus])
    starts = pairs.plus_starts, pairs.minus_starts
    group = np.concatenate([np.repeat(np.arange(pairs.n_groups), np.diff(one)) for one in starts])
    order = np.lexsort((-scores[rows], group))
    group, value, positive = group[order], scores[rows][order], order < pairs.plus.size
    weight = np.concatenate([pairs.plus_weight, pairs.minus_weight])[order]
    first = np.append(True, (np.diff(group) > 0) | (np.diff(value) != 0))
    begin = np.flatnonzero(first)
    group = group[begin]
    opens = np.append(True, np.diff(group) > 0)
    sides = []
    for side in (~positive, positive):
        step = np.add.reduceat(np.where(side, weight, 0.0), begin)
        step /= np.bincount(group, weights=step)[group]
        before = np.cumsum(step) - step
        sides.append((before - before[opens][np.cumsum(opens) - 1], step))
    (x, width), (t, height) = sides
    return _Steps(x, t, width, height, group)
