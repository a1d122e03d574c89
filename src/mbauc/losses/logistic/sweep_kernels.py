"""A compiled sweep over sorted scores for sums of exponentials; importing this module imports numba."""

from __future__ import annotations

import math

import numpy as np

from mbauc.runtime.compiled import compiled

#: Powers of exp(-|m|) that a function of the margin is made of.
TERMS = 16


@compiled()
def _decay(gap, powers, a, b):  # type: ignore[no-untyped-def]
    """Move sums ``Σ w exp(-k |m|)``, k = 1, 2, ..., away from their sources."""
    first = math.exp(-gap)
    second = first * first
    powers[0], powers[1], powers[2], powers[3] = first, second, second * first, second * second
    fourth = powers[3]
    for k in range(4, TERMS):
        powers[k] = powers[k - 4] * fourth
    for k in range(TERMS):
        a[k] *= powers[k]
        b[k] *= powers[k]


@compiled()
def _dot(coefficients, sums):  # type: ignore[no-untyped-def]
    """Their sum with coefficients, in four parts that do not wait for each other."""
    p, q, r, s = 0.0, 0.0, 0.0, 0.0
    for k in range(0, TERMS, 4):
        p += coefficients[k] * sums[k]
        q += coefficients[k + 1] * sums[k + 1]
        r += coefficients[k + 2] * sums[k + 2]
        s += coefficients[k + 3] * sums[k + 3]
    return (p + q) + (r + s)


@compiled()
def sweep(high, a, plus_starts, low, b, minus_starts, terms, far, linear, turn, rising, up, down):  # type: ignore[no-untyped-def]
    """For each row, add up a function of the margin over the rows of the other class that the sweep has met.

    ``Σ terms[k] exp(-(k + 1) m)`` where the margin m is positive, and ``far - linear m + turn`` times the same
    of -m where it is not. A rising sweep meets the negatives of equal score first, a falling one the
    positives: together they meet each pair once.
    """
    powers, minus_sums, plus_sums = np.empty(TERMS), np.empty(TERMS), np.empty(TERMS)
    step = 1 if rising else -1
    for g in range(plus_starts.size - 1):
        first_i, last_i, first_j, last_j = (
            plus_starts[g],
            plus_starts[g + 1],
            minus_starts[g],
            minus_starts[g + 1],
        )
        i, j = (first_i, first_j) if rising else (last_i - 1, last_j - 1)
        minus_sums[:], plus_sums[:] = 0.0, 0.0
        minus_count, plus_count, minus_line, plus_line = 0.0, 0.0, 0.0, 0.0
        at = min(high[i], low[j]) if rising else max(high[i], low[j])
        for _ in range(last_i - first_i + last_j - first_j):
            more_plus, more_minus = first_i <= i < last_i, first_j <= j < last_j
            if rising:
                positive = more_plus and not (more_minus and low[j] <= high[i])
            else:
                positive = more_plus and not (more_minus and low[j] > high[i])
            x = high[i] if positive else low[j]
            gap = abs(x - at)
            if gap > 0.0:
                _decay(gap, powers, minus_sums, plus_sums)
                minus_line += gap * minus_count
                plus_line += gap * plus_count
                at = x
            if positive:
                found = _dot(terms, minus_sums)
                up[i] += found if rising else far * minus_count + linear * minus_line + turn * found
                plus_count += a[i]
                for k in range(TERMS):
                    plus_sums[k] += a[i]
                i += step
            else:
                found = _dot(terms, plus_sums)
                down[j] += far * plus_count + linear * plus_line + turn * found if rising else found
                minus_count += b[j]
                for k in range(TERMS):
                    minus_sums[k] += b[j]
                j += step
