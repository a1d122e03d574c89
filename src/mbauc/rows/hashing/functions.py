"""FNV-1a and MurmurHash3's finaliser: one body each, for arrays as it is, and compiled for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

_PRIME = np.uint64(0x100000001B3)
#: Multipliers and shift of MurmurHash3's 64-bit finaliser.
_FIRST = np.uint64(0xFF51AFD7ED558CCD)
_SECOND = np.uint64(0xC4CEB9FE1A85EC53)
_SHIFT = np.uint64(33)


def fmix64(h: Any) -> Any:
    """MurmurHash3's finaliser: every bit of the input moves every bit of the output.

    Of an array of uint64, or, compiled (:mod:`mbauc.rows.hashing.kernels`), of a number.
    """
    h = (h ^ (h >> _SHIFT)) * _FIRST
    h = (h ^ (h >> _SHIFT)) * _SECOND
    return h ^ (h >> _SHIFT)


def fnv1a(text: Any, start: Any, stop: Any, state: Any) -> Any:
    """FNV-1a of the bytes of a text from ``start`` to ``stop``, from a state on."""
    for place in range(start, stop):
        state = (state ^ np.uint64(text[place])) * _PRIME
    return state
