"""Labels, scores and weights as callers pass them, or the scores that an estimator gives."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.metrics.tally import Tally
from mbauc.rows.labels import find_classes, positive_rows
from mbauc.rows.matrix import check_weights

Array = NDArray[np.float64]

RESPONSES = ("decision_function", "predict_proba")


class ScoredRows(NamedTuple):
    """Checked rows of both classes.

    Attributes
    ----------
    positive : ndarray of shape (n,)
        Which rows have the positive label.
    values : ndarray of shape (n,)
        Their scores, finite.
    weight : ndarray of shape (n,) or None
        Their weights.
    pos_label : label
        The positive label.
    """

    positive: NDArray[np.bool_]
    values: Array
    weight: Array | None
    pos_label: Any

    def tally(self) -> Tally:
        """The same, sorted and ready to be counted."""
        return Tally.of(self.positive, self.values, self.weight)


def scored_rows(name: str, y_true: Any, scores: Any, sample_weight: Any, pos_label: Any) -> ScoredRows:
    """Rows from what a caller passed, the scores as argument ``name``; or an error that says what is wrong."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, one for each row.") from None
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}; pass one score per row.")
    classes = find_classes(y_true)
    positive = positive_rows(y_true, classes)
    if positive.size != values.size:
        raise ValueError(f"y_true has {positive.size:,} labels and {name} {values.size:,} scores.")
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ValueError(f"{name} has {values[row]} at row {row:,}; every score must be finite.")
    place = _place(pos_label, classes)
    positive = positive if place == 1 else ~positive
    weight = check_weights(sample_weight, values.size)
    if weight is not None and not (weight[positive].any() and weight[~positive].any()):
        raise ValueError("sample_weight is zero for all rows of a class; rows of both are needed.")
    return ScoredRows(positive, values, weight, classes.tolist()[place])


def estimator_scores(estimator: Any, X: Any, response_method: str, pos_label: Any) -> tuple[ArrayLike, Any]:
    """Scores that rise with the positive label, and that label.

    Parameters
    ----------
    estimator : fitted classifier
        Of two classes.
    X
        Rows to score.
    response_method : {"auto", "decision_function", "predict_proba"}
        How to score them; "auto" is the first of the two that the estimator has.
    pos_label : label or None
        The larger of the two if None.
    """
    check_choice("response_method", response_method, ("auto", *RESPONSES))
    kind = type(estimator).__name__
    tried = RESPONSES if response_method == "auto" else (response_method,)
    method = next((name for name in tried if hasattr(estimator, name)), None)
    if method is None:
        lacks = f"neither {tried[0]} nor {tried[1]}" if len(tried) > 1 else f"no {tried[0]}"
        raise ValueError(f"estimator {kind} has {lacks}; score the rows yourself and use from_predictions.")
    classes = np.asarray(getattr(estimator, "classes_", [0, 1]))
    if classes.size != 2:
        raise ValueError(f"estimator {kind} has {classes.size:,} classes; a display needs a classifier of two.")
    place = _place(pos_label, classes)
    values = np.asarray(getattr(estimator, method)(X))
    if method == "predict_proba":
        if values.ndim != 2 or values.shape[1] != 2:
            raise ValueError(f"predict_proba of {kind} must give two columns, got shape {values.shape}.")
        values = values[:, place]
    elif place == 0:
        values = -values
    return values, classes.tolist()[place] if hasattr(estimator, "classes_") else pos_label


def _place(pos_label: Any, classes: NDArray[Any]) -> int:
    """Which of two classes is the positive one."""
    if pos_label is None:
        return 1
    known = classes.tolist()
    if pos_label not in known:
        raise ValueError(f"pos_label must be one of the labels {known!r}, got {pos_label!r}.")
    return int(known.index(pos_label))
