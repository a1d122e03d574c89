"""MBAClassifier: the linear ranker of Eq. (14), from all pairs or a sample of them."""

from __future__ import annotations

import os
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from mbauc.checks import check_number
from mbauc.estimators.capabilities import check_capabilities
from mbauc.estimators.enough_pairs import PairsStep, fit_enough, forget_path
from mbauc.estimators.fitting import PairSettings, build_moments, build_operator, build_sample_pairs
from mbauc.estimators.heavy_tails import warn_of_heavy_tails
from mbauc.estimators.moment_ranker import MomentRanker
from mbauc.estimators.source_fit import SourceRun, check_source_alone, is_source
from mbauc.estimators.validation import (
    check_factors,
    name_columns,
    remember_columns,
    require_pairs_within_groups,
    restore_on_failure,
    validate_training_data,
)
from mbauc.metrics import AucInterval
from mbauc.metrics.grouped import warn_of_one_class_groups
from mbauc.metrics.intervals import Weights
from mbauc.pairs.grouped import grouped_moments
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.quadratic import Quadratic
from mbauc.rows.block import Block
from mbauc.rows.labels import check_classes
from mbauc.rows.parts.draw import draw_sample
from mbauc.rows.parts.memory import MemoryParts, rows_in_memory
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.schema import Schema
from mbauc.rows.source import Source
from mbauc.solvers.choice import Demand, Solver, SolverChoice, choose_for_rows


