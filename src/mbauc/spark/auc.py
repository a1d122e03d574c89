"""Exact AUC and DeLong's interval of a DataFrame's scores."""

from __future__ import annotations

from typing import Any, Literal

from pyspark.sql import Column

from mbauc.checks import check_share
from mbauc.metrics import AucInterval
from mbauc.metrics.intervals.delong import check_scale
from mbauc.metrics.parts_auc import ReadScores
from mbauc.metrics.rank_sums import RankSums
from mbauc.rows.parts.label_counts import count_labels
from mbauc.spark.frame import cluster_rows, is_frame

_SCORE = "__score"


def roc_auc(frame: Any, score: Column | str, *, label: str = "label", weight: str | None = None) -> float:
    """Exact AUC over all rows of a DataFrame, not an average over partitions.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    score : Column or str
        Scores, such as ``ranker.decision_function(df)``, or the name of their column.
    label : str, default="label"
        Column of the labels; the larger is positive.
    weight : str, optional
        Column of row weights; the weight of a pair is the product of the weights of its rows.
    """
    return _rank(frame, score, label, weight).auc


def roc_auc_interval(
    frame: Any,
    score: Column | str,
    *,
    label: str = "label",
    weight: str | None = None,
    confidence: float = 0.95,
    scale: Literal["logit", "linear"] = "logit",
) -> AucInterval:
    """Exact AUC with DeLong's confidence interval, as by :func:`mbauc.metrics.roc_auc_interval`.

    Scores are range-partitioned across the cluster; the sums of each range are computed on its worker.

    Parameters
    ----------
    frame, score, label
        As for :func:`roc_auc`.
    weight : str, optional
        Column of row weights as frequencies: weight k counts as k equal rows.
    confidence, scale
        As for :func:`mbauc.metrics.roc_auc_interval`.
    """
    check_share("confidence", confidence)
    check_scale(scale)
    return _rank(frame, score, label, weight).interval(confidence, scale)


def _rank(frame: Any, score: Column | str, label: str, weight: str | None) -> RankSums:
    if is_frame(frame) and not isinstance(score, str):
        frame, score = frame.withColumn(_SCORE, score), _SCORE
    rows = cluster_rows(frame, [score], label, weight)
    counts = count_labels(rows.parts, rows.schema)
    sums: RankSums = rows.parts.rank(ReadScores(counts.classes), RankSums.of)
    return sums
