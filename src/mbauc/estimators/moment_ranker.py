"""What both estimators on moments share: the way to moments, and what follows from a solution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mbauc.checks import check_choice, check_flag, check_number
from mbauc.estimators.linear import ProbabilisticRanker
from mbauc.estimators.scorer import LinearScorer, match_log_odds
from mbauc.estimators.source_fit import SourceRun
from mbauc.estimators.standard_errors.of_ranker import errors_from_moments, errors_from_rows
from mbauc.estimators.validation import check_factors
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic
from mbauc.pairs.sampling import check_sampling
from mbauc.rows.schema import Schema
from mbauc.runtime.progress import show_wait
from mbauc.runtime.threads import thread_count
from mbauc.solvers import Solution
from mbauc.solvers.choice import SolverChoice
from mbauc.solvers.column_scales import Scaling, check_scale, scale_columns
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

#: Default optimality to reach from moments.
_GRAM_TOL = 1e-6
#: Default excess risk to reach from products.
_PRODUCT_TOL = 1e-4


class MomentRanker(ProbabilisticRanker):
    """A ranker whose weights, threshold, probabilities and standard errors all come from moments."""

    moments_: PairMoments
    solver_: SolverChoice
    #: l2 of each column in its own units; not known of an estimator that was restored without moments
    _ridge: Array | None = None
    #: What ``pairs`` may be besides a number.
    _words_for_pairs: tuple[str, ...] = ("all",)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2), columns in the order of ``classes_``.

        In closed form from the class means and variances of the score and the share of positives in the data:
        right for normal scores of equal variance and columns that are few beside the rows, otherwise an
        approximation, and mostly an overconfident one, because the training rows' own scores lie further apart
        than those of others. Calibration slopes on new rows (1 is right, less is overconfident) of exactly
        normal data: 1.00 with 20,000 rows × 10 columns, 0.92 with 500 × 10, 0.51 with 500 × 100 and 0.21 with
        300 × 200, lower still for weak signals; 0.5 to 0.8 with 20,000 rows of log-normal or binary columns.
        Where probabilities matter, calibrate them on other rows, as
        ``sklearn.calibration.CalibratedClassifierCV`` around the estimator does; with ``ensemble=False`` the
        ranking stays the same.
        """
        return super().predict_proba(X)

    def coef_standard_errors(
        self, X: Any = None, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Array:
        """Standard error of each weight, shape (1, d): how much it would vary over data sets like this one.

        With the rows of the fit, by leaving out each of them once (jackknife), in closed form: for independent
        rows of any distribution, weights, ``within_block``, ``scale`` and any penalty. Without them, from the
        moments alone, as if the columns were normal in each class.

        Parameters
        ----------
        X, y, sample_weight : optional
            The rows that the fit was to, as they were given to it. A source of blocks is given alone; for a
            stream that decays or has pairs within blocks give the list of its blocks (X, y) or
            (X, y, sample_weight), alone and in order. Without the held-out rows after ``pairs="enough"``.

        Returns
        -------
        ndarray of shape (1, d)
            Zero for weights that are exactly zero: errors hold given the selected support. The bias of the
            penalty is not included, nor that ``l2="auto"`` is chosen anew for other data.

        Warns
        -----
        FewRowsWarning
            From moments, if a class counts for fewer than 100 rows, or 4 for each weight.

        Notes
        -----
        Stated over true error (1 is right) of the worst and the best of 5 columns with l2=0, 400 positives
        among 2,000 rows if not said otherwise, from 400 to 1,000 simulated data sets:

        ================================  ============  ============
        data                              from rows     from moments
        ================================  ============  ============
        normal                            0.98 to 1.05  0.97 to 1.04
        Student's t₅                      0.96 to 1.03  0.83 to 1.02
        Student's t₃                      0.98 to 1.08  0.59 to 1.06
        log-normal                        1.01 to 1.05  0.83 to 1.08
        binary                            0.98 to 1.03  0.87 to 1.08
        one-hot, 1% in the rarest         0.97 to 1.06  0.90 to 1.10
        log-normal, exponential weights   1.00 to 1.07  0.87 to 1.08
        log-normal, scale=True, l2=1      0.99 to 1.03  0.87 to 1.05
        log-normal, 1,000 matched pairs   1.03 to 1.14  0.89 to 1.04
        normal, 10 positives of 1,000     0.95 to 1.08  0.74 to 0.83
        log-normal, 10 positives          0.97 to 1.15  0.70 to 0.89
        normal, 10 positives, l2="auto"   0.72 to 0.93  0.60 to 0.77
        normal, 50 columns, 100 of 1,000  1.02 to 1.20  0.82 to 0.96
        ================================  ============  ============

        With a number of ``pairs`` the errors cover the draw as well; what matched pairs add to that is reckoned
        as for normal columns. Pairs within 10 blocks of 200 rows on levels 3 standard deviations apart: 0.96 to
        1.10; within 50 blocks of 20 rows, 4 of them positive: 1.01 to 1.17, since there a row is a good part of
        its block.

        The formulas are in :mod:`mbauc.estimators.standard_errors.jackknife`, ``O(n d²)`` time, two passes,
        sparse rows dense a few at a time; and in :mod:`mbauc.estimators.standard_errors.from_moments`,
        ``O(d³)``.
        """
        check_is_fitted(self)
        if X is None:
            return errors_from_moments(self, self._ridge)
        return errors_from_rows(self, self._ridge, X, y, sample_weight)

    @classmethod
    def restore(
        cls,
        scorer: LinearScorer,
        settings: Mapping[str, Any] | None = None,
        *,
        l1: float | None = None,
        l2: float | None = None,
        moments: PairMoments | None = None,
    ) -> Self:
        """A fitted estimator with the weights of a scorer, without a fit.

        It has not solved anything, so ``solution_`` and ``n_iter_`` are missing. With moments it can be updated
        (``partial_fit``) and has standard errors.

        Parameters
        ----------
        scorer : LinearScorer
            The weights, such as :meth:`scorer` returns them; they are copied.
        settings : dict, optional
            Parameters of the estimator.
        l1, l2 : float, optional
            Penalties that the weights were found with: ``l1_`` and ``l2_``. With moments l2 is needed.
        moments : PairMoments, optional
            Moments that the weights were found from.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from mbauc import MBAClassifier
        >>> X, y = make_classification(500, random_state=0)
        >>> ranker = MBAClassifier().fit(X, y)
        >>> again = MBAClassifier.restore(ranker.scorer())
        >>> bool((again.predict_proba(X) == ranker.predict_proba(X)).all())
        True
        """
        if scorer.slope is None:
            raise ValueError(f"scorer has no slope; {cls.__name__} needs one for its probabilities.")
        if moments is not None and (l2 is None or moments.n_features != scorer.n_features):
            raise ValueError(
                f"moments must be of the scorer's {scorer.n_features:,} columns and come with the penalty l2, "
                f"got those of {moments.n_features:,} with l2={l2!r}."
            )
        ranker = cls(**(settings or {}))
        ranker._set_weights(scorer.coef.copy(), scorer.intercept, scorer.slope)
        ranker.classes_ = np.array(scorer.classes)
        ranker.n_features_in_ = scorer.n_features
        if scorer.names is not None:
            ranker.feature_names_in_ = np.array(scorer.names, dtype=object)
        for name, value in (("l1_", l1), ("l2_", l2)):
            if value is not None:
                setattr(ranker, name, value)
        ranker.solver_ = SolverChoice("matrix-free" if moments is None else "gram", "the weights were given")
        if moments is not None:
            ranker.moments_ = moments
            ranker.effective_sample_size_ = moments.effective_sizes
            factors = check_factors(ranker.penalty_factors, scorer.n_features)
            ranker._set_scale(scale_columns(moments, ranker._scaling()), factors)
        return ranker

    # -- shared by the ways to fit ---------------------------------------------------------------------

    def _check_settings(self) -> None:
        """Raise for settings that no data could make sense of, before any work."""
        if isinstance(self.pairs, str) and self.pairs not in self._words_for_pairs:
            words = " or ".join(repr(word) for word in self._words_for_pairs)
            raise ValueError(f"pairs must be {words}, or a whole number of at least 1, got {self.pairs!r}.")
        check_sampling(1 if isinstance(self.pairs, str) else self.pairs, self.batch_size, self.pairing)
        check_number("negative_rate", self.negative_rate, low=0.0, high=1.0, open_low=True)
        if self.tol is not None:
            check_number("tol", self.tol, low=0.0, open_low=True)
        check_number("max_iter", self.max_iter, low=1)
        check_scale(self.scale)
        for name in ("within_block", "one_standard_error"):
            check_flag(name, getattr(self, name, False))
        check_choice("solver", self.solver, ("auto", "gram", "matrix-free"))
        check_choice("weights", self.weights, ("sampling", "frequency"))
        thread_count(self.n_jobs)

    def _penalties_are_chosen(self) -> bool:
        """Whether all penalties are ours to choose, so that the units they are in are ours as well."""
        raise NotImplementedError

    def _scaling(self) -> Scaling:
        """What to divide columns by; given penalties mean what Eq. (14) says, in the columns as they are."""
        if isinstance(self.scale, str) and not self._penalties_are_chosen():
            return False
        return "auto" if isinstance(self.scale, str) else bool(self.scale)

    def _tolerance(self) -> float:
        """``tol``, or what is sensible for the solver."""
        if self.tol is not None:
            return float(self.tol)
        return _GRAM_TOL if self.solver_.name == "gram" else _PRODUCT_TOL

    def _solve(self, pairs: Quadratic, factors: Array, run: SourceRun | None = None) -> None:
        """Solve for the penalties of the settings, and store the solution."""
        problem = Problem(pairs, factors, scale=self._scaling())
        l1, tol, max_iter = float(self.l1), self._tolerance(), int(self.max_iter)
        l2: Any = self.l2 if isinstance(self.l2, str) else float(self.l2)
        if isinstance(pairs, PairOperator):
            run = run or SourceRun(None, self.n_jobs, bool(self.verbose))
            with run.watch(pairs, tol) as watch:
                resume = run.load_state(pairs, l1, l2)
                solution = problem.solve(l1, l2, tol=tol, max_iter=max_iter, resume=resume, watch=watch)
        else:
            with show_wait(f"solving for {pairs.n_features:,} columns", show=bool(self.verbose)):
                solution = problem.solve(l1, l2, tol=tol, max_iter=max_iter)
        self._store_solution(problem, solution)

    def _store_solution(self, problem: Problem, solution: Solution) -> None:
        """Store a solved problem: weights, the threshold at probability ½, and where both came from."""
        pairs = problem.pairs
        if isinstance(pairs, PairMoments):
            self.moments_ = pairs
        elif hasattr(self, "moments_"):
            del self.moments_
        self.solution_ = solution
        self.n_iter_ = max(1, solution.iterations)
        self.l1_, self.l2_ = solution.l1, solution.l2
        # downsampled negatives stood for more of their kind
        prior_odds = pairs.weights[0] / (pairs.weights[1] / self.negative_rate)
        intercept, slope = match_log_odds(*pairs.summarise_scores(solution.coef), prior_odds)
        self._set_weights(solution.coef, intercept, slope)
        self.effective_sample_size_ = pairs.effective_sizes
        self._set_scale(problem.scales, problem.factors)

    def _set_weights(self, coef: Array, intercept: float, slope: float) -> None:
        self.coef_, self.intercept_, self.slope_ = coef[None, :], np.array([intercept]), slope

    def _set_scale(self, scales: Array, factors: Array) -> None:
        self.scale_, self._ridge = scales, self.l2_ * factors * scales**2

    def _remember_columns(self, schema: Schema) -> None:
        """Store how many columns there are, and their names."""
        self.n_features_in_ = schema.n_features
        # as scikit-learn has it: names are texts, and numbers are no names
        if schema.names is not None and all(isinstance(name, str) for name in schema.names):
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
