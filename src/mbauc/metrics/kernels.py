"""Compiled loops over many scores; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled


@compiled()
def split(scores, positive, plus, minus):  # type: ignore[no-untyped-def]
    """Sort scores by class, without a branch: both places are written, one of them moves on.

    ``plus`` and ``minus`` have room for one number more than their class. Returns how many are NaN.
    """
    a, b, bad = np.uintp(0), np.uintp(0), 0
    for i in range(scores.size):
        score = scores[i]
        plus[a] = score
        minus[b] = score
        a += np.uintp(positive[i])
        b += np.uintp(1) - np.uintp(positive[i])
        bad += score != score
    return bad


@compiled(error_model="numpy")
def merge(plus, minus, i, end_plus, j, end_minus, centre):  # type: ignore[no-untyped-def]
    """Walk through two sorted arrays side by side, from places i and j.

    Returns twice the number of pairs won (ties count one), and for each class the sum of squares of its
    placements about ``centre``: of a positive row the share of negatives below it, of a negative row the share
    of positives above it, ties one half.
    """
    half_plus, half_minus = 0.5 / plus.size, 0.5 / minus.size
    won, squares_plus, squares_minus = 0, 0.0, 0.0
    while i < end_plus and j < end_minus:
        if plus[i] < minus[j]:
            won += 2 * j
            apart = 2 * j * half_minus - centre
            squares_plus += apart * apart
            i += 1
        elif minus[j] < plus[i]:
            apart = 1.0 - 2 * i * half_plus - centre
            squares_minus += apart * apart
            j += 1
        else:
            tied, first_plus, first_minus = plus[i], i, j
            while i < end_plus and plus[i] == tied:
                i += 1
            while j < end_minus and minus[j] == tied:
                j += 1
            won += (i - first_plus) * (j + first_minus)
            apart = (j + first_minus) * half_minus - centre
            squares_plus += (i - first_plus) * (apart * apart)
            apart = 1.0 - (i + first_plus) * half_plus - centre
            squares_minus += (j - first_minus) * (apart * apart)
    while i < end_plus:
        won += 2 * j
        apart = 2 * j * half_minus - centre
        squares_plus += apart * apart
        i += 1
    while j < end_minus:
        apart = 1.0 - 2 * i * half_plus - centre
        squares_minus += apart * apart
        j += 1
    return won, squares_plus, squares_minus
