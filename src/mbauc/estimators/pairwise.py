"""PairwiseAUCClassifier: the linear ranker of any loss over all pairs, or over those at the top of the list."""

from __future__ import annotations

import os
from typing import Any, Literal, Self

from numpy.typing import ArrayLike, NDArray

from mbauc.estimators.capabilities import check_capabilities
from mbauc.estimators.fitting import PairSettings, open_all_pairs, open_rows
from mbauc.estimators.heavy_tails import warn_of_heavy_tails
from mbauc.estimators.loss_ranker import LossRanker
from mbauc.estimators.pair_problems import PairProblems
from mbauc.estimators.source_fit import SourceRun, check_source_alone, is_source
from mbauc.estimators.validation import (
    name_columns,
    remember_columns,
    require_pairs_within_groups,
    restore_on_failure,
    validate_training_data,
)
from mbauc.losses import PairLoss, get_loss
from mbauc.metrics.intervals import Weights
from mbauc.pairs.quadratic import Quadratic
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.source import Source
from mbauc.solvers.choice import Demand, SolverChoice, choose_for_rows
from mbauc.solvers.newton.descent import NEWTON_STATE


class PairwiseAUCClassifier(LossRanker):
    """Linear classifier that maximises AUC or partial AUC through a pairwise loss, such as the squared hinge.

    Minimises the mean of ℓ(w'x⁺ - w'x⁻) over all N₊·N₋ pairs plus l1 ‖w‖₁ + ½ l2 ‖w‖₂², by truncated Newton
    steps from the solution for the squared loss. Pairs are never formed: value, gradient and Hessian products
    take ``O(n log n)``. ``loss="squared"`` is that of :class:`MBAClassifier`, which needs one pass over the
    rows and supports streams, sampled pairs and standard errors. The other losses do not penalise pairs that
    are ranked correctly by a large margin, and so rank better where scores have heavy tails.

    Parameters
    ----------
    loss : str or PairLoss, default="squared_hinge"
        ``"squared_hinge"``, ½(1 - m)₊² of the margin m of a pair; ``"hinge"``, (1 - m)₊ with a rounded kink;
        ``"logistic"``, log(1 + exp(-m)); ``"exponential"``, exp(-m); ``"squared"``, ½(1 - m)²; or a loss of
        :mod:`mbauc.losses`. :class:`PairwiseAUCClassifierCV` selects it by cross-validation.
    l1 : float, default=0.0
        Strength of the ℓ1 penalty ‖w‖₁. Increase it for sparser weights.
    l2 : float or "auto", default="auto"
        Strength of the ℓ2 penalty ½ ‖w‖₂². ``"auto"`` takes the closed-form value of :class:`MBAClassifier` for
        the squared loss, times the mean second derivative of the loss over the pairs at that solution (1 for
        the squared loss), so that penalty and loss stay in proportion; it is stored in ``l2_``. With few rows
        or many columns, cross-validation (:class:`PairwiseAUCClassifierCV`) finds a better value.
    max_fpr, min_tpr, min_fpr : float
        Region of the ROC curve for partial AUC: false-positive rates from ``min_fpr`` to ``max_fpr`` and
        true-positive rates of at least ``min_tpr``; by default the whole curve. The loss then contains only
        pairs of the highest-scored negatives and the lowest-scored positives, selected again at every step. It
        must be a decreasing loss, which excludes the squared one; the objective is convex if ``min_fpr`` is 0.
        Where most positives score below the highest negatives, weights of zero minimise the loss of a small
        region, above all with both ``max_fpr`` and ``min_tpr``. A warning says so, and the weights rank as
        those for the squared loss over all pairs do: fit to a larger region, or let
        :class:`PairwiseAUCClassifierCV` select it.
    equal_groups : bool, default=False
        With ``groups`` in :meth:`fit`, whether groups have equal weight instead of pairs.
    scale, penalty_factors, negative_rate, weights
        As for :class:`MBAClassifier`.
    tol : float, optional
        Stopping tolerance: the optimality gap of twice the objective (for the squared loss, of the regularised
        pairwise risk); by default 1e-4. The gap reached is in ``solution_``, with a bound; for a region of the
        ROC curve it is estimated from the latest steps.
    max_iter : int, default=1000
        Maximum number of sweeps over the rows.
    random_state : int, Generator, RandomState or None
        Not used; the fit is deterministic.
    n_jobs, verbose
        As for :class:`MBAClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d)
        Weights of the columns (coefficients of the decision function).
    intercept_ : ndarray of shape (1,)
        Intercept, such that a score of 0 has probability ½.
    slope_ : float
        Log-odds per unit of ``decision_function``.
    classes_ : ndarray of shape (2,)
        Class labels, negative first.
    loss_ : str
        Name of the loss.
    solver_ : SolverChoice
        ``name`` of the solver and ``reason`` for its choice.
    solution_ : Solution
        Objective, optimality gap and iterations, for columns divided by ``scale_``.
    n_iter_ : int
        Number of sweeps over the rows.
    l1_, l2_ : float
        The penalties used.
    scale_ : ndarray of shape (d,)
        Divisors of the columns for the penalty.
    effective_sample_size_ : (float, float)
        Effective number of rows of each class (positives, negatives), given weights.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X had column names.

    See Also
    --------
    PairwiseAUCClassifierCV : selects loss and penalties by cross-validation.
    MBAClassifier : the squared loss, in one pass.

    Notes
    -----
    Time: that of some dozen products with the rows, ``O(nd)`` or ``O(Σk)`` for sparse rows with k entries, and
    of as many sorts of n scores. Memory: a few vectors of n numbers, and 2 or 4 bytes for each entry of a
    sparse X.

    References
    ----------
    Joachims 2002, Optimizing search engines using clickthrough data; Lee and Lin 2014, Large-scale linear
    RankSVM; Narasimhan and Agarwal 2013, A structural SVM based approach for optimizing partial AUC.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mbauc import PairwiseAUCClassifier
    >>> from mbauc.metrics import partial_roc_auc, roc_auc
    >>> X, y = make_classification(5000, weights=[0.95], flip_y=0.02, random_state=0)
    >>> ranker = PairwiseAUCClassifier().fit(X[:4000], y[:4000])
    >>> round(roc_auc(y[4000:], ranker.decision_function(X[4000:])), 3)
    0.949

    Partial AUC, for low false-positive rates:

    >>> X, y = make_classification(
    ...     20_000, weights=[0.95], flip_y=0.02, n_informative=6, n_clusters_per_class=3, random_state=1
    ... )
    >>> for max_fpr in (1.0, 0.3):
    ...     ranker = PairwiseAUCClassifier(max_fpr=max_fpr).fit(X[:10_000], y[:10_000])
    ...     s = ranker.decision_function(X[10_000:])
    ...     print(f"{partial_roc_auc(y[10_000:], s, max_fpr=0.05):.3f}")
    0.694
    0.716
    """

    def __init__(
        self,
        loss: str | PairLoss = "squared_hinge",
        l1: float = 0.0,
        l2: float | Literal["auto"] = "auto",
        *,
        max_fpr: float = 1.0,
        min_tpr: float = 0.0,
        min_fpr: float = 0.0,
        equal_groups: bool = False,
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
        self.l1 = l1
        self.l2 = l2
        self.max_fpr = max_fpr
        self.min_tpr = min_tpr
        self.min_fpr = min_fpr
        self.equal_groups = equal_groups
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
        """Fit to all rows at once; any earlier fit is discarded.

        Parameters
        ----------
        X, y, sample_weight
            As for :meth:`MBAClassifier.fit`.
        groups : array-like of shape (n,), optional
            Group of each row, such as a query, a user or a day. Only pairs within a group count. Groups with
            only one class have no pairs and cause a warning.

        Returns
        -------
        self
        """
        if is_source(X):
            check_source_alone(y, sample_weight, groups)
            return self.fit_source(X)
        self._check_settings()
        check_capabilities("memory", self._asked(groups is not None))
        block, classes = validate_training_data(self, X, y, sample_weight, groups=groups, reset=True)
        require_pairs_within_groups(block)
        with name_columns(X):
            self._fit_parts(rows_in_memory(block if self._is_quadratic() else self._pack_zeros(block)))
        if self._penalties_are_chosen():
            warn_of_heavy_tails(block.X, getattr(self, "feature_names_in_", None))
        self.classes_ = classes
        return self

    @restore_on_failure
    def fit_source(
        self,
        source: Source,
        *,
        memory: str | int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit out of core to a source of blocks, such as files of any size, within a memory budget.

        One pass packs the rows to 2 or 4 bytes an entry, in memory if they fit and otherwise in a file; each
        step takes several sweeps over them. Scores and their order take up to 140 bytes per row of memory, and
        90 more with groups; ``memory`` must have room for them.

        Parameters
        ----------
        source, memory, checkpoint
            As for :meth:`MBAClassifier.fit_source`.

        Returns
        -------
        self
        """
        return self._fit_source(source, memory, checkpoint)

    @restore_on_failure
    def fit_parts(self, rows: PartedRows) -> Self:
        """Fit to rows in parts, such as those of a cluster; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

        Each sweep over the rows is one job; the driver holds vectors with one number per row.

        Parameters
        ----------
        rows : PartedRows
            Parts of rows with their metadata.

        Returns
        -------
        self
        """
        self._check_settings()
        check_capabilities("cluster", self._asked(rows.grouped))
        self.classes_ = self._fit_parts(rows)
        remember_columns(self, rows.schema)
        return self

    # -- the steps of fit --------------------------------------------------------------------------------

    def _fit_rows(self, rows: PartedRows, run: SourceRun, memory: int, limited: bool) -> NDArray[Any]:
        self.loss_ = get_loss(self.loss).name
        demand = Demand("auto", n_l1=int(self.l1 > 0), given_l2=not isinstance(self.l2, str))
        if self._is_quadratic():
            return self._fit_all_pairs(rows, demand, run, memory, limited)
        quadratic = self._start_from(rows, demand, memory)
        self.solver_ = SolverChoice("matrix-free", "this loss is no quadratic: Newton steps from products")
        settings = PairSettings.from_estimator(self, run.n_threads)
        with open_rows(rows, settings, memory, other_loss=True) as (pairs, classes):
            self._solve_loss(self._make_problems(pairs, self._scaling(), quadratic), run)
        return classes

    def _start_from(self, rows: PartedRows, demand: Demand, memory: int) -> Quadratic | None:
        """Moments of rows in memory, where the squared loss is solved faster with them."""
        if rows.parts.kind != "memory" or choose_for_rows(rows, demand, memory).name != "gram":
            return None
        with open_all_pairs(rows, "gram", PairSettings.from_estimator(self), memory) as (moments, _):
            return moments

    def _solve_loss(self, problems: PairProblems, run: SourceRun) -> None:
        """Solve for the loss and the penalties of the settings, and store the solution."""
        loss, l1, tol, max_iter = get_loss(self.loss), float(self.l1), self._tolerance(), int(self.max_iter)
        problem, pairs = problems.newton(loss), problems.pairs
        with run.watch(pairs, tol) as watch:
            resume = run.load_state(pairs, NEWTON_STATE)
            start, l2 = None, self.l2
            if resume is None and isinstance(l2, str):
                l2, start = problems.choose_l2(loss, tol=tol, max_iter=max_iter)
            solution = problem.solve(
                l1, l2, tol=tol, max_iter=max_iter, start=start, resume=resume, watch=watch, always_rank=True
            )
        problem.warn_if_hardly_learned(solution)
        self._store_solution(problem, solution)

    def _check_settings(self) -> None:
        super()._check_settings()
        if self._chooses_loss():
            raise ValueError("loss='auto' is chosen by cross-validation; use PairwiseAUCClassifierCV.")
        self._check_penalties()
