"""Compiled loops of the sparse Gram matrix; importing this module imports numba.

Places are unsigned, so that the compiler need not allow for negative ones. ``values`` is None for data of
ones: the compiler then drops the multiplications.
"""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled
from mbauc.runtime.prefetch import prefetch

#: Values compared before looking whether one differed.
_LOOK = 1 << 14
#: How many visits ahead of its use a row is called into cache.
_AHEAD = 32


@compiled()
def inspect(data):  # type: ignore[no-untyped-def]
    """Whether all values are one, and whether all are finite.

    Counting instead of stopping at the first lets the compiler compare several values at once.
    """
    others = 0
    start = 0
    while start < data.size and others == 0:
        for i in range(start, min(start + _LOOK, data.size)):
            others += data[i] != 1
        start += _LOOK
    if others == 0:
        return True, True
    bad = 0
    for i in range(data.size):
        bad += not np.isfinite(data[i])
    return False, bad == 0


@compiled()
def count_columns(indptr, indices, rows, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts[j]`` the number of entries that the rows have in column j."""
    one = np.uintp(1)
    for row in rows:
        p, stop = np.uintp(indptr[row]), np.uintp(indptr[row + 1])
        while p < stop:
            counts[np.uintp(indices[p])] += 1
            p += one


@compiled()
def fill_chunk(  # type: ignore[no-untyped-def]
    indptr, indices, data, rows, root, shift, start, cursor, lower, columns, values, runs, sums
):
    """Copy rows into a compact chunk and list, per column, the runs of entries it pairs with.

    The entry of column j at place p of a row pairs with the columns up to and including j (``lower``) or
    from j on: a run from ``runs[slot, 0]`` up to ``runs[slot, 1]``. ``cursor[j]`` is the next slot of column j.
    """
    one = np.uintp(1)
    place = np.uintp(start)
    for i in range(rows.size):
        row = np.uintp(rows[i])
        p, stop = np.uintp(indptr[row]), np.uintp(indptr[row + one])
        begin, end = np.int32(place), np.int32(place + stop - p)
        while p < stop:
            j = np.uintp(indices[p])
            columns[place] = j
            if values is not None:
                value = (data[p] - shift[j]) * root[i]
                values[place] = value
                sums[j] += value * root[i]
            slot = np.uintp(cursor[j])
            cursor[j] = slot + one
            if lower:
                runs[slot, 0] = begin
                runs[slot, 1] = np.int32(place + one)
            else:
                runs[slot, 0] = np.int32(place)
                runs[slot, 1] = end
            place += one
            p += one


@compiled()
def accumulate(columns, values, offsets, runs, lower, begin, end, gram):  # type: ignore[no-untyped-def]
    """Add the products of rows ``begin`` to ``end`` of the Gram matrix, one row at a time.

    A row of the matrix stays in cache while all its runs are visited; the runs themselves are scattered
    over the chunk and are called into cache ahead of their turn. The columns of a run differ, so four
    cells may be read before the first is written.
    """
    columns_at = columns.ctypes.data
    column_size = np.uintp(columns.itemsize)
    one, two, three, four, eight = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4), np.uintp(8)
    ahead = np.uintp(_AHEAD)
    if values is not None:
        values_at = values.ctypes.data
    for a in range(begin, end):
        cells = gram[a]
        visit, stop = np.uintp(offsets[a]), np.uintp(offsets[a + 1])
        while visit < stop:
            if visit + ahead < stop:
                front = np.uintp(runs[visit + ahead, 0])
                back = np.uintp(runs[visit + ahead, 1]) - one
                prefetch(columns_at + front * column_size)
                prefetch(columns_at + back * column_size)
                if values is not None:
                    line = front
                    while line < back:
                        prefetch(values_at + line * eight)
                        line += eight
                    prefetch(values_at + back * eight)
            p, z = np.uintp(runs[visit, 0]), np.uintp(runs[visit, 1])
            if values is None:
                while p + four <= z:
                    i, j, k, m = columns[p], columns[p + one], columns[p + two], columns[p + three]
                    at_i, at_j, at_k, at_m = cells[i], cells[j], cells[k], cells[m]
                    cells[i] = at_i + 1.0
                    cells[j] = at_j + 1.0
                    cells[k] = at_k + 1.0
                    cells[m] = at_m + 1.0
                    p += four
                while p < z:
                    cells[columns[p]] += 1.0
                    p += one
            else:
                value = values[z - one] if lower else values[p]
                while p + four <= z:
                    i, j, k, m = columns[p], columns[p + one], columns[p + two], columns[p + three]
                    at_i, at_j, at_k, at_m = cells[i], cells[j], cells[k], cells[m]
                    cells[i] = at_i + value * values[p]
                    cells[j] = at_j + value * values[p + one]
                    cells[k] = at_k + value * values[p + two]
                    cells[m] = at_m + value * values[p + three]
                    p += four
                while p < z:
                    cells[columns[p]] += value * values[p]
                    p += one
            visit += one
