"""Compiled loops from coded columns to the rows of a sparse matrix; importing this module imports numba.

An entry ±1 is a *key*: twice its column, plus one if it is -1; a negative key is no entry.
"""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

#: Rows turned at a time, so that each line of the cache is called once.
_TURNED = 16
#: Keys up to which a row is sorted by counting the smaller ones for each key, without branches.
_COUNTED = 128
#: Keys that the compiler compares at once; rows are filled up to a multiple.
_ABREAST = 8


@compiled()
def fill_codes(places, valid, offset, first, codes):  # type: ignore[no-untyped-def]
    """Places in a dictionary plus ``first``; -1 where the bit ``offset`` + row of ``valid`` is not set."""
    for row in range(codes.size):
        bit = offset + row
        present = (valid[bit >> 3] >> np.uint8(bit & 7)) & 1
        codes[row] = places[row] + first if present else -1


@compiled()
def gather(codes, table, keys):  # type: ignore[no-untyped-def]
    """The key of each row from that of its code; the code -1 has the last one."""
    last = table.size - 1
    for row in range(codes.size):
        code = codes[row]
        keys[row] = table[code if code >= 0 else last]


@compiled()
def add_gathered(codes, table, total):  # type: ignore[no-untyped-def]
    """Add to each row the number of its code; the code -1 has the last one."""
    last = table.size - 1
    for row in range(codes.size):
        code = codes[row]
        total[row] += table[code if code >= 0 else last]


@compiled(error_model="numpy")
def write_rows(  # type: ignore[no-untyped-def]
    keys, numbers, number_columns, sort, begin, stop, columns, values, sizes
):
    """Write the entries of some rows one after another, sorted by column and without duplicates.

    Returns how many there are.

    Parameters
    ----------
    keys : array of shape (m, n)
        Entries ±1 of all rows; entries of a row in the same column add up.
    numbers : float64 array of shape (k, n)
        Other entries of all rows; zeros are left out.
    number_columns : int64 array of shape (k,)
        Their columns, ascending; no key has any of them.
    sort : bool
        Whether keys of a row may be out of order.
    begin, stop : int
        The rows.
    columns, values : arrays with room for (m + k) · (stop - begin) entries
        The entries.
    sizes : array of shape (n,)
        Numbers of entries of the rows.
    """
    m, k = keys.shape[0], numbers.shape[0]
    most = np.iinfo(keys.dtype).max
    wide = (m + _ABREAST - 1) // _ABREAST * _ABREAST
    turned = np.full((_TURNED, wide), most, keys.dtype)
    turned_numbers = np.empty((_TURNED, k))
    ordered = np.empty(wide, keys.dtype)
    entry = np.uintp(0)
    for start in range(begin, stop, _TURNED):
        some = min(_TURNED, stop - start)
        for i in range(m):
            for t in range(some):
                turned[t, i] = keys[i, start + t]
        for i in range(k):
            for t in range(some):
                turned_numbers[t, i] = numbers[i, start + t]
        for t in range(some):
            if sort:
                _sort(turned[t], m, ordered)
            else:
                ordered[:] = turned[t]
            end = _write(ordered, m, turned_numbers[t], number_columns, columns, values, entry, sort)
            sizes[start + t] = end - entry
            entry = end
    return np.int64(entry)


@compiled(error_model="numpy")
def _sort(keys, m, ordered):  # type: ignore[no-untyped-def]
    """Sort the first m keys. Of equal keys all but the first may be left out; then -1 stands in their place."""
    if m > _COUNTED:
        ordered[:] = keys
        ordered[:m].sort()
        return
    for i in range(m):
        ordered[i] = -1
    for i in range(m):
        key = keys[i]
        rank = np.int32(0)
        for j in range(keys.size):
            rank = np.int32(rank + np.int32(keys[j] < key))
        ordered[rank] = key


@compiled(error_model="numpy")
def _write(keys, m, numbers, number_columns, columns, values, entry, repeats):  # type: ignore[no-untyped-def]
    """Write one row from ``entry`` on; returns its end. ``repeats``: -1 after another key stands for that."""
    one = np.uintp(1)  # places are unsigned, so that the compiler need not allow for negative ones
    number, count = np.uintp(0), np.uintp(numbers.size)
    previous, column = keys.dtype.type(-1), keys.dtype.type(-1)
    for i in range(np.uintp(m)):
        key = keys[i]
        if key < 0:
            if not repeats or previous < 0:
                continue
            key = previous
        previous = key
        value = -1.0 if key & 1 else 1.0
        key >>= 1
        if key == column:
            values[entry - one] += value
            continue
        column = key
        while number < count and number_columns[number] < column:
            entry = _write_number(numbers[number], number_columns[number], columns, values, entry)
            number += one
        columns[entry] = column
        values[entry] = value
        entry += one
    while number < count:
        entry = _write_number(numbers[number], number_columns[number], columns, values, entry)
        number += one
    return entry


@compiled(error_model="numpy")
def _write_number(value, column, columns, values, entry):  # type: ignore[no-untyped-def]
    if value == 0.0:
        return entry
    columns[entry] = column
    values[entry] = value
    return entry + np.uintp(1)
