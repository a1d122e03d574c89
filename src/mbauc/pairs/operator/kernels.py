"""Compiled loops over compact rows; importing this module imports numba.

Arguments that are None (values of data that are all one, weights of rows that count alike) drop out of the
compiled loop. Places are unsigned, so that no index is checked for being negative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.runtime.compiled import compiled


@compiled()
def count_columns(indptr: Any, indices: Any, rows: Any, counts: Any) -> None:
    """Add one to the count of a column for each entry of the rows."""
    for row in rows:
        for place in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            counts[np.uintp(indices[place])] += 1


@compiled()
def sum_columns(
    indptr: Any, indices: Any, values: Any, rows: Any, weight: Any, shift: Any, sums: Any, squares: Any
) -> None:
    """Add the rows, and their squares, to the sums of each column."""
    for row in rows:
        w = 1.0 if weight is None else weight[row]
        for place in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            column = np.uintp(indices[place])
            value = np.float64(values[place]) - shift[column]
            sums[column] += w * value
            squares[column] += w * value * value


@compiled()
def rows_of_ones(indptr: Any, values: Any, rows: Any) -> Any:
    """Whether all values of each row are one."""
    plain = np.ones(rows.size, dtype=np.bool_)
    for k in range(rows.size):
        row = rows[k]
        for place in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            if values[place] != 1:
                plain[k] = False
                break
    return plain


@compiled()
def compact(
    indptr: Any,
    indices: Any,
    values: Any,
    rows: Any,
    place_of: Any,
    shift: Any,
    starts: Any,
    columns: Any,
    kept: Any,
) -> None:
    """Copy the entries of some rows, columns under their new numbers; ``starts`` says where each row goes."""
    for k in range(rows.size):
        row = rows[k]
        to = np.uintp(starts[k])
        for place in range(np.uintp(indptr[row]), np.uintp(indptr[row + 1])):
            column = np.uintp(indices[place])
            columns[to] = place_of[column]
            if values is not None:
                kept[to] = values[place] - shift[column]
            to += np.uintp(1)


@compiled()
def leading_gram(
    starts: Any, columns: Any, values: Any, weight: Any, step: int, size: int, gram: Any, sums: Any
) -> float:
    """Add every ``step``-th row and its outer product among the first ``size`` columns; return their weight."""
    total = 0.0
    near = np.empty(size, dtype=np.uintp)
    for row in range(0, starts.size - 1, step):
        w = 1.0 if weight is None else weight[row]
        total += w
        count = 0
        for place in range(np.uintp(starts[row]), np.uintp(starts[row + 1])):
            if columns[place] < size:
                near[count] = place
                count += 1
        for i in near[:count]:
            x = w if values is None else w * values[i]
            sums[columns[i]] += x
            for j in near[:count]:
                gram[columns[i], columns[j]] += x if values is None else x * values[j]
    return total


@compiled()
def _score_row(columns: Any, values: Any, v: Any, place: Any, end: Any) -> float:
    """The score x'v of the row whose entries begin at ``place``."""
    one, two, three, four = np.uintp(1), np.uintp(2), np.uintp(3), np.uintp(4)
    # four sums at a time: a single one would wait for itself
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    while place + three < end:
        if values is None:
            a += v[columns[place]]
            b += v[columns[place + one]]
            c += v[columns[place + two]]
            d += v[columns[place + three]]
        else:
            a += values[place] * v[columns[place]]
            b += values[place + one] * v[columns[place + one]]
            c += values[place + two] * v[columns[place + two]]
            d += values[place + three] * v[columns[place + three]]
        place += four
    while place < end:
        if values is None:
            a += v[columns[place]]
        else:
            a += values[place] * v[columns[place]]
        place += one
    return (a + b) + (c + d)


@compiled()
def score(starts: Any, columns: Any, values: Any, v: Any, out: Any) -> None:
    """Write Xv to ``out``."""
    for row in range(starts.size - 1):
        out[row] = _score_row(columns, values, v, np.uintp(starts[row]), np.uintp(starts[row + 1]))


@compiled()
def combine(starts: Any, columns: Any, values: Any, r: Any, out: Any) -> None:
    """Add X'r to ``out``."""
    for row in range(starts.size - 1):
        share = r[row]
        if share == 0.0:  # as many rows as are in no pair that counts
            continue
        for k in range(np.uintp(starts[row]), np.uintp(starts[row + 1])):
            if values is None:
                out[columns[k]] += share
            else:
                out[columns[k]] += share * values[k]


@compiled()
def combine_by(starts: Any, columns: Any, values: Any, r: Any, bucket: Any, out: Any) -> None:
    """Add X'r to the line of ``out`` that is the bucket of each row; rows of a negative bucket are left out."""
    for row in range(starts.size - 1):
        if bucket[row] < 0:
            continue
        line, share = out[np.uintp(bucket[row])], r[row]
        for k in range(np.uintp(starts[row]), np.uintp(starts[row + 1])):
            if values is None:
                line[columns[k]] += share
            else:
                line[columns[k]] += share * values[k]


@compiled()
def product(
    starts: Any, columns: Any, values: Any, weight: Any, scale: float, v: Any, centre: float, out: Any
) -> tuple[float, float]:
    """Add scale · X'(D(Xv - centre)) to ``out``; return such sums of the centred scores and their squares."""
    total, squared = 0.0, 0.0
    for row in range(starts.size - 1):
        begin, end = np.uintp(starts[row]), np.uintp(starts[row + 1])
        score = _score_row(columns, values, v, begin, end) - centre
        share = scale * score if weight is None else scale * weight[row] * score
        total += share
        squared += share * score
        for k in range(begin, end):
            if values is None:
                out[columns[k]] += share
            else:
                out[columns[k]] += share * values[k]
    return total, squared
