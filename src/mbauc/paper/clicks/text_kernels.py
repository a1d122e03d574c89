"""Compiled loops that write LIBSVM text; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

_BYTE = np.uint32(255)
# Characters as bytes.
_PLUS = np.uint8(ord("+"))
_MINUS = np.uint8(ord("-"))
_ONE = np.uint8(ord("1"))
_SPACE = np.uint8(ord(" "))
_COLON = np.uint8(ord(":"))
_LINE = np.uint8(ord("\n"))


@compiled()
def four_digits(words):  # type: ignore[no-untyped-def]
    """The texts of 0000 to 9999, each in a word with the first digit in its lowest byte."""
    for number in range(10_000):
        word, left = np.uint32(0), number
        for _ in range(4):
            word = np.uint32((word << np.uint32(8)) | np.uint32(left % 10 + 48))
            left //= 10
        words[number] = word


@compiled()
def _put(out, size, word):  # type: ignore[no-untyped-def]
    """Four bytes at once."""
    for place in range(4):
        out[size + place] = np.uint8((word >> np.uint32(8 * place)) & _BYTE)


@compiled()
def _put_number(out, size, number, digits):  # type: ignore[no-untyped-def]
    """Up to four digits, without zeros in front; returns the place after them."""
    length = 1 + (number > 9) + (number > 99) + (number > 999)
    _put(out, size, digits[number] >> np.uint32(8 * (4 - length)))
    return size + length


@compiled()
def text(ends, columns, y, digits, out):  # type: ignore[no-untyped-def]
    """Rows as LIBSVM text, for columns of up to eight digits; returns the number of bytes.

    Four bytes are written at a time, so that ``out`` has to be a little longer than the text.
    """
    size = 0
    for i in range(y.size):
        out[size] = _PLUS if y[i] else _MINUS
        out[size + 1] = _ONE
        size += 2
        for k in range(ends[i], ends[i + 1]):
            number = np.int64(columns[k]) + 1
            out[size] = _SPACE
            size += 1
            if number < 10_000:
                size = _put_number(out, size, number, digits)
            else:
                size = _put_number(out, size, number // 10_000, digits)
                _put(out, size, digits[number % 10_000])
                size += 4
            out[size] = _COLON
            out[size + 1] = _ONE
            size += 2
        out[size] = _LINE
        size += 1
    return size
