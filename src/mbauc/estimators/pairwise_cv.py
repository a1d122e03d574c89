"""PairwiseAUCClassifierCV: loss, scaling and penalties chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.estimators.cross_validation.held_out import HeldOut
from mbauc.estimators.cross_validation.loss_search import LossSearch, choose_candidate
from mbauc.estimators.cross_validation.measure import Measure
from mbauc.estimators.cross_validation.problems import OperatorSplits, SplitProblems
from mbauc.estimators.cross_validation.results import Candidate, Tried
from mbauc.estimators.cross_validation.search import PenaltySearch
from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings, build_operator
from mbauc.estimators.loss_ranker import LossRanker
from mbauc.estimators.pair_problems import PairProblems
from mbauc.estimators.validation import check_factors, restore_on_failure
from mbauc.losses import PairLoss, Region, get_loss
from mbauc.metrics.intervals import Weights
from mbauc.rows.block import Block
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import PartedRows
from mbauc.solvers import Solution
from mbauc.solvers.choice import SolverChoice

Array = NDArray[np.float64]

#: Losses that are tried, the one to prefer first.
LOSSES_TRIED = ("hinge", "squared_hinge", "squared")


class PairwiseAUCClassifierCV(PenaltySearch, LossRanker):
    """X"""

    choice_: str
    region_: Region

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
        block = self._pack_zeros(block)
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
            self._decide_packed(repeats, self._make_problems, rows.grouped)

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice("scoring", self.scoring, ("auto", "roc_auc"))

    def _measure(self) -> Measure:
        return Measure(self._region(), bool(self.equal_groups)) if self.scoring == "auto" else Measure()

    def _losses(self) -> list[PairLoss]:
        """Losses to try, the one to prefer first."""
        return [get_loss(loss) for loss in (LOSSES_TRIED if self._chooses_loss() else (self.loss,))]

    def _try(self, splits: SplitProblems[PairProblems], held_out: HeldOut) -> Tried:
        scaling = self._scaling()
        search = LossSearch(
            self._losses(),
            ("auto", True) if isinstance(scaling, str) else (scaling,),
            self._region(),
            self.l1_grid,
            self.l2_grid,
            self._tolerance(),
            int(self.max_iter),
        )
        return search.run(splits, held_out)

    def _choose(self, tried: Tried) -> int:
        n_folds = len(tried.table) // int(self.repeats)
        place, self.choice_ = choose_candidate(tried, self._losses(), n_folds, bool(self.one_standard_error))
        return place

    def _solve_chosen(self, problem: PairProblems, chosen: Candidate) -> tuple[Any, Solution]:
        loss = get_loss(chosen.loss or "squared")
        self.loss_, self.region_ = loss.name, chosen.region or Region()
        own = problem.of(loss, chosen.scale, self.region_)
        return own, own.solve(chosen.l1, chosen.l2, tol=self._tolerance(), max_iter=int(self.max_iter))
