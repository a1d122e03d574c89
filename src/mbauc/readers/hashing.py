"""Feature hashing: categories of any number in a fixed number of columns, the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import check_flag, check_whole
from mbauc.rows.hashing.texts import Hashes, hash_columns, hash_features, name_state, utf8_bytes
from mbauc.rows.matrix import as_matrix, is_sparse

__all__ = ["fold_columns", "hash_columns", "hash_features", "hash_keys", "hash_signs", "hash_slots"]


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

    text, ends = utf8_bytes(values)
    keys = np.empty(ends.size, dtype=kind)
    ends = np.append(ends, ends[-1])  # an empty text at the end
    hash_kernels.hash_keys(text, ends, name_state(column), np.uint64(width), first, signed, keys)
    return keys


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
    """Feature hashing of a wide sparse matrix to ``width`` columns, as in the paper for click logs.

    Column j, counted from 0, goes to ``(fmix64(j + 1) >> 1) mod width``, with the sign of the hash's last bit
    if ``signed``; colliding entries of a row are added. The hash depends only on the column number, so blocks,
    files and machines agree. ``O(entries)`` time and memory.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, d)
        Rows; d is arbitrary.
    width : int
        Number of columns of the result, at least 2. Increase it for fewer collisions.
    signed : bool, default=False
        Whether to flip the sign of half of the columns, so that collisions cancel on average and inner products
        of rows are unbiased.

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
