"""Area under the part of the ROC curve that matters: few false alarms, many detections."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mbauc.checks import check_flag, check_share
from mbauc.losses import Region
from mbauc.metrics.curves import roc_curve
from mbauc.metrics.intervals.delong import AucInterval, Scale, check_scale, covariance_of_means, interval_ends
from mbauc.metrics.intervals.sample_design import Weights, validate_design, warn_of_few_rows
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.region_area import RegionSize, area_of_curve
from mbauc.metrics.roc_auc import placements


def partial_roc_auc(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    standardized: bool = True,
) -> float:
    """Partial AUC: area under the ROC curve up to ``max_fpr`` and above ``min_tpr`` (one-way or two-way).

    ``max_fpr`` alone gives the one-way partial AUC in the false-positive rate, ``min_tpr`` alone that in the
    true-positive rate, both the two-way partial AUC. Ties are interpolated linearly. ``O(n log n)``.

    Parameters
    ----------
    y_true, y_score, sample_weight
        As for :func:`roc_auc`.
    max_fpr : float, default=1.0
        Upper limit of the false-positive rate, in (0, 1].
    min_tpr : float, default=0.0
        Lower limit of the true-positive rate, in [0, 1).
    standardized : bool, default=True
        Whether to standardise the area so that random scores have ½ and perfect scores 1 (McClish 1989,
        extended to two-way). False returns the raw area.

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
    region = _validate_region(max_fpr, min_tpr, standardized)
    area = partial_area(RankedScores.validate(y_true, y_score, sample_weight), region)
    return RegionSize.of(region).standardize(area) if standardized else area


def partial_roc_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    standardized: bool = True,
    weights: Weights | None = None,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
    scale: Scale = "logit",
) -> AucInterval:
    """Partial AUC with a confidence interval of DeLong's type.

    The variance is computed from the placements, clipped to the region: of a positive row the share of
    negatives below it, from ``1 - max_fpr`` on; of a negative row the share of positives above it, from
    ``min_tpr`` up to the detection rate at ``max_fpr``. Clipping accounts for the threshold at ``max_fpr``,
    which comes from the same rows. Without a region it is :func:`roc_auc_interval`. ``O(n log n)``, no
    resampling.

    Parameters
    ----------
    y_true, y_score, sample_weight, max_fpr, min_tpr, standardized
        As for :func:`partial_roc_auc`, whose value is the ``auc`` of the result.
    weights, clusters, confidence
        As for :func:`roc_auc_interval`.
    scale : {"logit", "linear"}, default="logit"
        Scale on which the interval of the area, as a share of the region, is symmetric.

    Returns
    -------
    AucInterval

    Warns
    -----
    FewRowsWarning
        If the region contains few rows of a class: ``max_fpr`` of the negatives, ``1 - min_tpr`` of the
        positives.

    References
    ----------
    Dodd and Pepe 2003, Partial AUC estimation and regression; DeLong, DeLong, Clarke-Pearson 1988.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [9000, 1000])
    >>> print(partial_roc_auc_interval(y, rng.standard_normal(10_000) + y, max_fpr=0.1))
    0.6021 (95% interval 0.5895 to 0.6156)
    """
    region = _validate_region(max_fpr, min_tpr, standardized)
    check_share("confidence", confidence)
    check_scale(scale)
    ranked = RankedScores.validate(y_true, y_score, sample_weight)
    design = validate_design(ranked, weights, clusters)
    curve = roc_curve(ranked, max_fpr=max_fpr)
    area, size = area_of_curve(curve, region), RegionSize.of(region)
    from_fpr = min(max_fpr, float(np.interp(min_tpr, curve.detection, curve.false_alarm)))
    to_tpr = max(min_tpr, float(np.interp(max_fpr, curve.false_alarm, curve.detection)))
    shares = placements(ranked)
    clipped = np.where(
        ranked.positive, np.clip(shares, 1.0 - max_fpr, 1.0 - from_fpr), np.clip(shares, min_tpr, to_tpr)
    )
    stderr = float(np.sqrt(covariance_of_means(ranked, design, clipped[:, None])[0, 0]))
    share = area / size.largest
    if stderr == 0.0:  # all of the region or nothing of it, but for rounding
        share = round(share, 12)
    rows = design.effective_sizes[0] * (1.0 - min_tpr), design.effective_sizes[1] * max_fpr
    if size.largest == 1.0:
        warn_of_few_rows(rows, share, design.kinds)
    else:
        inside = (f"{design.kinds[0]} in the region", f"{design.kinds[1]} in the region")
        warn_of_few_rows(rows, share, inside, what="share of the region")
    low, high = interval_ends(share, stderr / size.largest, min(rows), confidence, scale)
    found = AucInterval(area, low * size.largest, high * size.largest, stderr, confidence)
    if not standardized:
        return found
    auc, low, high = (size.standardize(one) for one in (found.auc, found.low, found.high))
    return AucInterval(auc, low, high, size.slope * stderr, confidence)


def standardized_partial_auc(ranked: RankedScores, max_fpr: float) -> float:
    """One-way partial AUC up to a false-alarm rate: ½ is what a coin reaches, 1 the whole region."""
    return RegionSize.of(Region(max_fpr)).standardize(partial_area(ranked, Region(max_fpr)))


def partial_area(ranked: RankedScores, region: Region) -> float:
    """Area of a region of the ROC curve that is below it."""
    return area_of_curve(roc_curve(ranked, max_fpr=region.max_fpr), region)


def _validate_region(max_fpr: Any, min_tpr: Any, standardized: Any) -> Region:
    check_flag("standardized", standardized)
    return Region(max_fpr, min_tpr)
