"""The variance of means of placements, and the interval that follows from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from mbauc.checks import check_choice
from mbauc.metrics.design import Design
from mbauc.metrics.placements import Scores

Array = NDArray[np.float64]


def covariance_of_means(scores: Scores, design: Design, placements: Array) -> Array:
    """Covariance of k areas from the placements of the rows, shape (n, k): DeLong's, Obuchowski's for clusters.

    The classes vary on their own, each with the correction of a sample of its size. In clusters that have rows
    of both they vary together.
    """
    k = placements.shape[1]
    groups = design.groups
    total, sums = np.zeros((k, k)), []
    for mask, size in zip((scores.positive, ~scores.positive), design.sizes, strict=True):
        weight = np.ones(np.count_nonzero(mask)) if scores.weight is None else scores.weight[mask]
        apart = _centred(placements[mask], weight)
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
        used = np.unique(groups if scores.weight is None else groups[scores.weight > 0]).size
        both = sums[0].T @ sums[1]
        total += (both + both.T) * (used / (used - 1))
        # where the classes of each cluster cancel, rounding must not lead below 0
        np.fill_diagonal(total, np.maximum(0.0, np.diag(total)))
    return total


def _centred(values: Array, weight: Array) -> Array:
    """Values less their weighted mean, and exactly 0 where all are equal."""
    apart = values - values[np.argmax(weight)]
    return np.asarray(apart - np.average(apart, axis=0, weights=weight))


def check_scale(scale: Any) -> None:
    """Where an interval may be symmetric, or an error that says so."""
    check_choice("scale", scale, ("logit", "linear"))


def interval_ends(auc: float, stderr: float, size: float, confidence: float, scale: str) -> tuple[float, float]:
    """Ends of the interval of an AUC with that standard error, the smaller class counting for so many rows."""
    if stderr == 0.0 and auc in (0.0, 1.0):
        # no spread to measure: the interval of as many successes in a row as the smaller class has rows
        reach = ((1 - confidence) / 2) ** (1 / size)
        return (reach, 1.0) if auc == 1.0 else (0.0, 1.0 - reach)
    wide = float(ndtri(0.5 + confidence / 2)) * stderr
    if scale == "linear":
        return max(0.0, auc - wide), min(1.0, auc + wide)
    centre, half = float(logit(auc)), wide / (auc * (1 - auc))
    return float(expit(centre - half)), float(expit(centre + half))
