"""Exact AUC and DeLong's interval of scores on a Dask cluster."""

from __future__ import annotations

from typing import Any, Literal

import dask.array as da

from mbauc.dask.blocks import open_collections
from mbauc.metrics import AucInterval
from mbauc.metrics.intervals.sample_design import check_confidence
from mbauc.metrics.parts_auc import ReadScores
from mbauc.metrics.rank_sums import RankSums
from mbauc.rows.parts.label_counts import count_labels


def roc_auc(y: Any, s: Any, sample_weight: Any = None) -> float:
    """Exact AUC over all rows of a Dask collection, not an average over partitions.

    Parameters
    ----------
    y : dask array or series of shape (n,)
        Labels; the larger is positive.
    s : dask array or series of shape (n,)
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
    return _rank(y, s, sample_weight).auc


def roc_auc_interval(
    y: Any,
    s: Any,
    sample_weight: Any = None,
    *,
    confidence: float = 0.95,
    scale: Literal["logit", "linear"] = "logit",
) -> AucInterval:
    """Exact AUC with DeLong's confidence interval, as by :func:`mbauc.metrics.roc_auc_interval`.

    Scores are range-partitioned across the cluster; the sums of each range are computed on its worker.

    Parameters
    ----------
    y, s
        As for :func:`roc_auc`.
    sample_weight : dask array or series of shape (n,), optional
        Row weights as frequencies: weight k counts as k equal rows.
    confidence, scale
        As for :func:`mbauc.metrics.roc_auc_interval`.
    """
    check_confidence(confidence)
    return _rank(y, s, sample_weight).interval(confidence, scale)


def _rank(y: Any, s: Any, sample_weight: Any) -> RankSums:
    if not (isinstance(s, da.Array) or hasattr(s, "map_partitions")):
        raise ValueError(
            f"s must be a dask array or series, got {type(s).__name__}; scores in memory go to mbauc.metrics, "
            "or through dask.array.from_array."
        )
    scores = s.to_frame() if hasattr(s, "to_frame") else s[:, None] if s.ndim == 1 else s
    if scores.ndim != 2 or scores.shape[1] != 1:
        raise ValueError(
            f"s must have one score for each row, got {scores.ndim} dimensions and {scores.shape[1]} columns; "
            "of probabilities pass the last column."
        )
    given = open_collections(scores, y, sample_weight)
    counts = count_labels(given.parts, given.schema)
    sums: RankSums = given.parts.rank(ReadScores(counts.classes), RankSums.of)
    return sums