class MBAClassifier(MomentRanker):
    """Linear classifier that maximises AUC through the pairwise squared loss, with elastic-net regularisation.

    Minimises Eq. (14) of the MBA paper, ½ w'Σw - w'μ + l1 ‖w‖₁ + ½ l2 ‖w‖₂², where μ and Σ are the first two
    moments of the differences x⁺ - x⁻ between positive and negative rows, by default exactly over all N₊·N₋
    pairs in one pass over the data. There is no learning rate to tune.

    ``l1=0`` is MBA-ℓ2 (ridge), ``l2=0`` MBA-ℓ1 (lasso), both positive MBA-EL (elastic net). With ``l1=0`` the
    ranking is exactly that of ``RidgeClassifier(class_weight="balanced", alpha=n * l2 / 2)``.

    There is no ``class_weight``: each pair has one row of either class, so class weights multiply all pairs by
    the same factor and change nothing.

    Parameters
    ----------
    l1 : float, default=0.0
        Strength of the ℓ1 penalty, λ₁ of Eq. (14). Increase it for sparser weights; at max|μ| and above all are
        zero.
    l2 : float or "auto", default="auto"
        Strength of the ℓ2 penalty, λ₂ of Eq. (14). ``"auto"`` selects the value with the highest expected AUC
        on new rows, by a leave-one-out estimate in closed form from the moments
        (:mod:`mbauc.solvers.leave_one_out`), and stores it in ``l2_``. The ranking is then invariant to a
        common factor of all columns; for columns in different units see ``scale``.
    pairs : "all", "enough" or int, default="all"
        All pairs exactly, or a number S of pairs sampled with replacement (Algorithm 1). ``"enough"``
        determines S: it holds out some rows, samples 1,000 pairs from the others and doubles their number until
        two successive doublings have changed the held-out AUC by less than 0.001, with 95% confidence, or until
        using all pairs would cost no more. Only for ``fit``; the model is that of the last step, trained
        without the held-out rows.
    pairing : {"matched", "complete"}, default="matched"
        For sampled pairs: use the pairs as drawn (Eq. 16), or all pairs among the drawn rows of a batch.
    batch_size : int, default=1024
        Number of pairs sampled at a time. Bounds the memory; it affects the result only through rounding.
    decay : float, default=1.0
        Forgetting factor in (0, 1] by which the weights of earlier rows are multiplied at each ``partial_fit``;
        1 means no forgetting. Decrease it to follow drifting data.
    within_block : bool, default=False
        For ``partial_fit``: whether only pairs of rows from the same block are used (Section III), instead of
        all pairs of rows seen so far.
    equal_groups : bool, default=False
        With ``groups`` in :meth:`fit` or :meth:`partial_fit`, whether groups have equal weight instead of
        pairs.
    scale : bool or "auto", default="auto"
        Whether to standardise the columns for the penalty. ``True`` does so from the moments, as a preceding
        ``StandardScaler`` would; ``False`` does not. ``"auto"`` does not standardise unless the variances
        differ by more than rare one-hot levels explain (1,000 times the number of rows, or 1e10): then all
        columns but those of zeros and ones are standardised, so that units do not matter. Explicit values of l1
        or l2 always apply to the unscaled columns, unless ``scale=True``. ``coef_`` refers to the unscaled
        columns; the divisors are in ``scale_``.
    penalty_factors : array-like of shape (d,), optional
        Factor of both penalties for each feature; 0 leaves a feature unpenalised.
    negative_rate : float, default=1.0
        Fraction of the negatives in (0, 1] that was kept, if they were downsampled beforehand. Corrects
        probabilities and ``intercept_``; does not change the ranking.
    weights : {"sampling", "frequency"}, default="sampling"
        Meaning of ``sample_weight`` for the effective sample size, which ``l2="auto"`` and standard errors use.
        "sampling": inverse sampling probabilities or costs; their unit is irrelevant, and the effective size of
        a class is Kish's (Σw)²/Σw². "frequency": weight k stands for k equal rows.
    solver : {"auto", "gram", "matrix-free"}, default="auto"
        ``"gram"`` forms the d×d matrix Σ once and keeps it in ``moments_``; ``"matrix-free"`` only multiplies Σ
        with vectors, each product a sweep over the rows, and works for any number of columns but keeps no
        moments. ``"auto"`` estimates the time and memory of both; ``solver_`` records the choice and the
        reason. For dense rows it is mostly ``"gram"``, but ``"matrix-free"`` for hundreds of columns that are
        uncorrelated in a sample.
    tol : float, optional
        Stopping tolerance. With ``"gram"`` and l1 > 0 the violation of the optimality conditions (by default
        1e-6); matrix-free the optimality gap of the regularised pairwise risk (by default 1e-4), which costs
        about half as much AUC. The value reached is in ``solution_``; see :class:`mbauc.solvers.Solution`.
    max_iter : int, default=1000
        Maximum number of coordinate-descent sweeps (l1 > 0), or of products with Σ (matrix-free).
    random_state : int, Generator, RandomState or None
        Seed for sampling pairs, and for the rows held out by ``pairs="enough"``.
    n_jobs : int, optional
        Number of threads; by default as many as BLAS may use (all cores, unless limited).
    verbose : bool, default=False
        Show progress bars on a terminal.

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
    moments_ : PairMoments
        Moments of the training data; not available with the matrix-free solver.
    solver_ : SolverChoice
        ``name`` of the solver and ``reason`` for its choice.
    solution_ : Solution
        Objective, optimality gap and iterations, for columns divided by ``scale_``.
    n_iter_ : int
        Number of sweeps or products of the solver.
    l1_, l2_ : float
        The penalties used.
    scale_ : ndarray of shape (d,)
        Divisors of the columns for the penalty; see ``scale``.
    effective_sample_size_ : (float, float)
        Effective number of rows of each class (positives, negatives), given weights and decay.
    pairs_ : int or "all"
        Only with ``pairs="enough"``, as the next three: number of pairs at the last step, from which the
        weights were computed.
    pairs_path_ : list of PairsStep
        ``pairs``, ``rows``, ``auc``, ``interval``, ``gain`` and ``gain_interval`` of each step;
        :class:`mbauc.plots.EnoughPairsDisplay` draws them.
    held_out_ : ndarray of int
        Indices of the held-out rows: one in five of each class, at most 10,000, at least 100 or half of them.
    held_out_auc_ : AucInterval
        Held-out AUC of the final weights, with its 95% confidence interval.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X had column names.

    See Also
    --------
    MBAClassifierCV : chooses l1 and l2 by cross-validation.
    PairwiseAUCClassifier : other pairwise losses, and partial AUC.
    AdditiveAUCClassifier : curves and interactions instead of a linear score.

    Notes
    -----
    Time ``O(n d² + d³)`` for dense and ``O(Σk² + d³)`` for sparse rows with k entries; memory ``O(d²)`` besides
    X. Matrix-free ``O(nd)`` or ``O(Σk)`` a product, of which ridge takes a dozen and the elastic net a hundred;
    memory for 40 vectors over the columns that occur, and 2 or 4 bytes for each entry of a sparse X. With many
    float32 rows, products are in single precision and sums in double: the relative error of Σ is below 1e-6, in
    half the time. Pass float64 rows for full precision.

    References
    ----------
    Gultekin, Saha, Ratnaparkhi, Paisley: MBA: Mini-Batch AUC Optimization.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.metrics import roc_auc_score
    >>> from mbauc import MBAClassifier
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> ranker = MBAClassifier().fit(X[:4000], y[:4000])
    >>> round(roc_auc_score(y[4000:], ranker.decision_function(X[4000:])), 3)
    0.955

    A stream, block by block; the weights are as in a fit to all rows at once:

    >>> stream = MBAClassifier()
    >>> for start in range(0, 4000, 500):
    ...     stream = stream.partial_fit(X[start:start + 500], y[start:start + 500], classes=[0, 1])
    >>> bool(abs(stream.coef_ - ranker.coef_).max() < 1e-10)
    True
    """

    _words_for_pairs = ("all", "enough")

    pairs_: int | Literal["all"]
    pairs_path_: list[PairsStep]
    held_out_: NDArray[np.intp]
    held_out_auc_: AucInterval

    def __init__(
        self,
        l1: float = 0.0,
        l2: float | Literal["auto"] = "auto",
        *,
        pairs: int | Literal["all", "enough"] = "all",
        pairing: Literal["matched", "complete"] = "matched",
        batch_size: int = 1024,
        decay: float = 1.0,
        within_block: bool = False,
        equal_groups: bool = False,
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
        self.l1 = l1
        self.l2 = l2
        self.pairs = pairs
        self.pairing = pairing
        self.batch_size = batch_size
        self.decay = decay
        self.within_block = within_block
        self.equal_groups = equal_groups
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
        """Fit to all rows at once; any earlier fit is discarded.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n, d), or source
            Training data: dense of any real dtype and layout, CSR or CSC, or a pandas, polars or Arrow table. A
            source of blocks (:mod:`mbauc.readers`) includes labels and weights; see :meth:`fit_source`.
        y : array-like of shape (n,)
            Labels with two values; the larger (in sorted order) is positive, as for every classifier of
            scikit-learn: 1 of 0/1, but "ok" of "fraud"/"ok". To rank frauds above the rest, and for
            ``negative_rate`` to be about the rest, fit to ``y == "fraud"``.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; pair (i, j) has weight wᵢ wⱼ. See the parameter ``weights`` for their meaning.
        groups : array-like of shape (n,), optional
            Group of each row, such as a query, a user or a day. Only pairs within a group count. Groups with
            only one class have no pairs and cause a warning. (:class:`MBAClassifierCV` passes its groups to the
            splitter only, unless ``within_groups=True``.)

        Returns
        -------
        self
        """
        if is_source(X):
            check_source_alone(y, sample_weight, groups)
            return self.fit_source(X)
        self._check_settings()
        check_capabilities("memory", self._asked(groups is not None))
        forget_path(self)
        block, classes = validate_training_data(self, X, y, sample_weight, groups=groups, reset=True)
        require_pairs_within_groups(block)
        with name_columns(X):
            if self.pairs == "enough":
                factors = check_factors(self.penalty_factors, block.n_features)
                fit_enough(self, block, self._demand(), lambda pairs: self._solve(pairs, factors))
            else:
                self._fit_parts(rows_in_memory(block))
        if self.pairs != "enough" and self._penalties_are_chosen():
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
        keep_moments: bool = False,
    ) -> Self:
        """Fit out of core to a source of blocks, such as files of any size, within a memory budget.

        ``solver="gram"`` makes one pass. ``"matrix-free"`` makes one pass that packs the rows to 2 or 4 bytes
        an entry, in memory if they fit and otherwise in a file, and one sweep over the packed rows for each
        product. A number of ``pairs`` makes two passes and holds the sampled rows in memory; they are the same
        rows as :meth:`fit` samples.

        Parameters
        ----------
        source : Source
            Blocks of rows with their labels and weights; see :mod:`mbauc.readers`. It is read more than once
            and must start from the beginning each time.
        memory : str or int, optional
            Memory budget of the fit, such as ``"2GB"``; by default half of the free memory (in a container, of
            what remains of its limit). An error if vectors over the columns, or Σ with ``solver="gram"``, need
            more.
        checkpoint : path, optional
            Folder for the state of a long fit. After a kill, a crash or Ctrl-C the same call with the same
            folder resumes, with bit-identical results on the same kind of processor and libraries. Other
            settings, changed data and damaged files are an error. The folder is not deleted after the fit. With
            sampled pairs, ``random_state`` must be an integer or None.
        keep_moments : bool, default=False
            With ``solver="auto"``, whether to prefer ``"gram"`` where matrix-free would be faster, if the
            difference is a matter of seconds. Set it for models that are to be updated later.

        Returns
        -------
        self

        Examples
        --------
        >>> from mbauc import MBAClassifier
        >>> from mbauc.paper.clicks import ClickLog
        >>> ranker = MBAClassifier().fit_source(ClickLog(20_000, hash_dim=5000), memory="1GB")
        >>> ranker.solver_.name
        'matrix-free'
        """
        forget_path(self)
        return self._fit_source(source, memory, checkpoint, keep_moments=keep_moments)

    @restore_on_failure
    def fit_parts(self, rows: PartedRows) -> Self:
        """Fit to rows in parts, such as those of a cluster; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

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
        forget_path(self)
        self.classes_ = self._fit_parts(rows)
        remember_columns(self, rows.schema)
        return self

    def _fit_rows(
        self, rows: PartedRows, run: SourceRun, memory: int, limited: bool, keep_moments: bool = False
    ) -> NDArray[Any]:
        factors = check_factors(self.penalty_factors, rows.schema.n_features)
        settings = PairSettings.from_estimator(self, run.n_threads)
        if not settings.are_all and isinstance(rows.parts, MemoryParts):
            [block] = rows.parts.items
            self.solver_ = choose_for_rows(rows, self._demand(), memory, sample=self._preview(block.X))
            draw = build_moments if self.solver_.name == "gram" else build_operator
            self._solve(draw(block, settings, self.random_state), factors, run)
            return np.asarray(rows.classes)
        if not settings.are_all:
            with rows.in_order() as ordered:
                sample, counts = draw_sample(ordered, int(self.pairs), run.seed(self.random_state))
            self.solver_ = choose_for_rows(rows, self._demand(), memory, sample=self._preview(sample.block.X))
            self._solve(build_sample_pairs(sample, counts, self.solver_.name, settings), factors, run)
            return counts.classes
        return self._fit_all_pairs(rows, self._demand(keep_moments), run, memory, limited)

    def _solve(self, pairs: Quadratic, factors: NDArray[np.float64], run: SourceRun | None = None) -> None:
        closed = pairs.closed() if self.within_block and isinstance(pairs, PairMoments) else pairs
        super()._solve(closed, factors, run)

    def _demand(self, keep_moments: bool = False) -> Demand:
        """What these settings ask of a solver."""
        return Demand(
            self.solver,
            n_l1=int(self.l1 > 0),
            given_l2=not isinstance(self.l2, str),
            needs_moments="within_block=True" if self.within_block else "",
            keep_moments=keep_moments,
        )

    @restore_on_failure
    def fit_moments(self, moments: PairMoments, classes: ArrayLike = (0, 1)) -> Self:
        """Fit to precomputed moments, such as those accumulated in blocks or merged from several machines.

        ``partial_fit`` can then add further rows.

        Parameters
        ----------
        moments : PairMoments
            Moments of rows of both classes.
        classes : sequence of two labels, default=(0, 1)
            Class labels; the larger is positive.

        Returns
        -------
        self
        """
        self._check_settings()
        if not isinstance(moments, PairMoments):
            raise ValueError(f"moments must be a PairMoments, got {type(moments).__name__}.")
        known = check_classes(classes)
        forget_path(self)
        self.solver_ = SolverChoice("gram", "the moments were given")
        factors = check_factors(self.penalty_factors, moments.n_features)
        self._solve(moments, factors)
        self.classes_ = known
        remember_columns(self, Schema(moments.n_features))
        return self

    @restore_on_failure
    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Update the fit with a block of rows (incremental learning).

        The weights of earlier rows are first multiplied by ``decay``. A block may hold one class only; the
        model can predict once both classes have been seen. The method is thread-safe: concurrent blocks are
        added one after the other, in no particular order.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        classes : sequence of two labels, optional
            All class labels. Required at the first call, unless its block holds both.
        sample_weight
            As for :meth:`fit`.
        groups : array-like of shape (n,), optional
            Group of each row, for all blocks or for none. Only pairs within a group and block count, so pass
            each group in a single block. Groups with one class in a block cause a warning.

        Returns
        -------
        self
        """
        self._check_settings()
        check_capabilities("stream", self._asked(groups is not None))
        forget_path(self)
        first = not hasattr(self, "moments_")
        if first and hasattr(self, "coef_"):
            raise ValueError(
                "this estimator was fitted matrix-free and has no moments to add a block to; "
                "fit with solver='gram', or make a new one for the stream."
            )
        self.solver_ = SolverChoice("gram", "the blocks of a stream add up to moments")
        known = self._resolve_classes(y, classes, first)
        block, known = validate_training_data(
            self, X, y, sample_weight, reset=first, classes=known, groups=groups
        )
        if not first and self.moments_.is_grouped != (groups is not None):
            had, has = ("groups", "none") if groups is None else ("no groups", "some")
            raise ValueError(f"earlier blocks had {had} and this one has {has}; give groups always or never.")
        seed = self.random_state
        if isinstance(seed, int | np.integer) and not first:
            # a block of its own draw, and the same one again for the same seed
            seed = np.random.default_rng([int(seed), sum(self.moments_.counts)])
        with name_columns(X):
            moments = self._sum_up(block, seed)
        if self.within_block:
            moments = moments.closed()
        if not first:
            moments = self.moments_.decayed(self.decay) + moments
        self.moments_ = moments
        self.effective_sample_size_ = moments.effective_sizes
        self.classes_ = known
        if moments.has_pairs:
            self._solve(moments, check_factors(self.penalty_factors, moments.n_features))
        return self

    def _sum_up(self, block: Block, seed: Any) -> PairMoments:
        """Moments of a block of a stream; groups that have no pair in it are warned of."""
        settings = PairSettings.from_estimator(self)
        if block.groups is None:
            return build_moments(block, settings, seed)
        found = grouped_moments(block, settings.n_threads, equal_groups=settings.equal_groups)
        warn_of_one_class_groups(found)
        return found.moments

    def _check_settings(self) -> None:
        super()._check_settings()
        self._check_penalties()
        check_number("decay", self.decay, low=0.0, high=1.0, open_low=True)

    def __sklearn_is_fitted__(self) -> bool:
        if hasattr(self, "coef_"):
            return True
        if hasattr(self, "moments_"):
            plus, minus = self.moments_.counts
            raise NotFittedError(
                f"this {type(self).__name__} has seen {plus:,} positive and {minus:,} negative rows and no "
                "pair yet; call partial_fit with rows of the other class first."
            )
        return False
