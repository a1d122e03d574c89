"""The layout of a model from its file: how raw rows become the columns that it has weights for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbauc.checks import abbreviate
from mbauc.readers.libsvm.source import LibsvmLayout
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.schema import LABEL
from mbauc.readers.table.source import TableLayout
from mbauc.store.file_schema import Choice, Flag, Json, ListOf, Nullable, Number, Record, Tagged, Text

__all__ = ["LAYOUT", "LibsvmLayout", "TableLayout", "layout_from_dict"]

#: A layout, but for the encoding of a table, which knows itself what it should hold.
LAYOUT = Tagged(
    "kind",
    {
        "table": Record(
            {
                "encoding": Json(),
                "label": Text(),
                "positive": ListOf(LABEL),
                "weight": Nullable(Text()),
            },
            {
                "names": ListOf(Text(), least=1),
                "delimiter": Text("(?s:.)", "one character"),
                "group": Text(),
            },
        ),
        "libsvm": Record(
            {"n_features": Number(1, 2**48, whole=True), "zero_based": Flag()}, {"group": Choice("qid")}
        ),
    },
)


def layout_from_dict(description: Mapping[str, Any]) -> TableLayout | LibsvmLayout:
    """A layout from what its ``to_dict`` gave; a ValueError for anything else."""
    LAYOUT.check(description, "layout")
    if description["kind"] == "libsvm":
        return LibsvmLayout(description["n_features"], description["zero_based"], description.get("group"))
    names = description.get("names")
    if names is not None and len(set(names)) < len(names):
        raise ValueError(f"names must be different, got {abbreviate(names)}")
    layout = TableLayout(
        TableEncoding.from_dict(description["encoding"]),
        description["label"],
        tuple(description["positive"]),
        description["weight"],
        None if names is None else tuple(names),
        description.get("delimiter"),
        description.get("group"),
    )
    if layout.to_dict() != description:
        raise ValueError("columns described in a way that mbauc never writes")
    return layout
