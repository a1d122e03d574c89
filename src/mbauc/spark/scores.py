"""Scores and probabilities of the rows of a DataFrame, as lazy columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from mbauc.spark.frame import checked_columns, is_vector
from mbauc.spark.parts import column_named
from mbauc.spark.tasks import scorer


def score_column(frame: DataFrame, features: Any, coef: Any, intercept: float) -> Column:
    """Scores x'w + intercept.

    Parameters
    ----------
    frame : DataFrame
        The rows.
    features : list of str, or str
        Columns of numbers, or one of vectors or arrays.
    coef : array-like of shape (1, d)
        The weights w.
    intercept : float
        What is added to each score.
    """
    weights = np.asarray(coef, dtype=np.float64)
    columns = checked_columns(frame, features, n_features=weights.shape[1])
    first, kind = columns.features[0], frame.schema[columns.features[0]].dataType
    apart = not (is_vector(kind) or isinstance(kind, T.ArrayType))
    if apart:
        given = F.struct(*[column_named(name).alias(f"c{k}") for k, name in enumerate(columns.features)])
    else:
        given = F.unwrap_udt(column_named(first)) if is_vector(kind) else column_named(first)

    return F.arrow_udf(scorer(columns, weights, intercept, apart), "double")(given)


def probabilities(score: Column, slope: float) -> Column:
    """Arrays of the probabilities of both classes, negative first."""
    # the log-odds by a name of their own, so that the score stands in the plan once
    odds = F.array(score * F.lit(slope))
    return F.transform(odds, lambda s: F.array(1 / (1 + F.exp(s)), 1 / (1 + F.exp(-s)))).getItem(0)
