"""Compiled loops over rows of ones that wait to be counted; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled


@compiled()
def copy_rows(indptr, indices, rows, place, columns):  # type: ignore[no-untyped-def]
    """Write the columns of some rows of a CSR matrix one after the other, from ``place`` on."""
    one = np.uintp(1)
    at = np.uintp(place)
    for row in rows:
        p, stop = np.uintp(indptr[row]), np.uintp(indptr[row + 1])
        while p < stop:
            columns[at] = indices[p]
            at += one
            p += one


@compiled()
def count_entries(columns, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts[j]`` how often column j occurs."""
    for column in columns:
        counts[column] += 1


@compiled()
def list_runs(columns, place, lengths, cursor, lower, runs):  # type: ignore[no-untyped-def]
    """List, column by column, the runs of entries that each entry pairs with; see ``kernels.fill_chunk``."""
    one = np.uintp(1)
    at = np.uintp(place)
    for length in lengths:
        begin, end = at, at + np.uintp(length)
        while at < end:
            j = np.uintp(columns[at])
            slot = np.uintp(cursor[j])
            cursor[j] = slot + one
            if lower:
                runs[slot, 0] = np.int32(begin)
                runs[slot, 1] = np.int32(at + one)
            else:
                runs[slot, 0] = np.int32(at)
                runs[slot, 1] = np.int32(end)
            at += one
