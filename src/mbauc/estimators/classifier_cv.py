"""MBAClassifierCV: penalties chosen by cross-validation in one pass over the data."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.estimators.cross_validation.folded_splits import FoldedSplits
from mbauc.estimators.cross_validation.grids import (
    L2_GRID,
    count_l1,
    default_l2_grid,
    list_l1,
    read_values,
)
from mbauc.estimators.cross_validation.held_out import (
    HeldOut,
    HeldOutParts,
    ScoreRows,
    compare_binormal,
)
from mbauc.estimators.cross_validation.problems import MomentSplits, OperatorSplits, SplitProblems
from mbauc.estimators.cross_validation.results import Candidate, Trial, Tried
from mbauc.estimators.cross_validation.search import PenaltySearch
from mbauc.estimators.cross_validation.split_moments import accumulate_splits
from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings, build_operator
from mbauc.estimators.moment_ranker import MomentRanker
from mbauc.estimators.solved_ranker import choose_all_pairs_solver
from mbauc.estimators.source_fit import check_source_alone, is_source
from mbauc.estimators.validation import check_factors, restore_on_failure
from mbauc.metrics.intervals import Weights
from mbauc.pairs.quadratic import Quadratic
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.protocol import PartedRows
from mbauc.runtime.memory import parse_memory
from mbauc.solvers import Solution
from mbauc.solvers.choice import Demand, Solver, choose_for_rows
from mbauc.solvers.column_scales import Scaling
from mbauc.solvers.matrix_free.elastic_net import Judge
from mbauc.solvers.problem import Problem

Array = NDArray[np.float64]

Scoring = Literal["roc_auc", "binormal_auc", "risk"]


class MBAClassifierCV(PenaltySearch, MomentRanker):
    """:class:`MBAClassifier` with l1 and l2 selected by K-fold cross-validation, in one pass over the data.

    The moments of each fold are accumulated once; those of a training set are the total minus its held-out
    fold. So the cost of reading the rows does not grow with the number of folds and grid points. Each grid
    point is scored on the held-out folds, and the best one is refitted to all rows.

    Parameters
    ----------
    l1_grid : sequence of float or int, optional
        Values of l1 to try; by default only 0 (ridge). An integer k stands for 0 and k values from max|μ| down
        to a thousandth of it.
    l2_grid : sequence of float, optional
        Values of l2 to try; by default 20 values from 1e-6 to 1000 times the mean diagonal of Σ, and smaller
        ones if a diagonal entry is below that range. A best value at the edge of the grid causes a warning.
    cv : int, splitter or iterable of (train, test), default=5
        Number of stratified folds, a scikit-learn splitter (grouped, time-ordered, …) or an iterable of splits.
        Where the training rows are not the complement of the test rows, as in a ``TimeSeriesSplit``, their
        moments are accumulated directly.
    repeats : int, default=1
        Number of repetitions with new random folds, if ``cv`` is a number; each takes one more pass.
    scoring : {"roc_auc", "binormal_auc", "risk"}, default="roc_auc"
        Held-out score to maximise: the AUC; the AUC implied by normal scores with the moments of the held-out
        rows; or the negative pairwise squared risk. The last two need no second pass over the rows, except for
        a few thousand to warn of heavy tails.
    one_standard_error : bool, default=False
        Select the most regularised grid point whose score is within one standard error of the best.
    within_groups : bool, default=False
        Whether ``groups`` in :meth:`fit` determines which pairs count, as in :meth:`MBAClassifier.fit`: only
        pairs within a group are fitted and scored, and folds keep groups together. Otherwise groups are passed
        to the splitter only, and are an error without a splitter: with a number as ``cv``, and on clusters. A
        source with groups always uses the pairs within groups.
    equal_groups : bool, default=False
        With ``within_groups``, whether groups have equal weight instead of pairs.
    pairs, pairing, batch_size, scale, penalty_factors, negative_rate, weights
        As for :class:`MBAClassifier`. A number of pairs is divided among the folds.
    solver, tol, max_iter
        As for :class:`MBAClassifier`.
    random_state : int, Generator, RandomState or None
        Seed of the random folds and of sampled pairs.
    n_jobs, verbose
        As for :class:`MBAClassifier`.

    Attributes
    ----------
    l1_, l2_ : float
        The selected penalties.
    best_score_ : float
        Mean held-out score of the selected penalties.
    best_index_ : int
        Index of the selected penalties in ``cv_results_``.
    cv_results_ : dict of ndarrays
        As of ``GridSearchCV``, without times: ``param_l1``, ``param_l2``, ``split0_test_score`` …,
        ``mean_test_score``, ``std_test_score``, ``rank_test_score``, ``params``; also the mean held-out
        ``mean_test_binormal_auc`` and ``mean_test_risk``. With over 10,000 held-out rows the AUC is exact to
        1e-5: penalties that rank a sample of the rows alike share one value. With the matrix-free solver and
        the default ``l2_grid``, values of l2 far below the best may be skipped: their scores are NaN and their
        rank is the last.
    n_splits_ : int
        Number of splits over all repeats.

    All other attributes are as in :class:`MBAClassifier`.

    See Also
    --------
    MBAClassifier : ``l2="auto"`` selects l2 in closed form, without folds.
    PairwiseAUCClassifierCV : also selects the loss.

    Notes
    -----
    Time: one fit, plus ``O(d³)`` per split for the whole ``l2_grid``, plus one product and one sort per grid
    point and row for ``scoring="roc_auc"``. Memory: one set of moments per fold, and two more.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mbauc import MBAClassifierCV
    >>> X, y = make_classification(2000, n_features=50, weights=[0.9], random_state=0)
    >>> ranker = MBAClassifierCV(random_state=0).fit(X, y)
    >>> round(ranker.best_score_, 3)
    0.986
    >>> ranker.cv_results_["mean_test_score"].shape
    (20,)
    """

    def __init__(
        self,
        l1_grid: ArrayLike | int | None = None,
        l2_grid: ArrayLike | None = None,
        *,
        cv: Any = 5,
        repeats: int = 1,
        scoring: Scoring = "roc_auc",
        one_standard_error: bool = False,
        within_groups: bool = False,
        equal_groups: bool = False,
        pairs: int | Literal["all"] = "all",
        pairing: Literal["matched", "complete"] = "matched",
        batch_size: int = 1024,
        scale: bool | Literal["auto"] = "auto",
        penalty_factors: ArrayLike | None = None,
        negative_rate: float = 1.0,
        weights: Weights = "sampling",
        solver: Solver = "auto",
        tol: float | None = None,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.l1_grid = l1_grid
        self.l2_grid = l2_grid
        self.cv = cv
        self.repeats = repeats
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.within_groups = within_groups
        self.equal_groups = equal_groups
        self.pairs = pairs
        self.pairing = pairing
        self.batch_size = batch_size
        self.scale = scale
        self.penalty_factors = penalty_factors
        self.negative_rate = negative_rate
        self.weights = weights
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @restore_on_failure
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select the penalties by cross-validation and refit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`MBAClassifier.fit`. Held-out scores are weighted as well.
        groups : array-like of shape (n,), optional
            Group of each row. Unlike in :meth:`MBAClassifier.fit` it is only passed to the splitter given as
            ``cv``, unless ``within_groups=True``: then only pairs within a group count.

        Returns
        -------
        self
        """
        if is_source(X):
            check_source_alone(y, sample_weight, groups)
            return self.fit_source(X)
        return self._search_block(X, y, sample_weight, groups, within_groups=bool(self.within_groups))

    # -- the steps of fit --------------------------------------------------------------------------------

    def _make_problem(self, pairs: Quadratic, scale: Scaling) -> Problem:
        return Problem(pairs, check_factors(self.penalty_factors, pairs.n_features), scale=scale)

    def _split_block(
        self, block: Block, rounds: list[list[Split]], settings: PairSettings, rng: np.random.Generator
    ) -> SplitProblems[Problem]:
        check_factors(self.penalty_factors, block.n_features)
        demand = self._demand(max(len(splits) for splits in rounds), len(rounds))
        self.solver_ = choose_for_rows(
            rows_in_memory(block), demand, parse_memory(None), sample=self._preview(block.X)
        )
        if self.solver_.name == "gram":
            total, parts = accumulate_splits(block, settings, rounds, rng)
            return MomentSplits(total, parts, self._make_problem, self._scaling())
        if FoldedSplits.suits(block, rounds, settings):
            return FoldedSplits(block, rounds, settings, self._make_problem, self._scaling())
        return OperatorSplits(
            block,
            [split for splits in rounds for split in splits],
            lambda subset: build_operator(block, settings, rng, subset),
            self._make_problem,
            self._scaling(),
        )

    def _held_out_block(self, block: Block, splits: SplitProblems[Problem]) -> Block:
        return splits.narrow_block() if isinstance(splits, FoldedSplits) else block

    def _fit_folds(self, rows: PartedRows, rules: list[FoldRule]) -> None:
        check_factors(self.penalty_factors, rows.schema.n_features)
        demand = self._demand(rules[0].n_folds, len(rules))
        self.solver_ = choose_all_pairs_solver(rows, demand, parse_memory(None))
        if self.solver_.name == "matrix-free":
            with self._pack(rows, rules) as repeats:
                self._decide_packed(repeats, self._make_problem, rows.grouped)
            return
        settings = PairSettings.from_estimator(self)
        threads = settings.task_threads if rows.parts.kind == "cluster" else settings.n_threads
        found = [sum_moments(rows, threads, rule, frequencies=settings.frequencies) for rule in rules]
        self.classes_ = found[0][1]
        splits = MomentSplits.from_folds([folds for folds, _ in found], self._make_problem, self._scaling())
        smaller = min(sum(fold.counts[side] for fold in found[0][0]) for side in (0, 1))
        self._decide(splits, HeldOutParts(smaller, [ScoreRows(rows, self.classes_, rule) for rule in rules]))

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("scoring", self.scoring, ("roc_auc", "binormal_auc", "risk"))

    def _demand(self, n_folds: int, repeats: int) -> Demand:
        """What these settings ask of a solver."""
        n_l2 = L2_GRID.size if self.l2_grid is None else len(read_values("l2_grid", self.l2_grid))
        return Demand(self.solver, n_l1=count_l1(self.l1_grid), n_l2=n_l2, n_folds=n_folds, repeats=repeats)

    def _try(self, splits: SplitProblems[Problem], held_out: HeldOut) -> Tried:
        tol, max_iter, with_auc = self._tolerance(), int(self.max_iter), self.scoring == "roc_auc"
        problem, grids = splits.problem, []
        l2 = default_l2_grid(problem.variances) if self.l2_grid is None else self.l2_grid
        trial = Trial(list_l1(self.l1_grid, problem), read_values("l2_grid", l2))

        in_use = isinstance(splits, FoldedSplits)

        def solve(problem: Problem, judge: Judge | None) -> Array:
            # who names penalties wants to see them all
            judge = judge if self.l2_grid is None else None
            W = problem.grid(trial.l1, trial.l2, tol=tol, max_iter=max_iter, judge=judge, in_use=in_use)
            W = W.reshape(-1, W.shape[-1])
            if not with_auc:
                grids.append(W)
            return W

        found = held_out.score(splits, solve, with_auc)
        binormal, risk = np.array([one.binormal for one in found]), np.array([one.risk for one in found])
        tables = {"binormal_auc": binormal, "risk": -risk}
        table = np.array([one.auc for one in found]) if with_auc else tables[self.scoring]
        tried = Tried.of([trial], table, binormal_auc=binormal, risk=risk)
        best = int(np.nanargmax(tried.means))
        actual = float(tried.means[best]) if with_auc else held_out.mean_auc([W[best] for W in grids])
        compare_binormal(actual, float(binormal.mean(axis=0)[best]), held_out.smaller)
        return tried

    def _choose(self, tried: Tried) -> int:
        best = int(np.nanargmax(tried.means))
        if not self.one_standard_error:
            return best
        error = tried.table[:, best].std() / np.sqrt(max(len(tried.table) - 1, 1))
        return tried.take_simplest(np.flatnonzero(tried.means >= tried.means[best] - error).tolist())

    def _solve_chosen(self, problem: Problem, chosen: Candidate) -> tuple[Problem, Solution]:
        tol, max_iter = self._tolerance(), int(self.max_iter)
        return problem, problem.solve(chosen.l1, chosen.l2, tol=tol, max_iter=max_iter)
