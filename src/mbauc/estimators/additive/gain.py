"""How much better scores rank than others on the same rows, and what they leave to explain."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.comparisons import compare_roc_auc
from mbauc.metrics.intervals import Weights
from mbauc.metrics.roc_auc import roc_auc

Array = NDArray[np.float64]

#: Confidence of an interval of one standard error on each side.
_ONE_ERROR = 0.6826894921370859


def residuals(scores: Array, positive: NDArray[np.bool_], weight: Array | None) -> Array:
    """What is left of the gradient of the pairwise squared loss: minus its derivative by each score.

    For weights w = (C + …)⁻¹μ, C the mean of the covariances of the classes, a further feature z has the
    gradient Σ rᵢ zᵢ = μ_z - mean of the covariances of z and the score.
    """
    result = np.empty_like(scores)
    for side, sign in ((positive, 1.0), (~positive, -1.0)):
        share = np.ones(int(side.sum())) if weight is None else weight[side]
        share = share / share.sum()
        own = scores[side]
        result[side] = share * (sign - (own - share @ own) / 2)
    return result


def paired_gain(
    positive: NDArray[np.bool_],
    scores: Array,
    before: Array,
    weight: Array | None,
    frequencies: bool = False,
) -> tuple[float, float]:
    """By how much the AUC of scores is above that of others on the same rows, and its standard error."""
    if min(int(positive.sum()), int((~positive).sum())) < 2:
        after, old = (roc_auc(positive, one, sample_weight=weight) for one in (scores, before))
        return float(after - old), np.inf
    weights: Weights | None = None if weight is None else "frequency" if frequencies else "sampling"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = compare_roc_auc(
            positive, {"after": scores, "before": before}, weight, weights=weights, confidence=_ONE_ERROR
        )
    gain = float(compared.difference[0, 1])
    return gain, float(compared.high[0, 1] - gain)
