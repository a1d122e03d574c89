"""The raw view of a click log: the original columns as an Arrow table of texts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.paper.clicks import world
from mbauc.paper.clicks.shapes import SHAPES
from mbauc.readers.table.arrow import pyarrow


def arrow_schema(shape: str) -> Any:
    """Names and types: a label of 8 bits, then dictionaries of texts."""
    arrow = pyarrow()
    texts = arrow.dictionary(arrow.int32(), arrow.string())
    columns = [(field.name, texts) for field in SHAPES[shape].columns]
    return arrow.schema([(SHAPES[shape].label, arrow.int8()), *columns])


def arrow_table(shape: str, codes: NDArray[np.uint32], y: NDArray[np.int8]) -> Any:
    """The table of numbers of values and labels. No text is made for a row, only for distinct values."""
    arrow = pyarrow()
    names = world.tables(shape, 0).name[-codes.shape[0] :]  # the same for all seeds
    columns = [arrow.array(y)]
    for field, own, key in zip(SHAPES[shape].columns, codes, names, strict=True):
        if field.texts:
            columns.append(_encode(own, arrow.array(field.texts, arrow.string())))
        else:
            distinct, places = _distinct(own, field.size)
            columns.append(_encode(places, _hex_texts(distinct, key)))
    return arrow.table(columns, schema=arrow_schema(shape))


def _distinct(codes: NDArray[np.uint32], size: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The values that occur, and for each row the place of its own, counted from 1; 0 where it is missing."""
    if size > codes.size:
        distinct, places = np.unique(np.append(codes, np.uint32(0)), return_inverse=True)
        return distinct[1:], places[:-1]
    # few values: a list of all of them is faster than sorting the rows
    present = np.zeros(size + 1, dtype=bool)
    present[codes] = True
    present[0] = False
    return np.flatnonzero(present).astype(np.uint32), np.cumsum(present, dtype=np.int32)[codes]


def _encode(places: NDArray[Any], values: Any) -> Any:
    """A dictionary array. Places count from 1, and 0 is a missing value."""
    arrow = pyarrow()
    missing = places == 0
    indices = arrow.array(places.astype(np.int32) - np.int32(1), mask=missing if missing.any() else None)
    return arrow.DictionaryArray.from_arrays(indices, values)


def _hex_texts(codes: NDArray[np.uint32], key: Any) -> Any:
    """Names of values as an Arrow array."""
    from mbauc.paper.clicks.slot_kernels import hex_texts

    arrow = pyarrow()
    text = np.empty(8 * codes.size, dtype=np.uint8)
    hex_texts(codes, key, text)
    ends = np.arange(0, text.size + 1, 8, dtype=np.int32)
    return arrow.StringArray.from_buffers(codes.size, arrow.py_buffer(ends), arrow.py_buffer(text))
