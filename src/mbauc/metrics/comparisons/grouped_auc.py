"""Whether scorers on the same rows differ in AUC within groups, the groups being what was sampled."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from mbauc.checks import check_flag, check_share
from mbauc.metrics.comparisons.paired_auc import (
    AucComparison,
    compare_means,
    farthest_from_half,
    validate_scorer,
    validate_scorers,
)
from mbauc.metrics.grouped import (
    GroupedAuc,
    covariance_of_group_means,
    pairs_within_groups,
    warn_of_few_groups,
    warn_of_one_class_groups,
)


def compare_grouped_roc_auc(
    y_true: ArrayLike,
    scores: Mapping[str, ArrayLike] | ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    equal_groups: bool = False,
    confidence: float = 0.95,
) -> AucComparison:
    """Paired test of two or more scorers on the same rows by their AUC within groups.

    Variances are estimated from the differences per group, as in :func:`grouped_roc_auc_interval`, with
    Student's t quantiles. ``O(k n log n)`` for k scorers.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    scores : mapping of name to scores, or array-like of shape (k, n)
        One row of scores for each scorer.
    groups, sample_weight, equal_groups, confidence
        As for :func:`grouped_roc_auc_interval`.

    Returns
    -------
    AucComparison

    Warns
    -----
    OneClassGroupsWarning, FewRowsWarning
        As for :func:`grouped_roc_auc_interval`, for the AUC closest to 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> user = np.repeat(np.arange(200), 10)
    >>> y = np.tile(np.arange(10) < 3, 200)
    >>> signal = rng.standard_normal(2000) + y
    >>> scores = {"clean": signal, "noisy": signal + rng.standard_normal(2000)}
    >>> print(compare_grouped_roc_auc(y, scores, user))
    clean  0.7586
    noisy  0.7038
    clean - noisy: +0.0548 (95% interval +0.0332 to +0.0763, p = 1.2e-06)
    """
    check_share("confidence", confidence)
    check_flag("equal_groups", equal_groups)
    names, table = validate_scorers(scores)
    scorers = [validate_scorer(name, y_true, s, sample_weight) for name, s in zip(names, table, strict=True)]
    first = scorers[0]
    pairs = pairs_within_groups(first, groups)
    warn_of_one_class_groups(pairs)
    found = [GroupedAuc.of(pairs, ranked.values) for ranked in scorers]
    if equal_groups:
        found = [each.equally() for each in found]
    auc, shares = np.array([each.auc for each in found]), found[0].shares
    warn_of_few_groups(found[0].effective_groups, farthest_from_half(auc))
    return compare_means(
        names,
        auc,
        np.column_stack([each.aucs for each in found]),
        lambda gap: float(np.average(gap, weights=shares)),
        lambda gaps: covariance_of_group_means(gaps, shares),
        confidence,
        rounded=first.weight is not None,
        freedom=found[0].effective_groups - 1.0,
    )
