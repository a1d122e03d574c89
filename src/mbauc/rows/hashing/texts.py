"""Hashes of 64 bits, the same on every machine: FNV-1a of texts, and the finaliser of MurmurHash3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.hashing.functions import fmix64, fnv1a

Hashes = NDArray[np.uint64]

_OFFSET = np.uint64(0xCBF29CE484222325)


def hash_features(column: str, values: Any) -> Hashes:
    """64-bit hashes of the features ``column=value``, one for each value.

    The hash is FNV-1a with 64 bits over the UTF-8 bytes of the column's name, an equals sign and
    the value, followed by the finaliser of MurmurHash3 (``fmix64``)::

        h = 0xCBF29CE484222325
        for each byte b:    h = (h xor b) · 0x100000001B3                          mod 2⁶⁴
        h = (h xor h >> 33) · 0xFF51AFD7ED558CCD                                   mod 2⁶⁴
        h = (h xor h >> 33) · 0xC4CEB9FE1A85EC53                                   mod 2⁶⁴
        h =  h xor h >> 33

    FNV-1a alone would not do: its last bit is the parity of the bytes' last bits. A missing value is
    hashed as an empty one. Test vectors are in the example.

    ``O(bytes)`` time; callers hash each distinct value of a column once a block.

    Parameters
    ----------
    column : str
        Name of the column.
    values : sequence of str, or Arrow array of strings
        Values, all present.

    Examples
    --------
    >>> from mbauc.rows.hashing.texts import hash_features
    >>> [f"{h:016x}" for h in hash_features("site_id", ["1fbe01fe", "", "é"]).tolist()]
    ['cfcc8f48cfdaaa86', '9ec594fc54da9054', '37ca884996ef26e9']
    >>> f"{hash_features('', [''])[0]:016x}"                 # of the equals sign alone
    '7d4847d6948d751b'
    """
    from mbauc.rows.hashing import kernels as hash_kernels

    text, ends = utf8_bytes(values)
    hashes = np.empty(ends.size - 1, dtype=np.uint64)
    hash_kernels.hash_texts(text, ends, name_state(column), hashes)
    return hashes


def hash_columns(columns: NDArray[Any]) -> Hashes:
    """64-bit hashes of column numbers counted from 0: ``fmix64`` of the number plus one.

    Plus one is the number that the column has in a LIBSVM file. ``O(n)`` time.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.rows.hashing.texts import hash_columns
    >>> [f"{h:016x}" for h in hash_columns(np.array([0, 1, 999_999])).tolist()]
    ['b456bcfc34c2cb2c', '3abf2a20650683e7', '443b192cac3fa823']
    """
    return np.asarray(fmix64(columns.astype(np.uint64) + np.uint64(1)))


def name_state(column: str) -> np.uint64:
    """FNV-1a of a column's name and the equals sign, the state in which the hashes of its values start."""
    name = np.frombuffer(f"{column}=".encode(), dtype=np.uint8)
    with np.errstate(over="ignore"):
        return np.uint64(fnv1a(name, 0, name.size, _OFFSET))


def utf8_bytes(values: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-8 bytes of all values in a row, and where each starts and, after the last, the last one ends."""
    if hasattr(values, "buffers"):
        return _encode_arrow(values)
    encoded: Sequence[bytes] = [str(value).encode() for value in values]
    ends = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=ends[1:])
    # read-only as Arrow's memory is: compiled loops tell the two apart
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def _encode_arrow(values: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    large = str(values.type).startswith("large_")
    _, offsets, data = values.buffers()
    if offsets is None or data is None:  # nothing but empty values
        return np.frombuffer(b"", dtype=np.uint8), np.zeros(len(values) + 1, dtype=np.int64)
    places: NDArray[Any] = np.frombuffer(offsets, dtype=np.int64 if large else np.int32)
    ends = places[values.offset : values.offset + len(values) + 1].astype(np.int64)
    text = np.frombuffer(data, dtype=np.uint8)
    text.flags.writeable = False
    return text, ends
