"""Online AUC maximisation: each row against a reservoir of the other class."""

from __future__ import annotations

import numpy as np

from mbauc.paper.rivals.kernels.rows import add, call_ahead, column, score, value
from mbauc.runtime.compiled import compiled


@compiled(error_model="numpy")
def learn(  # type: ignore[no-untyped-def]
    indptr,
    columns,
    values,
    order,
    positive,
    draws,
    w,
    apart,
    sums,
    seen,
    held_columns,
    held_values,
    held_sizes,
    penalty,
    sequential,
    first_pass,
    loss,
):
    """Compare each row with all held rows of the other class, then perhaps hold it.

    ``held_columns[c, b]`` and ``held_values[c, b]``, up to ``held_sizes[c, b]``, are row b held of class c
    (1: positive), ``seen[c]`` counts the rows of a class, ``sums[c]`` adds them up. ``draws`` are uniform
    numbers, one for each row of the order; ``apart`` is scratch, zero before and after. After the first
    pass no row counts again, and each further one renews the buffers about once.
    """
    capacity = held_values.shape[1]
    zero, one = np.uintp(0), np.uintp(1)
    for k in range(order.size):
        call_ahead(indptr, columns, values, order, k)
        row = np.uintp(order[k])
        start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + one])
        own = 1 if positive[k] else 0
        other = 1 - own
        sign = 1.0 if positive[k] else -1.0
        held = min(seen[other], capacity)
        largest = 0.5 * penalty * max(1.0, seen[other] / capacity)

        here = score(columns, values, start, stop, w)
        if not np.isfinite(here):
            return k
        lost, lagging = 0.0, 0.0
        for b in range(held):
            there_columns = None if columns is None else held_columns[other, b]
            there_values = held_values[other, b]
            size = np.uintp(held_sizes[other, b])
            slack = 1.0 - sign * (here - score(there_columns, there_values, zero, size, w))
            lost += max(0.0, slack)
            if sequential:
                if slack > 0.0:
                    norm = _distance(columns, values, start, stop, there_columns, there_values, size, apart)
                    if norm > 0.0:
                        move = sign * min(largest, slack / norm)
                        add(columns, values, start, stop, move, w)
                        add(there_columns, there_values, zero, size, -move, w)
                        here = score(columns, values, start, stop, w)
            elif slack >= 0.0:
                # w stays as it is until all held rows have been compared
                lagging += 1.0
                add(there_columns, there_values, zero, size, 1.0, apart)
        if held > 0:
            loss[0] += lost / held
        if not sequential and lagging > 0.0:
            add(columns, values, start, stop, sign * largest * lagging, w)
            for b in range(held):
                there_columns = None if columns is None else held_columns[other, b]
                for i in range(held_sizes[other, b]):
                    j = column(there_columns, np.uintp(i), zero)
                    w[j] -= sign * largest * apart[j]
                    apart[j] = 0.0

        if first_pass:
            add(columns, values, start, stop, 1.0, sums[own])
            seen[own] += 1
        elif seen[own] <= capacity:
            continue
        slot = seen[own] - 1 if seen[own] <= capacity else np.int64(draws[k] * seen[own])
        if slot < capacity:
            size = stop - start
            held_sizes[own, slot] = size
            place = zero
            while place < size:
                if columns is not None:
                    held_columns[own, slot, place] = columns[start + place]
                held_values[own, slot, place] = value(values, start + place)
                place += one
    return order.size


@compiled(error_model="numpy")
def _distance(columns, values, start, stop, there_columns, there_values, size, apart):  # type: ignore[no-untyped-def]
    """‖x - b‖² of a row and a held row; ``apart`` is zero before and after."""
    zero = np.uintp(0)
    add(columns, values, start, stop, 1.0, apart)
    add(there_columns, there_values, zero, size, -1.0, apart)
    return _take_squares(columns, start, stop, apart) + _take_squares(there_columns, zero, size, apart)


@compiled(error_model="numpy")
def _take_squares(columns, start, stop, apart):  # type: ignore[no-untyped-def]
    """Sum of squares over the columns of a row, which are zero afterwards."""
    total = 0.0
    place = start
    while place < stop:
        j = column(columns, place, start)
        total += apart[j] * apart[j]
        apart[j] = 0.0
        place += np.uintp(1)
    return total
