"""Compiled loops from texts to hashed columns; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.rows.hashing.kernels import fmix64, fnv1a
from mbauc.runtime.compiled import compiled

_ONE = np.uint64(1)


@compiled(error_model="numpy")
def hash_keys(text, ends, state, width, first, signed, keys):  # type: ignore[no-untyped-def]
    """Columns of texts, from ``first`` on: twice the column, plus one for the sign -1."""
    for i in range(keys.size):
        hashed = fmix64(fnv1a(text, ends[i], ends[i + 1], state))
        column = np.int64((hashed >> _ONE) % width) + first
        keys[i] = 2 * column + (np.int64(hashed & _ONE) if signed else 0)
