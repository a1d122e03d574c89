"""Compiled loops over lines of LIBSVM text; importing this module imports numba.

All text ends with a line end, so that a loop over digits or spaces stops by itself. Places are unsigned, so
that the compiler need not allow for negative ones.
"""

from __future__ import annotations

import numpy as np

from mbauc.readers.libsvm.decimals import FINE, OVERFLOW, read_decimal
from mbauc.rows.hashing.kernels import fmix64, fnv1a
from mbauc.runtime.compiled import compiled

# Fault codes of a line.
#: Nothing is wrong.
GOOD = 0
#: The label is not a number.
BAD_LABEL = 1
#: The label is a number, but not one of the known labels.
OTHER_LABEL = 2
#: An entry is not of the form index:value.
BAD_ENTRY = 3
#: An index is out of range.
BAD_INDEX = 4
#: A value is too large for a float.
LARGE_VALUE = 5
#: An index occurs twice in a row.
TWICE = 6
#: There is no query number where each row should have one.
NO_QUERY = 7

#: Bytes counted at a time.
_LOOK = 1 << 14
#: Digits of an index that always fit into 64 bits.
_SHORT = np.uintp(18)

_TEN = np.uint64(10)
_ZERO = np.uint64(ord("0"))
# Characters as bytes.
_LINE = np.uint8(ord("\n"))
_SPACE = np.uint8(ord(" "))
_HASH = np.uint8(ord("#"))
_COLON = np.uint8(ord(":"))
_PLUS = np.uint8(ord("+"))
_DIGIT_ONE = np.uint8(ord("1"))
_TAB = np.uint8(ord("\t"))
_RETURN = np.uint8(ord("\r"))
_Q = np.uint8(ord("q"))
_I = np.uint8(ord("i"))
_D = np.uint8(ord("d"))


@compiled()
def count(text):  # type: ignore[no-untyped-def]
    """Numbers of lines and of colons: no fewer than there are rows and entries."""
    lines, colons = np.int64(0), np.int64(0)
    for start in range(0, text.size, _LOOK):
        more_lines, more_colons = _count_some(text[start : start + _LOOK])
        lines += np.int64(more_lines)
        colons += np.int64(more_colons)
    return lines, colons


@compiled()
def _count_some(text):  # type: ignore[no-untyped-def]
    """The same of fewer than 2^16 bytes: small counters let the compiler take more bytes at once."""
    lines, colons = np.uint16(0), np.uint16(0)
    for byte in text:
        lines = np.uint16(lines + np.uint16(byte == _LINE))
        colons = np.uint16(colons + np.uint16(byte == _COLON))
    return lines, colons


@compiled()
def after_lines(text, most):  # type: ignore[no-untyped-def]
    """Place after a number of lines, or after all."""
    lines = np.int64(0)
    place = 0
    while place < text.size:
        more = np.int64(_count_some(text[place : place + _LOOK])[0])
        if lines + more >= most:
            break
        lines += more
        place += _LOOK
    while place < text.size and lines < most:
        lines += text[place] == _LINE
        place += 1
    return min(place, text.size)


@compiled(error_model="numpy")
def parse(  # type: ignore[no-untyped-def]
    text, base, least, most, known, words, skip, offset, state, ends, columns, values, labels, places, groups,
    faults
):  # fmt: skip
    """Read the rows of a text.

    Returns (rows, entries, lowest column, highest column, rows with a query number, lines at fault).

    Parameters
    ----------
    text : array of uint8
        Whole lines.
    base, least, most : int
        A column is an index minus ``base``, and lies from ``least`` to ``most``.
    known : array of float64
        The labels that may occur; if empty, any number may.
    words : array of uint8 of shape (2, width) or None
        Text labels, each with a zero after it, that stand for the numbers 0 and 1.
    skip : bool
        Pass over lines at fault; else stop at the first.
    offset : int
        Added to ``ends``.
    state : uint64
        That hashes of query numbers start from.
    ends, labels, places : arrays with room for all lines
        For each row: where its entries end, its label, where its line starts.
    groups : array of uint64 with room for all lines, or empty
        For each row the hash of its query number, which each must have then.
    columns, values : arrays with room for all colons
        The entries, sorted by column within each row.
    faults : array of int64 of shape (m, 4)
        The first m lines at fault: rows before it, place of the line, what is wrong, place of what is wrong
        (or, for an index that occurs twice, the column).
    """
    one, zero = np.uintp(1), np.uintp(0)
    size = np.uintp(text.size)
    p, row, entry = zero, zero, zero
    lowest, highest = np.int64(1) << 40, np.int64(-2)
    queries, wrong = 0, 0
    while p < size:
        line = p
        while _is_space(text[p]):
            p += one
        if text[p] == _LINE:
            p += one
            continue
        if text[p] == _HASH:
            p = _line_end(text, p) + one
            continue

        where = np.int64(p)
        label, p, fault = _read_label(text, p, known, words)
        stop = entry
        query = zero
        if fault == GOOD:
            fault, p, stop, in_order, query = _read_entries(text, p, entry, base, least, most, columns, values)
            where = np.int64(p)
            if fault == GOOD and not in_order:
                _sort(columns[entry:stop], values[entry:stop])
                twice = _equal_neighbours(columns, entry, stop)
                if twice >= least:
                    fault, where = TWICE, twice
            if fault == GOOD and groups.size > 0:
                end = query
                while query > zero and not _is_end(text[end]):
                    end += one
                if end == query:
                    fault = NO_QUERY
                else:
                    groups[row] = fmix64(fnv1a(text, query, end, state))
        if fault != GOOD:
            if wrong < faults.shape[0]:
                faults[wrong, 0] = row
                faults[wrong, 1] = line
                faults[wrong, 2] = fault
                faults[wrong, 3] = where
            wrong += 1
            if not skip:
                break
            p = _line_end(text, line) + one
            continue

        if stop > entry:
            lowest = min(lowest, np.int64(columns[entry]))
            highest = max(highest, np.int64(columns[stop - one]))
        ends[row] = np.int64(stop) + offset
        labels[row] = label
        places[row] = line
        queries += int(query > zero)
        row += one
        entry = stop
        p += one
    return np.int64(row), np.int64(entry), lowest, highest, queries, wrong


