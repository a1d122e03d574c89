"""PairwiseAUCClassifierCV: loss, scaling and penalties chosen by cross-validation."""

from __future__ import annotations

from typing import Any, Literal

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
    """:class:`PairwiseAUCClassifier` whose loss and penalties are those that rank held-out rows best.

    With nothing set it needs no knowledge of the data. It tries losses, columns as they are and standardised,
    and penalties over eight decades, in K-fold cross-validation; ``choice_`` says in a sentence what it took
    and why. The search has stages: first l2 by decades for each loss and scaling, then the values beside the
    best of each loss, and for a part of the ROC curve then larger parts, down to the one that is asked for.

    Parameters
    ----------
    loss : str or PairLoss, default="auto"
        ``"auto"`` tries ``"hinge"``, ``"squared_hinge"`` and ``"squared"``. Of each it takes what has the
        highest mean held-out score, and of these the first that is no further behind the best than one standard
        error of the difference, paired by fold. Otherwise as for :class:`PairwiseAUCClassifier`.
    l1_grid : sequence of float or int, optional
        Values of l1 to try; by default 0 alone (ridge). A whole number k asks for 0 and k values from the
        smallest that gives no weights at all down to a thousandth of it.
    l2_grid : sequence of float, optional
        Values of l2 to try; by default decades from 1e-6 to 100 times the mean diagonal of Σ, and two more
        beside the best of each loss.
    max_fpr, min_tpr, min_fpr : float
        The part of the ROC curve that held-out rows are scored by, as for :class:`PairwiseAUCClassifier`. What
        is fitted may be a larger part, of 3, 10 or 30 times ``max_fpr`` or the whole: few rows at the top may
        be too few to learn from. It is in ``region_``. Parts for which weights of zero are best are passed
        over. The squared loss is tried for the whole curve alone.
    equal_groups : bool, default=False
        With ``groups`` in :meth:`fit`, whether each group counts alike instead of each pair.
    cv : int, splitter or iterable of (train, test), default=5
        Number of stratified folds, a scikit-learn splitter or the splits themselves. With groups a number asks
        for folds that keep groups together.
    repeats : int, default=1
        How often to draw new folds, if ``cv`` is a number; 2 or 3 are worth their time below 5,000 rows.
    scoring : {"auto", "roc_auc"}, default="auto"
        What is maximised on held-out rows: the AUC of the pairs that count, within groups if there are groups
        and of the part of the ROC curve that is asked for (½ for a coin, 1 for all of it, as
        :func:`mbauc.metrics.partial_roc_auc` has it); or that of all pairs within groups in any case.
    one_standard_error : bool, default=False
        Take the largest penalties of the chosen loss within one standard error of the best, paired by fold.
        Costs up to a point of AUC on small data, and is for those who want few or small weights.
    scale : bool or "auto", default="auto"
        As for :class:`MBAClassifier`, decided once from all rows; ``"auto"`` also tries standardised columns
        where all penalties are ours to choose. ``cv_results_`` has what it came to: False, True, or ``"auto"``
        where columns of zeros and ones are left alone and others are not.
    penalty_factors, negative_rate, weights, tol, max_iter
        As for :class:`PairwiseAUCClassifier`.
    random_state : None, int, Generator or RandomState
        Seed of the folds, which are drawn at random.
    n_jobs, verbose
        As for :class:`PairwiseAUCClassifier`.

    Attributes
    ----------
    loss_ : str
        The loss chosen.
    l1_, l2_ : float
        The penalties chosen, for columns divided by ``scale_``.
    region_ : Region
        The part of the ROC curve that was fitted.
    choice_ : str
        What was chosen, and why.
    best_score_ : float
        Mean held-out score of the choice. As the highest of many it is a little too good.
    best_index_ : int
        Its place in ``cv_results_``.
    cv_results_ : dict of ndarrays
        As of ``GridSearchCV``, without times: ``param_loss``, ``param_scale``, ``param_max_fpr``, ``param_l1``,
        ``param_l2``, ``split0_test_score`` …, ``mean_test_score``, ``std_test_score``, ``rank_test_score`` and
        ``params``.
    n_splits_ : int
        Number of splits over all repeats.

    The others are as in :class:`PairwiseAUCClassifier`.

    Notes
    -----
    Time: that of a fit for each candidate and split, some 60 candidates with nothing set; each starts from the
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
