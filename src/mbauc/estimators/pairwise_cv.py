"""PairwiseAUCClassifierCV: loss, scaling and penalties chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.estimators.cross_validation.grids import default_l2_grid, list_l1, read_values
from mbauc.estimators.cross_validation.held_out import HeldOut
from mbauc.estimators.cross_validation.measure import Measure
from mbauc.estimators.cross_validation.problems import OperatorSplits, SplitProblems
from mbauc.estimators.cross_validation.results import Trial, paired_error, tabulate, take_simplest
from mbauc.estimators.cross_validation.search import PenaltySearch
from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings, build_operator
from mbauc.estimators.loss_ranker import LossRanker
from mbauc.estimators.pair_problems import PairProblems
from mbauc.estimators.validation import check_factors, restore_on_failure
from mbauc.losses import PairLoss, get_loss
from mbauc.metrics.intervals import Weights
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import PartedRows
from mbauc.solvers import Solution
from mbauc.solvers.choice import SolverChoice

Array = NDArray[np.float64]

#: Losses that are tried, the simplest first.
LOSSES_TRIED = ("squared", "squared_hinge", "hinge")
#: Default grid of l2, in units of the mean diagonal of Σ.
L2_MULTIPLES = np.logspace(-6, 2, 17)


class PairwiseAUCClassifierCV(PenaltySearch, LossRanker):
    """X"""

    choice_: str

    def __init__(
        self,
        loss: str | PairLoss = "auto",
        l1_grid: ArrayLike | int | None = None,
        l2_grid: ArrayLike | None = None,
        *,
        max_fpr: float = 1.0,
        min_tpr: float = 0.0,
        min_fpr: float = 0.0,
        equal_groups: bool = False,
        cv: Any = 5,
        repeats: int = 1,
        scoring: Literal["auto", "roc_auc"] = "auto",
        one_standard_error: bool = False,
        scale: bool | Literal["auto"] = "auto",
        penalty_factors: ArrayLike | None = None,
        negative_rate: float = 1.0,
        weights: Weights = "sampling",
        tol: float | None = None,
        max_iter: int = 1000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.loss = loss
        self.l1_grid = l1_grid
        self.l2_grid = l2_grid
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.min_fpr = min_fpr
        self.equal_groups = equal_groups
        self.cv = cv
        self.repeats = repeats
        self.scoring = scoring
        self.one_standard_error = one_standard_error
        self.scale = scale
        self.penalty_factors = penalty_factors
        self.negative_rate = negative_rate
        self.weights = weights
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
    ) -> PairwiseAUCClassifierCV:
        """Choose loss and penalties and fit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`PairwiseAUCClassifier.fit`. Held-out scores are weighted too.
        groups : array-like of shape (n,), optional
            The group of each row. Only pairs within a group are fitted and scored, and folds keep groups
            together; a splitter is given the groups as well. For folds by group over all pairs give the splits
            themselves: ``cv=GroupKFold().split(X, y, groups)``.

        Returns
        -------
        self
        """
        return self._search_block(X, y, sample_weight, groups, within_groups=groups is not None)

    # -- the steps of fit --------------------------------------------------------------------------------

    def _split_block(
        self, block: Block, rounds: list[list[Split]], settings: PairSettings, rng: np.random.Generator
    ) -> SplitProblems[PairProblems]:
        check_factors(self.penalty_factors, block.n_features)
        self.solver_ = SolverChoice("matrix-free", "the loss is no quadratic: Newton steps from products")
        return OperatorSplits(
            block,
            [split for splits in rounds for split in splits],
            lambda subset: build_operator(block, settings, rng, subset),
            self._make_problems,
            self._scaling(),
        )

    def _fit_folds(self, rows: PartedRows, rules: list[FoldRule]) -> None:
        check_factors(self.penalty_factors, rows.schema.n_features)
        self.solver_ = SolverChoice("matrix-free", "the loss is no quadratic: Newton steps from products")
        with self._pack(rows, rules) as repeats:
            self._decide_packed(repeats, self._make_problems)

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("scoring", self.scoring, ("auto", "roc_auc"))

    def _measure(self) -> Measure:
        return Measure(self._region(), bool(self.equal_groups)) if self.scoring == "auto" else Measure()

    def _list_trials(self, problem: PairProblems) -> list[Trial]:
        names = LOSSES_TRIED if self._chooses_loss() else [self.loss]
        scaling = self._scaling()
        trials = []
        for scale in ("auto", True) if isinstance(scaling, str) else [scaling]:
            squared = problem.squared(scale)
            if self.l2_grid is None:
                l2 = default_l2_grid(squared.variances, L2_MULTIPLES).tolist()
            else:
                l2 = read_values("l2_grid", self.l2_grid)
            trials += [
                Trial(list_l1(self.l1_grid, squared.largest_l1), l2, get_loss(name), scale) for name in names
            ]
        return trials

    def _score(
        self, splits: SplitProblems[PairProblems], held_out: HeldOut, trials: list[Trial]
    ) -> dict[str, Any]:
        tol, max_iter = self._tolerance(), int(self.max_iter)

        def solve(problems: PairProblems) -> Array:
            grids = [
                problems.of(trial.loss, trial.scale).grid(trial.l1, trial.l2, tol=tol, max_iter=max_iter)
                for trial in trials
            ]
            return np.concatenate([W.reshape(-1, W.shape[-1]) for W in grids])

        found = held_out.score(splits, solve, with_auc=True, with_moments=False)
        return tabulate(trials, np.array([one.auc for one in found]))

    def _choose(self, results: dict[str, Any]) -> int:
        mean = results["mean_test_score"]
        return int(np.argmax(mean))

    def _solve_chosen(
        self, problem: PairProblems, trial: Trial, l1: float, l2: float
    ) -> tuple[Any, Solution]:
        self.loss_ = trial.loss.name
        chosen = problem.of(trial.loss, trial.scale)
        return chosen, chosen.solve(l1, l2, tol=self._tolerance(), max_iter=int(self.max_iter))
