"""MBAClassifier and MBAClassifierCV for Spark DataFrames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T
from sklearn.utils.validation import check_is_fitted

from mbauc.cluster.classifier import ClusterClassifier
from mbauc.cluster.classifier_cv import ClusterClassifierCV
from mbauc.spark.columns import Columns
from mbauc.spark.frame import checked_columns, cluster_rows, is_frame
from mbauc.spark.parts import column_named


class _OnSpark:
    """Scores and predictions of DataFrames, as lazy columns; those of rows in memory at once."""

    #: The column or columns that the features were in.
    features_: str | list[str]

    def _remember(self, features: Any) -> None:
        self.features_ = features if isinstance(features, str) else list(features)

    def decision_function(self, X: Any) -> Any:
        """Score of each row: a lazy column for a DataFrame, such as ``df.withColumn("score", …)`` takes."""
        if not is_frame(X):
            return super().decision_function(X)  # type: ignore[misc]
        return self.score_column(X)

    def predict(self, X: Any) -> Any:
        """The positive class where the score is above 0: a lazy column for a DataFrame."""
        if not is_frame(X):
            return super().predict(X)  # type: ignore[misc]
        low, high = self.classes_.tolist()  # type: ignore[attr-defined]
        return F.when(self.score_column(X) > 0, F.lit(high)).otherwise(F.lit(low))

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class: a lazy column of arrays of two numbers for a DataFrame."""
        if not is_frame(X):
            return super().predict_proba(X)  # type: ignore[misc]
        # the logistic function by its name: the score stands in the plan once
        odds = self.score_column(X) * F.lit(float(self.slope_))  # type: ignore[attr-defined]
        return F.transform(F.array(odds), lambda s: F.array(1 / (1 + F.exp(s)), 1 / (1 + F.exp(-s)))).getItem(0)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of :meth:`predict_proba`; for rows in memory."""
        if not is_frame(X):
            return super().predict_log_proba(X)  # type: ignore[misc]
        raise ValueError("predict_log_proba is for rows in memory; take the logarithm of predict_proba(df).")

    def score_column(self, frame: Any) -> Column:
        """Score of each row of a DataFrame with the columns of the training data, as a lazy column."""
        check_is_fitted(self)
        features = getattr(self, "features_", None)
        if features is None:
            raise ValueError("this estimator was not fitted to a DataFrame; it does not know its columns.")
        columns = checked_columns(frame, features)
        if columns.n_features != self.n_features_in_:  # type: ignore[attr-defined]
            raise ValueError(
                f"the DataFrame has {columns.n_features:,} features, the estimator was fitted to "
                f"{self.n_features_in_:,}."  # type: ignore[attr-defined]
            )
        return scored(columns, self.coef_, float(self.intercept_[0]), frame)  # type: ignore[attr-defined]


def scored(columns: Columns, coef: Any, intercept: float, frame: Any) -> Column:
    """A lazy column of scores x'w + intercept."""
    if isinstance(frame.schema[columns.features[0]].dataType, T.UserDefinedType):
        given = F.unwrap_udt(column_named(columns.features[0]))
    elif len(columns.features) == 1 and isinstance(frame.schema[columns.features[0]].dataType, T.ArrayType):
        given = column_named(columns.features[0])
    else:
        given = F.struct(*[column_named(name).alias(f"c{k}") for k, name in enumerate(columns.features)])
    weights = np.asarray(coef, dtype=np.float64)

    def score(rows: pa.Array) -> pa.Array:
        from mbauc.scoring import scores

        if pa.types.is_struct(rows.type) and rows.type.num_fields and rows.type.field(0).name == "c0":
            X = columns.matrix(rows.flatten())
        else:
            X = columns.matrix([rows])
        return pa.array(scores(X, weights)[0] + intercept)

    score.__annotations__ = {"rows": pa.Array, "return": pa.Array}
    return F.arrow_udf(score, "double")(given)


class MBAClassifier(_OnSpark, ClusterClassifier):
    """:class:`mbauc.MBAClassifier` for Spark DataFrames: the same parameters, the same weights.

    Each partition goes to Python in Arrow batches; its moments are computed there and merged in a tree, and the
    driver solves. For many columns, where Σ would be too large, partitions are packed and cached, and each
    product of the solver is one job. Scores are lazy columns.

    Memory of a task: one d×d matrix of float64 and a block of 64 MB, or a few vectors of d numbers if
    matrix-free; ``solver="auto"`` takes the latter from 2,049 columns on. Σ must also fit into a cell of a
    Spark row (15,000 columns). ``n_jobs`` is the number of threads of a task.
    """

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        features: list[str] | str = "features",
        label: str = "label",
        weight: str | None = None,
        id: str | None = None,
        classes: Any = None,
    ) -> MBAClassifier:
        """Fit to a DataFrame; rows in memory are fitted as :class:`mbauc.MBAClassifier` does.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y, sample_weight
            For rows in memory; a DataFrame has them as columns.
        features : list of str, or str
            Columns of numbers, or one column of vectors (dense or sparse) or arrays.
        label : str
            Column of the labels: numbers, texts or booleans with two values; the larger is positive.
        weight : str, optional
            Column of row weights.
        id : str, optional
            Column of whole numbers or texts that name each row. With a number of ``pairs``, rows are drawn by a
            hash of it instead of by their order, so that shuffled rows give the same pairs.
        classes : sequence of two labels, optional
            Both labels; saves a job where a partition has one label only and it is not 0, 1 or -1.

        Returns
        -------
        self
        """
        if not is_frame(X):
            super().fit(X, y, sample_weight)
            return self
        _no_arrays(y, sample_weight)
        self._fit_rows(cluster_rows(X, features, label, weight, id, classes))
        self._remember(features)
        return self


class MBAClassifierCV(_OnSpark, ClusterClassifierCV):
    """:class:`mbauc.MBAClassifierCV` for Spark DataFrames: the folds' moments come out of the same pass.

    ``cv`` is a number of folds and ``pairs`` is "all". Without an id column, rows are counted first (labels
    alone), and the folds are those of a fit on one machine to the rows in the same order, with the same
    ``random_state``. With ``scoring="roc_auc"`` held-out rows are scored in one more pass, counted in bins:
    exact up to several thousand distinct scores a fold, and the middle of a narrow bracket beyond.
    ``scoring="binormal_auc"`` needs no second pass.

    Memory of a task: one d×d matrix for each fold and two more, or vectors if matrix-free.
    """

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        features: list[str] | str = "features",
        label: str = "label",
        weight: str | None = None,
        id: str | None = None,
        classes: Any = None,
    ) -> MBAClassifierCV:
        """Choose the penalties and fit to a DataFrame.

        Parameters
        ----------
        X, y, sample_weight, features, label, weight, classes
            As for :meth:`MBAClassifier.fit`.
        id : str, optional
            Column that names rows, or groups of rows to be held out together; folds are then a hash of it.

        Returns
        -------
        self
        """
        if not is_frame(X):
            super().fit(X, y, sample_weight)
            return self
        _no_arrays(y, sample_weight)
        self._fit_rows(cluster_rows(X, features, label, weight, id, classes))
        self._remember(features)
        return self


def _no_arrays(y: Any, sample_weight: Any) -> None:
    if y is not None or sample_weight is not None:
        raise ValueError("y and sample_weight are for rows in memory; name the columns by label= and weight=.")
