"""Named arrays as bytes and back: a JSON description and the numbers themselves, nothing that could run.

A body is::

    8 bytes   length of a JSON text, little endian
    text      {"kind": "…", "about": {…}, "arrays": [{"name", "dtype", "shape"}, …]}, ASCII
    arrays    in the order of the text, C-ordered and little endian

Each array begins at the next multiple of 64 bytes of the file, and there the body ends; gaps are zeros.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.store.file_schema import Json, ListOf, Number, Record, Text
from mbauc.store.json_values import read_json
from mbauc.store.stable_file import ALIGNMENT, StableFile

#: Type and shape of arrays, as a file declares them.
Declared = Mapping[str, tuple[str, tuple[int, ...]]]
#: Bytes to write.
Piece = memoryview | bytes

#: Booleans, numbers and text.
_KINDS = "biufU"
_LENGTH = struct.Struct("<Q")
_JSON = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
#: Longest JSON text: its objects take some twenty times as much memory. Names of ten million columns fit.
MOST_TEXT = 1 << 28
_TYPES = r"\|[biu]1|<[iu][248]|<f[248]|<U[0-9]{1,9}"
_ENTRY = Record(
    {
        "name": Text(),
        "dtype": Text(_TYPES, "the type of numbers or text"),
        "shape": ListOf(Number(0, 2**48, whole=True), most=32),
    }
)
_DESCRIPTION = Record({"kind": Text(), "about": Record({}, others=Json()), "arrays": ListOf(_ENTRY)})


class Field(NamedTuple):
    """An array as a body declares it, and where it begins in the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    place: int


@dataclass(frozen=True)
class Body:
    """What a body says of itself: its kind, values of JSON and arrays, which have not been read."""

    kind: str
    about: dict[str, Any]
    fields: tuple[Field, ...]
    #: where the first of the arrays begins and the last one ends, in the file
    start: int
    end: int

    @property
    def declared(self) -> Declared:
        """Type and shape of each array."""
        return {field.name: (field.dtype, field.shape) for field in self.fields}

    def view(self, memory: memoryview, at: int) -> dict[str, NDArray[Any]]:
        """The arrays, in memory that holds the bytes of the file from ``at`` on."""
        arrays = {}
        for name, dtype, shape, place in self.fields:
            flat = np.frombuffer(memory, dtype, math.prod(shape), place - at)
            arrays[name] = flat if len(shape) == 1 else flat.reshape(shape)
        return arrays

    def read(self, file: StableFile, names: Collection[str]) -> dict[str, NDArray[Any]]:
        """Some of the arrays, each in memory of its own."""
        arrays = {}
        for name, dtype, shape, place in self.fields:
            if name in names:
                arrays[name] = np.empty(shape, dtype=dtype)
                file.fill(place, arrays[name])
        return arrays


def array_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, little endian; a view where it is so already."""
    little = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return little.reshape(-1).view(np.uint8).data


def encode(
    kind: str, about: Mapping[str, Any], arrays: Mapping[str, Any], start: int
) -> tuple[list[Piece], Body]:
    """A body that begins at ``start`` in a file, as pieces to write one after another; arrays are not copied.

    A ValueError if JSON cannot hold ``about`` (it has no NaN), or arrays are not truth values, numbers or text.
    """
    held = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in held.items():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"{name!r} has dtype {array.dtype}; booleans, numbers and text can be stored.")
    declared = [(name, array.dtype.newbyteorder("<").str, array.shape) for name, array in held.items()]
    listed = [{"name": name, "dtype": dtype, "shape": shape} for name, dtype, shape in declared]
    text = _JSON.encode({"kind": kind, "about": about, "arrays": listed}).encode()
    if len(text) > MOST_TEXT:
        raise ValueError(
            f"the description of the {kind}, names of columns included, takes {len(text) / 2**20:,.0f} MiB of "
            f"text, above the limit of {MOST_TEXT / 2**20:,.0f} MiB. Hash the columns instead of naming them."
        )
    body = _lay_out(kind, dict(about), declared, start, len(text))
    first = _LENGTH.pack(len(text)) + text
    pieces: list[Piece] = [first.ljust(body.start - start, b"\0")]
    for array in held.values():
        pieces += [array_bytes(array), bytes(-array.nbytes % ALIGNMENT)]
    return pieces, body


def _lay_out(
    kind: str,
    about: dict[str, Any],
    declared: Iterable[tuple[str, str, tuple[int, ...]]],
    start: int,
    text_bytes: int,
) -> Body:
    """A body whose arrays stand one behind the other: together they take no more memory than the file."""
    fields = []
    first = end = _align(start + _LENGTH.size + text_bytes)
    for name, dtype, shape in declared:
        fields.append(Field(name, dtype, shape, end))
        end += _align(math.prod(shape) * _item_bytes(dtype))
    return Body(kind, about, tuple(fields), first, end)


def decode(file: StableFile, start: int, length: int) -> Body:
    """What the body at ``start`` says, or a ValueError; nothing is made of the size that it claims."""
    if length < _LENGTH.size:
        raise ValueError("it ends too early")
    size = int.from_bytes(file.read(start, start + _LENGTH.size), "little")
    if size > min(length - _LENGTH.size, MOST_TEXT):
        raise ValueError(f"a text of {size:,} bytes, more than the file has or the limit allows")
    text = file.read(start + _LENGTH.size, start + _LENGTH.size + size, keep=True)
    return _parse(bytes(text), start, length)


def decode_memory(memory: memoryview, start: int) -> Body:
    """As :func:`decode`, of a body that has been read, and begins at ``start`` in the file."""
    size = int.from_bytes(memory[: _LENGTH.size], "little")
    if len(memory) < _LENGTH.size or size > len(memory) - _LENGTH.size:
        raise ValueError(f"a text of {size:,} bytes, more than the file has")
    return _parse(bytes(memory[_LENGTH.size : _LENGTH.size + size]), start, len(memory))


def _parse(text: bytes, start: int, length: int) -> Body:
    described = read_json(text)
    _DESCRIPTION.check(described, "the description")
    declared = [(entry["name"], entry["dtype"], tuple(entry["shape"])) for entry in described["arrays"]]
    if len({name for name, *_ in declared}) < len(declared):
        raise ValueError("two arrays with the same name")
    body = _lay_out(described["kind"], described["about"], declared, start, len(text))
    if body.end != start + length:
        raise ValueError(f"arrays that end at byte {body.end - start:,} of {length:,}")
    return body


def _align(size: int) -> int:
    """The next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def _item_bytes(dtype: str) -> int:
    # NumPy has no texts of more characters than fit into 31 bits
    return 4 * int(dtype[2:]) if dtype[1] == "U" else np.dtype(dtype).itemsize
