"""PairwiseAUCClassifierCV: loss, scaling and penalties chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice
from mbauc.estimators.cross_validation.held_out import HeldOut
from mbauc.estimators.cross_validation.loss_search import LossSearch, choose_candidate, describe
from mbauc.estimators.cross_validation.measure import Measure
from mbauc.estimators.cross_validation.problems import OperatorSplits, SplitProblems
from mbauc.estimators.cross_validation.results import Candidate, Tried
from mbauc.estimators.cross_validation.search import PenaltySearch
from mbauc.estimators.cross_validation.splits import Split
from mbauc.estimators.fitting import PairSettings, build_operator
from mbauc.estimators.loss_ranker import LossRanker
from mbauc.estimators.pair_problems import PairProblems
from mbauc.estimators.source_fit import check_source_alone, is_source
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
#: Weights up to which there are none, in scaled columns.
_NO_WEIGHT = 1e-12


class PairwiseAUCClassifierCV(PenaltySearch, LossRanker):
    """:class:`PairwiseAUCClassifier` with loss, penalties and scaling selected by cross-validation.

    By default it tries several losses, unscaled and standardised columns, and penalties over eight decades in
    K-fold cross-validation; ``choice_`` states the selection and the reason in a sentence. The search has
    stages: first l2 in decades for each loss and scaling, then a finer grid around the best of each loss and,
    for partial AUC, larger regions of the ROC curve down to the requested one.

    Parameters
    ----------
    loss : str or PairLoss, default="auto"
        ``"auto"`` tries ``"hinge"``, ``"squared_hinge"`` and ``"squared"``, each with the settings of its
        highest mean held-out score, and selects the first of them that is within one standard error of the best
        (of the difference, paired by fold). Otherwise as for :class:`PairwiseAUCClassifier`.
    l1_grid : sequence of float or int, optional
        Values of l1 to try; by default only 0 (ridge). An integer k stands for 0 and k values from the smallest
        l1 at which all weights are zero down to a thousandth of it.
    l2_grid : sequence of float, optional
        Values of l2 to try; by default decades from 1e-6 to 100 times the mean diagonal of Σ, and two more next
        to the best of each loss.
    max_fpr, min_tpr, min_fpr : float
        Region of the ROC curve for the held-out partial AUC, as for :class:`PairwiseAUCClassifier`. The loss
        may be fitted to a larger region, of 3, 10 or 30 times ``max_fpr`` or the whole curve, because a small
        region may contain too few rows; the region selected is in ``region_``. Regions whose loss is minimised
        by zero weights are skipped. The squared loss is tried only for the whole curve.
    equal_groups : bool, default=False
        With ``groups`` in :meth:`fit`, whether groups have equal weight instead of pairs.
    cv : int, splitter or iterable of (train, test), default=5
        Number of stratified folds, a scikit-learn splitter or an iterable of splits. With groups, a number
        gives folds that keep groups together.
    repeats : int, default=1
        Number of repetitions with new random folds, if ``cv`` is a number; 2 or 3 are worth the time below
        5,000 rows.
    scoring : {"auto", "roc_auc"}, default="auto"
        Held-out score to maximise. ``"auto"``: the AUC, within groups if there are groups; with a region of the
        ROC curve, the standardised partial AUC of :func:`mbauc.metrics.partial_roc_auc` (½ for random scores, 1
        for perfect ones). ``"roc_auc"``: the AUC over the whole curve in any case, within groups if there are
        groups.
    one_standard_error : bool, default=False
        Select the largest penalties of the chosen loss within one standard error of the best, paired by fold.
        For sparser or smaller weights; costs up to a point of AUC on small data.
    scale : bool or "auto", default="auto"
        As for :class:`MBAClassifier`, decided once from all rows; ``"auto"`` also tries standardised columns if
        no penalty values are given. ``cv_results_`` records the scaling used: False, True, or ``"auto"`` where
        all columns but those of zeros and ones are standardised.
    penalty_factors, negative_rate, weights, tol, max_iter
        As for :class:`PairwiseAUCClassifier`.
    random_state : int, Generator, RandomState or None
        Seed of the random folds.
    n_jobs, verbose
        As for :class:`PairwiseAUCClassifier`.

    Attributes
    ----------
    loss_ : str
        The selected loss.
    l1_, l2_ : float
        The selected penalties, for columns divided by ``scale_``.
    region_ : Region
        The region of the ROC curve to which the loss was fitted.
    choice_ : str
        The selection and the reason, in words.
    best_score_ : float
        Mean held-out score of the selection. As the maximum over many candidates it is slightly optimistic.
    best_index_ : int
        Index of the selection in ``cv_results_``.
    cv_results_ : dict of ndarrays
        As of ``GridSearchCV``, without times: ``param_loss``, ``param_scale``, ``param_max_fpr``, ``param_l1``,
        ``param_l2``, ``split0_test_score`` …, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` and
        ``params``.
    n_splits_ : int
        Number of splits over all repeats.

    All other attributes are as in :class:`PairwiseAUCClassifier`.

    See Also
    --------
    PairwiseAUCClassifier : one loss, with ``l2="auto"`` in closed form.
    MBAClassifierCV : the squared loss, in one pass.

    Notes
    -----
    Time: one fit for each candidate and split, some 60 candidates by default; each is warm-started from the
    solution for the squared loss.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mbauc import PairwiseAUCClassifierCV
    >>> X, y = make_classification(2000, n_features=50, weights=[0.9], random_state=0)
    >>> ranker = PairwiseAUCClassifierCV(random_state=0).fit(X, y)
    >>> ranker.loss_, round(ranker.best_score_, 3)
    ('hinge', 0.985)
    """

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
    ) -> Self:
        """Select loss and penalties by cross-validation and refit to all rows.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`PairwiseAUCClassifier.fit`. Held-out scores are weighted as well.
        groups : array-like of shape (n,), optional
            Group of each row. Only pairs within a group are fitted and scored, and folds keep groups together;
            groups are also passed to a splitter. For grouped folds over all pairs pass the splits:
            ``cv=GroupKFold().split(X, y, groups)``.

        Returns
        -------
        self
        """
        if is_source(X):
            check_source_alone(y, sample_weight, groups)
            return self.fit_source(X)
        return self._search_block(X, y, sample_weight, groups, within_groups=groups is not None)

    # -- the steps of fit --------------------------------------------------------------------------------

    def _split_block(
        self, block: Block, rounds: list[list[Split]], settings: PairSettings, rng: np.random.Generator
    ) -> SplitProblems[PairProblems]:
        check_factors(self.penalty_factors, block.n_features)
        self.solver_ = self._choose_products()
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
        self.solver_ = self._choose_products()
        with self._pack(rows, rules) as repeats:
            self._decide_packed(repeats, self._make_problems, rows.grouped)

    def _choose_products(self) -> SolverChoice:
        if self._is_quadratic():
            return SolverChoice("matrix-free", "one search for all losses; MBAClassifierCV has moments, too")
        return SolverChoice("matrix-free", "the loss is no quadratic: Newton steps from products")

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

    def _solve_best(self, problem: PairProblems, tried: Tried) -> tuple[int, tuple[Any, Solution]]:
        # a glance at a part of the curve may rank well on its way to weights of zero, which rank nothing
        lost: list[int] = []
        while True:
            best, found = super()._solve_best(problem, tried.without(lost))
            if self.region_.is_whole or tried.find(best).l1 > 0 or _has_weights(*found):
                break
            lost.append(best)
        if lost:
            said = ", ".join(describe(tried, place) for place in lost)
            self.choice_ = (
                f"{self.choice_[:-1]}; passed over, because weights of zero are best for all rows: {said}."
            )
        return best, found

    def _solve_chosen(self, problem: PairProblems, chosen: Candidate) -> tuple[Any, Solution]:
        loss = get_loss(chosen.loss or "squared")
        self.loss_, self.region_ = loss.name, chosen.region or Region()
        own = problem.of(loss, chosen.scale, self.region_)
        return own, own.solve(chosen.l1, chosen.l2, tol=self._tolerance(), max_iter=int(self.max_iter))


def _has_weights(problem: Any, solution: Solution) -> bool:
    """Whether weights are more than what is left on the way to zero, in scaled columns."""
    return bool(np.abs(solution.coef * problem.scales).max(initial=0.0) > _NO_WEIGHT)
