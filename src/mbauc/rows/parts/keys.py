"""Random numbers that belong to a row by its id, wherever the row lies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.hashing.texts import hash_columns, hash_features
from mbauc.rows.labels import is_missing

#: Multiples of the golden ratio in 64 bits: the steps of a splitmix generator.
_STEP = np.uint64(0x9E3779B97F4A7C15)


def row_keys(ids: NDArray[Any], seed: int) -> NDArray[np.uint64]:
    """64 random bits for each id: the same for the same id and seed.

    Parameters
    ----------
    ids : ndarray
        Checked ones (:func:`check_ids`).
    seed : int
        Of 64 bits.

    Examples
    --------
    >>> import numpy as np
    >>> bool((row_keys(np.array([7, 8]), 1)[:1] == row_keys(np.array([7]), 1)).all())
    True
    """
    if ids.dtype.kind in "iu":
        hashed = ids.astype(np.uint64)
    else:
        hashed = hash_features("id", [str(name) for name in ids])
    with np.errstate(over="ignore"):
        return hash_columns(hash_columns(hashed) ^ hash_columns(np.array([seed], dtype=np.uint64)))


def check_ids(ids: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers or texts, or an error that says what is wrong.

    Objects become whole numbers if all are, because other parts may have them as these.
    """
    if ids.dtype.kind not in "iuOUST":
        raise ValueError(f"ids must be whole numbers or texts, got dtype {ids.dtype}.")
    if ids.dtype.kind != "O":
        return ids
    for row, name in enumerate(ids):
        if is_missing(name):
            raise ValueError(f"the id of row {row:,} is missing; each row needs one.")
    return ids.astype(np.int64) if all(isinstance(name, int | np.integer) for name in ids) else ids


def next_keys(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The next 64 random bits of each."""
    with np.errstate(over="ignore"):
        return hash_columns(keys + _STEP)


def uniform(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Numbers in (0, 1], from the upper 53 bits."""
    return ((keys >> np.uint64(11)).astype(np.float64) + 1.0) / 2.0**53
