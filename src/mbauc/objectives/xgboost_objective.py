"""Losses over all pairs as objectives of XGBoost, which need not be there for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.losses import PairLoss
from mbauc.objectives.boosting import Boosting
from mbauc.objectives.pair_terms import BoostedRows, PairTerms

Array = NDArray[np.float64]


def xgboost(
    loss: str | PairLoss = "logistic",
    *,
    max_fpr: float = 1.0,
    min_tpr: float = 0.0,
    whole: float = 0.8,
    groups: ArrayLike | None = None,
    equal_groups: bool = False,
    min_curvature: float | None = None,
) -> XGBoostObjective:
    """Pairwise AUC loss over all pairs as a custom objective for XGBoost.

    As :func:`lightgbm`, for ``xgboost.train(..., obj=)`` and for ``XGBClassifier(objective=)``. Weights, base
    margins and groups (``qid`` or ``group``) are taken from the ``DMatrix``; weights of groups apply to their
    pairs, as in XGBoost. ``XGBRanker`` does not support custom objectives. The loss is invariant to a constant,
    so ``base_score`` does not matter; ``predict(..., output_margin=True)`` returns scores that are not rounded
    to 0 and 1 at the ends.

    Parameters
    ----------
    loss, max_fpr, min_tpr, whole, groups, equal_groups, min_curvature
        As for :func:`lightgbm`.

    Returns
    -------
    XGBoostObjective
        The objective; its attribute ``metric`` is the AUC over the same pairs, for early stopping:
        ``custom_metric`` of ``xgboost.train``, ``eval_metric`` of ``XGBClassifier``. XGBoost maximises it
        automatically, because its name begins with ``auc``.

    Examples
    --------
    >>> import numpy as np
    >>> import xgboost as xgb
    >>> from mbauc import objectives
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = (X[:, 0] * X[:, 1] + rng.standard_normal(2000) > 1.5).astype(int)
    >>> booster = xgb.train({"max_depth": 4}, xgb.DMatrix(X, y), num_boost_round=20, obj=objectives.xgboost())
    >>> from mbauc.metrics import roc_auc
    >>> roc_auc(y, booster.predict(xgb.DMatrix(X))) > 0.8
    True
    """
    return XGBoostObjective.build(loss, max_fpr, min_tpr, whole, groups, equal_groups, min_curvature)


@dataclass(frozen=True, eq=False)
class XGBoostObjective(Boosting):
    """Objective returned by :func:`xgboost`, which XGBoost calls once per iteration."""

    @property
    def metric(self) -> XGBoostMetric:
        """Evaluation metric: AUC over the pairs of the objective."""
        return XGBoostMetric(self.terms)

    # XGBoost's estimators look for the name sample_weight; its engine passes the first two
    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> tuple[Array, Array]:
        """Gradient and Hessian diagonal; called with labels and scores, or with scores and a DMatrix."""
        return self.derivatives(_rows(y_true, y_pred, sample_weight, self.terms))


@dataclass(frozen=True, eq=False)
class XGBoostMetric:
    """AUC over the pairs of an objective, as an evaluation metric for XGBoost."""

    terms: PairTerms

    @property
    def __name__(self) -> str:
        """Name in the log of XGBoost's estimators."""
        return self.terms.name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The value for labels and scores, or name and value for scores and a DMatrix."""
        value = self.terms.auc(_rows(y_true, y_pred, sample_weight, self.terms))
        return (self.terms.name, value) if hasattr(y_pred, "get_label") else value


def _rows(first: Any, second: Any, weight: Any, terms: PairTerms) -> BoostedRows:
    if not hasattr(second, "get_label"):
        return BoostedRows(first, second, weight)
    weight, ends = second.get_weight(), second.get_uint_info("group_ptr")
    sizes = np.diff(ends) if len(ends) else None
    if sizes is not None and len(weight):
        weight = _weights_of_rows(weight, sizes, terms)
    return BoostedRows(second.get_label(), first, weight if len(weight) else None, sizes)


def _weights_of_rows(weight: Any, sizes: Any, terms: PairTerms) -> Array:
    """Weights of rows that make those of their pairs the weights of groups."""
    if terms.equal_groups:
        raise ValueError(
            "equal_groups=True gives all groups the same weight, but the DMatrix has weights of groups; "
            "leave out one of them."
        )
    return np.sqrt(np.asarray(weight, dtype=np.float64)).repeat(sizes)
