"""What a ranker has once a problem over pairs is solved: weights, threshold, probabilities."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_flag, check_number, check_whole
from mbauc.estimators.capabilities import check_capabilities
from mbauc.estimators.fitting import PairSettings, open_all_pairs
from mbauc.estimators.linear import ProbabilisticRanker, take_weights
from mbauc.estimators.scorer import LinearScorer, match_log_odds
from mbauc.estimators.source_fit import SourceRun, check_source, quadratic_state, show_auc, source_run
from mbauc.estimators.validation import check_factors, remember_columns
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.operator.from_source import require_column_room
from mbauc.pairs.operator.grouped import GroupedPairOperator
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.quadratic import Quadratic
from mbauc.rows.labels import source_classes
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import Source, has_groups
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import show_wait
from mbauc.runtime.seeds import check_seed
from mbauc.runtime.threads import thread_count
from mbauc.solvers import Solution
from mbauc.solvers.choice import Demand, SolverChoice, choose_for_rows
from mbauc.solvers.column_scales import Scaling, check_scale
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

#: Default optimality to reach from moments.
_GRAM_TOL = 1e-6
#: Default excess risk to reach from products.
_PRODUCT_TOL = 1e-4


class SolvedRanker(ProbabilisticRanker):
    """A ranker whose weights solve a problem over pairs; threshold and probabilities follow."""

    moments_: PairMoments
    solver_: SolverChoice
    solution_: Solution
    effective_sample_size_: tuple[float, float]
    #: l2 of each column in its own units; not known of an estimator that was restored without moments
    _ridge: Array | None = None
    #: whether the pairs are those within groups
    _within_groups = False

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2), columns in the order of ``classes_``.

        Computed in closed form from the class means and variances of the score and the base rate of the
        training data. Exact for normal scores of equal variance and few columns relative to rows; otherwise an
        approximation, mostly overconfident, because training scores are further apart than those of new rows.
        Calibration slopes on new rows (1 is right, less is overconfident) of exactly normal data: 1.00 with
        20,000 rows × 10 columns, 0.92 with 500 × 10, 0.51 with 500 × 100 and 0.21 with 300 × 200, lower still
        for weak signals; 0.5 to 0.8 with 20,000 rows of log-normal or binary columns. Where probabilities
        matter, calibrate them on held-out rows, for example with
        ``sklearn.calibration.CalibratedClassifierCV``; ``ensemble=False`` keeps the ranking.
        """
        return super().predict_proba(X)

    @classmethod
    def restore(
        cls,
        scorer: LinearScorer,
        settings: Mapping[str, Any] | None = None,
        *,
        l1: float | None = None,
        l2: float | None = None,
    ) -> Self:
        """Build a fitted estimator from the weights of a scorer.

        ``solution_`` and ``n_iter_`` are not available.

        Parameters
        ----------
        scorer : LinearScorer
            The weights, as returned by :meth:`scorer`; they are copied.
        settings : dict, optional
            Parameters of the estimator.
        l1, l2 : float, optional
            Penalties of the original fit, for ``l1_`` and ``l2_``.
        """
        ranker = cls(**(settings or {}))
        take_weights(ranker, scorer)
        for name, value in (("l1_", l1), ("l2_", l2)):
            if value is not None:
                setattr(ranker, name, value)
        ranker.solver_ = SolverChoice("matrix-free", "the weights were given")
        return ranker

    # -- shared by the ways to fit ---------------------------------------------------------------------

    def _check_settings(self) -> None:
        """Raise for settings that no data could make sense of, before any work."""
        check_number("negative_rate", self.negative_rate, low=0.0, high=1.0, open_low=True)
        if self.tol is not None:
            check_number("tol", self.tol, low=0.0, open_low=True)
        check_whole("max_iter", self.max_iter)
        check_scale(self.scale)
        for name in ("within_block", "one_standard_error", "equal_groups", "within_groups"):
            check_flag(name, getattr(self, name, False))
        check_choice("weights", self.weights, ("sampling", "frequency"))
        check_seed(self.random_state)
        thread_count(self.n_jobs)

    def _check_penalties(self) -> None:
        """Raise for penalties that are none."""
        check_number("l1", self.l1, low=0.0)
        if not isinstance(self.l2, str):
            check_number("l2", self.l2, low=0.0)
        elif str(self.l2) != "auto":
            raise ValueError(f"l2 must be a number of at least 0 or 'auto', got {self.l2!r}.")

    def _asked(self, grouped: bool) -> dict[str, Any]:
        """What is asked of a way of fitting: the parameters, and whether there are groups."""
        return {**self.get_params(deep=False), "groups": grouped}

    def _penalties_are_chosen(self) -> bool:
        """Whether all penalties are ours to choose, so that the units they are in are ours as well."""
        return isinstance(self.l2, str) and self.l1 == 0

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
                resume = run.load_state(pairs, quadratic_state(l1, l2))
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
        self._within_groups = isinstance(pairs, GroupedPairOperator) or (
            isinstance(pairs, PairMoments) and pairs.is_grouped
        )
        self._set_scale(problem.scales, problem.factors)

    def _set_weights(self, coef: Array, intercept: float, slope: float) -> None:
        self.coef_, self.intercept_, self.slope_ = coef[None, :], np.array([intercept]), slope
        self.__dict__.pop("calibration_", None)  # it was for other scores

    def _set_scale(self, scales: Array, factors: Array) -> None:
        self.scale_, self._ridge = scales, self.l2_ * factors * scales**2

    def _fit_source(
        self,
        source: Source,
        memory: str | int | None,
        checkpoint: str | os.PathLike[str] | None,
        **options: Any,
    ) -> Self:
        """Fit to a source of blocks within a given memory, resuming where there is a checkpoint."""
        self._check_settings()
        check_source(source)
        check_capabilities("source", self._asked(has_groups(source)))
        limit = parse_memory(memory)
        require_column_room(source.n_features, limit)
        with source_run(checkpoint, self.get_params(deep=False), source) as run:
            rows = rows_in_source(source, show=run.show, observe=show_auc, checkpoint=run.checkpoint)
            self._fit_parts(rows, run, limit, limited=memory is not None, **options)
        self.classes_ = source_classes(source.classes)
        remember_columns(self, rows.schema)
        return self

    def _fit_parts(
        self,
        rows: PartedRows,
        run: SourceRun | None = None,
        memory: int | None = None,
        *,
        limited: bool = False,
        **options: Any,
    ) -> NDArray[Any]:
        """Solve for the pairs of rows, whoever holds them; returns the classes."""
        run = run or SourceRun(None, self.n_jobs, bool(self.verbose))
        return self._fit_rows(rows, run, parse_memory(None) if memory is None else memory, limited, **options)

    def _fit_rows(self, rows: PartedRows, run: SourceRun, memory: int, limited: bool) -> NDArray[Any]:
        """Solve for the pairs of rows with the solver that suits them; returns the classes."""
        raise NotImplementedError

    def _fit_all_pairs(
        self, rows: PartedRows, demand: Demand, run: SourceRun, memory: int, limited: bool
    ) -> NDArray[Any]:
        """Solve Eq. (14) for all pairs of rows; returns the classes."""
        factors = check_factors(self.penalty_factors, rows.schema.n_features)
        # what is free may have changed since an earlier run, and rows may be in its states by now
        name, reason = run.make_once(
            "solver", lambda: choose_all_pairs_solver(rows, demand, memory, limited=limited)
        ).tolist()
        self.solver_ = SolverChoice(name, reason)
        settings = PairSettings.from_estimator(self, run.n_threads)
        with open_all_pairs(rows, name, settings, memory) as (pairs, classes):
            self._solve(pairs, factors, run)
        return classes


def choose_all_pairs_solver(
    rows: PartedRows, demand: Demand, memory: float, *, limited: bool = False
) -> SolverChoice:
    """The solver for all pairs of rows, or for those within groups."""
    if rows.grouped and rows.parts.kind != "memory":
        return SolverChoice("matrix-free", "groups may be spread over blocks, whose moments do not add up then")
    return choose_for_rows(rows, demand, memory, limited=limited)
