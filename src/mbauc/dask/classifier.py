"""MBAClassifier and MBAClassifierCV for Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mbauc.dask.blocks import given_rows, is_dask, pieces_of
from mbauc.estimators.parts_classifier import ClusterClassifier, ClusterRows
from mbauc.estimators.parts_classifier_cv import ClusterClassifierCV
from mbauc.pairs.operator.of_parts import add
from mbauc.rows.block import Columns
from mbauc.rows.reading import visit_columns
from mbauc.rows.schema import Schema
from mbauc.rows.scores import scores


class _OnDask:
    """Scores and predictions of Dask collections, lazily; those of rows in memory at once."""

    classes_: Any
    coef_: Any
    intercept_: Any
    n_features_in_: int

    def _rows(self, X: Any, y: Any, sample_weight: Any, id: Any, classes: Any) -> ClusterRows:
        given = given_rows(X, y, sample_weight, id)
        return ClusterRows(given.parts, given.schema, classes, given.weighted, given.with_ids)

    def decision_function(self, X: Any) -> Any:
        """Score of each row; a lazy dask array for a Dask collection."""
        return self._mapped("decision_function", X, np.dtype(np.float64))

    def predict(self, X: Any) -> Any:
        """The positive class where the score is above 0; a lazy dask array for a Dask collection."""
        return self._mapped("predict", X, np.asarray(getattr(self, "classes_", np.zeros(0))).dtype)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, shape (n, 2); a lazy dask array for a Dask collection."""
        return self._mapped("predict_proba", X, np.dtype(np.float64), 2)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of :meth:`predict_proba`; a lazy dask array for a Dask collection."""
        return self._mapped("predict_log_proba", X, np.dtype(np.float64), 2)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, as of any scikit-learn classifier; for AUC use :func:`mbauc.dask.roc_auc`."""
        if not is_dask(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        check_is_fitted(self)
        rows = self._rows(X, y, sample_weight, None, None)
        if rows.schema.n_features != self.n_features_in_:
            raise ValueError(
                f"X has {rows.schema.n_features:,} columns, but {type(self).__name__} was fitted to "
                f"{self.n_features_in_:,}."
            )
        task = CountRight(rows.schema, self.coef_, self.intercept_, self.classes_)
        right, total = rows.parts.reduce(task, add)
        return float(right / total) if total > 0 else float("nan")

    def _mapped(self, name: str, X: Any, dtype: Any, n_columns: int = 0) -> Any:
        method = getattr(super(), name)
        if not is_dask(X):
            return method(X)
        check_is_fitted(self)
        local = _Local(self, name)
        if isinstance(X, da.Array):
            if X.ndim != 2:
                raise ValueError(f"X must be two-dimensional (rows × columns), got {X.ndim} dimension(s).")
            rows = X.rechunk({1: -1})
            if n_columns:
                return rows.map_blocks(local, dtype=dtype, chunks=(rows.chunks[0], (n_columns,)), token=name)
            return rows.map_blocks(local, dtype=dtype, drop_axis=1, token=name)
        if hasattr(X, "map_partitions") and hasattr(X, "columns"):
            shape = (np.nan, n_columns) if n_columns else (np.nan,)
            run = delayed(local, pure=True)
            return da.concatenate([da.from_delayed(run(piece), shape, dtype) for piece in pieces_of(X)])
        raise ValueError(
            f"X must be a dask array or dataframe to be scored, or rows in memory; got {type(X).__name__}."
        )


@dataclass(frozen=True)
class CountRight:
    """Task: weight of the rows that are predicted right, and of all rows."""

    schema: Schema
    coef: Any
    intercept: Any
    classes: Any

    def __call__(self, number: int, blocks: Any) -> Any:
        """Both sums."""
        sums = np.zeros(2)

        def count(first: int, columns: Columns) -> None:
            X, y, weight, _ = columns
            positive = scores(X, self.coef)[0] + self.intercept[0] > 0
            weight = np.ones(y.size) if weight is None else weight
            right = self.classes[positive.astype(np.intp)] == y
            sums[:] += weight[right].sum(), weight.sum()

        visit_columns(number, blocks, self.schema, count)
        return sums


class _Local:
    """A method of the fitted estimator for the rows of one partition, without the moments, which stay here."""

    def __init__(self, estimator: Any, name: str) -> None:
        self._estimator = clone(estimator)
        for attribute in ("classes_", "coef_", "intercept_", "slope_", "n_features_in_", "feature_names_in_"):
            if hasattr(estimator, attribute):
                setattr(self._estimator, attribute, getattr(estimator, attribute))
        self._name = name
        classes = estimator.classes_
        empty = {"decision_function": np.empty(0), "predict": classes[:0]}
        self._of_no_rows = empty.get(name, np.empty((0, classes.size)))

    def __call__(self, X: Any) -> Any:
        if X.shape[0] == 0:
            return self._of_no_rows
        return getattr(self._estimator, self._name)(X)


class MBAClassifier(_OnDask, ClusterClassifier):
    """:class:`mbauc.MBAClassifier` for rows on a Dask cluster: the same parameters, the same weights.

    Each partition's moments are computed where its rows are and merged in a tree; the driver solves. For many
    columns, where Σ would be too large, partitions are packed and stay with the workers, and each product of
    the solver is one job. Scores of Dask collections are lazy.

    Memory of a task: its partition and one d×d matrix of float64, or a few vectors of d numbers if matrix-free;
    ``solver="auto"`` takes the latter from 2,049 columns on. ``n_jobs`` is the number of threads of a task.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from mbauc.dask import MBAClassifier, roc_auc_interval
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> X, y = da.from_array(X, chunks=(1000, 20)), da.from_array(y, chunks=1000)
    >>> ranker = MBAClassifier().fit(X, y)
    >>> print(roc_auc_interval(y, ranker.decision_function(X)))
    0.9555 (95% interval 0.9338 to 0.9703)
    """

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        id: Any = None,
        classes: Any = None,
    ) -> MBAClassifier:
        """Fit to rows on a cluster; rows in memory are fitted as :class:`mbauc.MBAClassifier` does.

        Parameters
        ----------
        X : dask array or dataframe of shape (n, d)
            Partitions of rows, dense or sparse.
        y : dask array or series of shape (n,)
            Labels, in partitions of the same rows.
        sample_weight : dask array or series of shape (n,), optional
            As for :class:`mbauc.MBAClassifier`.
        id : dask array or series of shape (n,), optional
            Whole numbers or texts that name each row. With a number of ``pairs``, rows are drawn by a hash of
            their ids instead of by their order, so that shuffled rows give the same pairs.
        classes : sequence of two labels, optional
            Both labels; saves a job where a partition has one label only and it is not 0, 1 or -1.

        Returns
        -------
        self
        """
        if not is_dask(X):
            _only_for_dask(id=id, classes=classes)
            super().fit(X, y, sample_weight)
            return self
        self._fit_rows(self._rows(X, y, sample_weight, id, classes))
        return self


