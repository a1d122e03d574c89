"""Feature hashing: categories of any number in a fixed number of columns, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import check_flag, check_whole
from mbauc.rows.matrix import as_matrix, is_sparse

Hashes = NDArray[np.uint64]

_FNV_OFFSET = 0xCBF29CE484222325
_FNV_PRIME = 0x100000001B3
_BITS = 0xFFFFFFFFFFFFFFFF


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
    >>> from mbauc.readers.hashing import hash_features
    >>> [f"{h:016x}" for h in hash_features("site_id", ["1fbe01fe", "", "é"]).tolist()]
    ['cfcc8f48cfdaaa86', '9ec594fc54da9054', '37ca884996ef26e9']
    >>> f"{hash_features('', [''])[0]:016x}"                 # of the equals sign alone
    '7d4847d6948d751b'
    """
    from mbauc.readers import hash_kernels

    text, ends = _utf8(values)
    hashes = np.empty(ends.size - 1, dtype=np.uint64)
    hash_kernels.hash_texts(text, ends, name_state(column), hashes)
    return hashes


def hash_keys(
    column: str, values: Any, width: int, *, first: int = 0, signed: bool = False, kind: Any = np.int64
) -> NDArray[Any]:
    """Where the features ``column=value`` go, and with which sign, in one number: for each value and for none.

    A key is twice the column, which is ``first`` plus that of :func:`hash_slots`, plus one if ``signed`` and
    :func:`hash_signs` is -1. The last key is that of a missing value. ``O(bytes)`` time.

    Examples
    --------
    >>> from mbauc.readers.hashing import hash_keys
    >>> (hash_keys("site_id", ["1fbe01fe", "é"], 10_000, signed=True) // 2).tolist()
    [4035, 7300, 6250]
    >>> (hash_keys("site_id", ["1fbe01fe", "é"], 10_000, signed=True) % 2).tolist()
    [0, 1, 0]
    """
    from mbauc.readers import hash_kernels

    text, ends = _utf8(values)
    keys = np.empty(ends.size, dtype=kind)
    ends = np.append(ends, ends[-1])  # an empty text at the end
    hash_kernels.hash_keys(text, ends, name_state(column), np.uint64(width), first, signed, keys)
    return keys


def hash_columns(columns: NDArray[Any]) -> Hashes:
    """64-bit hashes of column numbers counted from 0: ``fmix64`` of the number plus one.

    Plus one is the number that the column has in a LIBSVM file. ``O(n)`` time.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.hashing import hash_columns
    >>> [f"{h:016x}" for h in hash_columns(np.array([0, 1, 999_999])).tolist()]
    ['b456bcfc34c2cb2c', '3abf2a20650683e7', '443b192cac3fa823']
    """
    return _mixed(columns.astype(np.uint64) + np.uint64(1))


def hash_slots(hashes: Hashes, width: int) -> NDArray[np.int64]:
    """Columns 0 to ``width`` - 1 that hashes fall into: all bits but the last, modulo the width.

    Examples
    --------
    >>> from mbauc.readers.hashing import hash_features, hash_signs, hash_slots
    >>> h = hash_features("site_id", ["1fbe01fe", "", "é"])
    >>> hash_slots(h, 10_000).tolist(), hash_slots(h, 2**20).tolist(), hash_signs(h).tolist()
    ([4035, 6250, 7300], [873795, 870442, 496500], [1.0, 1.0, -1.0])
    """
    return ((hashes >> np.uint64(1)) % np.uint64(width)).astype(np.int64)


def hash_signs(hashes: Hashes) -> NDArray[np.float64]:
    """+1 or -1, from the bit that :func:`hash_slots` leaves out: -1 where it is set."""
    return 1.0 - 2.0 * (hashes & np.uint64(1)).astype(np.float64)


def fold_columns(X: Any, width: int, *, signed: bool = False) -> Any:
    """A wide sparse matrix hashed down to ``width`` columns, as the paper did with its click logs.

    Column j, counted from 0, goes to ``(fmix64(j + 1) >> 1) mod width``, with the sign of the hash's last bit
    if ``signed``; entries of a row that meet in a column add up. Which columns meet depends on their numbers
    alone, so blocks, files and machines agree. ``O(entries)`` time and memory.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows; d does not matter.
    width : int
        Number of columns of the result, at least 2.
    signed : bool
        Whether half of the columns change their sign, so that columns that meet cancel as often as they
        add up: inner products of rows keep their mean.

    Returns
    -------
    csr_array of shape (n, width)

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from mbauc.readers import fold_columns
    >>> X = sparse.csr_array((np.ones(4), ([0, 0, 1, 1], [3, 999_999, 3, 51])), shape=(2, 1_000_000))
    >>> folded = fold_columns(X, 10_000)
    >>> folded.shape, folded.indices.tolist()
    ((2, 10000), [7498, 8369, 7498, 8536])
    """
    check_whole("width", width, low=2)
    check_flag("signed", signed)
    matrix = as_matrix(X)
    matrix = matrix.tocsr() if is_sparse(matrix) else sp.csr_array(matrix)
    entries = int(matrix.indptr[-1])
    hashes = hash_columns(matrix.indices[:entries])
    data = matrix.data[:entries].astype(np.float64)
    if signed:
        data *= hash_signs(hashes)
    # numbers of 32 bits where they suffice: half the memory, and what scipy would choose
    kind = np.int32 if max(width, entries) < 2**31 else np.int64
    slots = hash_slots(hashes, width).astype(kind)
    folded = sp.csr_array((data, slots, matrix.indptr.astype(kind)), shape=(matrix.shape[0], width))
    folded.sum_duplicates()
    return folded


def _mixed(hashes: Hashes) -> Hashes:
    """MurmurHash3's fmix64: every bit of the input moves every bit of the output."""
    hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(0xFF51AFD7ED558CCD)
    hashes = (hashes ^ (hashes >> np.uint64(33))) * np.uint64(0xC4CEB9FE1A85EC53)
    return np.asarray(hashes ^ (hashes >> np.uint64(33)))


def name_state(column: str) -> np.uint64:
    """FNV-1a of a column's name and the equals sign."""
    state = _FNV_OFFSET
    for byte in f"{column}=".encode():
        state = ((state ^ byte) * _FNV_PRIME) & _BITS
    return np.uint64(state)


def _utf8(values: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """UTF-8 bytes of all values in a row, and where each starts and, after the last, the last one ends."""
    if hasattr(values, "buffers"):
        return _utf8_of_arrow(values)
    encoded: Sequence[bytes] = [str(value).encode() for value in values]
    ends = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded)), out=ends[1:])
    # read-only as Arrow's memory is: compiled loops tell the two apart
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def _utf8_of_arrow(values: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    large = str(values.type).startswith("large_")
    _, offsets, data = values.buffers()
    if offsets is None or data is None:  # nothing but empty values
        return np.frombuffer(b"", dtype=np.uint8), np.zeros(len(values) + 1, dtype=np.int64)
    places: NDArray[Any] = np.frombuffer(offsets, dtype=np.int64 if large else np.int32)
    ends = places[values.offset : values.offset + len(values) + 1].astype(np.int64)
    text = np.frombuffer(data, dtype=np.uint8)
    text.flags.writeable = False
    return text, ends
