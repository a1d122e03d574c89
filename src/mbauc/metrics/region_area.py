"""The area of a part of the ROC curve, group by group: what a loss over a region is about."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairWeights, Region
from mbauc.metrics.grouped import group_shares

Array = NDArray[np.float64]


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
