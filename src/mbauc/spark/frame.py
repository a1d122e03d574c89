"""What may be passed as a DataFrame and as the names of its columns."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from mbauc.rows.parts.protocol import PartedRows
from mbauc.rows.schema import Schema
from mbauc.spark.columns import Columns
from mbauc.spark.parts import SparkParts, exact_column

_WHOLE = (T.ByteType, T.ShortType, T.IntegerType, T.LongType)
_NUMBERS = (*_WHOLE, T.FloatType, T.DoubleType, T.DecimalType, T.BooleanType)

#: What a column may hold, and how that is said.
_KINDS: dict[str, tuple[tuple[Any, ...], str]] = {
    "label": ((*_NUMBERS, T.StringType), "numbers, texts or booleans"),
    "weight": (_NUMBERS, "numbers"),
    "id": ((*_WHOLE, T.StringType), "whole numbers or texts"),
    "group": ((*_WHOLE, T.StringType, T.DateType), "whole numbers, texts or dates"),
}


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
    group: Any = None,
) -> PartedRows:
    """Rows of a DataFrame, with its columns checked."""
    if not is_frame(frame):
        raise ValueError(f"a Spark DataFrame is needed, got {type(frame).__name__}.")
    if frame.isStreaming:
        raise ValueError(
            "a streaming DataFrame has no end; fit to what has been stored, or call "
            "mbauc.MBAClassifier.partial_fit from foreachBatch."
        )
    columns = resolve_columns(frame, features, label, weight, id, group)
    names = tuple(columns.features) if isinstance(features, list | tuple) else None
    schema = Schema(columns.n_features, names)
    return PartedRows(
        SparkParts.from_frame(frame, columns),
        schema,
        classes,
        weighted=weight is not None,
        with_ids=id is not None,
        grouped=group is not None,
    )


def resolve_columns(
    frame: DataFrame,
    features: Any,
    label: Any = None,
    weight: Any = None,
    id: Any = None,
    group: Any = None,
    *,
    n_features: int | None = None,
) -> Columns:
    """The columns that a caller named, or an error that names what is wrong with one.

    ``n_features``, if given, saves reading a row where the schema does not say how many features there are.
    """
    for argument, name in (("label", label), ("weight", weight), ("id", id), ("group", group)):
        if name is not None:
            kinds, said = _KINDS[argument]
            _require(frame, name, argument, kinds, f"{said}. Cast it first")
    if isinstance(features, str):
        columns = (features,)
        found = _size(frame, features, n_features)
    elif isinstance(features, list | tuple) and features:
        columns, found = tuple(features), len(features)
        for name in columns:
            encode = "numbers. Encode it first (StringIndexer, OneHotEncoder, FeatureHasher)"
            _require(frame, name, "features", _NUMBERS, encode)
        if len(set(columns)) < len(columns):
            twice = next(name for name in columns if columns.count(name) > 1)
            raise ValueError(f"features names a column twice, {twice!r}; name each once.")
    else:
        raise ValueError(
            f"features must be a list of columns or the name of a vector column, got {features!r}."
        )
    if label is not None and label in columns:
        raise ValueError(f"features names {label!r}, which is the label; leave it out of features.")
    if n_features not in (None, found):
        raise ValueError(f"the DataFrame has {found:,} features, the estimator was fitted to {n_features:,}.")
    return Columns(columns, found, label, weight, id, group)


def is_vector(kind: T.DataType) -> bool:
    """Whether a column of this type holds Spark's vectors."""
    return isinstance(kind, T.UserDefinedType) and kind.simpleString() == "vector"


def _require(frame: DataFrame, name: Any, argument: str, kinds: Any = None, expected: str = "") -> Any:
    """The field of a column that is there, once, and holds what it should."""
    fields = frame.schema.fields
    if not isinstance(name, str) or name not in frame.columns:
        shown = ", ".join(frame.columns[:10]) + (", …" if len(fields) > 10 else "")
        raise ValueError(
            f"{argument} names the column {name!r}, which the DataFrame does not have; it has "
            f"{shown or 'no columns'}."
        )
    exact = frame.sparkSession.conf.get("spark.sql.caseSensitive", "false") == "true"
    same = [field for field in fields if _normalise(field.name, exact) == _normalise(name, exact)]
    if len(same) > 1:
        raise ValueError(
            f"{argument} names the column {name!r}, but {len(same)} columns have that name (case is ignored "
            "unless spark.sql.caseSensitive is true); rename or drop the others."
        )
    if kinds is not None and not isinstance(same[0].dataType, kinds):
        raise ValueError(
            f"{argument} names {name!r}, a column of {same[0].dataType.simpleString()}; expected {expected}."
        )
    return same[0]


def _normalise(name: str, exact: bool) -> str:
    return name if exact else name.lower()


def _size(frame: DataFrame, name: str, known: int | None) -> int:
    """Number of features in one column: 1, or the length of its vectors."""
    field = _require(frame, name, "features")
    kind = field.dataType
    if isinstance(kind, _NUMBERS):
        return 1
    if not (is_vector(kind) or (isinstance(kind, T.ArrayType) and isinstance(kind.elementType, _NUMBERS))):
        raise ValueError(
            f"features={name!r} is a column of {kind.simpleString()}; expected vectors (VectorAssembler, "
            "FeatureHasher), arrays of numbers, or a list of number columns."
        )
    said = field.metadata.get("ml_attr", {}).get("num_attrs") or known
    if said:
        return int(said)
    first = frame.select(exact_column(name)).where(exact_column(name).isNotNull()).head()
    if first is None:
        raise ValueError(
            f"there are no rows with a value in {name!r}, so the number of features is unknown; at least one "
            "row of each class is needed."
        )
    return len(first[0])
