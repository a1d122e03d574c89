"""The group column of a table: queries, users or days, within which alone pairs count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.columns.values import read_distinct
from mbauc.readers.table.faults import RowFault
from mbauc.readers.table.files.pieces import Piece
from mbauc.rows.groups import group_text, hash_groups
from mbauc.rows.labels import is_missing


def read_groups(piece: Piece, name: str) -> tuple[NDArray[np.uint64], list[RowFault]]:
    """Keys of the groups of the rows, and which rows have none: a value that is missing or empty.

    NA is a group like any other, as it is a category. ``O(n)`` time, and each distinct value is hashed once.
    """
    values, codes = read_distinct(piece.table[name], f"group column {name!r}", piece.file)
    texts = list(map(name_group, values))
    missing = np.array([not text for text in texts] + [True])[codes]
    keys = np.append(hash_groups(texts), np.uint64(0))[codes]
    if not missing.any():
        return keys, []
    message = f"expected a group in column {name!r}, got none. " + Advice(
        "Name the group, or leave the row out."
    )
    return keys, [RowFault(missing, "no group", lambda row: message)]


def distinct_values(values: NDArray[Any]) -> tuple[list[Any], NDArray[np.intp]]:
    """The distinct values of a column, and which of them each row has."""
    if values.dtype.kind == "O":
        places: dict[Any, int] = {}
        codes = np.fromiter((places.setdefault(one, len(places)) for one in values), np.intp, values.size)
        return list(places), codes
    found, codes = np.unique(values, return_inverse=True)
    return list(found), codes


def name_group(value: Any) -> str:
    """The text that stands for a group, without spaces around it; an empty one where there is no group."""
    return "" if is_missing(value) else group_text(value).strip()
