"""Compiled loops of the sparse Gram matrix; importing this module imports numba.

Index arrays are unsigned, so that the compiler need not allow for negative ones. ``values`` is None for
data of ones: the compiler then drops the multiplications.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

#: How many visits ahead of its use a row is called into cache.
_AHEAD = 8


@intrinsic
def _prefetch(context: Any, address: Any) -> Any:
    """Call the cache line at an address; a hint that can neither fail nor change a result."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        call = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        read, keep, data = integer(0), integer(3), integer(1)
        builder.call(call, [builder.inttoptr(arguments[0], byte), read, keep, data])
        return context.get_dummy_value()

    return types.void(types.uintp), generate


@njit(nogil=True, cache=True)
def inspect(data):  # type: ignore[no-untyped-def]
    """Whether all values are one, and whether all are finite."""
    ones = True
    finite = True
    for value in data:
        if value != 1:
            ones = False
            if not np.isfinite(value):
                finite = False
                break
    return ones, finite


@njit(nogil=True, cache=True)
def count_columns(indptr, indices, rows, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts[j]`` the number of entries that the rows have in column j."""
    for row in rows:
        for p in range(indptr[row], indptr[row + 1]):
            counts[indices[p]] += 1


@njit(nogil=True, cache=True)
def fill_chunk(  # type: ignore[no-untyped-def]
    indptr, indices, data, rows, root, shift, start, cursor, lower, columns, values, first, last, sums
):
    """Copy rows into a compact chunk and list, per column, the runs of entries it pairs with.

    The entry of column j at place p of a row pairs with the columns up to and including j (``lower``) or
    from j on. ``cursor[j]`` is where the next run of column j goes in ``first`` and ``last``.
    """
    place = start
    for i in range(rows.size):
        row = rows[i]
        begin = place
        end = place + (indptr[row + 1] - indptr[row])
        for p in range(indptr[row], indptr[row + 1]):
            j = indices[p]
            columns[place] = j
            if values is not None:
                value = (data[p] - shift[j]) * root[i]
                values[place] = value
                sums[j] += value * root[i]
            slot = cursor[j]
            cursor[j] = slot + 1
            if lower:
                first[slot] = begin
                last[slot] = place + 1
            else:
                first[slot] = place
                last[slot] = end
            place += 1


@njit(nogil=True, cache=True)
def accumulate(columns, values, offsets, first, last, lower, begin, end, gram):  # type: ignore[no-untyped-def]
    """Add the products of rows ``begin`` to ``end`` of the Gram matrix, one row at a time.

    A row of the matrix stays in cache while all its runs are visited; the runs themselves are scattered
    over the chunk and are called into cache ahead of their turn. The columns of a run differ, so four
    cells may be read before the first is written.
    """
    columns_at = columns.ctypes.data
    column_size = columns.itemsize
    if values is not None:
        values_at = values.ctypes.data
    for a in range(begin, end):
        cells = gram[a]
        stop = offsets[a + 1]
        for visit in range(offsets[a], stop):
            if visit + _AHEAD < stop:
                front = np.uintp(first[visit + _AHEAD])
                back = np.uintp(last[visit + _AHEAD]) - np.uintp(1)
                _prefetch(columns_at + front * np.uintp(column_size))
                _prefetch(columns_at + back * np.uintp(column_size))
                if values is not None:
                    line = front
                    while line <= back:
                        _prefetch(values_at + line * np.uintp(8))
                        line += np.uintp(8)
                    _prefetch(values_at + back * np.uintp(8))
            p = np.int64(first[visit])
            z = np.int64(last[visit])
            if values is None:
                while p + 4 <= z:
                    i, j, k, m = columns[p], columns[p + 1], columns[p + 2], columns[p + 3]
                    at_i, at_j, at_k, at_m = cells[i], cells[j], cells[k], cells[m]
                    cells[i] = at_i + 1.0
                    cells[j] = at_j + 1.0
                    cells[k] = at_k + 1.0
                    cells[m] = at_m + 1.0
                    p += 4
                while p < z:
                    cells[columns[p]] += 1.0
                    p += 1
            else:
                value = values[z - 1] if lower else values[p]
                while p + 4 <= z:
                    i, j, k, m = columns[p], columns[p + 1], columns[p + 2], columns[p + 3]
                    at_i, at_j, at_k, at_m = cells[i], cells[j], cells[k], cells[m]
                    cells[i] = at_i + value * values[p]
                    cells[j] = at_j + value * values[p + 1]
                    cells[k] = at_k + value * values[p + 2]
                    cells[m] = at_m + value * values[p + 3]
                    p += 4
                while p < z:
                    cells[columns[p]] += value * values[p]
                    p += 1
