"""A classifier around any scorer whose threshold keeps a false-alarm promise."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_regressor
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from mbauc.errors import NonFiniteError, PositiveLabelWarning
from mbauc.estimators.validation import check_class_weights, label_column, restore_on_failure
from mbauc.metrics.neyman_pearson import check_promise, false_alarm_threshold, negatives_needed
from mbauc.rows.labels import check_classes, find_classes, positive_rows
from mbauc.rows.matrix import check_weights, take_rows
from mbauc.runtime.seeds import check_seed, generator
from mbauc.runtime.warn import warn

Array = NDArray[np.float64]


class NeymanPearsonClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Classifier whose false-positive rate is at most ``alpha`` with probability at least 1 - ``delta``.

    Fits an estimator, scores held-out negative rows, and sets the threshold to the smallest of their scores for
    which the true false-positive (false-alarm) rate exceeds ``alpha`` with probability at most ``delta``. The
    guarantee holds for any distribution of the scores; rows must be independent and identically distributed
    with those to be predicted.

    Parameters
    ----------
    estimator : estimator
        Classifier with ``decision_function`` or ``predict_proba``, or regressor, which is fitted to targets of
        1 for positive and 0 for negative rows. Wrap an estimator that is already fitted as
        ``sklearn.frozen.FrozenEstimator(model)``; then all rows passed to ``fit`` set the threshold.
    alpha : float, default=0.05
        Upper limit of the false-positive rate, between 0 and 1.
    delta : float, default=0.05
        Probability, over the draw of the calibration rows, that the limit is exceeded. Decrease it for a
        stricter guarantee, which needs more negative rows.
    calibration_size : float or int, default=0.5
        Share or number of the negative rows held out to set the threshold. A share gives at least as many as
        the guarantee needs. All positive rows are used for training.
    random_state : int, Generator, RandomState or None
        Seed for drawing the held-out negative rows.
    positive : label, optional
        The positive label, whose predictions are alarms; by default the larger in sorted order (1 of 0/1, but
        "ok" of "fraud"/"ok"). ``classes_`` stays sorted, and ``decision_function`` is above 0 for the second
        class whichever is positive, as scikit-learn's scorers expect.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    threshold_ : float
        Threshold on the score; rows above it are predicted positive.
    rank_, n_calibration_ : int
        The threshold is the rank-th smallest of this many negative scores.
    violation_probability_ : float
        Bound on the probability that the false-positive rate exceeds ``alpha``; at most ``delta``.
    positive_ : label
        The label whose predictions are alarms.
    classes_ : ndarray of shape (2,)
        Class labels, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray
        As of ``estimator_``, if it has them.

    See Also
    --------
    mbauc.metrics.neyman_pearson.false_alarm_threshold : the same threshold from scores alone.

    References
    ----------
    Tong, Feng and Li 2018, Neyman-Pearson classification algorithms and NP receiver operating characteristics.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mbauc import MBAClassifier, NeymanPearsonClassifier
    >>> X, y = make_classification(20_000, weights=[0.95], class_sep=1.5, flip_y=0, random_state=0)
    >>> detector = NeymanPearsonClassifier(MBAClassifier(), alpha=0.01, random_state=0)
    >>> alarms = detector.fit(X[:10_000], y[:10_000]).predict(X[10_000:])
    >>> f"false alarms {alarms[y[10_000:] == 0].mean():.4f}, detected {alarms[y[10_000:] == 1].mean():.2f}"
    'false alarms 0.0075, detected 0.70'
    """

    def __init__(
        self,
        estimator: Any,
        alpha: float = 0.05,
        delta: float = 0.05,
        *,
        calibration_size: float = 0.5,
        random_state: Any = None,
        positive: Any = None,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.delta = delta
        self.calibration_size = calibration_size
        self.random_state = random_state
        self.positive = positive

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.input_tags = inner.input_tags
        tags.target_tags.required = True
        return tags

    @restore_on_failure
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        calibration: tuple[Any, ArrayLike] | None = None,
        **fit_params: Any,
    ) -> Self:
        """Fit the estimator and set the threshold.

        Parameters
        ----------
        X, y : array-likes of shape (n, …) and (n,)
            Training rows and labels; X is passed to the estimator unchanged.
        sample_weight : array-like of shape (n,), optional
            Weights for fitting the estimator. The guarantee refers to unweighted rows, so they do not affect
            the threshold, except that rows of weight 0 are left out.
        calibration : tuple (X, y), optional
            Rows to set the threshold with, instead of held-out training rows. Only the negative ones are used.
        **fit_params
            Passed to the estimator's ``fit``; arguments with one entry per row are restricted to the rows used
            for training.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Before any fitting, if there are too few negative rows for the guarantee.

        Warns
        -----
        PositiveLabelWarning
            If labels are strings, ``positive`` is not given, and the larger label is the majority class.
        """
        check_promise(self.alpha, self.delta)
        check_seed(self.random_state)
        for name, given in (("X", X), ("y", y)):
            if given is None:
                raise ValueError(
                    f"NeymanPearsonClassifier requires {name} to be passed, but the target {name} is None."
                )
        labels = label_column(y)
        check_consistent_length(X, labels)
        frozen = isinstance(self.estimator, FrozenEstimator)
        if calibration is not None and frozen:
            raise ValueError("a FrozenEstimator is not trained, so pass its calibration rows as X and y.")
        classes = _read_classes(self.estimator, labels) if frozen else find_classes(labels)
        alarm = self._alarm_label(classes, labels)
        positive = positive_rows(labels, classes) == (alarm == classes[1])
        weight = check_weights(sample_weight, labels.size)
        if weight is not None:
            fit_params["sample_weight"] = weight
            if not frozen:
                check_class_weights(weight, positive, classes)
        negative = np.flatnonzero(~positive if weight is None else ~positive & (weight > 0))
        if frozen:
            train, held_back = None, self._take_all(negative, "y")
            rows = X
        elif calibration is not None:
            train, (rows, held_second) = None, _check_calibration(calibration, X, classes)
            held_back = self._take_all(np.flatnonzero(held_second != (alarm == classes[1])), "calibration")
        else:
            held_back = self._split_off(negative)
            kept = np.ones(labels.size, dtype=bool)
            kept[held_back] = False
            train, rows = np.flatnonzero(kept), X

        self.classes_, self.positive_ = classes, alarm
        self.estimator_ = clone(self.estimator)
        target = positive.astype(np.float64) if is_regressor(self.estimator_) else labels
        if train is None:
            self.estimator_.fit(X, target, **fit_params)
        else:
            cut = {
                name: take_rows(value, train) if _has_rows(value, labels.size) else value
                for name, value in fit_params.items()
            }
            try:
                self.estimator_.fit(take_rows(X, train), target[train], **cut)
            except NonFiniteError as error:  # counted among the rows of training
                row = int(train[error.row])
                raise NonFiniteError(row, error.column, error.value, error.name) from None
        found = false_alarm_threshold(
            self._scores(take_rows(rows, held_back)), alpha=self.alpha, delta=self.delta
        )
        self.threshold_ = found.threshold
        self.rank_, self.n_calibration_ = found.rank, found.n_negatives
        self.violation_probability_ = found.violation_probability
        return self

    def decision_function(self, X: Any) -> Array:
        """Score of the estimator minus the threshold; above 0 where ``classes_[1]`` is predicted.

        If ``classes_[1]`` is not the positive class, the sign is reversed: threshold minus score.
        """
        check_is_fitted(self)
        s = self._scores(X)
        with np.errstate(invalid="ignore"):  # infinite scores at an infinite threshold
            if self.positive_ == self.classes_[1]:
                return np.where(s == self.threshold_, 0.0, s - self.threshold_)
            # a tie is no alarm, so it is of the second class
            return np.where(s == self.threshold_, np.finfo(np.float64).tiny, self.threshold_ - s)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted labels: positive where the score is above the threshold."""
        check_is_fitted(self)
        above = self._scores(X) > self.threshold_
        second = above == (self.positive_ == self.classes_[1])
        return np.asarray(self.classes_[second.astype(np.intp)])

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen in ``fit``, if the estimator has it."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the columns seen in ``fit``, if the estimator has them."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.feature_names_in_)

    def _scores(self, X: Any) -> Array:
        # not every library sorts its classes
        inner = np.asarray(getattr(self.estimator_, "classes_", self.classes_))
        if hasattr(self.estimator_, "decision_function"):
            result = np.asarray(self.estimator_.decision_function(X), dtype=np.float64)
            result = result if inner[-1] == self.positive_ else -result
        elif hasattr(self.estimator_, "predict_proba"):
            column = int(np.flatnonzero(inner == self.positive_)[0])
            result = np.asarray(self.estimator_.predict_proba(X))[:, column]
        elif is_regressor(self.estimator_):
            result = self.estimator_.predict(X)
        else:
            raise ValueError(
                f"estimator must have decision_function or predict_proba, or be a regressor; "
                f"{type(self.estimator_).__name__} gives no scores to set a threshold on."
            )
        scores = np.asarray(result, dtype=np.float64)
        return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores

    def _alarm_label(self, classes: NDArray[Any], labels: NDArray[Any]) -> Any:
        """The positive label, as given or as sorted."""
        first, second = classes.tolist()
        if self.positive is not None:
            if self.positive not in (first, second):
                raise ValueError(
                    f"positive={self.positive!r} is not a label of y; the labels are {first!r} and {second!r}."
                )
            return self.positive
        if isinstance(second, str):
            count = int(np.count_nonzero(labels == second))
            if count > 2 * (labels.size - count):
                warn(
                    f"{second!r} ({count:,} rows) is the positive label because it sorts after {first!r} "
                    f"({labels.size - count:,} rows), and the false-alarm rate is that of {first!r}. If alarms "
                    f"should detect {first!r}, pass positive={first!r}.",
                    PositiveLabelWarning,
                )
        return second

    def _take_all(self, negative: NDArray[np.intp], what: str) -> NDArray[np.intp]:
        needed = negatives_needed(self.alpha, self.delta)
        if negative.size < needed:
            raise ValueError(self._too_few(needed, f"{what} has {negative.size:,}"))
        return negative

    def _split_off(self, negative: NDArray[np.intp]) -> NDArray[np.intp]:
        """Negative rows that the estimator does not get to see."""
        needed, size = negatives_needed(self.alpha, self.delta), self.calibration_size
        whole = isinstance(size, int | np.integer) and not isinstance(size, bool)
        if not whole and not (isinstance(size, float | np.floating) and 0.0 < size < 1.0):
            raise ValueError(
                f"calibration_size must be a share between 0 and 1 or a whole number, got {size!r}."
            )
        if whole and size < needed:
            raise ValueError(self._too_few(needed, f"calibration_size is {size:,}"))
        wanted = int(size) if whole else max(needed, int(np.ceil(size * negative.size)))
        if wanted >= negative.size:
            raise ValueError(
                self._too_few(wanted, f"y has {negative.size:,}, of which some must be left to train on")
                if wanted == needed
                else f"calibration_size={size!r} leaves none of {negative.size:,} negative rows to train on."
            )
        return np.sort(generator(self.random_state).choice(negative, wanted, replace=False))

    def _too_few(self, needed: int, found: str) -> str:
        return (
            f"alpha={self.alpha:g} with delta={self.delta:g} needs {needed:,} negative rows to set the "
            f"threshold; {found}. Collect more negatives, or raise alpha or delta."
        )


def _read_classes(estimator: Any, labels: NDArray[Any]) -> NDArray[Any]:
    """The two labels of a scorer that is already fitted; its calibration rows may have one alone."""
    known = getattr(estimator, "classes_", None)
    if known is not None:
        return check_classes(known)
    try:
        return find_classes(labels)
    except ValueError:
        positive = positive_rows(labels)  # 0, 1 and -1 explain themselves
        low = -1 if not positive[0] and labels[0] == -1 else 0
        return np.array([low, 1])


def _check_calibration(calibration: Any, X: Any, classes: NDArray[Any]) -> tuple[Any, NDArray[np.bool_]]:
    """The rows and which of them are positive."""
    if not (isinstance(calibration, tuple | list) and len(calibration) == 2):
        raise ValueError(f"calibration must be a pair (X, y), got {type(calibration).__name__}.")
    rows, y = calibration
    try:
        labels = label_column(y)
        check_consistent_length(rows, labels)
        widths = [getattr(part, "shape", ())[1:] for part in (X, rows)]
        if widths[0] and widths[1] and widths[0] != widths[1]:
            raise ValueError(f"its X has {widths[1][0]} columns, that of the training rows {widths[0][0]}.")
        return rows, positive_rows(labels, classes)
    except ValueError as error:
        raise ValueError(f"calibration: {error}") from None


def _has_rows(value: Any, n: int) -> bool:
    return not isinstance(value, str | bytes | dict) and hasattr(value, "__len__") and len(value) == n
