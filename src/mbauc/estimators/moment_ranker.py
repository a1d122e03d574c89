"""What both estimators on moments share: the way to moments, and what follows from a solution."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from mbauc.estimators.linear import ProbabilisticRanker
from mbauc.estimators.problem import Problem
from mbauc.inference import coefficient_standard_errors
from mbauc.moments import PairMoments
from mbauc.probability import ScoreModel
from mbauc.progress import Advance, silent
from mbauc.rows import Rows
from mbauc.sampling import check_sampling, draw_moments
from mbauc.settings import check_flag, check_number
from mbauc.solvers import Solution
from mbauc.threads import thread_count

Array = NDArray[np.float64]


class MomentRanker(ProbabilisticRanker):
    """A ranker whose weights, threshold, probabilities and standard errors all come from moments."""

    moments_: PairMoments

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2), columns in the order of ``classes_``.

        In closed form from the class means and variances of the score and the share of positives in the
        data: exact for normal scores of equal variance, otherwise an approximation. Wrap the estimator in
        ``sklearn.calibration.CalibratedClassifierCV`` where calibration matters.
        """
        return super().predict_proba(X)

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
        sizes = class_sizes(self.moments_)
        return coefficient_standard_errors(self.moments_, self.coef_[0], self._ridge, sizes)[None, :]

    # -- shared by the ways to fit ---------------------------------------------------------------------

    def _check_settings(self) -> None:
        """Raise for settings that no data could make sense of, before any work."""
        if isinstance(self.pairs, str) and self.pairs != "all":
            raise ValueError(f"pairs must be 'all' or a whole number of at least 1, got {self.pairs!r}.")
        check_sampling(1 if isinstance(self.pairs, str) else self.pairs, self.batch_size, self.pairing)
        check_number("negative_rate", self.negative_rate, low=0.0, high=1.0, open_low=True)
        check_number("tol", self.tol, low=0.0, open_low=True)
        check_number("max_iter", self.max_iter, low=1)
        for name in ("scale", "within_block", "one_standard_error"):
            check_flag(name, getattr(self, name, False))
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
        sizes = [rows.of_class(positive, subset).size for positive in (True, False)]
        if exact or 0 in sizes:
            moments = PairMoments._of_rows(rows, n_threads, subset, advance)
            # a block of one class has no pair to sample; matched pairs stay a set of their own
            return moments if exact or self.pairing == "complete" else moments.closed()
        return draw_moments(
            rows,
            int(self.pairs)
            if subset is None
            else max(1, round(int(self.pairs) * subset.size / rows.positive.size)),
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
        model = self._score_model(moments, w)
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

    def _score_model(self, moments: PairMoments, w: Array) -> ScoreModel:
        """Probabilities that go with the weights."""
        weights, means = moments.weights, moments.score_means(w)
        if moments.is_closed:
            # what classes differ in across blocks is not what w was fitted to
            gap, spread = moments.score_difference(w)
            variance = spread / 2
        else:
            gap = means[0] - means[1]
            variance = float(np.average(moments.score_variances(w), weights=weights))
        # downsampled negatives stood for more of their kind
        prior_odds = weights[0] / (weights[1] / self.negative_rate)
        return ScoreModel.fit(gap, (means[0] + means[1]) / 2, variance, prior_odds)


def class_sizes(moments: PairMoments) -> tuple[float, float]:
    """Rows that each class counts for, (positives, negatives).

    Weights are frequencies, so that a whole weight means the row repeated, unless that says less than
    their spread: weights that sum to one do not mean a single row. Rows that were drawn from others count
    for fewer than either.
    """
    if moments.is_sampled:
        return moments.effective_sizes
    plus, minus = (max(pair) for pair in zip(moments.weights, moments.effective_sizes, strict=True))
    return plus, minus
