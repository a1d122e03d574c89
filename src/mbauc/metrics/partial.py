"""Area under the part of the ROC curve that matters: few false alarms, many detections."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.placements import Scores, checked_scores
from mbauc.settings import check_flag, check_number

Array = NDArray[np.float64]


def partial_roc_auc(
    y: ArrayLike,
    s: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    standardized: bool = True,
) -> float:
    """Area between the ROC curve and ``min_tpr``, up to ``max_fpr``: one-way or two-way partial AUC.

    ``max_fpr`` alone gives the one-way partial AUC in the false-alarm rate, ``min_tpr`` alone that in the
    detection rate, both the two-way one. ``O(n log n)``; ties are joined by a straight line.

    Parameters
    ----------
    y, s, sample_weight
        As for :func:`roc_auc`.
    max_fpr : float
        In (0, 1]: largest false-alarm rate that counts.
    min_tpr : float
        In [0, 1): smallest detection rate that counts.
    standardized : bool
        Whether to map the area so that ½ is what a coin reaches in the same region and 1 is the whole region
        (McClish 1989, and the same for two-way). False returns the area itself.

    Returns
    -------
    float

    References
    ----------
    McClish 1989, Analyzing a portion of the ROC curve; Yang et al. 2019, Two-way partial AUC and its
    properties.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = rng.standard_normal(1000) + y
    >>> round(partial_roc_auc(y, s, max_fpr=0.1), 4)
    0.5665
    >>> round(partial_roc_auc(y, s, max_fpr=0.5, min_tpr=0.5), 4)
    0.5957
    """
    check_number("max_fpr", max_fpr, low=0.0, high=1.0, open_low=True)
    check_number("min_tpr", min_tpr, low=0.0, high=1.0, open_high=True)
    check_flag("standardized", standardized)
    false_alarms, detections = roc_points(checked_scores(y, s, sample_weight))
    area = _area(false_alarms, detections, max_fpr, min_tpr)
    if not standardized:
        return area
    largest = max_fpr * (1.0 - min_tpr)
    chance = max(0.0, max_fpr - min_tpr) ** 2 / 2
    return 0.5 * (1.0 + (area - chance) / (largest - chance))


def roc_points(scores: Scores) -> tuple[Array, Array]:
    """False-alarm and detection rates from (0, 0) to (1, 1), one point for each distinct score."""
    positive, values, weight = scores
    order = np.argsort(-values, kind="stable")
    falling = values[order]
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    rates = []
    for mask in (~positive, positive):
        counted = mask[order].astype(np.float64) if weight is None else np.where(mask, weight, 0.0)[order]
        total = np.cumsum(counted)
        rates.append(np.concatenate([[0.0], total[ends] / total[-1]]))
    return rates[0], rates[1]


def _area(x: Array, t: Array, max_fpr: float, min_tpr: float) -> float:
    """Area under a rising polygon, above ``min_tpr`` and left of ``max_fpr``."""
    end = int(np.searchsorted(x, max_fpr, side="right"))
    if end < x.size:
        share = (max_fpr - x[end - 1]) / (x[end] - x[end - 1])
        x = np.append(x[:end], max_fpr)
        t = np.append(t[:end], t[end - 1] + share * (t[end] - t[end - 1]))
    width, low, high = np.diff(x), t[:-1] - min_tpr, t[1:] - min_tpr
    whole = low >= 0
    area = float((width * (low + high) / 2)[whole].sum())
    crossing = ~whole & (high > 0)
    width, low, high = width[crossing], low[crossing], high[crossing]
    # the line enters the region on its way: a triangle
    return area + float((width * high**2 / (high - low) / 2).sum())
