"""CurveFeatures: a linear ranker behind it draws a curve for each column, and heat maps for pairs of them."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from mbauc.basis.design import DesignSettings, design_features
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.smoothing import with_pairs
from mbauc.checks import check_flag, check_whole
from mbauc.defaults import BINS
from mbauc.features.row_codes import RowCodes
from mbauc.rows.parts.keys import check_ids, row_keys
from mbauc.rows.parts.row_sample import ClassSample
from mbauc.runtime.seeds import integer_seed
from mbauc.runtime.threads import thread_count


class CurveFeatures(TransformerMixin, BaseEstimator):
    """Encode binned numbers, categories and pairs of columns as sparse one-hot features.

    Each column is one-hot encoded by the bin of its number or the level of its category, so that a linear model
    fits a curve for each column (a generalised additive model). Each pair of columns in ``interactions`` is
    one-hot encoded by the cell of a grid: a heat map. Missing values have an indicator of their own.

    :class:`~mbauc.AdditiveAUCClassifier` creates these features itself, smooths the curves and selects the
    interactions. Use this transformer for other models and in pipelines.

    ``fit`` takes ``O(n d log n)`` time for a sample of at most ``sample_rows`` rows, ``transform`` ``O(n d log
    bins)`` with 12 bytes for each non-zero entry of its result.

    Parameters
    ----------
    bins : int, default=64
        Maximum number of bins of a numeric column, by quantiles. A column with no more distinct values than
        that has a bin for each.
    min_rows : int, default=10
        Minimum frequency in the sample for a level of a category to have a column of its own. Rarer and unseen
        levels share one column.
    max_levels : int, default=512
        Maximum number of levels of a category with a column of their own; the most frequent are kept.
    interactions : sequence of pairs, default=()
        Pairs of columns, by name or position in X. Parts of a time are named: ``"when.hour"``.
    coarse_bins : int, default=12
        Maximum number of groups of bins or levels for each of the two columns of an interaction.
    numbers : bool, default=True
        Whether to add numeric columns themselves to their bins: standardised, and clipped at the 0.5% and 99.5%
        quantiles. Then a linear effect needs a single weight.
    categories : sequence of columns, optional
        Numeric columns to treat as categorical (codes of categories), by name or position. Text and categorical
        columns of data frames are recognised without being named.
    sample_rows : int, default=50000
        Maximum size of the sample of rows that determines bins and levels. The sample is stored, also in
        pickles, for ``partial_fit`` and ``merge``: 8 bytes per value.
    sparse_output : bool, default=True
        Whether ``transform`` returns a sparse matrix. ``set_output`` requires ``False``.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample.
    n_jobs : int, optional
        Number of threads; by default as many as BLAS may use.

    Attributes
    ----------
    feature_map_ : FeatureMap
        The fitted encoding; ``feature_map_.to_dict()`` returns it as data.
    n_rows_seen_ : int
        Number of rows seen, including earlier ``partial_fit`` and ``merge`` calls.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (d,)

    See Also
    --------
    FourierFeatures : features for smooth effects of all columns together.

    Notes
    -----
    ``partial_fit`` accepts rows in blocks; sample and features do not depend on how rows are divided into
    blocks. :meth:`merge` combines transformers that were fitted to different rows: with up to ``sample_rows``
    rows, or with ids for all rows, the features are the same as from one fit; otherwise they come from another
    sample.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from mbauc import MBAClassifier
    >>> from mbauc.features import CurveFeatures
    >>> from mbauc.metrics import roc_auc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(4000, 2))
    >>> y = X[:, 0] ** 2 + X[:, 1] + rng.normal(size=4000) > 2
    >>> ranker = make_pipeline(CurveFeatures(bins=16), MBAClassifier()).fit(X[:2000], y[:2000])
    >>> roc_auc(y[2000:], ranker.decision_function(X[2000:])) > 0.85
    True
    >>> CurveFeatures(bins=2, numbers=False).fit([[1.0], [2.0], [3.0]]).get_feature_names_out().tolist()
    ['x0=≤2.5', 'x0=>2.5', 'x0=(missing)']
    """

    feature_map_: FeatureMap
    n_rows_seen_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        bins: int = BINS,
        *,
        min_rows: int = 10,
        max_levels: int = 512,
        interactions: Sequence[tuple[Any, Any]] = (),
        coarse_bins: int = 12,
        numbers: bool = True,
        categories: Sequence[Any] | None = None,
        sample_rows: int = 50_000,
        sparse_output: bool = True,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.bins = bins
        self.min_rows = min_rows
        self.max_levels = max_levels
        self.interactions = interactions
        self.coarse_bins = coarse_bins
        self.numbers = numbers
        self.categories = categories
        self.sample_rows = sample_rows
        self.sparse_output = sparse_output
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Determine bins, levels and cells from the rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Numbers, with NaN for missing values; data frames may also have text, categorical and time columns.
            Empty columns, and text columns with a different value in nearly every row, are dropped with a
            warning (:class:`~mbauc.errors.LeftOutWarning`).
        y : object, optional
            Not used.
        """
        return self._take_first(X, None)

    def partial_fit(self, X: Any, y: ArrayLike | None = None, ids: ArrayLike | None = None) -> Self:
        """Update bins, levels and cells with a block of rows.

        Features change with each block: finish the pass before calling ``transform``. Levels of text columns
        are those of the first block; where that is not enough, pass integer codes and name them in
        ``categories``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            A block of rows.
        y : object, optional
            Not used.
        ids : array-like of shape (n,), optional
            Unique row ids, integers or strings. With them the sample does not depend on the order of the rows.
            Pass them for all blocks or for none.
        """
        if not hasattr(self, "feature_map_"):
            return self._take_first(X, ids)
        self._check_settings()
        sample = deepcopy(self._sample)
        self._add(sample, self._codes.transform(self, X), ids)
        self._keep(self._codes, sample)
        return self

    def merge(self, other: CurveFeatures) -> Self:
        """Add the rows of another fitted transformer with the same settings and columns.

        Parameters
        ----------
        other : CurveFeatures
            Fitted to other rows; not modified.
        """
        if not isinstance(other, CurveFeatures):
            raise TypeError(f"other must be CurveFeatures, got {type(other).__name__}.")
        for each in (self, other):
            check_is_fitted(each, "feature_map_")
        for name, value in self.get_params(deep=False).items():
            if name not in ("n_jobs", "sparse_output") and repr(value) != repr(getattr(other, name)):
                raise ValueError(
                    f"both must have the same settings to merge, but {name} is {value!r} and "
                    f"{getattr(other, name)!r}."
                )
        if other._codes.kinds != self._codes.kinds:
            raise ValueError(
                "both must have the same columns, with the same levels, to merge. Fit both first blocks to "
                "tables with the same levels, or pass codes and name them in categories."
            )
        self._keep(self._codes, deepcopy(self._sample).merge(deepcopy(other._sample)))
        return self

    def transform(self, X: Any) -> Any:
        """Encode rows.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, d)
            Rows to encode, as for :meth:`fit`.

        Returns
        -------
        csr_array or ndarray of shape (n, features)
        """
        check_is_fitted(self, "feature_map_")
        found: sp.csr_array = self.feature_map_.encode(self._codes.transform(self, X), self.n_jobs)
        return found if self.sparse_output else found.toarray()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the features: ``bid=(1, 2]``, ``site=a``, ``bid``, ``bid=≤1 × site=a``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns, if ``fit`` had none.
        """
        check_is_fitted(self, "feature_map_")
        features = self.feature_map_
        if input_features is not None:
            features = self._rename(features, np.asarray(input_features, dtype=object).ravel())
        return np.array(features.feature_names(), dtype=object)

    # -- inside ------------------------------------------------------------------------------------------

    def _take_first(self, X: Any, ids: ArrayLike | None) -> Self:
        self._check_settings()
        codes = RowCodes.learn(self, X, self.categories)
        self._seed = integer_seed(self.random_state)
        sample = ClassSample(int(self.sample_rows))
        self._add(sample, codes.transform(self, X), ids)
        self._keep(codes, sample)
        return self

    def _add(self, sample: ClassSample, rows: NDArray[np.float64], ids: ArrayLike | None) -> None:
        """Take in rows whose keys are small: by id, or by how many came before."""
        if ids is None:
            keys = row_keys(np.arange(sample.rows, sample.rows + rows.shape[0]), self._seed)
        else:
            found = check_ids(column_or_1d(ids))
            if found.size != rows.shape[0]:
                raise ValueError(f"X has {rows.shape[0]:,} rows and ids has {found.size:,}; each needs one.")
            keys = row_keys(found, self._seed)
        sample.rows += rows.shape[0]
        small = keys <= sample.largest
        sample.add(rows[small], keys[small], np.ones(int(small.sum())))

    def _keep(self, codes: RowCodes, sample: ClassSample) -> None:
        sample.trim(int(self.sample_rows))
        settings = DesignSettings(
            int(self.bins), int(self.min_rows), int(self.max_levels), int(self.coarse_bins), bool(self.numbers)
        )
        features = design_features(sample.X, None, codes.kinds, settings)
        self.feature_map_ = with_pairs(features, codes.find_pairs(self.interactions))
        self._codes, self._sample, self.n_rows_seen_ = codes, sample, sample.rows

    def _rename(self, features: FeatureMap, names: NDArray[Any]) -> FeatureMap:
        known = getattr(self, "feature_names_in_", None)
        if known is not None and not np.array_equal(known, names):
            raise ValueError("input_features is not equal to feature_names_in_")
        if names.size != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features ({self.n_features_in_}), got "
                f"{names.size}"
            )
        return features if known is not None else replace(features, names=tuple(map(str, names)))

    def _check_settings(self) -> None:
        check_whole("bins", self.bins, low=2)
        check_whole("min_rows", self.min_rows)
        check_whole("max_levels", self.max_levels)
        check_whole("coarse_bins", self.coarse_bins, low=2)
        check_whole("sample_rows", self.sample_rows)
        check_flag("numbers", self.numbers)
        check_flag("sparse_output", self.sparse_output)
        thread_count(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags
