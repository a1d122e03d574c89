"""All that scoring needs once a ranker is fitted: weights, and how scores become probabilities and labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit

from mbauc.metrics.calibration import Calibration
from mbauc.rows.scores import scores

Array = NDArray[np.float64]

#: Largest log-odds at the class means; reached only by scores without spread.
_MAX_LOG_ODDS = 500.0


@dataclass(frozen=True, eq=False)
class LinearScorer:
    """Weights of a fitted linear ranker, with all that is needed for scores, probabilities and labels.

    Shared by estimators, model files, Dask workers, Spark executors and exported models. Small, immutable and
    picklable; loading it does not need scikit-learn. It does not validate names and types of columns, as
    estimators do.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        Weights w, as a read-only view of the argument.
    intercept : float
        Scores are x'w + intercept.
    slope : float or None
        Log-odds per unit of score; None if scores are only for ranking.
    classes : ndarray of shape (2,)
        Class labels, negative first.
    names : ndarray of shape (d,) or None
        Names of the columns, if they have any.
    calibration : Calibration or None
        Map from scores to log-odds, used instead of the slope; scores do not change.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.estimators import LinearScorer
    >>> scorer = LinearScorer([2.0, -1.0], intercept=0.5, slope=3.0, classes=("no", "yes"))
    >>> s = scorer.scores(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> s
    array([ 0.5, -0.5])
    >>> scorer.probabilities(s).round(2)
    array([[0.18, 0.82],
           [0.82, 0.18]])
    >>> scorer.predict(s)
    array(['yes', 'no'], dtype='<U3')
    """

    coef: Array
    intercept: float = 0.0
    slope: float | None = None
    classes: NDArray[Any] = field(default_factory=lambda: np.array([0, 1]))
    names: NDArray[Any] | None = None
    calibration: Calibration | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        coef, classes = _read_only(self.coef, np.float64), _read_only(self.classes)
        if coef.ndim != 1:
            raise ValueError(f"coef must have one weight for each column, got shape {coef.shape}.")
        if classes.shape != (2,):
            raise ValueError(f"classes must be two labels, negative first, got {classes.tolist()!r}.")
        slope = None if self.slope is None else float(self.slope)
        vars(self).update(coef=coef, intercept=float(self.intercept), slope=slope, classes=classes)

    def __reduce__(self) -> tuple[Any, ...]:
        # through the constructor: arrays can be written to when they are unpickled
        values = (self.coef, self.intercept, self.slope, self.classes, self.names)
        return LinearScorer, values, {"calibration": self.calibration}

    @property
    def n_features(self) -> int:
        """Number of weights."""
        return int(self.coef.size)

    def scores(self, X: Any) -> Array:
        """Score of each row of a matrix, dense or sparse; the higher, the more likely positive.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n, d)
            Rows.

        Raises
        ------
        NonFiniteError
            If X has a NaN or an infinity.
        ValueError
            If X has another number of columns.
        """
        if X.shape[1] != self.coef.size:
            raise ValueError(
                f"X must have {self.n_features:,} columns, one for each weight, got {X.shape[1]:,}."
            )
        return np.asarray(scores(X, self.coef[None, :])[0] + self.intercept)

    @property
    def line(self) -> tuple[float, float]:
        """Slope and offset of the log-odds as a line; those of the training where a map has knots."""
        if self.calibration is not None and not self.calibration.knots:
            return self.calibration.slope, self.calibration.offset
        return (1.0 if self.slope is None else self.slope), 0.0

    def log_odds(self, scores: ArrayLike) -> Array:
        """Logarithm of P(positive)/P(negative) that goes with scores."""
        if self.calibration is not None:
            return self.calibration.log_odds(scores)
        if self.slope is None:
            raise ValueError("these scores are for ranking only: there is no slope that makes them log-odds.")
        return np.asarray(np.asarray(scores, dtype=np.float64) * self.slope)

    def probability(self, scores: ArrayLike) -> Array:
        """Probability of the positive class that goes with scores."""
        return np.asarray(expit(self.log_odds(scores)))

    def probabilities(self, scores: ArrayLike) -> Array:
        """Probability of each class, shape (n, 2), that goes with scores of shape (n,)."""
        log_odds = self.log_odds(scores)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def log_probabilities(self, scores: ArrayLike) -> Array:
        """Logarithm of :meth:`probabilities`, without overflow."""
        log_odds = self.log_odds(scores)
        return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])

    def predict(self, scores: ArrayLike, cut: float = 0.0) -> NDArray[Any]:
        """Labels that go with scores: the positive one above the cut."""
        return np.asarray(self.classes[(np.asarray(scores) > cut).astype(np.intp)])


def _read_only(values: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    # no copy: an estimator makes a scorer for each call, and weights may be many
    view = np.asarray(values, dtype).view()
    view.flags.writeable = False
    return view


def match_log_odds(gap: float, middle: float, variance: float, prior_odds: float) -> tuple[float, float]:
    """Intercept and slope that make log-odds of scores, from the moments of normal scores of one variance.

    With class means m₊, m₋ and a common variance v, the log-odds at s are
    ``(m₊ - m₋)/v · (s - (m₊ + m₋)/2) + log prior_odds``: slope (s + intercept).

    Parameters
    ----------
    gap, middle : float
        m₊ - m₋, not negative, and (m₊ + m₋)/2.
    variance : float
        v.
    prior_odds : float
        P(positive)/P(negative) before the score is seen.
    """
    log_prior = float(np.log(prior_odds))
    spread = max(variance, gap * gap / (2 * _MAX_LOG_ODDS))
    slope = gap / spread if gap > 0.0 and spread > 0.0 else 0.0
    if slope == 0.0:
        # a score that says nothing: the prior decides, at every score
        return -(middle - log_prior), 1.0
    return -(middle - log_prior / slope), slope
