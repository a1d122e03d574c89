"""How much better scores rank than others on the same rows, and what they leave to explain."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mbauc.losses import PairWeights
from mbauc.metrics.comparisons import compare_roc_auc
from mbauc.metrics.grouped import covariance_of_group_means, group_aucs
from mbauc.metrics.intervals import Weights
from mbauc.metrics.roc_auc import roc_auc

Array = NDArray[np.float64]
Keys = NDArray[np.uint64]

#: Confidence of an interval of one standard error on each side.
_ONE_ERROR = 0.6826894921370859


def residuals(
    scores: Array, positive: NDArray[np.bool_], weight: Array | None, groups: Keys | None = None
) -> Array:
    """What is left of the gradient of the pairwise squared loss: minus its derivative by each score.

    For weights w = (C + …)⁻¹μ, C the mean of the covariances of the classes, a further feature z has the
    gradient Σ rᵢ zᵢ = μ_z - mean of the covariances of z and the score. With groups C is half the covariance of
    the differences within these, and rows without a pair have no residual.
    """
    if groups is not None:
        return _residuals_within(PairWeights.build(positive, weight, groups), scores)
    result = np.empty_like(scores)
    for side, sign in ((positive, 1.0), (~positive, -1.0)):
        share = np.ones(int(side.sum())) if weight is None else weight[side]
        share = share / share.sum()
        own = scores[side]
        result[side] = share * (sign - (own - share @ own) / 2)
    return result


def _residuals_within(pairs: PairWeights, scores: Array) -> Array:
    high, low = pairs.split(scores)
    a, b = pairs.plus_weight, pairs.minus_weight
    plus_sums, minus_sums = pairs.plus_sums(high), pairs.minus_sums(low)
    # what each row counts for: the weight of its pairs
    plus, minus = a * pairs.per_plus(pairs.minus_totals), b * pairs.per_minus(pairs.plus_totals)
    mean = float(plus @ high - minus @ low)
    return pairs.scatter(
        plus - (plus * (high - mean) - a * pairs.per_plus(minus_sums)) / 2,
        -minus - (minus * (low + mean) - b * pairs.per_minus(plus_sums)) / 2,
    )


def mean_gain(gains: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Mean of gains on rows that have nothing in common, each with its standard error, and that of the mean."""
    values, errors = zip(*gains, strict=True)
    return float(np.mean(values)), float(np.sqrt(np.square(errors).sum())) / len(errors)


def paired_gain(
    positive: NDArray[np.bool_],
    scores: Array,
    before: Array,
    weight: Array | None,
    frequencies: bool = False,
    groups: Keys | None = None,
) -> tuple[float, float]:
    """By how much the AUC of scores is above that of others on the same rows, and its standard error.

    With groups it is the AUC within these, and they are what was sampled; of a single one its rows are.
    """
    if groups is not None:
        pairs = PairWeights.build(positive, weight, groups)
        if pairs.n_groups > 1:
            gaps, shares = group_aucs(pairs, scores) - group_aucs(pairs, before), pairs.group_shares
            variance = covariance_of_group_means(gaps[:, None], shares)[0, 0]
            return float(np.average(gaps, weights=shares)), float(np.sqrt(variance))
        own = np.concatenate([pairs.plus, pairs.minus])
        positive, scores, before = positive[own], scores[own], before[own]
        weight = None if weight is None else weight[own]
    if min(int(positive.sum()), int((~positive).sum())) < 2:
        after, old = (roc_auc(positive, one, sample_weight=weight) for one in (scores, before))
        return float(after - old), np.inf
    weights: Weights | None = None if weight is None else "frequency" if frequencies else "sampling"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compared = compare_roc_auc(
            positive,
            {"after": scores, "before": before},
            sample_weight=weight,
            weights=weights,
            confidence=_ONE_ERROR,
        )
    gain = float(compared.difference[0, 1])
    return gain, float(compared.high[0, 1] - gain)
