"""The classifiers for Dask collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import dask.array as da
import numpy as np
from dask.delayed import delayed
from numpy.typing import NDArray

from mbauc.dask.blocks import is_dask, list_partitions, open_collections
from mbauc.estimators import classifier, classifier_cv, pairwise, pairwise_cv
from mbauc.estimators.additive import classifier as additive
from mbauc.estimators.linear import LinearRanker
from mbauc.estimators.scorer import LinearScorer
from mbauc.rows.block import Columns
from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.reading import visit_columns
from mbauc.rows.schema import Schema

Array = NDArray[np.float64]


class _OnDask:
    """Fits to Dask collections and scores them lazily; rows in memory are left to the estimator."""

    # of the estimator
    scorer: Any
    restore: Any
    fit_parts: Any

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        *,
        id: Any = None,
        classes: Any = None,
    ) -> Self:
        """Fit to a Dask collection, or to rows in memory as the estimator of the same name in :mod:`mbauc`.

        Parameters
        ----------
        X : dask array or dataframe of shape (n, d)
            Partitions of rows, dense or sparse.
        y : dask array or series of shape (n,)
            Two-valued labels, partitioned as X.
        sample_weight : dask array or series of shape (n,), optional
            As for :class:`mbauc.MBAClassifier`.
        groups : dask array or series of shape (n,), optional
            Group of each row (a query, a user, a day): integers or strings. Only pairs within a group count, in
            whatever partitions its rows are, and folds consist of whole groups. The driver then holds some
            vectors of n numbers. ``MBAClassifierCV`` requires ``within_groups=True``.
        id : dask array or series of shape (n,), optional
            Row ids: integers or strings. Sampled pairs and cross-validation folds then depend on a hash of the
            id instead of the order of the rows: shuffled rows give the same pairs and folds, and rows with the
            same id are held out together.
        classes : sequence of two labels, optional
            Both labels; saves a job if a partition has only one label other than 0, 1 or -1.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups, id, classes)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, id: Any, classes: Any) -> Self:
        if is_dask(X):
            self.fit_parts(_rows(X, y, sample_weight, id, classes, groups))
            return self
        for name, value in (("id", id), ("classes", classes)):
            if value is not None:
                raise ValueError(f"{name} is for Dask collections, and X is in memory; leave out {name}.")
        more = {} if groups is None else {"groups": groups}
        super().fit(X, y, sample_weight, **more)  # type: ignore[misc]
        return self

    def decision_function(self, X: Any) -> Any:
        """Score of each row; a lazy dask array for a Dask collection."""
        return self._lazy_scores(X)[1] if is_dask(X) else super().decision_function(X)  # type: ignore[misc]

    def predict(self, X: Any) -> Any:
        """Predicted labels, positive where the score is above 0; a lazy dask array for a Dask collection."""
        if not is_dask(X):
            return super().predict(X)  # type: ignore[misc]
        scorer, s = self._lazy_scores(X)
        return s.map_blocks(scorer.predict, dtype=scorer.classes.dtype)

    def predict_proba(self, X: Any) -> Any:
        """Probability of each class, shape (n, 2); a lazy dask array for a Dask collection."""
        if not is_dask(X):
            return super().predict_proba(X)  # type: ignore[misc]
        scorer, s = self._lazy_scores(X)
        return _two_columns(s, scorer.probabilities)

    def predict_log_proba(self, X: Any) -> Any:
        """Logarithm of :meth:`predict_proba`; a lazy dask array for a Dask collection."""
        if not is_dask(X):
            return super().predict_log_proba(X)  # type: ignore[misc]
        scorer, s = self._lazy_scores(X)
        return _two_columns(s, scorer.log_probabilities)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy, as for any scikit-learn classifier; for AUC use :func:`mbauc.dask.roc_auc`."""
        if not is_dask(X):
            return float(super().score(X, y, sample_weight))  # type: ignore[misc]
        scorer: LinearScorer = self.scorer()
        rows = _rows(X, y, sample_weight)
        if rows.schema.n_features != scorer.n_features:
            raise ValueError(
                f"X has {rows.schema.n_features:,} columns, but {type(self).__name__} was fitted to "
                f"{scorer.n_features:,}."
            )
        right, total = rows.parts.reduce(CountRight(rows.schema, scorer), np.add)
        return float(right / total) if total > 0 else float("nan")

    def _lazy_scores(self, X: Any) -> tuple[LinearScorer, Any]:
        scorer: LinearScorer = self.scorer()
        # without the moments, which are large and of no use to a worker
        score = ScoreBlock(self.restore(scorer))
        if isinstance(X, da.Array):
            if X.ndim != 2:
                raise ValueError(f"X must be two-dimensional (rows × columns), got {X.ndim} dimension(s).")
            rows = X.rechunk({1: -1})
            return scorer, rows.map_blocks(score, dtype=np.float64, drop_axis=1, token="decision_function")
        if hasattr(X, "map_partitions") and hasattr(X, "columns"):
            run = delayed(score, pure=True)
            pieces = [da.from_delayed(run(piece), (np.nan,), np.float64) for piece in list_partitions(X)]
            return scorer, da.concatenate(pieces)
        raise ValueError(
            f"X must be a dask array or dataframe to be scored, or rows in memory; got {type(X).__name__}."
        )


def _rows(
    X: Any, y: Any, sample_weight: Any, id: Any = None, classes: Any = None, groups: Any = None
) -> PartedRows:
    given = open_collections(X, y, sample_weight, id, groups)
    return PartedRows(given.parts, given.schema, classes, given.weighted, given.with_ids, given.grouped)


def _two_columns(s: Any, probabilities: Any) -> Any:
    """What two columns come of the scores in each block."""
    return s.map_blocks(probabilities, dtype=np.float64, new_axis=1, chunks=(*s.chunks, (2,)))


@dataclass(frozen=True)
class ScoreBlock:
    """Scores of the rows of one partition, which may have none."""

    ranker: LinearRanker

    def __call__(self, X: Any) -> Array:
        """Scores, after the checks that the estimator makes."""
        return self.ranker.decision_function(X) if X.shape[0] else np.empty(0)


@dataclass(frozen=True)
class CountRight:
    """Task: weight of the rows that are predicted right, and of all rows."""

    schema: Schema
    scorer: LinearScorer

    def __call__(self, number: int, blocks: Any) -> Array:
        """Both sums."""
        sums = np.zeros(2)

        def count(first: int, columns: Columns) -> None:
            X, y, weight, *_ = columns
            weight = np.ones(y.size) if weight is None else weight
            right = self.scorer.predict(self.scorer.scores(X)) == y
            sums[:] += weight[right].sum(), weight.sum()

        visit_columns(number, blocks, self.schema, count)
        return sums


class MBAClassifier(_OnDask, classifier.MBAClassifier):
    """:class:`mbauc.MBAClassifier` for Dask collections, with the same parameters and weights.

    The moments of each partition are computed on its worker and merged in a tree; the driver solves. With many
    columns, where Σ would be too large, partitions are packed and kept on the workers, and each product of the
    matrix-free solver is one job. Scores of Dask collections are lazy.

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


