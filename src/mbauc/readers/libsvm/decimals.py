"""Decimal text to the nearest float64, in compiled loops; importing this module imports numba.

The nearest float of w·10^q, w < 2^64, comes from one of three ways, each exact (ties go to the even
neighbour): one product or quotient of two floats where both are exact; the product of w and the first 128 bits
of 5^q (Eisel and Lemire's idea), where what is cut off cannot change the rounding; and the comparison of whole
numbers where it could. Longer decimals lie between w and w + 1 of their first 19 digits, and mostly both round
alike; where they do not, and where bits were cut off, whole numbers of many digits tell on which side of the
middle of two neighbouring floats the decimal lies. These are arrays of 32-bit limbs, lowest first, each in a
64-bit cell so that a product and its carry fit.
"""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

# What became of a decimal.
#: It was read.
FINE = 0
#: It is not a decimal.
MALFORMED = 1
#: It is too large for a float.
OVERFLOW = 2

#: Below this power of ten every 64-bit number rounds to 0.
_LEAST = -342
#: Above this power of ten every 64-bit number rounds to infinity.
_MOST = 308
#: Digits that always fit into 64 bits.
_WORD = 19
#: An exponent beyond this decides by itself, whatever stands before it; ten times it is no overflow.
_HUGE = 1 << 50

#: A middle of two floats has at most 767 digits: beyond these it only matters whether a digit is not zero.
_DIGITS = 770
#: Room for both sides of a comparison: 10**771 and 5**1142 have fewer than 2,700 bits.
_LIMBS = 96
_FIVES = 5 ** np.arange(14, dtype=np.uint64)

_TENS = 10.0 ** np.arange(23)
_ALL = np.uint64(2**64 - 1)
_LOW = np.uint64(0xFFFFFFFF)
_HIDDEN = np.uint64(1 << 52)
_EXACT = np.uint64(1 << 53)
_NOTHING = np.uint64(0)
_ONE = np.uint64(1)
_TEN = np.uint64(10)
#: Bits of half a word.
_HALF = np.uint64(32)
#: Bits of a word.
_WIDTH = np.uint64(64)
_ZERO = np.uint64(ord("0"))
# Characters as bytes.
_FIRST_DIGIT = np.uint8(ord("0"))
_LAST_DIGIT = np.uint8(ord("9"))
_PLUS = np.uint8(ord("+"))
_MINUS = np.uint8(ord("-"))
_POINT = np.uint8(ord("."))
_UPPER = np.uint8(ord("E"))
_LOWER = np.uint8(ord("e"))


