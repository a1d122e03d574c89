"""Exact AUC and DeLong's interval of scores on a Dask cluster."""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da

from mbauc.checks import check_share
from mbauc.dask.blocks import open_collections
from mbauc.metrics import AucInterval
from mbauc.metrics.intervals.delong import check_scale
from mbauc.metrics.parts_auc import ReadScores
from mbauc.metrics.rank_sums import RankSums
from mbauc.rows.parts.label_counts import count_labels


def roc_auc(y_true: Any, y_score: Any, *, sample_weight: Any = None) -> float:
    """Exact AUC over all rows of a Dask collection, not an average over partitions.

    Parameters
    ----------
    y_true : dask array or series of shape (n,)
        Labels; the larger is positive.
    y_score : dask array or series of shape (n,)
        Scores.
    sample_weight : dask array or series of shape (n,), optional
        Weight of each row; the weight of a pair is the product of the weights of its rows.

    Examples
    --------
    >>> import dask.array as da
    >>> import numpy as np
    >>> y, s = np.array([0, 1, 0, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    >>> roc_auc(da.from_array(y, chunks=2), da.from_array(s, chunks=2))
    1.0
    """
    return _rank(y_true, y_score, sample_weight).auc


def roc_auc_interval(
    y_true: Any,
    y_score: Any,
    *,
    sample_weight: Any = None,
    confidence: float = 0.95,
    scale: Literal["logit", "linear"] = "logit",
) -> AucInterval:
    """Exact AUC with DeLong's confidence interval, as by :func:`mbauc.metrics.roc_auc_interval`.

    Scores are range-partitioned across the cluster; the sums of each range are computed on its worker.

    Parameters
    ----------
    y_true, y_score
        As for :func:`roc_auc`.
    sample_weight : dask array or series of shape (n,), optional
        Row weights as frequencies: weight k counts as k equal rows.
    confidence, scale
        As for :func:`mbauc.metrics.roc_auc_interval`.
    """
    check_share("confidence", confidence)
    check_scale(scale)
    return _rank(y_true, y_score, sample_weight).interval(confidence, scale)


def _rank(y_true: Any, y_score: Any, sample_weight: Any) -> RankSums:
    if not (isinstance(y_score, da.Array) or hasattr(y_score, "map_partitions")):
        raise ValueError(
            f"y_score must be a dask array or series, got {type(y_score).__name__}; scores in memory go to "
            "mbauc.metrics, or through dask.array.from_array."
        )
    if hasattr(y_score, "to_frame"):
        scores = y_score.to_frame()
    else:
        scores = y_score[:, None] if y_score.ndim == 1 else y_score
    if scores.ndim != 2 or scores.shape[1] != 1:
        raise ValueError(
            f"y_score must have one score for each row, got {scores.ndim} dimensions and {scores.shape[1]} "
            "columns; of probabilities pass the last column."
        )
    given = open_collections(scores, y_true, sample_weight)
    counts = count_labels(given.parts, given.schema)
    sums: RankSums = given.parts.rank(ReadScores(counts.classes), RankSums.of)
    return sums
