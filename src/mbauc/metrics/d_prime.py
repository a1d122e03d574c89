"""d′: how far apart the scores of the two classes are, in standard deviations."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mbauc.metrics.ranked import RankedScores


def d_prime(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Sensitivity index d′: difference of the class means of the score over the root of the mean variance.

    For normal scores of equal variance AUC = Φ(d′/√2). Unlike AUC it is not invariant to increasing
    transformations: log-odds and probabilities have different d′.

    Parameters
    ----------
    y_true, y_score, sample_weight
        As for :func:`roc_auc`; scores must be finite.

    Returns
    -------
    float
        Infinite where all scores within each class are equal, and the classes differ.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1], 5000)
    >>> round(d_prime(y, np.random.default_rng(0).standard_normal(10_000) + 2 * y), 2)
    2.03
    """
    ranked = RankedScores.validate(y_true, y_score, sample_weight, finite=True)
    values = ranked.values
    # in units of the largest distance from the first score, so that no scale or offset is too large or small
    apart = values / 2 - values[0] / 2
    unit = float(np.abs(apart).max())
    if unit == 0.0:
        return 0.0
    apart /= unit
    means, variances = [], []
    for mask in (ranked.positive, ~ranked.positive):
        share = None if ranked.weight is None else ranked.weight[mask]
        mean = float(np.average(apart[mask], weights=share))
        means.append(mean)
        variances.append(float(np.average((apart[mask] - mean) ** 2, weights=share)))
    distance, spread = means[0] - means[1], float(np.sqrt(np.mean(variances)))
    if spread <= 1e-15:
        return float(np.copysign(np.inf, distance))
    return distance / spread
