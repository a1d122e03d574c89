"""Area under the ROC curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.placements import checked_scores, share_below, spread

Array = NDArray[np.float64]


def roc_auc(y: ArrayLike, s: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Share of the pairs in which the positive row has the higher score; ties count one half (Eq. 5).

    ``O(n log n)``: both classes are sorted on their own and then merged.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two-valued labels; the larger is positive.
    s : array-like of shape (n,)
        Scores.
    sample_weight : array-like of shape (n,), optional
        A pair has the product of the weights of its rows.

    Examples
    --------
    >>> roc_auc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    positive, values, weight = checked_scores(y, s, sample_weight)
    if weight is None:
        return spread(positive, values).auc
    return weighted_auc_of_classes(values[positive], values[~positive], weight[positive], weight[~positive])


def auc_of_classes(plus: Array, minus: Array) -> float:
    """AUC of two sorted arrays of scores."""
    few, many, sign = (plus, minus, 1) if plus.size <= minus.size else (minus, plus, -1)
    below = int(np.searchsorted(many, few, side="left").sum(dtype=np.int64))
    up_to = int(np.searchsorted(many, few, side="right").sum(dtype=np.int64))
    share = (below + up_to) / 2 / (plus.size * minus.size)
    return share if sign == 1 else 1.0 - share


def weighted_auc_of_classes(plus: Array, minus: Array, plus_weight: Array, minus_weight: Array) -> float:
    """AUC of two arrays of scores with weights; as the mean of shares it stays within 0 and 1."""
    return float(np.average(share_below(plus, minus, minus_weight), weights=plus_weight))
