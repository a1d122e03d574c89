"""Compiled loops that hash texts; importing this module imports numba."""

from __future__ import annotations

from mbauc.rows.hashing import functions as hash_functions
from mbauc.runtime.compiled import compiled

fmix64 = compiled()(hash_functions.fmix64)
fnv1a = compiled()(hash_functions.fnv1a)


@compiled()
def hash_texts(text, ends, state, hashes):  # type: ignore[no-untyped-def]
    """Hashes of the texts from ``ends[i]`` to ``ends[i + 1]``."""
    for i in range(hashes.size):
        hashes[i] = fmix64(fnv1a(text, ends[i], ends[i + 1], state))
