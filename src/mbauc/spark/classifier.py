"""The classifiers for Spark DataFrames."""

from __future__ import annotations

from typing import Any, Self

from pyspark.sql import Column

from mbauc.estimators import classifier, classifier_cv, pairwise, pairwise_cv
from mbauc.estimators.additive import classifier as additive
from mbauc.estimators.scorer import LinearScorer
from mbauc.spark.frame import cluster_rows, is_frame
from mbauc.spark.scores import label_column, probability_column, score_column


class _OnSpark:
    """Fits to DataFrames and scores them as lazy columns; rows in memory are left to the estimator."""

    #: Attribute with the column or columns that the features were in.
    _columns_name = "features_"
    # of the estimator
    scorer: Any
    fit_parts: Any

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        features: list[str] | str = "features",
        label: str = "label",
        weight: str | None = None,
        group: str | None = None,
        id: str | None = None,
        classes: Any = None,
    ) -> Self:
        """Fit to a DataFrame, or to rows in memory as the estimator of the same name in :mod:`mbauc`.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y, sample_weight, groups
            Only for rows in memory; for a DataFrame name its columns instead.
        features : list of str, or str, default="features"
            Numeric columns, or one column of vectors (dense or sparse) or arrays.
        label : str, default="label"
            Column of two-valued labels: numbers, strings or booleans; the larger is positive.
        weight : str, optional
            Column of row weights.
        group : str, optional
            Column of groups (queries, users, days): integers, strings or dates. Only pairs within a group
            count, in whatever partitions its rows are, and folds consist of whole groups. The driver then holds
            some vectors of n numbers. ``MBAClassifierCV`` requires ``within_groups=True``.
        id : str, optional
            Column of row ids: integers or strings. Sampled pairs and cross-validation folds then depend on a
            hash of the id instead of the order of the rows: shuffled rows give the same pairs and folds, and
            rows with the same id are held out together.
        classes : sequence of two labels, optional
            Both labels; saves a job if a partition has only one label other than 0, 1 or -1.

        Returns
        -------
        self
        """
        if not is_frame(X):
            named = {"weight": weight, "group": group, "id": id, "classes": classes}
            named |= {"features": None if features == "features" else features}
            named |= {"label": None if label == "label" else label}
            for name, value in named.items():
                if value is not None:
                    raise ValueError(
                        f"{name} is for DataFrames, and X is in memory; leave out {name}. Rows in memory have "
                        "y, sample_weight and groups."
                    )
            more = {} if groups is None else {"groups": groups}
            super().fit(X, y, sample_weight, **more)  # type: ignore[misc]
            self._keep_names(None)
            return self
        if y is not None or sample_weight is not None or groups is not None:
            raise ValueError(
                "y, sample_weight and groups are for rows in memory; name the columns by label=, weight= and "
                "group=."
            )
        self.fit_parts(cluster_rows(X, features, label, weight, id, classes, group))
        self._keep_names(features if isinstance(features, str) else list(features))
        return self

    def _keep_names(self, columns: str | list[str] | None) -> None:
        vars(self).pop(self._columns_name, None)
        if columns is not None:
            setattr(self, self._columns_name, columns)

    def decision_function(self, X: Any) -> Any:
        """Score of each row; for a DataFrame a lazy column, to use as in ``df.withColumn("score", …)``."""
        return self.score_column(X) if is_frame(X) else super().decision_function(X)  # type: ignore[misc]

    def predict(self, X: Any) -> Any:
        """Predicted labels, positive where the score is above 0; for a DataFrame a lazy column."""
        if not is_frame(X):
            return super().predict(X)  # type: ignore[misc]
        return label_column(self.score_column(X), self.scorer())

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class; for a DataFrame a lazy column of arrays of two numbers."""
        if not is_frame(X):
            return super().predict_proba(X)  # type: ignore[misc]
        return probability_column(self.score_column(X), self.scorer())

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of :meth:`predict_proba`; only for rows in memory."""
        if not is_frame(X):
            return super().predict_log_proba(X)  # type: ignore[misc]
        raise ValueError("predict_log_proba is for rows in memory; take the logarithm of predict_proba(df).")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy, as for any scikit-learn classifier; only for rows in memory."""
        if not is_frame(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        raise ValueError(
            "score is for rows in memory; for a DataFrame use "
            "mbauc.spark.roc_auc(df, ranker.decision_function(df), label)."
        )

    def score_column(self, frame: Any) -> Column:
        """Lazy column of scores for a DataFrame with the columns of the training data."""
        scorer: LinearScorer = self.scorer()
        features = getattr(self, self._columns_name, None)
        if features is None:
            raise ValueError(
                "this estimator was not fitted to a DataFrame, so it has no names of columns; fit it to a "
                "DataFrame, or pass rows in memory."
            )
        return score_column(frame, features, scorer)


class MBAClassifier(_OnSpark, classifier.MBAClassifier):
    """:class:`mbauc.MBAClassifier` for Spark DataFrames, with the same parameters and weights.

    Partitions are passed to Python workers in Arrow batches, their moments are computed there and merged in a
    tree, and the driver solves. With many columns, where Σ would be too large, partitions are packed and
    cached, and each product of the matrix-free solver is one job. Scores are lazy columns.

    Memory of a task: one d×d matrix of float64 and a block of 64 MB, or a few vectors of d numbers if
    matrix-free; ``solver="auto"`` takes the latter from 2,049 columns on. Σ must also fit into a cell of a
    Spark row (15,000 columns) and into ``spark.driver.maxResultSize`` (10,000 columns at its default of 1 GB).
    ``n_jobs`` is the number of threads of a task.
    """


class MBAClassifierCV(_OnSpark, classifier_cv.MBAClassifierCV):
    """:class:`mbauc.MBAClassifierCV` for Spark DataFrames; the moments of all folds are computed in one pass.

    ``cv`` must be a number of folds and ``pairs`` "all". Without an id column, rows are counted first (labels
    only), and the folds are those of a fit on one machine to the rows in the same order, with the same
    ``random_state``. With ``scoring="roc_auc"`` held-out rows are scored in a second pass and counted in bins:
    AUC is exact up to several thousand distinct scores per fold, and the midpoint of narrow bounds beyond.
    ``scoring="binormal_auc"`` needs no second pass.

    Memory of a task: one d×d matrix for each fold and two more, or vectors if matrix-free.
    """


class PairwiseAUCClassifier(_OnSpark, pairwise.PairwiseAUCClassifier):
    """:class:`mbauc.PairwiseAUCClassifier` for Spark DataFrames, with the same parameters and weights.

    Partitions are packed and cached; each sweep over the rows is one job. Memory of a task: its partition and a
    few vectors of d numbers; the driver holds some vectors of n numbers, which are exchanged with the executors
    in each sweep.
    """


class PairwiseAUCClassifierCV(_OnSpark, pairwise_cv.PairwiseAUCClassifierCV):
    """:class:`mbauc.PairwiseAUCClassifierCV` for Spark DataFrames: loss and penalties by cross-validation.

    ``cv`` must be a number of folds; folds, held-out scores and memory are as for :class:`MBAClassifierCV` and
    :class:`PairwiseAUCClassifier`.
    """


class AdditiveAUCClassifier(_OnSpark, additive.AdditiveAUCClassifier):
    """:class:`mbauc.AdditiveAUCClassifier` for Spark DataFrames, with the same features and weights.

    Pass numeric columns, with null or NaN for missing values, or one column of vectors or arrays; encode text
    columns with ``StringIndexer`` and name them in ``categories``. The executors draw the sample for the
    search, the same rows as on one machine: by the order of the rows, or by their ``id``, whatever their order.
    The search runs on the driver, the sums over all rows on the executors. Groups are not supported.
    ``columns_`` has the names of the columns, ``features_`` the features selected.

    Memory of a task: a block of 64 MB, its features (12 bytes for each column, number and interaction of a row)
    and one matrix of features × features, which is transferred as for :class:`MBAClassifier`.
    """

    #: The column or columns of the rows.
    columns_: str | list[str]
    _columns_name = "columns_"
