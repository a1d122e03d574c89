"""AdditiveAUCClassifier: curves and interactions, fitted over all pairs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mbauc.basis.design import ColumnKind, DesignSettings
from mbauc.checks import check_number, check_whole
from mbauc.defaults import BINS, FOLDS, SEARCH_ROWS, SEED, TABLE_LOSS, FeatureChoice
from mbauc.estimators.additive.choice import Chosen, choose_features
from mbauc.estimators.additive.explain import Explanation, explain
from mbauc.estimators.additive.fit import AdditiveFit, fit_chosen
from mbauc.estimators.additive.scorer import AdditiveScorer
from mbauc.estimators.additive.search import SearchSettings
from mbauc.estimators.additive.settings import check_search
from mbauc.estimators.additive.source_kinds import source_kinds
from mbauc.estimators.additive.terms import AdditiveTerms, describe_terms
from mbauc.estimators.capabilities import Way, check_capabilities
from mbauc.estimators.linear import ProbabilisticRanker, take_weights
from mbauc.estimators.scorer import match_log_odds
from mbauc.estimators.source_fit import (
    SourceRun,
    check_source,
    check_source_alone,
    is_source,
    show_auc,
    source_run,
)
from mbauc.estimators.validation import (
    check_class_weights,
    label_column,
    remember_columns,
    require_pairs_within_groups,
    restore_on_failure,
)
from mbauc.features.row_codes import RowCodes, mark_categories
from mbauc.losses import PairLoss
from mbauc.metrics.intervals import Weights
from mbauc.rows.block import Block
from mbauc.rows.groups import group_keys
from mbauc.rows.labels import check_label_count, find_classes, positive_rows, source_classes
from mbauc.rows.matrix import check_weights
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.saved_sample import sample_once
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import Source, has_groups
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import show_wait
from mbauc.runtime.seeds import generator
from mbauc.runtime.threads import single_threaded_blas

Array = NDArray[np.float64]

#: Features, or coordinates, up to which products of matrices are too short for threads of BLAS.
_FEW_FEATURES = 2_048
#: Memory, in results that may travel: moments are formed where half of it has 24 bytes for a pair of features.
_TRAVEL = 3.0


class AdditiveAUCClassifier(ProbabilisticRanker):
    """Generalised additive model for AUC: a curve for each column and heat maps for pairs of columns.

    Numeric columns are binned, categorical columns one-hot encoded, and interactions of two columns are cells
    of a grid; the score is the sum of the weights of a row's bins, levels and cells. All weights together
    minimise one loss, by default the pairwise squared loss over all N₊·N₋ pairs of a positive and a negative
    row or the log-loss of the rows, with a smoothness penalty on neighbouring bins and stronger shrinkage of
    interactions. The terms can be plotted (:mod:`mbauc.plots`), and each score is explained by the sum of its
    contributions. By default the features (linear, curves, or curves with interactions) and the loss are
    selected by cross-validated AUC; ``choice_`` records the choice and the reason.

    Parameters
    ----------
    features : {"auto", "linear", "curves", "interactions", "fourier"}, default="auto"
        ``"linear"`` uses numeric columns unchanged; ``"curves"`` fits a curve for each; ``"interactions"`` adds
        heat maps of pairs of columns. ``"auto"`` selects the simplest of these that is within one standard
        error of the next. ``"fourier"`` adds random Fourier features of all numeric columns to the linear terms
        (:class:`mbauc.features.FourierFeatures`): for many columns that act together smoothly, such as pixels.
        They cannot be interpreted, so ``"auto"`` does not try them.
    loss : str or PairLoss, default="auto"
        ``"squared"`` needs one pass over the rows. The other pairwise losses are those of
        :class:`PairwiseAUCClassifier` and start from the squared solution. ``"log_loss"`` is the loss of
        logistic regression, over rows instead of pairs, for tables of up to ``search_rows`` rows. ``"auto"``
        selects it for such tables if there are at least ten rows per coordinate and its held-out AUC is at most
        one standard error below that of the squared loss; otherwise it uses the squared loss.
    interactions : int or sequence of pairs, optional
        Maximum number of interactions (at most 80 are tried), or the pairs of columns themselves, by name or
        position in X. Parts of a time are named: ``"when.hour"``. By default up to 24, selected by screening
        all pairs. ``features="auto"`` keeps interactions only if they improve the held-out AUC;
        ``features="interactions"`` uses all pairs that are named, without a test where they are more than 80.
        Not allowed with other features.
    bins : int, default=64
        Maximum number of bins of a numeric column.
    categories : sequence of columns, optional
        Numeric columns to treat as categorical (codes of categories), by name or position. Text and categorical
        columns of data frames are recognised without being named. Not needed for a
        :class:`~mbauc.readers.TableSource`, which has the types of its columns.
    search_rows : int, default=50000
        Maximum number of rows in the sample on which features and penalties are selected, half of it from each
        class where there are enough. The weights are then fitted to all rows. Bounds the time and memory of the
        search.
    cv : int, default=5
        Number of cross-validation folds for selecting features and penalties.
    negative_rate, weights
        As for :class:`MBAClassifier`.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample and of the folds; None draws new ones at each fit.
    n_jobs, verbose
        As for :class:`MBAClassifier`.

    Attributes
    ----------
    choice_ : str
        The choice of features and loss, and the reason, in words.
    features_ : str
        The features used: "linear", "curves", "interactions" or "fourier".
    feature_map_ : FeatureMap
        Encodes rows as features.
    coef_ : ndarray of shape (1, features)
        Weight of each feature: the heights of the curves.
    coef_error_ : ndarray of shape (features,)
        Standard error of each weight, given the penalties.
    loss_ : str
        Name of the loss used.
    intercept_, slope_, classes_
        As of :class:`MBAClassifier`.
    search_ : dict of float
        Cross-validated AUC of each candidate set of features.
    interactions_ : list of (str, str)
        Column names of each interaction.
    basis_ : SmoothBasis
        Coordinates in which the weights are fitted and penalised.
    l2_ : float
        ℓ2 penalty of the solution, which ``penalty_factors_`` multiplies.
    penalty_factors_ : ndarray of shape (coordinates,)
        Selected penalty of each coordinate, in units of the noise.
    term_means_, term_deviations_ : ndarray of shape (terms,)
        Mean and standard deviation over the rows of the contribution of each term to the scores, estimated on
        the search sample.
    feature_shares_ : ndarray of shape (features,)
        Share of the rows for which each feature is not zero, estimated likewise.
    solution_ : Solution
        Objective, optimality gap and iterations, in the coordinates.
    n_iter_ : int
        Number of iterations of the solver, at least 1.
    effective_sample_size_ : (float, float)
        Effective number of rows of each class (positives, negatives), given weights.
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had column names.

    See Also
    --------
    MBAClassifier : the linear model with the same squared loss.

    Notes
    -----
    Missing values are a level of their own. A value outside the range of the training data falls into the
    nearest bin. An unseen category is treated like the rare ones, and contributes nothing if there were none.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc import AdditiveAUCClassifier
    >>> from mbauc.metrics import roc_auc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 5))
    >>> y = X[:, 0] ** 2 + X[:, 1] + rng.standard_normal(4000) > 2
    >>> ranker = AdditiveAUCClassifier(random_state=0).fit(X[:2000], y[:2000])
    >>> ranker.features_, round(roc_auc(y[2000:], ranker.decision_function(X[2000:])), 2)
    ('curves', 0.92)
    """

    def __init__(
        self,
        features: FeatureChoice = "auto",
        loss: str | PairLoss = TABLE_LOSS,
        *,
        interactions: int | Sequence[tuple[Any, Any]] | None = None,
        bins: int = BINS,
        categories: Sequence[Any] | None = None,
        search_rows: int = SEARCH_ROWS,
        cv: int = FOLDS,
        negative_rate: float = 1.0,
        weights: Weights = "sampling",
        random_state: Any = SEED,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.features = features
        self.loss = loss
        self.interactions = interactions
        self.bins = bins
        self.categories = categories
        self.search_rows = search_rows
        self.cv = cv
        self.negative_rate = negative_rate
        self.weights = weights
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    # -- fitting -----------------------------------------------------------------------------------------

    @restore_on_failure
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Select the features and penalties, then fit the weights to all rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d), or a source
            Training data: numbers, with NaN for missing values; data frames may also have text, categorical and
            time columns. Times become hour and weekday. Empty columns, and text columns with a different value
            in nearly every row, are dropped with a warning (:class:`~mbauc.errors.LeftOutWarning`). A source of
            :mod:`mbauc.readers` is fitted as by :meth:`fit_source`.
        y : array-like of shape (n,)
            Two-valued labels; the larger is positive. Omit for a source, which has its own labels and weights.
        sample_weight : array-like of shape (n,), optional
            Weight of each row; the weight of a pair is the product of the weights of its rows.
        groups : array-like of shape (n,), optional
            Group of each row, such as a query, a user or a day. Only pairs within a group count, both in the
            loss and in the held-out AUC that selects features and penalties. Folds and the sample of the search
            consist of whole groups; differences between groups are not learned. At least two groups need rows
            of both classes. Groups with only one class have no pairs and cause a warning.

        Returns
        -------
        self
        """
        if is_source(X):
            check_source_alone(y, sample_weight, groups)
            return self.fit_source(X)
        self._check_settings("memory", grouped=groups is not None)
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        self._codes = RowCodes.learn(self, X, self.categories)
        rows = self._codes.transform(self, X)
        known, positive = _labels(y, rows.shape[0])
        weight = check_weights(sample_weight, rows.shape[0])
        if weight is not None:
            check_class_weights(weight, positive, known)
        # the keys that files have, so that these give the same sample and folds
        keys = None if groups is None else group_keys(groups, rows.shape[0])
        block = Block(rows, positive, weight, frequencies=self.weights == "frequency", groups=keys)
        self._fit_rows(rows_in_memory(block), parse_memory(None))
        self.classes_ = known
        return self

    @restore_on_failure
    def fit_source(
        self,
        source: Source,
        *,
        memory: str | int | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Fit out of core to a source of blocks, such as ``TableSource(path, label=…, encode="codes")``.

        Makes two passes: one draws the sample, one fits the weights. Features are the same as from :meth:`fit`
        on the same rows, whatever the blocks; weights agree up to rounding, because sums are accumulated block
        by block. An interrupted fit with a checkpoint resumes: it keeps the sample, continues the second pass
        where it stopped, and gives bit-identical results.

        If the source has groups, only pairs within a group count, as with ``groups`` in :meth:`fit`. If there
        are also more rows than the sample holds, the weights are computed by some dozen sweeps over the rows,
        with up to 90 bytes per row in memory.

        Parameters
        ----------
        source : Source
            Blocks of rows with their labels; a table must be read with ``encode="codes"``.
        memory : str or int, optional
            Memory budget for sums and rows, such as ``"4GB"``; by default most of the free memory. The search
            needs additional memory in proportion to ``search_rows``.
        checkpoint : path, optional
            Folder to save progress in and to resume from. It holds the rows of the sample.
        """
        check_source(source)
        self._check_settings("source", grouped=has_groups(source))
        self._codes = RowCodes(source_kinds(source, self.categories))
        with source_run(checkpoint, self._identity(), source) as run:
            rows = rows_in_source(source, show=run.show, observe=show_auc, checkpoint=run.checkpoint)
            room = parse_memory(memory)
            if memory is None:
                # free memory changes, and with it how pairs are summed up: a later run does as the first did
                room = int(run.make_once("memory", lambda: room))
            self._fit_rows(rows, room, run)
        remember_columns(self, rows.schema)
        self.classes_ = source_classes(source.classes)
        return self

    @restore_on_failure
    def fit_parts(self, rows: PartedRows) -> Self:
        """Fit to distributed rows; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

        The search runs in this process, on a sample that the workers draw; the workers compute the sums over
        all rows. Groups are not supported.
        """
        self._check_settings("cluster", grouped=rows.grouped)
        names = rows.schema.names or tuple(f"x{j}" for j in range(rows.schema.n_features))
        self._codes = RowCodes(mark_categories([ColumnKind(str(name)) for name in names], self.categories))
        # moments are results of a job, of 16 bytes for each pair of features
        memory = int(min(parse_memory(None), _TRAVEL * rows.parts.largest_result))
        with rows.in_order() as ordered:
            self.classes_ = self._fit_rows(ordered, memory)
        remember_columns(self, rows.schema)
        return self

    def _fit_rows(self, rows: PartedRows, memory: int, run: SourceRun | None = None) -> NDArray[Any]:
        """Choose features on a sample, and fit their weights to all rows; returns the classes."""
        pairs = self._pairs()
        run = run or SourceRun(None, self.n_jobs, bool(self.verbose))
        rng = generator(run.seed(self.random_state))
        sample = sample_once(rows, int(self.search_rows), int(rng.integers(2**62)))
        if sample.is_whole:
            require_pairs_within_groups(sample.block)
        # many small systems: threads of BLAS would wait for each other longer than they work
        with show_wait("choosing features", show=run.show), single_threaded_blas():
            chosen = choose_features(
                sample,
                self._codes.kinds,
                self.features,
                pairs,
                design=DesignSettings(bins=int(self.bins)),
                settings=SearchSettings(),
                n_folds=int(self.cv),
                rng=rng,
                frequencies=self.weights == "frequency",
                # sums depend on the number of threads, which a later run takes over from the first
                n_jobs=run.n_threads,
            )
        in_coordinates = sample.is_whole and chosen.columns.size > 0
        size = chosen.strength.size if in_coordinates else chosen.features.n_features
        with single_threaded_blas() if size <= _FEW_FEATURES else nullcontext():
            fitted = fit_chosen(chosen, rows, sample, self.loss, memory, run, self.weights == "frequency")
        self._store(chosen, fitted)
        return fitted.classes

    def _store(self, chosen: Chosen, fitted: AdditiveFit) -> None:
        self.feature_map_, self.features_, self.choice_ = (
            chosen.features,
            chosen.kind,
            chosen.reason + fitted.note,
        )
        self.basis_, self.loss_ = chosen.basis, fitted.loss
        self.search_ = {one.kind: one.auc for one in chosen.tried}
        self.solution_, self.n_iter_ = fitted.solution, max(1, fitted.solution.iterations)
        self.l2_, self.penalty_factors_ = fitted.solution.l2, chosen.strength
        self.effective_sample_size_ = fitted.sizes
        prior_odds = fitted.weights[0] / (fitted.weights[1] / self.negative_rate)
        intercept, slope = match_log_odds(*fitted.summary, prior_odds)
        if fitted.line is not None:
            slope, offset = fitted.line
            intercept = (offset + float(np.log(self.negative_rate))) / slope
        self.coef_, self.intercept_, self.slope_ = fitted.coef[None, :], np.array([intercept]), slope
        self.__dict__.pop("calibration_", None)  # it was for other scores
        self.coef_error_, self.term_means_ = fitted.errors, fitted.term_means
        self.term_deviations_ = fitted.term_deviations
        self.feature_shares_ = fitted.feature_shares

    @property
    def interactions_(self) -> list[tuple[str, str]]:
        """Column names of each interaction."""
        names = self.feature_map_.names
        return [(names[a], names[b]) for a, b in self.feature_map_.pairs]

    def _pairs(self) -> Sequence[tuple[int, int]] | int | None:
        """Interactions that are asked for, by number of the columns of codes."""
        asked = self.interactions
        if asked is None or isinstance(asked, int | np.integer):
            return asked if asked is None else int(asked)
        return self._codes.find_pairs(asked)

    def _identity(self) -> dict[str, Any]:
        """What a checkpoint belongs to."""
        params = self.get_params(deep=False)
        return {
            **params,
            "interactions": repr(params["interactions"]),
            "categories": repr(params["categories"]),
        }

    def _check_settings(self, way: Way, *, grouped: bool = False) -> None:
        check_search(self)
        check_whole("cv", self.cv, low=2)
        check_number("negative_rate", self.negative_rate, low=0.0, high=1.0, open_low=True)
        check_capabilities(way, {**self.get_params(deep=False), "groups": grouped})

    # -- scoring -----------------------------------------------------------------------------------------

    def scorer(self) -> AdditiveScorer:
        """The fitted features and weights as a small scorer that does not need scikit-learn."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and tuple(names) != self.feature_map_.names:
            # a time became several columns, or a column was left out
            names = np.array(self.feature_map_.names, dtype=object)
        weights = (self.coef_[0], self.intercept_[0], self.slope_, self.classes_, names, self.feature_map_)
        return AdditiveScorer(*weights, calibration=getattr(self, "calibration_", None))

    @classmethod
    def restore(cls, scorer: AdditiveScorer, settings: Mapping[str, Any] | None = None) -> Self:
        """Build a fitted estimator from the features and weights of a scorer."""
        if scorer.features is None:
            raise ValueError("scorer has no features; AdditiveAUCClassifier needs some.")
        ranker = cls(**(settings or {}))
        take_weights(ranker, scorer)
        ranker.feature_map_ = scorer.features
        ranker._codes = RowCodes([ColumnKind(name) for name in scorer.features.names])
        return ranker

    def _scorer_and_scores(self, X: Any) -> tuple[AdditiveScorer, Array]:
        scorer = self.scorer()
        return scorer, scorer.scores(self._codes.transform(self, X))

    # -- what scores are made of -------------------------------------------------------------------------

    def encode_rows(self, X: Any) -> Array:
        """Encode rows as numbers and codes, with NaN for missing values: the input of :meth:`scorer`."""
        check_is_fitted(self)
        return self._codes.transform(self, X)

    def term_name(self, column: str | int) -> str:
        """Name of the term of a column, given by name or position in X, or of a part of a time."""
        check_is_fitted(self)
        return self.feature_map_.names[self._codes.find_code(column, "column")]

    def terms(self) -> AdditiveTerms:
        """Curves and heat maps as numbers, in log-odds around the mean of the training rows."""
        check_is_fitted(self)
        if not hasattr(self, "feature_shares_"):
            raise ValueError("this ranker was restored from its weights alone; fit it again to see its terms.")
        return describe_terms(
            self.feature_map_,
            self.coef_[0],
            self.slope_,
            shares=self.feature_shares_,
            errors=self.coef_error_,
            means=self.term_means_,
            deviations=self.term_deviations_,
        )

    def explain(self, X: Any, n: int = 5) -> list[Explanation]:
        """Explain scores by the ``n`` largest contributions to each; see :func:`mbauc.explain`."""
        return explain(self, X, n)


def _labels(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    labels = label_column(y)
    check_label_count(labels.size, n_rows)
    known = find_classes(labels)
    return known, positive_rows(labels, known)
