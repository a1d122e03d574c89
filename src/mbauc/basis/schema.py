"""What the dict of a feature map should hold."""

from __future__ import annotations

from mbauc.store.file_schema import Json, ListOf, Nullable, Number, Record, Tagged, Text

_WHOLE = Number(0, 2**31, whole=True)
_COLUMN = Tagged(
    "kind",
    {
        "steps": Record({"name": Text(), "edges": ListOf(Number()), "centers": ListOf(Number(), least=1)}),
        "levels": Record({"name": Text(), "kept": ListOf(Number()), "names": ListOf(Text())}),
    },
)
_NUMBER = Record({"column": _WHOLE, "low": Number(), "high": Number(), "center": Number(), "scale": Number(0)})
_WAVES = Record(
    {
        "n_components": Number(1, 2**24, whole=True),
        "seed": Number(0, 2**63, whole=True),
        "gamma": Number(0),
        "center": ListOf(Number(), least=1),
        "unit": ListOf(Number(0), least=1),
    }
)
#: A feature map, but for its format and version, which are read first and say more if they do not fit.
FEATURE_MAP = Record(
    {
        "format": Json(),
        "version": Json(),
        "columns": ListOf(_COLUMN, least=1),
        "numbers": ListOf(_NUMBER),
        "pairs": ListOf(ListOf(_WHOLE, 2, 2)),
        "coarse": ListOf(ListOf(_WHOLE, least=1)),
        "waves": Nullable(_WAVES),
    }
)
