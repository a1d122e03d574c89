"""Losses over all pairs as objectives of LightGBM, which need not be there for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.losses import PairLoss
from mbauc.objectives.boosting import Boosting
from mbauc.objectives.pair_terms import BoostedRows, PairTerms

Array = NDArray[np.float64]


def lightgbm(
    loss: str | PairLoss = "logistic",
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    whole: float = 0.8,
    groups: ArrayLike | None = None,
    equal_groups: bool = False,
    min_curvature: float | None = None,
) -> LightGBMObjective:
    """Pairwise AUC loss over all pairs as a custom objective for LightGBM.

    Gradient and Hessian diagonal are exact for the mean over all pairs, in ``O(n log n)`` at most: pairs are
    neither sampled nor truncated, nor weighted by rank. Both are multiplied by 2 n₊ n₋ / (n₊ + n₋), summed over
    groups (n₊ and n₋ are sums of weights). The initial sum of the Hessians of the logistic loss is then that of
    LightGBM's ``binary``, n p (1 - p), so that parameters such as ``min_sum_hessian_in_leaf`` and ``lambda_l2``
    have the same scale. Each class has one half of the sum, as with balanced class weights.

    Use it with ``lightgbm.train`` (as ``params["objective"]``), ``LGBMClassifier`` and ``LGBMRanker`` (as
    ``objective=``). Weights, initial scores and groups are taken from the data set. All predictions are raw
    scores, not probabilities. Distributed training uses only pairs within each worker.

    Parameters
    ----------
    loss : str or PairLoss, default="logistic"
        ``"logistic"``, ``"squared_hinge"``, ``"squared"``, ``"exponential"`` or ``"hinge"`` (smoothed).
    max_fpr : float, default=1.0
        Upper limit of the false-positive rate, in (0, 1], as for :func:`mbauc.metrics.partial_roc_auc`: only
        pairs of the negatives with the currently highest scores count.
    min_tpr : float, default=0.0
        Lower limit of the true-positive rate, in [0, 1).
    whole : float, default=0.8
        Weight of the whole ROC curve in the objective for partial AUC. Without it the other rows are
        unconstrained, and trees overfit the few rows in the region.
    groups : array-like of shape (n,), optional
        Group of each training row: only rows of the same group are paired. Not needed for a ``Dataset`` or
        ``LGBMRanker`` with groups.
    equal_groups : bool, default=False
        Whether groups have equal weight instead of pairs.
    min_curvature : float, optional
        Lower limit of the Hessian of a row, relative to that of the squared loss, which keeps leaf values
        finite for rows far from all others. By default 0.001, and 1 for the hinge.

    Returns
    -------
    LightGBMObjective
        The objective; its attribute ``metric`` is the AUC over the same pairs, for early stopping: ``feval``
        of ``lightgbm.train``, ``eval_metric`` of ``fit``.

    Notes
    -----
    The Hessian diagonal ignores the interaction of the two rows of a pair. Steps can be up to twice as long as
    Newton's, which is safe at learning rates below 1.

    Examples
    --------
    >>> import lightgbm as lgb
    >>> import numpy as np
    >>> from mbauc import objectives
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = (X[:, 0] * X[:, 1] + rng.standard_normal(2000) > 1.5).astype(int)
    >>> params = {"objective": objectives.lightgbm("squared_hinge"), "verbose": -1}
    >>> booster = lgb.train(params, lgb.Dataset(X, y), num_boost_round=20)
    >>> from mbauc.metrics import roc_auc
    >>> roc_auc(y, booster.predict(X)) > 0.8
    True
    """
    return LightGBMObjective.build(loss, max_fpr, min_tpr, whole, groups, equal_groups, min_curvature)


@dataclass(frozen=True, eq=False)
class LightGBMObjective(Boosting):
    """Objective returned by :func:`lightgbm`, which LightGBM calls once per iteration."""

    @property
    def metric(self) -> LightGBMMetric:
        """Evaluation metric: AUC over the pairs of the objective."""
        return LightGBMMetric(self.terms)

    # four arguments are what LightGBM's estimators look for; its engine passes the first two
    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> tuple[Array, Array]:
        """Gradient and Hessian diagonal; called with labels and scores, or with scores and a Dataset."""
        return self.derivatives(_rows(y_true, y_pred, weight, group))


@dataclass(frozen=True, eq=False)
class LightGBMMetric:
    """AUC over the pairs of an objective, as an evaluation metric for LightGBM."""

    terms: PairTerms

    def __call__(
        self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None
    ) -> tuple[str, float, bool]:
        """Name, value, and that more is better; called as the objective is."""
        return self.terms.name, self.terms.auc(_rows(y_true, y_pred, weight, group)), True


def _rows(first: Any, second: Any, weight: Any, group: Any) -> BoostedRows:
    if hasattr(second, "get_label"):
        return BoostedRows(second.get_label(), first, second.get_weight(), second.get_group())
    return BoostedRows(first, second, weight, group)
