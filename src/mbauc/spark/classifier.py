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
        """Fit to a DataFrame; rows in memory are fitted as the estimator of the same name in :mod:`mbauc` does.

        Parameters
        ----------
        X : DataFrame
            The rows.
        y, sample_weight, groups
            For rows in memory; a DataFrame has them as columns.
        features : list of str, or str, default="features"
            Columns of numbers, or one column of vectors (dense or sparse) or arrays.
        label : str, default="label"
            Column of the labels: numbers, texts or booleans with two values; the larger is positive.
        weight : str, optional
            Column of row weights.
        group : str, optional
            Column of groups (queries, users, days): whole numbers, texts or dates. Only pairs of rows of one
            group count, wherever these rows are, and folds hold out whole groups. The driver then holds some
            vectors of n numbers. ``MBAClassifierCV`` wants ``within_groups=True`` for it.
        id : str, optional
            Column of whole numbers or texts that name each row. With a number of ``pairs`` rows are drawn, and
            in cross-validation folds are made, by a hash of it instead of by their order: shuffled rows give
            the same pairs and folds, and rows of one id are held out together.
        classes : sequence of two labels, optional
            Both labels; saves a job where a partition has one label only and it is not 0, 1 or -1.

        Returns
        -------
        self
        """
        if not is_frame(X):
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
        """Score of each row: a lazy column for a DataFrame, such as ``df.withColumn("score", …)`` takes."""
        return self.score_column(X) if is_frame(X) else super().decision_function(X)  # type: ignore[misc]

    def predict(self, X: Any) -> Any:
        """The positive class where the score is above 0: a lazy column for a DataFrame."""
        if not is_frame(X):
            return super().predict(X)  # type: ignore[misc]
        return label_column(self.score_column(X), self.scorer())

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class: a lazy column of arrays of two numbers for a DataFrame."""
        if not is_frame(X):
            return super().predict_proba(X)  # type: ignore[misc]
        return probability_column(self.score_column(X), self.scorer())

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of :meth:`predict_proba`; for rows in memory."""
        if not is_frame(X):
            return super().predict_log_proba(X)  # type: ignore[misc]
        raise ValueError("predict_log_proba is for rows in memory; take the logarithm of predict_proba(df).")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy, as of any scikit-learn classifier; for rows in memory."""
        if not is_frame(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        raise ValueError(
            "score is for rows in memory; for a DataFrame use "
            "mbauc.spark.roc_auc(df, ranker.decision_function(df), label)."
        )

    def score_column(self, frame: Any) -> Column:
        """Score of each row of a DataFrame with the columns of the training data, as a lazy column."""
        scorer: LinearScorer = self.scorer()
        features = getattr(self, self._columns_name, None)
        if features is None:
            raise ValueError("this estimator was not fitted to a DataFrame; it does not know its columns.")
        return score_column(frame, features, scorer)


class MBAClassifier(_OnSpark, classifier.MBAClassifier):
    """:class:`mbauc.MBAClassifier` for Spark DataFrames: the same parameters, the same weights.

    Each partition goes to Python in Arrow batches; its moments are computed there and merged in a tree, and the
    driver solves. For many columns, where Σ would be too large, partitions are packed and cached, and each
    product of the solver is one job. Scores are lazy columns.

    Memory of a task: one d×d matrix of float64 and a block of 64 MB, or a few vectors of d numbers if
    matrix-free; ``solver="auto"`` takes the latter from 2,049 columns on. Σ must also fit into a cell of a
    Spark row (15,000 columns) and into ``spark.driver.maxResultSize`` (10,000 columns at its default of 1 GB).
    ``n_jobs`` is the number of threads of a task.
    """


class MBAClassifierCV(_OnSpark, classifier_cv.MBAClassifierCV):
    """:class:`mbauc.MBAClassifierCV` for Spark DataFrames: the folds' moments come out of the same pass.

    ``cv`` is a number of folds and ``pairs`` is "all". Without an id column, rows are counted first (labels
    alone), and the folds are as in a fit on one machine to the rows in the same order, with the same
    ``random_state``. With ``scoring="roc_auc"`` held-out rows are scored in one more pass, counted in bins:
    exact up to several thousand distinct scores a fold, and the middle of a narrow bracket beyond.
    ``scoring="binormal_auc"`` needs no second pass.

    Memory of a task: one d×d matrix for each fold and two more, or vectors if matrix-free.
    """


class PairwiseAUCClassifier(_OnSpark, pairwise.PairwiseAUCClassifier):
    """:class:`mbauc.PairwiseAUCClassifier` for Spark DataFrames: the same parameters, the same weights.

    Partitions are packed and cached; each sweep over the rows is one job. Memory of a task: its partition and a
    few vectors of d numbers; the driver keeps some vectors of n numbers, which go to the executors and come
    back with each sweep.
    """


class PairwiseAUCClassifierCV(_OnSpark, pairwise_cv.PairwiseAUCClassifierCV):
    """:class:`mbauc.PairwiseAUCClassifierCV` for Spark DataFrames: loss and penalties are chosen there.

    ``cv`` is a number of folds; folds, held-out scores and memory are as for :class:`MBAClassifierCV` and
    :class:`PairwiseAUCClassifier`.
    """


class AdditiveAUCClassifier(_OnSpark, additive.AdditiveAUCClassifier):
    """:class:`mbauc.AdditiveAUCClassifier` for Spark DataFrames: the same features, the same weights.

    Columns are numbers, null or NaN where they are missing, or one column of vectors or arrays; of text columns
    pass codes (``StringIndexer``), and name them in ``categories``. Executors draw the sample that features are
    chosen on, the same rows as on one machine: by the order of the rows, or by their ``id``, whatever their
    order. The driver searches; sums over all rows are made where the rows are. Pairs within groups cannot be
    had. The names of the columns are in ``columns_``, ``features_`` is what was made of them.

    Memory of a task: a block of 64 MB, its features (12 bytes for each column, number and interaction of a row)
    and one matrix of features × features, which travels as for :class:`MBAClassifier`.
    """

    #: The column or columns of the rows.
    columns_: str | list[str]
    _columns_name = "columns_"