class MBAClassifierCV(_OnDask, ClusterClassifierCV):
    """:class:`mbauc.MBAClassifierCV` for rows on a Dask cluster: the folds' moments come out of the same pass.

    ``cv`` is a number of folds and ``pairs`` is "all". Without ids, rows are counted first (labels alone), and
    the folds are those of a fit on one machine with the same ``random_state``. With ``scoring="roc_auc"``
    held-out rows are scored in one more pass, counted in bins: exact up to several thousand distinct scores a
    fold, and the middle of a narrow bracket beyond. ``scoring="binormal_auc"`` needs no second pass.

    Memory of a task: one d×d matrix for each fold and two more, or vectors if matrix-free.
    """

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        id: Any = None,
        classes: Any = None,
        groups: Any = None,
    ) -> MBAClassifierCV:
        """Choose the penalties and fit to rows on a cluster.

        Parameters
        ----------
        X, y, sample_weight, classes
            As for :meth:`MBAClassifier.fit`.
        id : dask array or series of shape (n,), optional
            Names rows, or groups of rows to be held out together; folds are then a hash of it.
        groups : array-like of shape (n,), optional
            For rows in memory and a splitter that keeps groups together.

        Returns
        -------
        self
        """
        if not is_dask(X):
            _only_for_dask(id=id, classes=classes)
            super().fit(X, y, sample_weight, groups)
            return self
        if groups is not None:
            raise ValueError("groups is for rows in memory; give the groups of rows of Dask collections as id.")
        self._fit_rows(self._rows(X, y, sample_weight, id, classes))
        return self


def _only_for_dask(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for Dask collections; X is in memory, where it has no use.")
