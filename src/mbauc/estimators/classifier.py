"""MBAClassifier: the linear ranker of Eq. (14), from all pairs or a sample of them."""

from __future__ import annotations

import os
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import NotFittedError

from mbauc.checks import check_number
from mbauc.estimators.capabilities import check_capabilities
from mbauc.estimators.enough_pairs import PairsStep, fit_enough, forget_path
from mbauc.estimators.fitting import (
    PairSettings,
    build_moments,
    build_operator,
    build_sample_pairs,
)
from mbauc.estimators.heavy_tails import warn_of_heavy_tails
from mbauc.estimators.moment_ranker import MomentRanker
from mbauc.estimators.source_fit import (
    SourceRun,
    check_source_alone,
    is_source,
)
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
from mbauc.rows.parts.protocol import PartedRows, Preview
from mbauc.rows.schema import Schema
from mbauc.rows.source import Source
from mbauc.solvers.choice import (
    Demand,
    Solver,
    SolverChoice,
    choose_for_rows,
)


class MBAClassifier(MomentRanker):
    """Linear ranker with the best pairwise squared loss: positives above negatives.

    Minimises Eq. (14) of the MBA paper, ½ w'Σw - w'μ + l1 ‖w‖₁ + ½ l2 ‖w‖₂², where μ and Σ are the first
    two moments of the differences x⁺ - x⁻, by default exactly over all N₊·N₋ pairs in one pass over the
    data. There is no learning rate and nothing to iterate over the rows.

    ``l1=0`` is MBA-ℓ2, ``l2=0`` MBA-ℓ1, both positive MBA-EL. With ``l1=0`` it ranks exactly like
    ``RidgeClassifier(class_weight="balanced", alpha=n * l2 / 2)``.

    There is no ``class_weight``: a class's weight multiplies every pair alike and cancels.

    Parameters
    ----------
    l1 : float, default=0.0
        λ₁ of Eq. (14). From max|μ| on, all weights are zero.
    l2 : float or "auto", default="auto"
        λ₂ of Eq. (14). ``"auto"`` takes the value that is expected to rank best on rows that were left out, in
        closed form from the moments (:mod:`mbauc.solvers.leave_one_out`). Multiplying all columns by one number
        does not change the ranking; for columns in different units see ``scale``. It is in ``l2_``.
    pairs : "all", "enough" or int, default="all"
        All pairs exactly, or a number S of pairs drawn with replacement (Algorithm 1). ``"enough"`` finds S:
        it holds out some rows, draws 1,000 pairs from the others and doubles them until two doublings in a
        row have moved the AUC of the held-out rows by less than 0.001, with 95% confidence, or until all pairs
        cost no more. For ``fit``; the model is the one of the last step, without the held-out rows.
    pairing : {"matched", "complete"}, default="matched"
        For sampled pairs: the pairs as drawn (Eq. 16), or all pairs among the drawn rows.
    batch_size : int, default=1024
        Sampled pairs a round; bounds the memory and changes nothing else but rounding.
    decay : float, default=1.0
        In (0, 1]: what earlier rows' weights are multiplied by at each ``partial_fit``; 1 forgets nothing.
    within_block : bool, default=False
        For ``partial_fit``: use only pairs whose rows came in the same block (Section III) instead of
        all pairs of rows seen so far.
    equal_groups : bool, default=False
        With ``groups`` in :meth:`fit` or :meth:`partial_fit`, whether each group counts alike instead of each
        pair.
    scale : bool or "auto", default="auto"
        ``True`` standardises the columns, from the moments, as a ``StandardScaler`` in front would; ``False``
        takes them as they are. ``"auto"`` takes them as they are unless their variances differ by more than
        rare levels of a category explain (1,000 times the number of rows, or 1e10): then columns other than
        those of zeros and ones are standardised, so that units do not matter. Penalties that are given, l1 or
        l2, always mean Eq. (14) in the columns as they are, unless ``scale=True``. ``coef_`` belongs to the
        columns as given; what they were divided by is in ``scale_``.
    penalty_factors : array-like of shape (d,), optional
        Multiplies both penalties feature by feature; 0 leaves a feature unpenalised.
    negative_rate : float, default=1.0
        In (0, 1]: share of the negatives kept, if they were downsampled before. Corrects probabilities and
        ``intercept_``; the ranking is the same.
    weights : {"sampling", "frequency"}, default="sampling"
        What ``sample_weight`` means where rows are counted: for ``l2="auto"`` and for standard errors.
        "sampling": how much a row matters, inverse probabilities or costs; their unit changes nothing, and a
        class counts for Kish's (Σw)²/Σw² rows. "frequency": weight k stands for k equal rows.
    solver : {"auto", "gram", "matrix-free"}, default="auto"
        From μ and Σ, a d×d matrix that is formed once and kept as ``moments_``; or from products of Σ with
        vectors, each a sweep over the rows, which keeps nothing but weights and takes any number of columns.
        ``"auto"`` estimates time and memory of both; ``solver_`` says which it took and why. For dense rows it
        is mostly the first; hundreds of columns that a sample shows to be uncorrelated take the second.
    tol : float, optional
        From moments, the optimality to reach where l1 > 0 (by default 1e-6). Matrix-free, how far the
        regularised pairwise risk may stay above its minimum (by default 1e-4), which costs about half as much
        AUC. Either is in ``solution_``; see :class:`mbauc.solvers.Solution`.
    max_iter : int, default=1000
        Largest number of sweeps where l1 > 0, or of products where matrix-free.
    random_state : None, int, Generator or RandomState
        Seed of sampled pairs, and of the rows held out for ``pairs="enough"``.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use (all cores, unless limited).
    verbose : bool, default=False
        Show progress bars on a terminal.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d)
        The weights.
    intercept_ : ndarray of shape (1,)
        Puts ``decision_function`` = 0 at probability ½.
    slope_ : float
        Log-odds per unit of ``decision_function``.
    classes_ : ndarray of shape (2,)
        Labels, negative first.
    moments_ : PairMoments
        All that was kept of the data; missing where matrix-free.
    solver_ : SolverChoice
        ``name`` of the solver and ``reason`` for it.
    solution_ : Solution
        Objective, optimality certificate and iterations, in columns divided by ``scale_``.
    n_iter_ : int
        Sweeps of the solver, or products.
    l1_, l2_ : float
        The penalties used.
    scale_ : ndarray of shape (d,)
        What the columns were divided by for the penalty; see ``scale``.
    effective_sample_size_ : (float, float)
        Rows that each class counts for (positives, negatives), after weights and decay.
    pairs_ : int or "all"
        For ``pairs="enough"``, as the next three: the pairs that were enough, which the weights come from.
    pairs_path_ : list of PairsStep
        ``pairs``, ``rows``, ``auc``, ``interval``, ``gain`` and ``gain_interval`` of each step;
        :class:`mbauc.plots.EnoughPairsDisplay` draws them.
    held_out_ : ndarray of int
        Numbers of the held-out rows: one in five of each class, at most 10,000, at least 100 or half of them.
    held_out_auc_ : AucInterval
        AUC of the held-out rows under the final weights, with its 95% interval.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)
        If X had column names.

    Notes
    -----
    Time ``O(n d² + d³)`` for dense and ``O(Σk² + d³)`` for sparse rows with k entries; memory ``O(d²)``
    besides X. Matrix-free ``O(nd)`` or ``O(Σk)`` a product, of which ridge takes a dozen and the elastic net a
    hundred; memory for 40 vectors over the columns that occur, and 2 or 4 bytes for each entry of a sparse X.
    Many float32 rows are multiplied in single precision and summed in double: Σ is within 1e-6 of itself, in
    half the time. Pass float64 rows for all digits.

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
    ) -> MBAClassifier:
        """Fit to all rows at once, forgetting any earlier fit.

        Parameters
        ----------
        X : array-like, sparse matrix of shape (n, d), or source
            Dense of any real dtype and layout, CSR or CSC, or a pandas, polars or Arrow table. A source of
            blocks (:mod:`mbauc.readers`) has its labels and weights with it; see :meth:`fit_source`.
        y : array-like of shape (n,)
            Labels with two values; the larger (in sorted order) is positive, as for every classifier of
            scikit-learn: 1 of 0/1, but "ok" of "fraud"/"ok". To rank frauds above the rest, and for
            ``negative_rate`` to be about the rest, fit to ``y == "fraud"``.
        sample_weight : array-like of shape (n,), optional
            Non-negative; pair (i, j) has weight wᵢ wⱼ. ``weights`` says what they mean.
        groups : array-like of shape (n,), optional
            The group of each row: a query, a user, a day, of any values. Only pairs of rows of one group count.
            Groups with one class have no pair; they are warned of. (:class:`MBAClassifierCV` hands its groups
            to the splitter alone, unless ``within_groups=True``.)

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
                fit_enough(self, block, lambda pairs: self._solve(pairs, factors))
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
    ) -> MBAClassifier:
        """Fit to a source of blocks, files of any size for instance, within a given memory.

        With moments, one pass; matrix-free, one pass that packs the rows to 2 or 4 bytes an entry, in memory if
        they fit and otherwise in a file, and one sweep over these for each product. A number of ``pairs`` takes
        two passes and the memory of the rows that are drawn, the same rows as from memory.

        Parameters
        ----------
        source : Source
            Blocks of rows with their labels and weights; see :mod:`mbauc.readers`. It is read more than
            once, and must start anew each time.
        memory : str or int, optional
            What the process may grow by, such as ``"2GB"``; half of what is free if not given, in a container
            half of what remains there. Refused where vectors over the columns, or Σ if ``solver="gram"``
            asks for it, take more.
        checkpoint : path, optional
            Folder for the state of a long fit. The same call with the same folder resumes after a kill, a crash
            or Ctrl-C, to the same bits on the same kind of processor and libraries; other settings, changed
            data and damaged files are refused. The folder is kept: delete it when it is of no more use. Pairs
            that are drawn need a whole number as ``random_state``, or None.
        keep_moments : bool, default=False
            With ``solver="auto"``, whether to work from moments where products would be faster, as long as that
            is a matter of seconds: for fits that are to be updated later.

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
    def fit_parts(self, rows: PartedRows) -> MBAClassifier:
        """Fit to rows in parts, on a cluster for instance; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

        Parameters
        ----------
        rows : PartedRows
            Parts of rows, and what is known of them.

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

    def _preview(self, X: Any) -> Preview:
        """Rows of drawn pairs, of which there are two a pair."""
        return Preview(X, 2 * int(self.pairs), in_blocks=False)

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
    def fit_moments(self, moments: PairMoments, classes: ArrayLike = (0, 1)) -> MBAClassifier:
        """Fit to moments that were accumulated elsewhere: on other machines, on other days, block by block.

        ``partial_fit`` continues from there.

        Parameters
        ----------
        moments : PairMoments
            Moments of rows of both classes.
        classes : sequence of two labels, default=(0, 1)
            The labels of the rows; the larger is that of the positives.

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
    ) -> MBAClassifier:
        """Add a block of rows to what was seen so far.

        Earlier rows' weights are first multiplied by ``decay``. A block may hold one class only; weights
        and predictions exist once both classes were seen. Threads may call it at the same time: their blocks
        are added one after the other, in no particular order.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.
        classes : sequence of two labels, optional
            Needed at the first call, unless its block holds both.
        sample_weight
            As for :meth:`fit`.
        groups : array-like of shape (n,), optional
            The group of each row, for all blocks or for none. Only pairs of rows of one group in the same block
            count: give a group as a whole. Groups of one class in a block are warned of.

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

    def _penalties_are_chosen(self) -> bool:
        return isinstance(self.l2, str) and self.l1 == 0

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
