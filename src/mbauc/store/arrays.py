"""Named arrays as bytes and back: a JSON description and the numbers themselves, nothing that could run."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable, Collection, Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.store.file_schema import Description, Json, ListOf, Number, Record, Text, read_json, shown

#: Type and shape of arrays, as a file declares them.
Declared = Mapping[str, tuple[str, tuple[int, ...]]]

#: Arrays begin at multiples of this many bytes.
ALIGNMENT = 64
#: Booleans, numbers and text.
_KINDS = "biufU"
_LENGTH = struct.Struct("<Q")
_SIZE = Number(0, 2**48, whole=True)
#: Types of truth values, numbers and text, as NumPy writes them.
TYPES = r"\|[biu]1|<[iu][248]|<f[248]|<U[0-9]{1,9}"
_ENTRY: dict[str, Description] = {
    "name": Text(),
    "dtype": Text(TYPES, "the type of numbers or text"),
    "shape": ListOf(_SIZE, most=32),
    "at": _SIZE,
}
#: What is told before the arrays.
_DESCRIPTION = Record({"about": Record({}, others=Json()), "arrays": ListOf(Record(_ENTRY))})


def padded(size: int) -> int:
    """The next multiple of the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def array_bytes(array: NDArray[Any]) -> memoryview:
    """The bytes of an array, little endian; a view where it is so already."""
    little = np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")
    return little.reshape(-1).view(np.uint8).data


def encoded(arrays: Mapping[str, Any], about: dict[str, Any]) -> list[memoryview | bytes]:
    """Arrays with a note about them, as pieces to write one after another.

    The layout: the length of a JSON text (8 bytes, little endian); the text ``{"about": …, "arrays": [{"name",
    "dtype", "shape", "at"}, …]}``; the arrays, C-ordered and little endian, each ``at`` bytes from the
    beginning.

    Parameters
    ----------
    arrays : mapping of str to array
        Booleans, numbers or text.
    about : dict
        Anything that JSON can hold.
    """
    held = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in held.items():
        if array.dtype.kind not in _KINDS:
            raise ValueError(f"{name!r} has dtype {array.dtype}; booleans, numbers and text can be stored.")
    described, places = b"", [0] * len(held)
    while True:
        # the text tells places that depend on its own length, so it is written until that stays the same
        described = _description(held, places, about)
        at = padded(_LENGTH.size + len(described))
        found = []
        for array in held.values():
            found.append(at)
            at += padded(array.nbytes)
        if found == places:
            break
        places = found
    pieces: list[memoryview | bytes] = [_LENGTH.pack(len(described)), described]
    pieces.append(bytes(padded(_LENGTH.size + len(described)) - _LENGTH.size - len(described)))
    for array in held.values():
        pieces += [array_bytes(array), bytes(padded(array.nbytes) - array.nbytes)]
    return pieces


def _description(arrays: Mapping[str, NDArray[Any]], places: list[int], about: dict[str, Any]) -> bytes:
    listed = [
        {"name": name, "dtype": array.dtype.newbyteorder("<").str, "shape": list(array.shape), "at": at}
        for (name, array), at in zip(arrays.items(), places, strict=True)
    ]
    return json.dumps({"about": about, "arrays": listed}, separators=(",", ":")).encode()


def read_plain(
    stream: IO[bytes],
    start: int,
    length: int,
    wanted: Callable[[dict[str, Any], Declared], Collection[str]],
    *,
    most_text: int | None = None,
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The note and the arrays that :func:`encoded` has made bytes of; memory for those that are wanted.

    Nothing is made of the size that a file claims before it is known to be there: arrays stand one behind the
    other, as they were written, and end within the content.

    Parameters
    ----------
    stream : file
        Open for reading, at any place.
    start, length : int
        Where the bytes begin, and how many there are.
    wanted : callable
        Told the note, and type and shape of each array, which it may check; returns the names of those to read.
    most_text : int, optional
        Longest description that is read.

    Raises
    ------
    ValueError
        If the bytes are anything else.
    """
    size = int.from_bytes(_read(stream, start, _LENGTH.size, length), "little")
    most = length - _LENGTH.size
    if size > (most if most_text is None else min(most, most_text)):
        raise ValueError(f"a text of {size:,} bytes, more than there are or may be")
    told = read_json(_read(stream, start + _LENGTH.size, size, most))
    _DESCRIPTION.check(told, "the description")
    declared: dict[str, tuple[str, tuple[int, ...]]] = {}
    places: dict[str, int] = {}
    end = _LENGTH.size + size
    for entry in told["arrays"]:
        name, dtype, shape, at = entry["name"], entry["dtype"], tuple(entry["shape"]), entry["at"]
        if name in declared:
            raise ValueError(f"two arrays named {shown(name)}")
        # one behind the other, so that together they take no more memory than the file
        if at != padded(end):
            raise ValueError(f"the array {shown(name)} is not where it should be")
        end = at + math.prod(shape) * item_bytes(dtype)
        if end > length:
            raise ValueError(f"the array {shown(name)} has the shape {shown(shape)}, more than there are bytes")
        declared[name], places[name] = (dtype, shape), at
    names = wanted(told["about"], declared)
    arrays = {}
    for name in declared:
        if name in names:
            dtype, shape = declared[name]
            array = arrays[name] = np.empty(shape, dtype=dtype)
            stream.seek(start + places[name])
            fill(stream, array)
    return told["about"], arrays


def fill(stream: IO[bytes], array: NDArray[Any]) -> None:
    """Read the bytes of a C-ordered array from where a stream stands."""
    rest = array.reshape(-1).view(np.uint8).data if array.nbytes else memoryview(b"")
    while rest:
        count = stream.readinto(rest)  # type: ignore[attr-defined]
        if not count:
            raise ValueError("it ends too early, or was changed while it was read")
        rest = rest[count:]


def item_bytes(dtype: str) -> int:
    """Bytes of an item of a type that :data:`TYPES` matches."""
    # NumPy has no texts of more characters than fit into 31 bits
    return 4 * int(dtype[2:]) if dtype[1] == "U" else np.dtype(dtype).itemsize


def _read(stream: IO[bytes], at: int, size: int, length: int) -> bytes:
    if size > length:
        raise ValueError("it ends too early")
    content = np.empty(size, dtype=np.uint8)
    stream.seek(at)
    fill(stream, content)
    return content.tobytes()
