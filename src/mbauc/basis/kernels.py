"""Compiled loops from rows to their indicators; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled


@compiled()
def find_code(x, points, begin, end, is_level):  # type: ignore[no-untyped-def]
    """Which indicator of a column is 1: the first point that is not below x; for levels an equal one."""
    if np.isnan(x):
        return end - begin + 1
    low, high = begin, end
    while low < high:
        middle = (low + high) >> 1
        if points[middle] < x:
            low = middle + 1
        else:
            high = middle
    if is_level and (low == end or points[low] != x):
        return end - begin
    return low - begin


@compiled()
def write_codes(X, points, bounds, is_level, codes):  # type: ignore[no-untyped-def]
    """The indicator of each column that is 1, for each row; columns are in the order of X."""
    for row in range(X.shape[0]):
        for j in range(X.shape[1]):
            codes[row, j] = find_code(X[row, j], points, bounds[j], bounds[j + 1], is_level[j])


@compiled()
def write_entries(  # type: ignore[no-untyped-def]
    codes, starts, numbers, first_number, coarse, coarse_width, pairs, cell_starts, columns, values
):
    """Columns and values of the entries of each row: indicators, numbers, cells."""
    d, k = codes.shape[1], numbers.shape[1]
    for row in range(codes.shape[0]):
        for j in range(d):
            columns[row, j] = starts[j] + codes[row, j]
            values[row, j] = 1.0
        for j in range(k):
            columns[row, d + j] = first_number + j
            values[row, d + j] = numbers[row, j]
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            cell = coarse[starts[a] + codes[row, a]] * coarse_width[b] + coarse[starts[b] + codes[row, b]]
            columns[row, d + k + p] = cell_starts[p] + cell
            values[row, d + k + p] = 1.0


@compiled()
def add_scores(  # type: ignore[no-untyped-def]
    codes, starts, numbers, first_number, coarse, coarse_width, pairs, cell_starts, coef, total
):
    """Add up the weights of the entries of each row, in the order in which they are written."""
    d, k = codes.shape[1], numbers.shape[1]
    for row in range(codes.shape[0]):
        s = 0.0
        for j in range(d):
            s += coef[starts[j] + codes[row, j]]
        for j in range(k):
            s += numbers[row, j] * coef[first_number + j]
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            cell = coarse[starts[a] + codes[row, a]] * coarse_width[b] + coarse[starts[b] + codes[row, b]]
            s += coef[cell_starts[p] + cell]
        total[row] = s


@compiled()
def write_coordinates(  # type: ignore[no-untyped-def]
    codes, starts, numbers, first_number, coarse, coarse_width, pairs, cell_starts, table, first, widths, at, Z
):
    """Coordinates of each row: those of its indicators, numbers and cells side by side.

    The coordinates of feature f begin at ``table[first[f]]``; those of entry e of a row are ``widths[e]`` many
    and go to the columns of Z from ``at[e]`` on.
    """
    d, k = codes.shape[1], numbers.shape[1]
    for row in range(codes.shape[0]):
        for j in range(d):
            begin = first[starts[j] + codes[row, j]]
            for i in range(widths[j]):
                Z[row, at[j] + i] = table[begin + i]
        for j in range(k):
            Z[row, at[d + j]] = numbers[row, j] * table[first[first_number + j]]
        for p in range(pairs.shape[0]):
            a, b = pairs[p, 0], pairs[p, 1]
            cell = coarse[starts[a] + codes[row, a]] * coarse_width[b] + coarse[starts[b] + codes[row, b]]
            begin = first[cell_starts[p] + cell]
            for i in range(widths[d + k + p]):
                Z[row, at[d + k + p] + i] = table[begin + i]
