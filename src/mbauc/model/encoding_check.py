"""Whether an encoding from a file is one that a table can have given, before rows run into it."""

from __future__ import annotations

from typing import Any

from mbauc.data.table.columns import Column
from mbauc.data.table.encoding import TableEncoding
from mbauc.data.table.feature_kinds import CategoryFeature, NumericFeature
from mbauc.data.table.learning import text_names
from mbauc.settings import check_choice, check_flag, check_number, check_whole


def check_encoding(encoding: TableEncoding) -> None:
    """Raise a ValueError for an encoding that no table has given."""
    for column in encoding.columns:
        _check_column(column)
    if encoding.hash_dim is not None:
        check_whole("hash_dim", encoding.hash_dim, low=2)
    _check_texts(encoding.other_columns, "other_columns")
    given = [n for c in encoding.columns for n in ([c.name] if c.kind == "numeric" else text_names(c))]
    numeric = {c.name for c in encoding.columns if c.kind == "numeric"}
    for feature in encoding.features:
        if isinstance(feature, NumericFeature) != (feature.name in numeric):
            raise ValueError(f"the feature {feature.name!r} does not fit its column")
        if isinstance(feature, NumericFeature):
            _check_numeric(feature)
        else:
            _check_category(feature, encoding.hash_dim is not None)
    if sorted(given) != sorted(feature.name for feature in encoding.features):
        raise ValueError("features and columns of the encoding do not fit each other")


def check_reading(names: Any, delimiter: Any) -> None:
    """Raise a ValueError for names of columns, or a delimiter, that nobody can have said; None is fine."""
    if names is not None:
        _check_texts(tuple(names), "names")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"names must be different, got {names!r}")
    if delimiter is not None and not (isinstance(delimiter, str) and len(delimiter) == 1):
        raise ValueError(f"delimiter must be one character, got {delimiter!r}")


def _check_column(column: Column) -> None:
    _check_texts((column.name, column.form), "columns")
    check_choice("kind", column.kind, ("numeric", "category", "time"))
    check_choice("spelling", column.spelling, ("text", "whole", "number", "truth"))


def _check_numeric(feature: NumericFeature) -> None:
    for name in ("center", "scale", "fill"):
        check_number(f"{name} of {feature.name!r}", getattr(feature, name), low=float("-inf"))
    if feature.scale == 0:
        raise ValueError(f"the scale of {feature.name!r} is 0")
    check_flag(f"indicator of {feature.name!r}", feature.indicator)
    check_flag(f"hashes_missing of {feature.name!r}", feature.hashes_missing)


def _check_category(feature: CategoryFeature, hashed: bool) -> None:
    if (feature.categories is None) != hashed:
        raise ValueError(f"{feature.name!r} is {'not ' if hashed else ''}hashed, unlike the other columns")
    _check_texts(feature.categories or (), f"categories of {feature.name!r}")
    check_flag(f"has_missing of {feature.name!r}", feature.has_missing)
    check_flag(f"has_other of {feature.name!r}", feature.has_other)


def _check_texts(values: tuple[Any, ...], what: str) -> None:
    if not all(isinstance(value, str) for value in values):
        raise ValueError(f"{what} must be texts")