@compiled(error_model="numpy")
def _read_label(text, p, known, words):  # type: ignore[no-untyped-def]
    """The label at place p: (number, place after it, fault)."""
    if words is not None:
        for k in range(words.shape[0]):
            q = p
            i = 0
            while words[k, i] != 0 and text[q] == words[k, i]:
                q += np.uintp(1)
                i += 1
            if words[k, i] == 0 and _is_end(text[q]):
                return np.float64(k), q, GOOD
        return 0.0, p, OTHER_LABEL
    label, q, code = read_decimal(text, p)
    if code != FINE or not _is_end(text[q]):
        return 0.0, p, BAD_LABEL
    for k in range(known.size):
        if label == known[k]:
            return label, q, GOOD
    return label, q, GOOD if known.size == 0 else OTHER_LABEL


@compiled(error_model="numpy")
def _read_entries(text, p, entry, base, least, most, columns, values):  # type: ignore[no-untyped-def]
    """The rest of a line: (fault, place, end of the entries, whether columns ascend, place of a query number).

    The place is that of the line end or of what is at fault. That of a query number is 0 if there is none.
    """
    one = np.uintp(1)
    begin = entry
    previous = np.int64(-2)
    in_order, query = True, np.uintp(0)
    while True:
        while text[p] == _SPACE:
            p += one
        at = p
        digit = np.uint64(text[p]) - _ZERO
        if digit >= _TEN:
            sign = text[p]
            if sign == _LINE:
                return GOOD, p, entry, in_order, query
            if _is_space(sign):
                p += one
                continue
            if sign == _HASH:
                return GOOD, _line_end(text, p), entry, in_order, query
            if entry == begin and query == 0 and _is_query(text, p):
                query = p + np.uintp(4)
                while not _is_end(text[p]):
                    p += one
                continue
            p += one
            digit = np.uint64(text[p]) - _ZERO
            if sign != _PLUS or digit >= _TEN:
                return BAD_ENTRY, at, entry, in_order, query
        index = digit
        p += one
        digit = np.uint64(text[p]) - _ZERO
        while digit < _TEN:
            index = index * _TEN + digit
            p += one
            digit = np.uint64(text[p]) - _ZERO
        if text[p] != _COLON:
            return BAD_ENTRY, at, entry, in_order, query
        if p - at > _SHORT:
            index = _long_index(text, at, p)
        column = np.int64(index) - base
        p += one
        # most files hold ones
        value = 1.0
        if text[p] == _DIGIT_ONE and (text[p + one] == _SPACE or text[p + one] == _LINE):
            p += one
        else:
            value, p, code = read_decimal(text, p)
            if code != FINE or not _is_end(text[p]):
                return (
                    LARGE_VALUE if code == OVERFLOW and _is_end(text[p]) else BAD_ENTRY,
                    at,
                    entry,
                    in_order,
                    query,
                )
        if column < least or column > most:
            return BAD_INDEX, at, entry, in_order, query
        in_order &= column > previous
        previous = column
        columns[entry] = column
        values[entry] = value
        entry += one


@compiled()
def _is_space(c):  # type: ignore[no-untyped-def]
    """Whether a byte parts tokens: a space, or a tab and its kin, the line end apart."""
    return c == _SPACE or (c >= _TAB and c <= _RETURN and c != _LINE)


@compiled()
def _is_end(c):  # type: ignore[no-untyped-def]
    """Whether a byte ends a token."""
    return c in (_SPACE, _HASH) or (c >= _TAB and c <= _RETURN)


@compiled()
def _is_query(text, p):  # type: ignore[no-untyped-def]
    """Whether ``qid:`` stands at a place; a line end stops the comparison."""
    one, two, three = np.uintp(1), np.uintp(2), np.uintp(3)
    return text[p] == _Q and text[p + one] == _I and text[p + two] == _D and text[p + three] == _COLON


@compiled()
def _line_end(text, p):  # type: ignore[no-untyped-def]
    while text[p] != _LINE:
        p += np.uintp(1)
    return p


@compiled()
def _long_index(text, begin, end):  # type: ignore[no-untyped-def]
    """An index of many digits, as far as it differs from one that is too large."""
    index = np.uint64(0)
    for p in range(begin, end):
        digit = np.uint64(text[p]) - _ZERO
        if digit < _TEN:
            index = min(index * _TEN + digit, np.uint64(1 << 40))
    return index


@compiled()
def _sort(columns, values):  # type: ignore[no-untyped-def]
    """Sort the entries of a row by column, in place (Shell's sort)."""
    gap = columns.size
    while gap > 1:
        gap = max(1, gap * 5 // 11)
        for i in range(gap, columns.size):
            column, value = columns[i], values[i]
            j = i
            while j >= gap and columns[j - gap] > column:
                columns[j] = columns[j - gap]
                values[j] = values[j - gap]
                j -= gap
            columns[j] = column
            values[j] = value


@compiled()
def _equal_neighbours(columns, begin, end):  # type: ignore[no-untyped-def]
    """A column that stands twice in sorted entries, -2 if none does."""
    for i in range(begin + np.uintp(1), end):
        if columns[i] == columns[i - np.uintp(1)]:
            return np.int64(columns[i])
    return np.int64(-2)
