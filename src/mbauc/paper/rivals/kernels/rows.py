"""How compiled loops read a row, dense or sparse, and call later rows into cache."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled
from mbauc.runtime.prefetch import prefetch

#: How many rows ahead of its use a row is called into cache; its place in the table is read twice as early.
_AHEAD = 6
_LINE = 64


@compiled()
def column(columns, place, start):  # type: ignore[no-untyped-def]
    """Column of the entry at a place of a row that starts at ``start``."""
    if columns is None:
        return place - start
    return np.uintp(columns[place])


@compiled()
def value(values, place):  # type: ignore[no-untyped-def]
    """The entry at a place."""
    if values is None:
        return 1.0
    return np.float64(values[place])


@compiled()
def call_ahead(indptr, columns, values, order, k):  # type: ignore[no-untyped-def]
    """Call into cache what the rows after place k of the order need; dense rows lie in a row anyway."""
    if columns is not None:
        one, line = np.uintp(1), np.uintp(_LINE)
        if k + 2 * _AHEAD < order.size:
            prefetch(indptr.ctypes.data + np.uintp(order[k + 2 * _AHEAD]) * np.uintp(indptr.itemsize))
        if k + _AHEAD < order.size:
            row = np.uintp(order[k + _AHEAD])
            start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + one])
            size = np.uintp(columns.itemsize)
            address = columns.ctypes.data + start * size
            end = columns.ctypes.data + stop * size
            while address < end:
                prefetch(address)
                address += line
            if values is not None:
                size = np.uintp(values.itemsize)
                address = values.ctypes.data + start * size
                end = values.ctypes.data + stop * size
                while address < end:
                    prefetch(address)
                    address += line


@compiled()
def score(columns, values, start, stop, w):  # type: ignore[no-untyped-def]
    """The score w'x of one row."""
    total = 0.0
    place = start
    while place < stop:
        total += w[column(columns, place, start)] * value(values, place)
        place += np.uintp(1)
    return total


@compiled()
def add(columns, values, start, stop, factor, w):  # type: ignore[no-untyped-def]
    """Add a multiple of one row to w."""
    place = start
    while place < stop:
        w[column(columns, place, start)] += factor * value(values, place)
        place += np.uintp(1)


@compiled()
def measure(columns, values, start, stop, w):  # type: ignore[no-untyped-def]
    """The score w'x and ‖x‖² of one row."""
    if values is None:
        return score(columns, values, start, stop, w), np.float64(stop - start)
    total, norm = 0.0, 0.0
    place = start
    while place < stop:
        entry = value(values, place)
        total += w[column(columns, place, start)] * entry
        norm += entry * entry
        place += np.uintp(1)
    return total, norm


@compiled()
def spread_out(columns, values, start, stop, x):  # type: ignore[no-untyped-def]
    """One row as a dense vector x."""
    x[:] = 0.0
    add(columns, values, start, stop, 1.0, x)
