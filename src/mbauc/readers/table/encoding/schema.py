"""What the dict of an encoding should hold."""

from __future__ import annotations

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
        "kind": Choice("numeric", "category", "text", "time"),
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
_CODES = Record(
    {"name": Text(), "levels": Nullable(ListOf(Text())), "hashed": Nullable(Number(2, 2**48, whole=True))},
    {"source": Text(), "word": Text()},
)
#: An encoding, but for its format and version, which are read first and say more if they do not fit.
ENCODING = Record(
    {
        "format": Json(),
        "version": Json(),
        "columns": ListOf(_COLUMN),
        "features": ListOf(_FEATURE),
        "hash_dim": Nullable(Number(2, 2**48, whole=True)),
        "signed": Flag(),
        "other_columns": ListOf(Text()),
    },
    {"codes": ListOf(_CODES)},
)
