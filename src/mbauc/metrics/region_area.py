"""The area of a part of the ROC curve, of all rows or group by group: what a loss over a region is about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairWeights, Region
from mbauc.metrics.curves import RocCurve

Array = NDArray[np.float64]


class RegionSize(NamedTuple):
    """Areas that a part of the ROC curve can have: at most, and that of a coin."""

    largest: float
    chance: float

    @classmethod
    def of(cls, region: Region) -> RegionSize:
        """Above ``min_tpr``, from ``min_fpr`` to ``max_fpr``; a coin has what is below the diagonal."""
        low, high, floor = region.min_fpr, region.max_fpr, region.min_tpr
        chance = (max(0.0, high - floor) ** 2 - max(0.0, low - floor) ** 2) / 2
        return cls((high - low) * (1.0 - floor), chance)

    @property
    def slope(self) -> float:
        """By how much the standardised area grows with the area."""
        return 0.5 / (self.largest - self.chance)

    def standardize(self, area: float) -> float:
        """An area mapped so that ½ is what a coin reaches and 1 is all of it (McClish 1989)."""
        return 0.5 + self.slope * (area - self.chance)


def share_of_region(pairs: PairWeights, scores: Array, region: Region) -> float:
    """Share of a region's area that is below the ROC curve, averaged over groups; ties are joined by a line."""
    return _mean_area(pairs, scores, region) / RegionSize.of(region).largest


def standardized_area(pairs: PairWeights, scores: Array, region: Region) -> float:
    """The same with ½ for what a coin reaches: a standardised partial AUC."""
    return RegionSize.of(region).standardize(_mean_area(pairs, scores, region))


def area_of_curve(curve: RocCurve, region: Region) -> float:
    """Area of a region that is below the ROC curve of all rows, which need not go on beyond the region."""
    x, t = curve.false_alarm, curve.detection
    return float(_Steps(x[:-1], t[:-1], np.diff(x), np.diff(t)).areas(region).sum())


def _mean_area(pairs: PairWeights, scores: Array, region: Region) -> float:
    steps, group = _list_steps(pairs, scores)
    areas = np.bincount(group, weights=steps.areas(region), minlength=pairs.n_groups)
    return float(areas @ pairs.group_shares)


class _Steps(NamedTuple):
    """Straight parts of ROC curves: where each begins, and how far it goes."""

    x: Array
    t: Array
    width: Array
    height: Array

    def areas(self, region: Region) -> Array:
        """Area below each part, within a region."""
        result = np.zeros(self.x.size)
        low, high = np.maximum(self.x, region.min_fpr), np.minimum(self.x + self.width, region.max_fpr)
        inside = high > low
        x, t, low, high = self.x[inside], self.t[inside], low[inside], high[inside]
        slope = self.height[inside] / self.width[inside]
        # how far the line is above the floor where it enters and where it leaves
        begin, end = (t + slope * (place - x) - region.min_tpr for place in (low, high))
        rise = np.where(end > begin, end - begin, 1.0)
        mean = np.where(begin >= 0, (begin + end) / 2, np.where(end > 0, end**2 / rise / 2, 0.0))
        result[inside] = (high - low) * mean
        return result


def _list_steps(pairs: PairWeights, scores: Array) -> tuple[_Steps, NDArray[np.intp]]:
    """One step for all rows of a group that tie, and whose it is."""
    values = scores[np.concatenate([pairs.plus, pairs.minus])]
    order = np.lexsort((-values, pairs.row_groups))
    group, values, positive = pairs.row_groups[order], values[order], order < pairs.plus.size
    weight = np.concatenate([pairs.plus_weight, pairs.minus_weight])[order]
    begin = np.flatnonzero(np.append(True, (group[1:] != group[:-1]) | (values[1:] != values[:-1])))
    group = group[begin]
    opens = np.append(True, np.diff(group) > 0)
    sides = []
    for side in (~positive, positive):
        step = np.add.reduceat(np.where(side, weight, 0.0), begin)
        step /= np.bincount(group, weights=step)[group]
        before = np.cumsum(step) - step
        sides.append((before - before[opens][np.cumsum(opens) - 1], step))
    (x, width), (t, height) = sides
    return _Steps(x, t, width, height), group