def _powers() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first 128 bits of 5^q in two halves, cut off, and the exponent of its leading bit."""
    high, low, leading = [], [], []
    for q in range(_LEAST, _MOST + 1):
        power = 5 ** abs(q)
        # 1 / power lies between two powers of two, since no power of five is one
        exponent = power.bit_length() - 1 if q >= 0 else -power.bit_length()
        cut = (power << 127 >> exponent) if q >= 0 else (1 << 127 - exponent) // power
        high.append(cut >> 64)
        low.append(cut & (1 << 64) - 1)
        leading.append(exponent)
    return np.array(high, np.uint64), np.array(low, np.uint64), np.array(leading, np.int64)


_FIVE_HIGH, _FIVE_LOW, _FIVE_LEADING = _powers()
#: Up to here all bits of 5^q are in the table.
_WHOLE = 55


@compiled(error_model="numpy")
def read_decimal(text, p):  # type: ignore[no-untyped-def]
    """The decimal at place p: (float, place after it, code).

    A sign, digits with a point anywhere among them, and an exponent; words such as ``nan`` are malformed. The
    text must continue after the decimal, with a character that is not part of it. ``O(m)`` for m characters.
    """
    one = np.uintp(1)
    sign = text[p]
    if sign in (_MINUS, _PLUS):
        p += one
    begin = p
    mantissa = _NOTHING
    digit = np.uint64(text[p]) - _ZERO
    while digit < _TEN:
        mantissa = mantissa * _TEN + digit
        p += one
        digit = np.uint64(text[p]) - _ZERO
    digits = p - begin
    q = np.int64(0)
    if text[p] == _POINT:
        p += one
        point = p
        digit = np.uint64(text[p]) - _ZERO
        while digit < _TEN:
            mantissa = mantissa * _TEN + digit
            p += one
            digit = np.uint64(text[p]) - _ZERO
        digits += p - point
        q = -np.int64(p - point)
    end = p
    if digits == np.uintp(0):
        return 0.0, p, MALFORMED
    if text[p] == _LOWER or text[p] == _UPPER:
        exponent, p, found = _read_exponent(text, p + one)
        if not found:
            return 0.0, p, MALFORMED
        q += exponent
    value = nearest(mantissa, q) if digits <= np.uintp(_WORD) else _nearest_of_many(text, begin, end, q)
    if sign == _MINUS:
        value = -value
    return value, p, FINE if np.isfinite(value) else OVERFLOW


@compiled(error_model="numpy")
def _read_exponent(text, p):  # type: ignore[no-untyped-def]
    one = np.uintp(1)
    sign = text[p]
    if sign in (_MINUS, _PLUS):
        p += one
    begin = p
    exponent = np.int64(0)
    digit = np.uint64(text[p]) - _ZERO
    while digit < _TEN:
        if exponent < _HUGE:
            exponent = exponent * 10 + np.int64(digit)
        p += one
        digit = np.uint64(text[p]) - _ZERO
    return -exponent if sign == _MINUS else exponent, p, p > begin


@compiled(error_model="numpy")
def nearest(w, q):  # type: ignore[no-untyped-def]
    """The float nearest to w·10^q, infinity included; w is unsigned."""
    if w < _EXACT:
        if 0 <= q <= 22:
            return np.float64(np.int64(w)) * _TENS[q]
        if -22 <= q < 0:
            return np.float64(np.int64(w)) / _TENS[-q]
    if w == _NOTHING or q < _LEAST:
        return 0.0
    if q > _MOST:
        return np.inf
    return _nearest_by_product(w, q)


@compiled(error_model="numpy")
def _nearest_by_product(w, q):  # type: ignore[no-untyped-def]
    """The float nearest to w·10^q from the first 192 bits of a product.

    Where 5^q is cut off the true product exceeds the one formed here by less than two units of ``middle``. Only
    if those carry it over the half between two floats is more to be looked at.
    """
    zeros = _leading_zeros(w)
    shifted = w << np.uint64(zeros)
    row = q - _LEAST
    high, middle = _multiply(shifted, _FIVE_HIGH[row])
    upper, lower = _multiply(shifted, _FIVE_LOW[row])
    middle += upper
    if middle < upper:
        high += _ONE
    top = np.int64(high >> np.uint64(63))
    exponent = 63 + top - zeros + _FIVE_LEADING[row] + q
    if exponent > 1023:
        return np.inf
    # subnormal numbers keep fewer bits
    missing = max(0, -1022 - exponent)
    dropped = 10 + top + missing
    power = exponent - 52 + missing
    if dropped > 65:
        return 0.0
    if dropped == 65:
        kept, up = _NOTHING, _compare_word(w, q, _NOTHING, power) > 0
    else:
        kept = high >> np.uint64(dropped) if dropped < 64 else _NOTHING
        rest = high - (kept << np.uint64(dropped)) if dropped < 64 else high
        half = _ONE << np.uint64(dropped - 1)
        if rest == half and middle == _NOTHING and lower == _NOTHING and 0 <= q <= _WHOLE:
            up = (kept & _ONE) == _ONE
        elif rest == half - _ONE and middle == _ALL and not 0 <= q <= _WHOLE:
            side = _compare_word(w, q, kept, power)
            up = side > 0 or (side == 0 and (kept & _ONE) == _ONE)
        else:
            up = rest >= half
    # a carry out of the mantissa moves the exponent on, to infinity if need be
    field = exponent + 1022 if missing == 0 else 0
    bits = np.uint64((np.uint64(field) << np.uint64(52)) + kept + np.uint64(up))
    return bits.view(np.float64)


@compiled(error_model="numpy")
def _nearest_of_many(text, begin, end, q):  # type: ignore[no-untyped-def]
    """The float nearest to D·10^q, D the digits from ``begin`` to ``end``, of which there are more than 19."""
    w = _NOTHING
    kept, dropped = 0, 0
    more = False
    for p in range(begin, end):
        digit = np.uint64(text[p]) - _ZERO
        if digit >= _TEN:
            continue
        if kept < _WORD:
            w = w * _TEN + digit
            kept += w != _NOTHING
        else:
            dropped += 1
            more = more or digit != _NOTHING
    low = nearest(w, q + dropped)
    if not more:
        return low
    high = nearest(w + _ONE, q + dropped)
    if low == high:
        return low
    bits = np.float64(low).view(np.uint64)
    exponent = np.int64(bits >> np.uint64(52))
    mantissa = bits & (_HIDDEN - _ONE)
    if exponent > 0:
        mantissa += _HIDDEN
        exponent -= 1
    side = _compare_text(text, begin, end, q, mantissa, exponent - 1074)
    up = side > 0 or (side == 0 and (mantissa & _ONE) == _ONE)
    return high if up else low


@compiled(error_model="numpy")
def _multiply(a, b):  # type: ignore[no-untyped-def]
    """The 128-bit product of two 64-bit numbers: (high, low)."""
    a_high, a_low = a >> _HALF, a & _LOW
    b_high, b_low = b >> _HALF, b & _LOW
    low = a_low * b_low
    first = a_high * b_low + (low >> _HALF)
    second = a_low * b_high + (first & _LOW)
    return a_high * b_high + (first >> _HALF) + (second >> _HALF), (second << _HALF) | (low & _LOW)


@compiled(error_model="numpy")
def _leading_zeros(w):  # type: ignore[no-untyped-def]
    """Zero bits before the first one of a number that is not zero."""
    zeros = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> (_WIDTH - np.uint64(step)) == _NOTHING:
            w <<= np.uint64(step)
            zeros += step
    return zeros


@compiled(error_model="numpy")
def _compare_word(w, q, mantissa, power):  # type: ignore[no-untyped-def]
    """Sign of w·10^q - (mantissa + ½)·2^power."""
    left = np.zeros(_LIMBS, np.uint64)
    left[0], left[1] = w & _LOW, w >> _HALF
    return _compare(left, 2 if left[1] else 1, q, mantissa, power)


@compiled(error_model="numpy")
def _compare_text(text, begin, end, q, mantissa, power):  # type: ignore[no-untyped-def]
    """Sign of D·10^q - (mantissa + ½)·2^power; D are the digits from ``begin`` to ``end``, whatever the point.

    ``O(m²)`` time for m digits, at most 770.
    """
    left = np.zeros(_LIMBS, np.uint64)
    size, kept = 0, 0
    more = False
    for p in range(begin, end):
        digit = text[p]
        if digit < _FIRST_DIGIT or digit > _LAST_DIGIT or (kept == 0 and digit == _FIRST_DIGIT):
            continue
        if kept < _DIGITS:
            size = _scale(left, size, _TEN, np.uint64(digit - _FIRST_DIGIT))
            kept += 1
        else:
            q += 1
            more = more or digit != _FIRST_DIGIT
    if more:
        size = _scale(left, size, _TEN, _ONE)
        q -= 1
    return _compare(left, size, q, mantissa, power)


@compiled(error_model="numpy")
def _compare(left, left_size, q, mantissa, power):  # type: ignore[no-untyped-def]
    right = np.zeros(_LIMBS, np.uint64)
    middle = (mantissa << _ONE) + _ONE
    right[0], right[1] = middle & _LOW, middle >> _HALF
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
        carry = total >> _HALF
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
