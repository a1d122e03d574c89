"""AdditiveAUCClassifier: curves and interactions, fitted over all pairs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mbauc.basis.design import ColumnKind, DesignSettings
from mbauc.checks import check_choice, check_number, check_whole
from mbauc.defaults import BINS, FEATURES, FOLDS, SEARCH_ROWS, SEED, TABLE_LOSS
from mbauc.errors import Advice
from mbauc.estimators.additive.choice import Chosen, choose_features
from mbauc.estimators.additive.columns import source_kinds
from mbauc.estimators.additive.explain import Explanation, explain
from mbauc.estimators.additive.fit import AdditiveFit, fit_chosen
from mbauc.estimators.additive.loss_choice import check_loss
from mbauc.estimators.additive.scorer import AdditiveScorer
from mbauc.estimators.additive.search import SearchSettings
from mbauc.estimators.additive.terms import AdditiveTerms, describe_terms
from mbauc.estimators.capabilities import Way, check_capabilities
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
    remember_columns,
    require_pairs_within_groups,
    restore_on_failure,
)
from mbauc.features.row_codes import RowCodes, mark_categories
from mbauc.losses import PairLoss
from mbauc.metrics.intervals import Weights
from mbauc.rows.block import Block
from mbauc.rows.groups import group_keys
from mbauc.rows.labels import find_classes, positive_rows
from mbauc.rows.matrix import check_weights
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.parts.saved_sample import sample_once
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import Source, has_groups
from mbauc.runtime.memory import parse_memory
from mbauc.runtime.progress import show_wait
from mbauc.runtime.seeds import generator
from mbauc.runtime.threads import single_threaded_blas, thread_count

Array = NDArray[np.float64]

#: Features, or coordinates, up to which products of matrices are too short for threads of BLAS.
_FEW_FEATURES = 2_048
#: Memory, in results that may travel: moments are formed where half of it has 24 bytes for a pair of features.
_TRAVEL = 3.0


class AdditiveAUCClassifier(ClassifierMixin, BaseEstimator):
    """Ranker that adds up a curve for each column and heat maps for pairs of columns.

    Numbers are cut into bins, categories into levels, pairs of columns into cells; a score is the sum of what a
    row's bins, levels and cells are worth. All of these weights minimise one loss, the squared one over all
    N₊·N₋ pairs of a positive and a negative row or the log-loss of the rows, with neighbouring bins smoothed
    and interactions shrunk more than curves. The result draws as curves (:mod:`mbauc.plots`) and explains each
    score as a sum. With nothing set it chooses between straight lines, curves, and curves with interactions,
    and between these two losses, by held-out AUC; ``choice_`` says why.

    Parameters
    ----------
    features : {"auto", "linear", "curves", "interactions", "fourier"}, default="auto"
        ``"linear"`` takes numbers as they are; ``"curves"`` gives each a curve; ``"interactions"`` adds heat
        maps of pairs of columns. ``"auto"`` takes the simplest that is within one standard error of the next.
        ``"fourier"`` adds random waves of all numeric columns to straight lines
        (:class:`mbauc.features.FourierFeatures`): for many smooth columns, such as pixels. Nobody can read
        these, so ``"auto"`` does not try them.
    loss : str or PairLoss, default="auto"
        ``"squared"`` needs one pass over the rows. Others, of :class:`PairwiseAUCClassifier`, start from its
        solution. ``"log_loss"``, that of logistic regression, counts rows, not pairs; it is for tables of up to
        ``search_rows`` rows. ``"auto"`` takes it there if rows are ten times as many as coordinates and it
        ranks held-out rows no worse than the squared one by more than a standard error.
    interactions : int or sequence of pairs, optional
        How many interactions there may be, of which 80 at most are tried; or which: pairs of columns, by name
        or counted from 0 as X has them. Parts of a time are named: ``"when.hour"``. By default up to 24 that a
        screening of all pairs finds promising. ``"auto"`` takes interactions that gain on held-out rows;
        ``"interactions"`` takes all pairs that are named, untested where they are more than 80. With other
        features it is refused.
    bins : int, default=64
        Bins of a numeric column, at most.
    categories : sequence of columns, optional
        Columns that hold codes of categories, by number or name. Columns of texts and categoricals in data
        frames need not be named; those of numbers are numeric unless they are. A
        :class:`~mbauc.readers.TableSource` says itself what its columns are.
    search_rows : int, default=50000
        Rows that features and penalties are chosen on, at most: a sample, half of each class where there are
        enough. The weights are then fitted to all rows. It bounds time and memory of the search.
    cv : int, default=5
        Folds that features and penalties are chosen by.
    negative_rate, weights
        As for :class:`MBAClassifier`.
    random_state : None, int, Generator or RandomState, default=0
        Seed of the sample and of the folds; None draws other ones each time.
    n_jobs, verbose
        As for :class:`MBAClassifier`.

    Attributes
    ----------
    choice_ : str
        What was chosen, and why.
    features_ : str
        The kind of features: "linear", "curves", "interactions" or "fourier".
    feature_map_ : FeatureMap
        How rows become features.
    coef_ : ndarray of shape (1, features)
        The weight of each feature: the heights of the curves.
    coef_error_ : ndarray of shape (features,)
        Standard error of each height, given the penalties.
    loss_ : str
        Name of the loss.
    intercept_, slope_, classes_
        As of :class:`MBAClassifier`.
    search_ : dict of float
        Held-out AUC of each kind of features that was tried.
    interactions_ : list of (str, str)
        Names of the columns of each interaction.
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X had column names.

    See Also
    --------
    MBAClassifier : the same loss for columns as they are.

    Notes
    -----
    Missing values are a level of their own. A value beyond the range of training counts as the nearest bin, a
    category that was never seen as the rare ones, or nothing if there were none.

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

    classes_: NDArray[Any]
    coef_: Array
    intercept_: Array
    n_features_in_: int

    def __init__(
        self,
        features: str = "auto",
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
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    # -- fitting -----------------------------------------------------------------------------------------

    @restore_on_failure
    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose features and fit their weights.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d), or a source
            Rows: numbers, NaN where they are missing; data frames may hold texts, categoricals and times.
            Times become hour and weekday. Columns that are empty, or of texts that differ in nearly every row,
            are left out with a warning (:class:`~mbauc.errors.LeftOutWarning`). A source of
            :mod:`mbauc.readers` is fitted as by :meth:`fit_source`.
        y : array-like of shape (n,)
            Labels, of which the larger is positive. A source has its own, and weights.
        sample_weight : array-like of shape (n,), optional
            Weight of each row; a pair has the product of both.
        groups : array-like of shape (n,), optional
            The group of each row: a query, a user, a day. Only pairs of rows of one group count, in the weights
            and in the held-out AUC that features and penalties are chosen by. Folds and the sample of the
            search have whole groups, and what groups differ in as a whole is not learned. At least two groups
            need rows of both classes. Groups with one class have no pair; they are warned of.

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
        """Fit to a source of blocks, such as ``TableSource(path, label=…, encode="codes")``.

        Two passes: one for the sample, one for the weights. Features are those of :meth:`fit` to the same rows,
        however they are cut into blocks; weights are the same but for rounding, because sums are added up block
        by block. A killed fit with a checkpoint resumes: the sample is kept, and the second pass goes on where
        it was, to the same bits.

        Where the source has groups, only pairs within these count, as with ``groups`` in :meth:`fit`. Where the
        sample is not all rows, the weights then come from products with the rows, some dozen sweeps, and up to
        90 bytes a row are kept in memory.

        Parameters
        ----------
        source : Source
            The rows; of a table its codes.
        memory : str or int, optional
            What may be used for sums and rows, such as ``"4GB"``; by default most of what is free. The search
            takes more, by ``search_rows``.
        checkpoint : path, optional
            Folder to save progress in, and to resume from. It keeps the rows of the sample.
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
        labels = source.classes
        grouped = any(isinstance(label, tuple | list | set) for label in labels)
        self.classes_ = np.array([0, 1]) if grouped else np.asarray(labels)
        return self

    @restore_on_failure
    def fit_parts(self, rows: PartedRows) -> Self:
        """Fit to rows that an engine holds; see :mod:`mbauc.dask` and :mod:`mbauc.spark`.

        The search runs here, on a sample that the workers draw; the sums of all rows are made where they are.
        Pairs within groups are refused.
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
        """Names of the columns of each interaction."""
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
        check_choice("features", self.features, FEATURES)
        check_loss(self.loss)
        check_whole("bins", self.bins, low=2)
        check_whole("search_rows", self.search_rows, low=100)
        check_whole("cv", self.cv, low=2)
        check_number("negative_rate", self.negative_rate, low=0.0, high=1.0, open_low=True)
        check_choice("weights", self.weights, ("sampling", "frequency"))
        if isinstance(self.interactions, int | np.integer):
            check_whole("interactions", self.interactions, low=0)
        check_interactions(self.features, self.interactions)
        thread_count(self.n_jobs)
        check_capabilities(way, {**self.get_params(deep=False), "groups": grouped})

    # -- scoring -----------------------------------------------------------------------------------------

    def scorer(self) -> AdditiveScorer:
        """Features and weights alone: small, and without scikit-learn."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if names is not None and tuple(names) != self.feature_map_.names:
            # a time became several columns, or a column was left out
            names = np.array(self.feature_map_.names, dtype=object)
        weights = (self.coef_[0], self.intercept_[0], self.slope_, self.classes_, names, self.feature_map_)
        return AdditiveScorer(*weights, calibration=getattr(self, "calibration_", None))

    @classmethod
    def restore(cls, scorer: AdditiveScorer, settings: dict[str, Any] | None = None) -> Self:
        """A fitted estimator with the features and weights of a scorer, without a fit."""
        if scorer.features is None:
            raise ValueError("scorer has no features; AdditiveAUCClassifier needs some.")
        ranker = cls(**(settings or {}))
        if scorer.slope is None:
            raise ValueError("scorer has no slope; AdditiveAUCClassifier needs one for its probabilities.")
        ranker.coef_, ranker.slope_ = scorer.coef.copy()[None, :], scorer.slope
        ranker.intercept_, ranker.classes_ = np.array([scorer.intercept]), np.array(scorer.classes)
        ranker.feature_map_, ranker.n_features_in_ = scorer.features, scorer.n_features
        if scorer.calibration is not None:
            ranker.calibration_ = scorer.calibration
        ranker._codes = RowCodes([ColumnKind(name) for name in scorer.features.names])
        if scorer.names is not None:
            ranker.feature_names_in_ = np.array(scorer.names, dtype=object)
        return ranker

    def decision_function(self, X: Any) -> Array:
        """Score of each row; the higher, the more likely positive. ``predict`` cuts at 0."""
        check_is_fitted(self)
        return self.scorer().scores(self._codes.transform(self, X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The positive class where the score is above 0. To rank, use :meth:`decision_function`."""
        return self.scorer().predict(self.decision_function(X))

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class, shape (n, 2); see :meth:`MBAClassifier.predict_proba`."""
        return self.scorer().probabilities(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithm of :meth:`predict_proba`, without overflow."""
        return self.scorer().log_probabilities(self.decision_function(X))

    # -- what scores are made of -------------------------------------------------------------------------

    def encode_rows(self, X: Any) -> Array:
        """Rows as numbers and codes, NaN where they are missing: what :meth:`scorer` takes."""
        check_is_fitted(self)
        return self._codes.transform(self, X)

    def term_name(self, column: str | int) -> str:
        """Name of the term that a column has: of X by its number or name, or of a part of a time."""
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
        """Why rows have their scores: the ``n`` largest contributions of each; see :func:`mbauc.explain`."""
        return explain(self, X, n)


def check_interactions(features: Any, interactions: Any) -> None:
    """Raise if interactions are asked for beside features that have none."""
    none = interactions is None or (isinstance(interactions, int | np.integer) and interactions == 0)
    if none or (hasattr(interactions, "__len__") and len(interactions) == 0):
        return
    if features in ("linear", "curves", "fourier"):
        raise ValueError(
            Advice("{interactions} asks for interactions, {features} for none", features=features)
            + Advice("; leave out one of the two, or pass {features}.", features="interactions")
        )


def _labels(y: ArrayLike, n_rows: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    labels = column_or_1d(y, warn=True)
    if labels.size != n_rows:
        raise ValueError(
            f"X has {n_rows:,} rows and y has {labels.size:,} labels; they must have the same number."
        )
    known = find_classes(labels)
    return known, positive_rows(labels, known)
