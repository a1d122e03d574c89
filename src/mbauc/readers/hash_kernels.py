"""Compiled loops that hash texts; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

_PRIME = np.uint64(0x100000001B3)
_FIRST, _SECOND = np.uint64(0xFF51AFD7ED558CCD), np.uint64(0xC4CEB9FE1A85EC53)
_ONE, _SHIFT = np.uint64(1), np.uint64(33)


@compiled()
def fnv1a(text, start, stop, state):  # type: ignore[no-untyped-def]
    """FNV-1a of some bytes from a state on."""
    for place in range(start, stop):
        state = (state ^ np.uint64(text[place])) * _PRIME
    return state


@compiled()
def fmix64(state):  # type: ignore[no-untyped-def]
    """The finaliser of MurmurHash3."""
    state = (state ^ (state >> _SHIFT)) * _FIRST
    state = (state ^ (state >> _SHIFT)) * _SECOND
    return state ^ (state >> _SHIFT)


@compiled()
def hash_texts(text, ends, state, hashes):  # type: ignore[no-untyped-def]
    """Hashes of the texts from ``ends[i]`` to ``ends[i + 1]``."""
    for i in range(hashes.size):
        hashes[i] = fmix64(fnv1a(text, ends[i], ends[i + 1], state))


@compiled(error_model="numpy")
def hash_keys(text, ends, state, width, first, signed, keys):  # type: ignore[no-untyped-def]
    """Columns of the same texts, from ``first`` on: twice the column, plus one for the sign -1."""
    for i in range(keys.size):
        hashed = fmix64(fnv1a(text, ends[i], ends[i + 1], state))
        column = np.int64((hashed >> _ONE) % width) + first
        keys[i] = 2 * column + (np.int64(hashed & _ONE) if signed else 0)
