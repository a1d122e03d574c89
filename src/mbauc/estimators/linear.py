"""What a ranker does once it has weights of columns, or of features made of them, however they were found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mbauc.estimators.scorer import LinearScorer
from mbauc.estimators.validation import name_columns, validate_matrix
from mbauc.rows.labels import check_classes, find_classes

Array = NDArray[np.float64]


class LinearRanker(ClassifierMixin, BaseEstimator):
    """Scores and predictions from ``coef_`` and ``intercept_``, by the scorer that holds them."""

    classes_: NDArray[Any]
    coef_: Array
    intercept_: Array
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def scorer(self) -> LinearScorer:
        """The fitted weights as a :class:`mbauc.estimators.LinearScorer`, which does not need scikit-learn."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        slope = getattr(self, "slope_", None)
        calibration = getattr(self, "calibration_", None)
        return LinearScorer(
            self.coef_[0], self.intercept_[0], slope, self.classes_, names, calibration=calibration
        )

    def decision_function(self, X: Any) -> Array:
        """Score of each row; the higher, the more likely positive. ``predict`` cuts at 0.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to score, with the same columns as the training data.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self._scorer_and_scores(X)[1]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels: positive where the score is above 0. For ranking, use :meth:`decision_function`."""
        scorer, s = self._scorer_and_scores(X)
        return scorer.predict(s)

    def _scorer_and_scores(self, X: Any) -> tuple[LinearScorer, Array]:
        """Both at once: some rankers compute their weights each time that they are asked for.

        Rankers of features that they make of the columns override it.
        """
        scorer = self.scorer()
        with name_columns(X):
            return scorer, scorer.scores(validate_matrix(self, X, reset=False))

    def _resolve_classes(self, y: ArrayLike, classes: ArrayLike | None, first: bool) -> NDArray[Any]:
        """The two classes of a stream: as given or found in its first block, and the same ever after."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        if first:
            if classes is not None:
                return check_classes(classes)
            try:
                return find_classes(y)
            except ValueError as error:
                raise ValueError(f"{error} At the first partial_fit pass both labels as classes.") from None
        if classes is not None and not np.array_equal(check_classes(classes), self.classes_):
            raise ValueError(
                f"classes is {np.asarray(classes).tolist()!r}, but the first partial_fit had "
                f"{self.classes_.tolist()!r}; they must stay the same."
            )
        return self.classes_


class ProbabilisticRanker(LinearRanker):
    """A ranker whose scores, times ``slope_``, are log-odds."""

    slope_: float

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2), columns in the order of ``classes_``."""
        scorer, s = self._scorer_and_scores(X)
        return scorer.probabilities(s)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`, without overflow."""
        scorer, s = self._scorer_and_scores(X)
        return scorer.log_probabilities(s)


def take_weights(ranker: ProbabilisticRanker, scorer: LinearScorer) -> None:
    """Give a ranker copies of what a scorer has: weights, labels, names, and how scores become log-odds."""
    if scorer.slope is None:
        raise ValueError(f"scorer has no slope; {type(ranker).__name__} needs one for its probabilities.")
    ranker.coef_, ranker.intercept_ = scorer.coef.copy()[None, :], np.array([scorer.intercept])
    ranker.slope_, ranker.classes_ = scorer.slope, np.array(scorer.classes)
    ranker.n_features_in_ = scorer.n_features
    if scorer.calibration is not None:
        ranker.calibration_ = scorer.calibration
    if scorer.names is not None:
        ranker.feature_names_in_ = np.array(scorer.names, dtype=object)
