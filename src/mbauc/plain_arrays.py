"""Named arrays as bytes and back: a JSON description and the numbers themselves, nothing that could run."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Arrays begin at multiples of this many bytes.
ALIGNMENT = 64
#: Booleans, numbers and text.
_KINDS = "biufU"
_LENGTH = struct.Struct("<Q")


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


def decoded(content: memoryview) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The note and the arrays, in memory of their own.

    Raises
    ------
    ValueError, KeyError, TypeError, struct.error
        If the bytes are anything else.
    """
    (length,) = _LENGTH.unpack_from(content)
    if length > len(content) - _LENGTH.size:
        raise ValueError("the description is longer than the content")
    described = json.loads(bytes(content[_LENGTH.size : _LENGTH.size + length]))
    arrays = {}
    for entry in described["arrays"]:
        dtype, shape, at = np.dtype(entry["dtype"]), tuple(entry["shape"]), int(entry["at"])
        count = math.prod(shape)
        if dtype.kind not in _KINDS or min(shape, default=0) < 0 or at < 0:
            raise ValueError(f"{entry['name']!r} is no array of numbers")
        if at + count * dtype.itemsize > len(content):
            raise ValueError(f"{entry['name']!r} ends after the content")
        flat = np.frombuffer(content, dtype, count, at) if count else np.empty(0, dtype)
        arrays[str(entry["name"])] = flat.reshape(shape).copy()
    return dict(described["about"]), arrays
