"""Compiled double loops over the pairs of small groups; importing this module imports numba."""

from __future__ import annotations

import math

from mbauc.runtime.compiled import compiled


@compiled()
def add_values(high, a, plus_starts, low, b, minus_starts, first, last):  # type: ignore[no-untyped-def]
    """The weighted sum of the loss over the pairs of some groups."""
    total = 0.0
    for g in range(first, last):
        for i in range(plus_starts[g], plus_starts[g + 1]):
            part = 0.0
            for j in range(minus_starts[g], minus_starts[g + 1]):
                m = high[i] - low[j]
                part += b[j] * (max(-m, 0.0) + math.log1p(math.exp(-abs(m))))
            total += a[i] * part
    return total


@compiled()
def add_slopes(high, a, plus_starts, low, b, minus_starts, first, last, up, down):  # type: ignore[no-untyped-def]
    """``σ(-m)`` of the pairs of some groups, summed by row of both classes."""
    for g in range(first, last):
        for i in range(plus_starts[g], plus_starts[g + 1]):
            for j in range(minus_starts[g], minus_starts[g + 1]):
                m = high[i] - low[j]
                z = math.exp(-abs(m))
                slope = (z if m > 0.0 else 1.0) / (1.0 + z)
                up[i] += b[j] * slope
                down[j] += a[i] * slope


@compiled()
def add_curvatures(high, a, plus_starts, low, b, minus_starts, first, last, up, down):  # type: ignore[no-untyped-def]
    """``σ'(m)``, summed likewise."""
    for g in range(first, last):
        for i in range(plus_starts[g], plus_starts[g + 1]):
            for j in range(minus_starts[g], minus_starts[g + 1]):
                z = math.exp(-abs(high[i] - low[j]))
                curvature = z / ((1.0 + z) * (1.0 + z))
                up[i] += b[j] * curvature
                down[j] += a[i] * curvature
