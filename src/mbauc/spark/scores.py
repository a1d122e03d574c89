"""Scores, probabilities and labels of the rows of a DataFrame, as lazy columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from mbauc.errors import NonFiniteError, PartError
from mbauc.estimators.scorer import LinearScorer
from mbauc.spark.columns import Columns
from mbauc.spark.frame import is_vector, resolve_columns
from mbauc.spark.parts import exact_column


def score_column(frame: DataFrame, features: Any, scorer: LinearScorer) -> Column:
    """Scores of rows whose features are columns of numbers, or one column of vectors or arrays."""
    columns = resolve_columns(frame, features, n_features=scorer.n_features)
    first, kind = columns.features[0], frame.schema[columns.features[0]].dataType
    apart = not (is_vector(kind) or isinstance(kind, T.ArrayType))
    if apart:
        given = F.struct(*[exact_column(name).alias(f"c{k}") for k, name in enumerate(columns.features)])
    else:
        given = F.unwrap_udt(exact_column(first)) if is_vector(kind) else exact_column(first)

    return F.arrow_udf(_batch_scorer(columns, scorer, apart), "double")(given)


def probability_column(score: Column, scorer: LinearScorer) -> Column:
    """Arrays of the probabilities of both classes, negative first."""
    if scorer.calibration is not None and scorer.calibration.knots:
        raise ValueError("Spark has no isotonic calibration; use one of kind 'logistic'.")
    slope, offset = scorer.line
    # the log-odds by a name of their own, so that the score stands in the plan once
    odds = F.array(score * F.lit(slope) + F.lit(offset))
    return F.transform(odds, lambda s: F.array(1 / (1 + F.exp(s)), 1 / (1 + F.exp(-s)))).getItem(0)


def label_column(score: Column, scorer: LinearScorer) -> Column:
    """The positive class where the score is above 0."""
    negative, positive = scorer.classes.tolist()
    return F.when(score > 0, F.lit(positive)).otherwise(F.lit(negative))


def _batch_scorer(columns: Columns, scorer: LinearScorer, apart: bool) -> Callable[[pa.Array], pa.Array]:
    """Scores rows for an Arrow UDF; a plain function, because Spark looks at its signature.

    Rows come as structs of numbers if they are ``apart``, otherwise as vectors or arrays.
    """

    def score(rows: pa.Array) -> pa.Array:
        number = TaskContext.get().partitionId()
        try:
            return pa.array(scorer.scores(columns.matrix(rows.flatten() if apart else [rows])))
        except NonFiniteError as error:
            name = columns.features[error.column] if apart else None
            reason = str(NonFiniteError(error.row, error.column, error.value, name))
        except ValueError as error:
            reason = str(error)
        raise PartError(number, f"{reason} Rows are counted within an Arrow batch.")

    score.__annotations__ = {"rows": pa.Array, "return": pa.Array}
    return score
