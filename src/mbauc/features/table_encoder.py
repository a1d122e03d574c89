"""A scikit-learn step that makes a matrix of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mbauc.defaults import MAX_CATEGORIES, MISSING, SCALE
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.frames import learn_table
from mbauc.readers.table.encoding.learner import EncodingSettings


class TableEncoder(TransformerMixin, BaseEstimator):
    """Encode tables with categories, texts, dates and missing values as numeric matrices, for any model.

    Column types are inferred as by :class:`mbauc.TableRanker`; ``plan_`` lists them with the reasons.

    Parameters
    ----------
    encode : {"onehot", "hash", "codes"}, default="onehot"
        Encoding of categories: one-hot, feature hashing, or one column of integer codes; see
        :class:`mbauc.readers.TableSource`.
    types : mapping from names to kinds, optional
        Column types that override the inferred ones: ``"numeric"``, ``"category"``, ``"text"`` (short free
        text, whose frequent words become columns of codes), ``"time"``, or ``"id"`` and ``"ignore"``, which are
        dropped.
    scale : {"standard", "max-abs", None}, default="standard"
        Scaling of numeric columns; not used with codes.
    missing : {"category", "mean"}, default="category"
        Whether a missing number gets an indicator column, or is imputed by the mean; not used with codes.
    max_categories : int, default=1000
        Maximum number of levels of a category.
    hash_dim : int, optional
        Number of hashed columns.
    encoding : TableEncoding, optional
        A fitted encoding to use; then nothing is fitted and all other parameters are ignored.

    Attributes
    ----------
    encoding_ : TableEncoding
        The fitted encoding.
    plan_ : ColumnPlan
        Type of each column, and how it was inferred; not available with ``encoding``.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Names of the columns of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from mbauc.features import TableEncoder
    >>> table = pd.DataFrame({"bid": [0.5, None, 2.0, 1.0], "site": ["b", "a", None, "a"]})
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['bid', 'bid=(missing)', 'site=a', 'site=b', 'site=(missing)']
    >>> make_pipeline(TableEncoder(), LogisticRegression()).fit(table, [0, 1, 1, 0]).predict(table).shape
    (4,)
    """

    def __init__(
        self,
        encode: Literal["hash", "onehot", "codes"] = "onehot",
        *,
        types: Mapping[str, str] | None = None,
        scale: Literal["standard", "max-abs"] | None = SCALE,
        missing: Literal["category", "mean"] = MISSING,
        max_categories: int = MAX_CATEGORIES,
        hash_dim: int | None = None,
        encoding: TableEncoding | None = None,
    ) -> None:
        self.encode = encode
        self.types = types
        self.scale = scale
        self.missing = missing
        self.max_categories = max_categories
        self.hash_dim = hash_dim
        self.encoding = encoding

    def fit(self, X: Any, y: Any = None) -> Self:
        """Infer the types of the columns, and learn their levels, means and scales.

        Parameters
        ----------
        X : pandas or polars frame, Arrow table, or dict of columns
            Features, without the label.
        y : object, optional
            Not used.
        """
        if self.encoding is not None:
            self.encoding_ = self.encoding
            return self
        settings = EncodingSettings(
            self.encode, self.hash_dim, False, self.missing, self.scale, self.max_categories
        )
        settings.check()
        self.encoding_, self.plan_ = learn_table(X, settings, types=self.types)
        names = [column.name for column in self.plan_.columns]
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        return self

    def transform(self, X: Any) -> Any:
        """Encode a pandas or polars frame, an Arrow table, or a dict of columns as a matrix.

        Columns that were not in the training data are an error; label and id columns may be present or not.
        """
        check_is_fitted(self)
        return self._known.transform(X)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Names of the columns of the matrix."""
        check_is_fitted(self)
        return np.array(self._known.feature_names, dtype=object)

    @property
    def _known(self) -> TableEncoding:
        return self.encoding if self.encoding is not None else self.encoding_

    def __sklearn_is_fitted__(self) -> bool:
        return self.encoding is not None or hasattr(self, "encoding_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.encoding is None
        tags.input_tags.two_d_array = False
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags
