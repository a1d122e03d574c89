"""On which side of the middle of two neighbouring floats a decimal lies, in whole numbers of many digits.

Importing this module imports numba. Whole numbers are arrays of 32-bit limbs, lowest first, each in a 64-bit
cell so that a product and its carry fit.
"""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

#: A middle of two floats has at most 767 digits: beyond these it only matters whether a digit is not zero.
_DIGITS = 770
#: Room for both sides of the comparison: 10**771 and 5**1142 have fewer than 2,700 bits.
_LIMBS = 96

_LOW = np.uint64(0xFFFFFFFF)
_LIMB = np.uint64(32)
_NOTHING, _ONE, _TEN = np.uint64(0), np.uint64(1), np.uint64(10)
_FIVES = 5 ** np.arange(14, dtype=np.uint64)
_ZERO, _NINE = np.uint8(ord("0")), np.uint8(ord("9"))


@compiled(error_model="numpy")
def compare_word(w, q, mantissa, power):  # type: ignore[no-untyped-def]
    """Sign of w·10^q - (mantissa + ½)·2^power."""
    left = np.zeros(_LIMBS, np.uint64)
    left[0], left[1] = w & _LOW, w >> _LIMB
    return _compare(left, 2 if left[1] else 1, q, mantissa, power)


@compiled(error_model="numpy")
def compare_text(text, begin, end, q, mantissa, power):  # type: ignore[no-untyped-def]
    """Sign of D·10^q - (mantissa + ½)·2^power; D are the digits from ``begin`` to ``end``, whatever the point.

    ``O(m²)`` time for m digits, at most 770.
    """
    left = np.zeros(_LIMBS, np.uint64)
    size, kept = 0, 0
    more = False
    for p in range(begin, end):
        digit = text[p]
        if digit < _ZERO or digit > _NINE or (kept == 0 and digit == _ZERO):
            continue
        if kept < _DIGITS:
            size = _scale(left, size, _TEN, np.uint64(digit - _ZERO))
            kept += 1
        else:
            q += 1
            more = more or digit != _ZERO
    if more:
        size = _scale(left, size, _TEN, _ONE)
        q -= 1
    return _compare(left, size, q, mantissa, power)


@compiled(error_model="numpy")
def _compare(left, left_size, q, mantissa, power):  # type: ignore[no-untyped-def]
    right = np.zeros(_LIMBS, np.uint64)
    middle = (mantissa << _ONE) + _ONE
    right[0], right[1] = middle & _LOW, middle >> _LIMB
    right_size = 2 if right[1] else 1
    if q >= 0:
        left_size = _times_five(left, left_size, q)
    else:
        right_size = _times_five(right, right_size, -q)
    twos = power - 1 - q
    if twos >= 0:
        right_size = _shift(right, right_size, twos)
    else:
        left_size = _shift(left, left_size, -twos)
    if left_size != right_size:
        return 1 if left_size > right_size else -1
    for i in range(left_size - 1, -1, -1):
        if left[i] != right[i]:
            return 1 if left[i] > right[i] else -1
    return 0


@compiled(error_model="numpy")
def _scale(limbs, size, factor, carry):  # type: ignore[no-untyped-def]
    """Multiply by a factor below 2^32, add a number below 2^32; returns the new size."""
    for i in range(size):
        total = limbs[i] * factor + carry
        limbs[i] = total & _LOW
        carry = total >> _LIMB
    if carry != _NOTHING:
        limbs[size] = carry
        size += 1
    return size


@compiled(error_model="numpy")
def _times_five(limbs, size, times):  # type: ignore[no-untyped-def]
    while times > 0:
        step = min(times, 13)
        size = _scale(limbs, size, _FIVES[step], _NOTHING)
        times -= step
    return size


@compiled(error_model="numpy")
def _shift(limbs, size, bits):  # type: ignore[no-untyped-def]
    size = _scale(limbs, size, _ONE << np.uint64(bits % 32), _NOTHING)
    whole = bits // 32
    if whole > 0:
        for i in range(size - 1, -1, -1):
            limbs[i + whole] = limbs[i]
            limbs[i] = _NOTHING
    return size + whole
