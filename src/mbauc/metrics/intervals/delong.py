"""DeLong's variance of an AUC, and the interval that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit, ndtri, stdtrit

from mbauc.checks import check_choice, check_share
from mbauc.metrics.intervals.sample_design import (
    Design,
    Weights,
    validate_design,
    warn_of_few_rows,
)
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import mean_of_positives, placement_spread, placements

Array = NDArray[np.float64]

Scale = Literal["logit", "linear"]


@dataclass(frozen=True)
class AucInterval:
    """AUC with its standard error and confidence interval.

    Attributes
    ----------
    auc, low, high : float
        Estimate and ends of the interval.
    stderr : float
        Standard error of the estimate.
    confidence : float
        Nominal coverage.
    """

    auc: float
    low: float
    high: float
    stderr: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.auc:.4f} ({100 * self.confidence:g}% interval {self.low:.4f} to {self.high:.4f})"


def roc_auc_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weights | None = None,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
    scale: Scale = "logit",
) -> AucInterval:
    """AUC with DeLong's confidence interval.

    The variance is computed from the placements: for a positive row the share of negatives below it, for a
    negative row the share of positives above it. ``O(n log n)``.

    In two cases the estimated variance is zero. For perfect separation (AUC 1) the interval is [(α/2)^(1/m),
    1], with α = 1 - confidence and m the size of the smaller class: the smallest AUC at which m independent
    pairs would all be ranked correctly with probability α/2 (mirrored for AUC 0). It is conservative, and a
    single overlapping pair makes it narrower. If all scores are equal the interval is [½, ½].

    Parameters
    ----------
    y_true, y_score, sample_weight
        As for :func:`roc_auc`.
    weights : {"frequency", "sampling"}
        Meaning of ``sample_weight``; required if it is given. "frequency": a row stands for that many equal
        rows, and the interval narrows with the sum of the weights. "sampling": inverse sampling probability;
        the interval widens with the spread of the weights and does not depend on their unit.
    clusters : array-like of shape (n,), optional
        Clusters of dependent rows, such as users, patients or days. Rows of a cluster may be dependent in any
        way; the variance is that of sums over clusters, and DeLong's if each row is its own cluster.
    confidence : float, default=0.95
        Coverage, between 0 and 1.
    scale : {"logit", "linear"}, default="logit"
        Scale on which the interval is symmetric. On the logit scale it stays within [0, 1].

    Returns
    -------
    AucInterval

    Warns
    -----
    FewRowsWarning
        If the interval tends to be too narrow: a class has fewer than 100 rows or clusters (effective number,
        with sampling weights or clusters of different sizes), or fewer than 2 / (1 - AUC), which is 200 for an
        AUC of 0.99 and 2,000 for 0.999.

    See Also
    --------
    roc_auc_bootstrap : interval by resampling.
    grouped_roc_auc_interval : AUC within groups.
    compare_roc_auc : paired test of several scorers.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson 1988; Obuchowski 1997 for clusters.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> print(roc_auc_interval(y, rng.standard_normal(1000) + y))
    0.7122 (95% interval 0.6579 to 0.7609)
    """
    check_share("confidence", confidence)
    check_scale(scale)
    ranked = RankedScores.validate(y_true, y_score, sample_weight)
    design = validate_design(ranked, weights, clusters)
    found = auc_interval(ranked, design, confidence, scale)
    warn_of_few_rows(design.effective_sizes, found.auc, design.kinds)
    return found


def auc_interval(
    ranked: RankedScores, design: Design, confidence: float = 0.95, scale: Scale = "logit"
) -> AucInterval:
    """AUC with DeLong's interval, without a word where rows are few."""
    if ranked.weight is None and design.groups is None:
        auc, plus, minus = placement_spread(ranked)
        variance = plus / design.sizes[0] + minus / design.sizes[1]
    else:
        shares = placements(ranked)
        auc = mean_of_positives(ranked, shares[ranked.positive])
        variance = float(covariance_of_means(ranked, design, shares[:, None])[0, 0])
    stderr = float(np.sqrt(variance))
    low, high = interval_ends(auc, stderr, min(design.effective_sizes), confidence, scale)
    return AucInterval(auc, low, high, stderr, confidence)


def covariance_of_means(ranked: RankedScores, design: Design, placements: Array) -> Array:
    """Covariance of k areas from the placements of the rows, shape (n, k): DeLong's, Obuchowski's for clusters.

    The classes vary on their own, each with the correction of a sample of its size. In clusters that have rows
    of both they vary together.
    """
    k = placements.shape[1]
    groups = design.groups
    total, sums = np.zeros((k, k)), []
    for mask, size in zip((ranked.positive, ~ranked.positive), design.sizes, strict=True):
        weight = np.ones(np.count_nonzero(mask)) if ranked.weight is None else ranked.weight[mask]
        apart = _centre(placements[mask], weight)
        part = apart * (weight / weight.sum())[:, None]
        if groups is not None:
            part = np.column_stack(
                [np.bincount(groups[mask], column, int(groups.max()) + 1) for column in part.T]
            )
            sums.append(part)
        # a row that stands for many equal ones is as many observations, not a large one
        alone = apart / weight.sum() if groups is None and design.weights == "frequency" else part
        total += part.T @ alone * (size / (size - 1))
    if groups is not None:
        used = np.unique(groups if ranked.weight is None else groups[ranked.weight > 0]).size
        both = sums[0].T @ sums[1]
        total += (both + both.T) * (used / (used - 1))
        # where the classes of each cluster cancel, rounding must not lead below 0
        np.fill_diagonal(total, np.maximum(0.0, np.diag(total)))
    return total


def _centre(values: Array, weight: Array) -> Array:
    """Values less their weighted mean, and exactly 0 where all are equal."""
    apart = values - values[np.argmax(weight)]
    return np.asarray(apart - np.average(apart, axis=0, weights=weight))


def check_scale(scale: Any) -> None:
    """Where an interval may be symmetric, or an error that says so."""
    check_choice("scale", scale, ("logit", "linear"))


def interval_ends(
    auc: float, stderr: float, size: float, confidence: float, scale: str, *, freedom: float = np.inf
) -> tuple[float, float]:
    """Interval of an AUC with that standard error, given the effective size of the smaller class.

    The quantile is the normal one, or Student's where the degrees of freedom are said.
    """
    if stderr == 0.0 and auc in (0.0, 1.0):
        # no spread to measure: the interval of as many successes in a row as the smaller class has rows
        reach = ((1 - confidence) / 2) ** (1 / size)
        return (reach, 1.0) if auc == 1.0 else (0.0, 1.0 - reach)
    wide = quantile(confidence, freedom) * stderr
    if scale == "linear":
        return max(0.0, auc - wide), min(1.0, auc + wide)
    centre, half = float(logit(auc)), wide / (auc * (1 - auc))
    return float(expit(centre - half)), float(expit(centre + half))


def quantile(confidence: float, freedom: float = np.inf) -> float:
    """How many standard errors an interval reaches to either side: normal, or Student's."""
    share = 0.5 + confidence / 2
    return float(ndtri(share) if np.isinf(freedom) else stdtrit(freedom, share))
