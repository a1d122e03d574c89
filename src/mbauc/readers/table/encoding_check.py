"""Whether an encoding from a file is one that a table can have given, before rows run into it."""

from __future__ import annotations

from typing import Any

from mbauc.checks import abbreviate
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.feature_kinds import NumericFeature
from mbauc.readers.table.learning import text_names
from mbauc.store.file_schema import (
    Choice,
    Either,
    Flag,
    Json,
    ListOf,
    Nullable,
    Number,
    Record,
    Tagged,
    Text,
)

#: A label as it stands in the data.
LABEL = Either(Number(), Text(), Flag())
_COLUMN = Record(
    {
        "name": Text(),
        "kind": Choice("numeric", "category", "time"),
        "spelling": Choice("text", "whole", "number", "truth"),
        "form": Text(),
    }
)
_FEATURE = Tagged(
    "kind",
    {
        "numeric": Record(
            {
                "name": Text(),
                "center": Number(),
                "scale": Number(),
                "fill": Number(),
                "indicator": Flag(),
            },
            {"hashes_missing": Flag()},
        ),
        "category": Record(
            {
                "name": Text(),
                "categories": Nullable(ListOf(Text())),
                "has_missing": Flag(),
                "has_other": Flag(),
            }
        ),
    },
)
_ENCODING = Record(
    {
        # these two are read first, and say more if they do not fit
        "format": Json(),
        "version": Json(),
        "columns": ListOf(_COLUMN),
        "features": ListOf(_FEATURE),
        "hash_dim": Nullable(Number(2, 2**48, whole=True)),
        "signed": Flag(),
        "other_columns": ListOf(Text()),
    }
)
#: How raw rows become columns, as a model file tells it.
LAYOUT = Tagged(
    "kind",
    {
        "table": Record(
            {
                "encoding": _ENCODING,
                "label": Text(),
                "positive": ListOf(LABEL),
                "weight": Nullable(Text()),
            },
            {"names": ListOf(Text(), least=1), "delimiter": Text("(?s:.)", "one character")},
        ),
        "libsvm": Record({"n_features": Number(1, 2**48, whole=True), "zero_based": Flag()}),
    },
)


def check_encoding(encoding: TableEncoding) -> None:
    """Raise a ValueError for an encoding, from values of the right types, that no table has given."""
    given = [n for c in encoding.columns for n in ([c.name] if c.kind == "numeric" else text_names(c))]
    numeric = {c.name for c in encoding.columns if c.kind == "numeric"}
    hashed = encoding.hash_dim is not None
    for feature in encoding.features:
        name = abbreviate(feature.name)
        if isinstance(feature, NumericFeature) != (feature.name in numeric):
            raise ValueError(f"the feature {name} does not fit its column")
        if isinstance(feature, NumericFeature):
            if feature.scale == 0:
                raise ValueError(f"the scale of {name} is 0")
        elif (feature.categories is None) != hashed:
            raise ValueError(f"{name} is {'not ' if hashed else ''}hashed, unlike the other columns")
    if sorted(given) != sorted(feature.name for feature in encoding.features):
        raise ValueError("features and columns of the encoding do not fit each other")


def check_names(names: Any) -> None:
    """Raise a ValueError for names of columns that are not all different; None is fine."""
    if names is not None and len(set(names)) < len(names):
        raise ValueError(f"names must be different, got {abbreviate(names)}")
