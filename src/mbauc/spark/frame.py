"""What may be passed as a DataFrame and as the names of its columns."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from mbauc.cluster.classifier import ClusterRows
from mbauc.cluster.part_rows import Layout
from mbauc.spark.columns import Columns
from mbauc.spark.parts import SparkParts, column_named

_NUMBERS = (
    T.ByteType,
    T.ShortType,
    T.IntegerType,
    T.LongType,
    T.FloatType,
    T.DoubleType,
    T.DecimalType,
    T.BooleanType,
)


def is_frame(value: Any) -> bool:
    """Whether a value is a Spark DataFrame."""
    return isinstance(value, DataFrame)


def cluster_rows(
    frame: Any,
    features: Any,
    label: Any,
    weight: Any = None,
    id: Any = None,
    classes: Any = None,
) -> ClusterRows:
    """Rows of a DataFrame, with its columns checked."""
    if not is_frame(frame):
        raise ValueError(f"a Spark DataFrame is needed, got {type(frame).__name__}.")
    columns = checked_columns(frame, features, label, weight, id)
    names = tuple(columns.features) if isinstance(features, list | tuple) else None
    layout = Layout(columns.n_features, names)
    return ClusterRows(
        SparkParts.of(frame, columns), layout, classes, weighted=weight is not None, with_ids=id is not None
    )


def checked_columns(
    frame: DataFrame, features: Any, label: Any = None, weight: Any = None, id: Any = None
) -> Columns:
    """The columns that a caller named, or an error that names what is wrong with one."""
    kinds = {field.name: field.dataType for field in frame.schema.fields}
    for argument, name in (("label", label), ("weight", weight), ("id", id)):
        if name is not None:
            _require(kinds, name, argument)
    if isinstance(features, str):
        kind = _require(kinds, features, "features")
        if not isinstance(kind, T.UserDefinedType | T.ArrayType):
            if isinstance(kind, _NUMBERS):
                return Columns((features,), 1, label, weight, id)
            raise ValueError(
                f"features={features!r} is a column of {kind.simpleString()}; expected vectors "
                "(VectorAssembler, FeatureHasher), arrays of numbers, or a list of number columns."
            )
        return Columns((features,), _vector_size(frame, features), label, weight, id)
    if not isinstance(features, list | tuple) or not features:
        raise ValueError(
            f"features must be a list of columns or the name of a vector column, got {features!r}."
        )
    for name in features:
        kind = _require(kinds, name, "features")
        if not isinstance(kind, _NUMBERS):
            raise ValueError(
                f"features names {name!r}, a column of {kind.simpleString()}; expected numbers. Encode it "
                "first (StringIndexer, OneHotEncoder, FeatureHasher)."
            )
    if len(set(features)) < len(features):
        raise ValueError("features names a column twice.")
    return Columns(tuple(features), len(features), label, weight, id)


def _require(kinds: dict[str, Any], name: Any, argument: str) -> Any:
    if name not in kinds:
        shown = ", ".join(list(kinds)[:10]) + (", …" if len(kinds) > 10 else "")
        raise ValueError(f"{argument} names the column {name!r}, which is not there; there are {shown}.")
    return kinds[name]


def _vector_size(frame: DataFrame, name: str) -> int:
    """Length of the vectors: as their metadata says, or that of the first one."""
    known = frame.schema[name].metadata.get("ml_attr", {}).get("num_attrs")
    if known:
        return int(known)
    first = frame.select(column_named(name)).where(column_named(name).isNotNull()).head()
    if first is None:
        raise ValueError("there are no rows; at least one row of each class is needed.")
    return len(first[0])
