"""What a fitted linear ranker does, however its weights were found."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from mbauc.estimators.problem import Problem
from mbauc.estimators.validation import check_number, keeps_state_on_failure, validated_matrix
from mbauc.inference import coefficient_standard_errors
from mbauc.moments import PairMoments
from mbauc.probability import ScoreModel
from mbauc.progress import Advance, silent
from mbauc.rows import Rows
from mbauc.sampling import check_sampling, draw_moments
from mbauc.scoring import scores
from mbauc.solvers import Solution
from mbauc.threads import thread_count

Array = NDArray[np.float64]


class LinearRanker(ClassifierMixin, BaseEstimator):
    """Scoring, prediction and probabilities from ``coef_``, ``intercept_`` and ``slope_``."""

    classes_: NDArray[Any]
    coef_: Array
    intercept_: Array
    slope_: float
    moments_: PairMoments

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    @keeps_state_on_failure
    def decision_function(self, X: Any) -> Array:
        """Score of each row; the higher, the more likely positive, and above 0 more likely than not.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Rows to score, with the columns of the training data.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_is_fitted(self)
        X = validated_matrix(self, X, reset=False)
        return np.asarray(scores(X, self.coef_)[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """The likelier class of each row. To rank, use :meth:`decision_function`."""
        positive = self.decision_function(X) > 0
        return np.asarray(self.classes_[positive.astype(np.intp)])

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2), columns in the order of ``classes_``.

        In closed form from the class means and variances of the score and the share of positives in the
        data: exact for normal scores of equal variance, otherwise an approximation. Wrap the estimator in
        ``sklearn.calibration.CalibratedClassifierCV`` where calibration matters.
        """
        log_odds = self.decision_function(X) * self.slope_
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`, without overflow."""
        log_odds = self.decision_function(X) * self.slope_
        return np.column_stack([log_expit(-log_odds), log_expit(log_odds)])

    def coef_standard_errors(self) -> Array:
        """Standard error of each weight, shape (1, d), from the moments alone.

        How much the weights would vary over data sets like this one, assuming independent rows and
        class-conditionally normal features; the penalty's bias is not included, and weights that are
        exactly zero get zero.

        Notes
        -----
        Delta method on the stationarity condition of Eq. (14); the formula is in
        :mod:`mbauc.inference`. ``O(d³)``.
        """
        check_is_fitted(self)
        sizes, drawn = self.moments_.effective_sizes, None
        if not isinstance(self.pairs, str):
            sizes, drawn = self.moments_.weights, sizes
        return coefficient_standard_errors(self.moments_, self.coef_[0], self._ridge, sizes, drawn)[None, :]

    # -- shared by the ways to fit ---------------------------------------------------------------------

    def _check_settings(self) -> None:
        """Raise for settings that no data could make sense of, before any work."""
        if not (isinstance(self.pairs, str) and self.pairs == "all"):
            check_sampling(self.pairs, self.batch_size, self.pairing)
        check_sampling(1, self.batch_size, self.pairing)
        check_number("negative_rate", self.negative_rate, low=0.0, high=1.0, open_low=True)
        check_number("tol", self.tol, low=0.0, open_low=True)
        check_number("max_iter", self.max_iter, low=1)
        thread_count(self.n_jobs)

    def _moments_of(
        self,
        rows: Rows,
        random_state: Any,
        subset: NDArray[np.intp] | None = None,
        advance: Advance = silent,
    ) -> PairMoments:
        """Exact or sampled moments, as the settings say, of all rows or some."""
        n_threads = thread_count(self.n_jobs)
        exact = isinstance(self.pairs, str)
        used = rows.positive if subset is None else rows.positive[subset]
        if exact or used.all() or not used.any():
            moments = PairMoments._of_rows(rows, n_threads, subset, advance)
            # a block of one class has no pair to sample; matched pairs stay a set of their own
            return moments if exact or self.pairing == "complete" else moments.closed()
        return draw_moments(
            rows,
            max(1, round(self.pairs * used.size / rows.positive.size)),
            self.batch_size,
            self.pairing,
            random_state,
            n_threads,
            subset=subset,
            verbose=bool(self.verbose) and subset is None,
        )

    def _settle(self, moments: PairMoments, problem: Problem, solution: Solution, l1: float, l2: float) -> None:
        """Store a solved problem: weights, the threshold at probability ½, and where both came from."""
        w = solution.coef / problem.scales
        positive, negative = moments.weights
        shares = positive / (positive + negative), negative / (positive + negative)
        # downsampled negatives stood for more of their kind
        prior_odds = positive / (negative / self.negative_rate)
        model = ScoreModel.fit(moments.score_means(w), moments.score_variances(w), prior_odds, shares)
        self.moments_ = moments
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.l1_, self.l2_ = l1, l2
        self.coef_ = w[None, :]
        self.intercept_ = np.array([-model.threshold])
        self.slope_ = model.slope
        self.effective_sample_size_ = moments.effective_sizes
        self.scale_ = problem.scales
        self._ridge = l2 * problem.factors * problem.scales**2


def check_l1(l1: ArrayLike) -> float:
    """A checked λ₁."""
    return check_number("l1", l1, low=0.0)


def check_l2(l2: ArrayLike) -> float:
    """A checked λ₂."""
    return check_number("l2", l2, low=0.0)
