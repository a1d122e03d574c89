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
    """A loss over all pairs of a positive and a negative row as an objective for LightGBM.

    Gradient and Hessian diagonal are those of the mean over all pairs, exact, in ``O(n log n)`` at most: no
    pair is drawn, none is left out, and none counts more because it is near the top of a list. Both are
    multiplied by 2 n₊ n₋ / (n₊ + n₋), summed over groups (n₊ and n₋ are sums of weights). Then the Hessians of
    the logistic loss add up at first to what those of LightGBM's ``binary`` add up to, n p (1 - p), and
    settings such as ``min_sum_hessian_in_leaf`` and ``lambda_l2`` mean what they mean there. Each class
    has one half of the sum, as with balanced class weights.

    It fits ``lightgbm.train`` (as ``params["objective"]``) as well as ``LGBMClassifier`` and ``LGBMRanker`` (as
    ``objective=``). Weights, initial scores and groups are taken from the data set. LightGBM then knows no
    probabilities: all predictions are scores. Distributed training sees the pairs of each worker alone.

    Parameters
    ----------
    loss : str or PairLoss, default="logistic"
        ``"logistic"``, ``"squared_hinge"``, ``"squared"``, ``"exponential"`` or ``"hinge"`` (smoothed).
    max_fpr : float, default=1.0
        In (0, 1]: largest false-alarm rate that counts, as for :func:`mbauc.metrics.partial_roc_auc`: the pairs
        of the negatives with the highest scores so far.
    min_tpr : float, default=0.0
        In [0, 1): smallest detection rate that counts.
    whole : float, default=0.8
        Share of the whole curve in the objective where only a part of it counts. Without it nothing keeps the
        other rows where they are, and trees learn the few that count by heart.
    groups : array-like of shape (n,), optional
        Group of each training row: only rows of the same group are paired. For a ``Dataset`` or a
        ``LGBMRanker`` that knows its groups leave this out.
    equal_groups : bool, default=False
        Whether each group counts alike, instead of each pair.
    min_curvature : float, optional
        The Hessian of a row is at least this share of what it is for the squared loss, so that leaves of rows
        that are far from all others stay finite. 0.001 by default, and 1 for the hinge.

    Returns
    -------
    LightGBMObjective
        The objective; its attribute ``metric`` is the AUC over the same pairs, for early stopping: ``feval``
        of ``lightgbm.train``, ``eval_metric`` of ``fit``.

    Notes
    -----
    The diagonal leaves out that the rows of a pair move against each other. A step can be up to twice as long
    as Newton's, which is safe at learning rates below 1.

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
    """What :func:`lightgbm` returns: a function that LightGBM calls once an iteration."""

    @property
    def metric(self) -> LightGBMMetric:
        """AUC over the pairs that the objective counts."""
        return LightGBMMetric(self.terms)

    # four arguments are what LightGBM's estimators look for; its engine passes the first two
    def __call__(self, y_true: Any, y_pred: Any, weight: Any = None, group: Any = None) -> tuple[Array, Array]:
        """Gradient and Hessian diagonal; called with labels and scores, or with scores and a Dataset."""
        return self.derivatives(_rows(y_true, y_pred, weight, group))


@dataclass(frozen=True, eq=False)
class LightGBMMetric:
    """AUC over the pairs that an objective counts, as a metric for LightGBM."""

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
