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
def screen(groups, residual, functions, roughness, sizes, pairs, noise, penalty, gains):  # type: ignore[no-untyped-def]
    """What the interaction of each pair of columns would gain; see :func:`mbauc.basis.screening.screen_pairs`.

    Parameters
    ----------
    groups : uint8 array of shape (d, n)
        Coarse group of each row, column by column.
    residual : array of shape (n,)
        Minus the derivative of the loss by each score.
    functions, roughness : arrays of shape (d, groups, k) and (d, k)
        Functions over the coarse groups of each column, and their roughness; as many as ``sizes`` say count.
    sizes : int array of shape (d, 2)
        Number of groups and of functions of each column.
    pairs : int array of shape (p, 2)
        The pairs.
    noise, penalty : float
        Variance of each coordinate's gradient without an interaction, and the penalty of roughness 1.
    gains : array of shape (p,)
        Where the result goes.
    """
    most, width = functions.shape[1], functions.shape[2]
    cells = np.empty((most, most))
    half = np.empty((width, most))
    for p in range(pairs.shape[0]):
        a, b = pairs[p, 0], pairs[p, 1]
        cells[: sizes[a, 0], : sizes[b, 0]] = 0.0
        first, second = groups[a], groups[b]
        for row in range(residual.size):
            cells[first[row], second[row]] += residual[row]
        for i in range(sizes[a, 1]):
            for h in range(sizes[b, 0]):
                s = 0.0
                for g in range(sizes[a, 0]):
                    s += functions[a, g, i] * cells[g, h]
                half[i, h] = s
        total = 0.0
        for i in range(sizes[a, 1]):
            for j in range(sizes[b, 1]):
                s = 0.0
                for h in range(sizes[b, 0]):
                    s += half[i, h] * functions[b, h, j]
                total += (s * s - noise) / (1.0 + penalty * (roughness[a, i] + roughness[b, j]))
        gains[p] = total