class MBAClassifierCV(_OnDask, classifier_cv.MBAClassifierCV):
    """:class:`mbauc.MBAClassifierCV` for Dask collections; the moments of all folds are computed in one pass.

    ``cv`` must be a number of folds and ``pairs`` "all". Without ids, rows are counted first (labels only), and
    the folds are those of a fit on one machine with the same ``random_state``. With ``scoring="roc_auc"``
    held-out rows are scored in a second pass and counted in bins: AUC is exact up to several thousand distinct
    scores per fold, and the midpoint of narrow bounds beyond. ``scoring="binormal_auc"`` needs no second pass.

    Memory of a task: one d×d matrix for each fold and two more, or vectors if matrix-free.
    """


class PairwiseAUCClassifier(_OnDask, pairwise.PairwiseAUCClassifier):
    """:class:`mbauc.PairwiseAUCClassifier` for Dask collections, with the same parameters and weights.

    Partitions are packed and kept on the workers; each sweep over the rows is one job. Memory of a task: its
    partition and a few vectors of d numbers; the driver holds some vectors of n numbers, which are exchanged
    with the workers in each sweep.

    Examples
    --------
    >>> import dask.array as da
    >>> from sklearn.datasets import make_classification
    >>> from mbauc.dask import PairwiseAUCClassifier, roc_auc
    >>> X, y = make_classification(5000, weights=[0.95], random_state=0)
    >>> X, y = da.from_array(X, chunks=(1000, 20)), da.from_array(y, chunks=1000)
    >>> ranker = PairwiseAUCClassifier(loss="logistic").fit(X, y)
    >>> roc_auc(y, ranker.decision_function(X)) > 0.95
    True
    """


class PairwiseAUCClassifierCV(_OnDask, pairwise_cv.PairwiseAUCClassifierCV):
    """:class:`mbauc.PairwiseAUCClassifierCV` for Dask collections: loss and penalties by cross-validation.

    ``cv`` must be a number of folds; folds, held-out scores and memory are as for :class:`MBAClassifierCV` and
    :class:`PairwiseAUCClassifier`.
    """


class AdditiveAUCClassifier(_OnDask, additive.AdditiveAUCClassifier):
    """:class:`mbauc.AdditiveAUCClassifier` for Dask collections, with the same features and weights.

    X must be numeric, with NaN for missing values; encode text columns as codes and name them in
    ``categories``. The workers draw the sample for the search, the same rows as on one machine: by the order of
    the rows, or by their ``id``, whatever their order. The search runs on the driver, the sums over all rows on
    the workers: one job for moments, or one for each product with many features or another loss. Groups are not
    supported. Scores of Dask collections are lazy.

    Memory of a task: its partition, its features (12 bytes for each column, number and interaction of a row)
    and one matrix of features × features. The driver holds the sample and the search.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> from mbauc.dask import AdditiveAUCClassifier, roc_auc
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((3000, 3))
    >>> y = (X[:, 0] ** 2 + rng.standard_normal(3000) > 3).astype(int)
    >>> X[::10, 1] = np.nan
    >>> X, y = da.from_array(X, chunks=(1000, 3)), da.from_array(y, chunks=1000)
    >>> ranker = AdditiveAUCClassifier("curves", random_state=0).fit(X, y)
    >>> roc_auc(y, ranker.decision_function(X)) > 0.85
    True
    """
