"""Axes of values of which a few are very large: even steps near zero, logarithmic ones far from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: How many times farther the longer tail reaches before an axis is squeezed.
_SKEWED = 8.0


def squeeze_width(centers: Array) -> float | None:
    """Where an axis changes from even to logarithmic steps; None for values that need no such axis."""
    low, middle, high = (float(centers[k]) for k in (0, centers.size // 2, -1))
    near, far = sorted((middle - low, high - middle))
    if centers.size < 12 or far < _SKEWED * max(near, 1e-12 * far) or far <= 0:
        return None
    distances = np.abs(centers - (0.0 if low <= 0 <= high else low))
    return float(np.quantile(distances[distances > 0], 0.25))


def round_values(centers: Array, width: float) -> list[float]:
    """Powers of ten on both sides of zero, as many as have room."""
    low, high = float(centers[0]), float(centers[-1])
    first = int(np.floor(np.log10(width)))
    powers = [10.0**k for k in range(first, int(np.floor(np.log10(max(abs(low), abs(high))))) + 1)]
    inside = [value for value in [*(-p for p in powers), 0.0, *powers] if low <= value <= high]
    place = np.arcsinh(np.array(inside) / width)
    whole = float(np.arcsinh(high / width) - np.arcsinh(low / width))
    kept: list[int] = []
    # zero first, then from the outside to the middle: the ends of the axis are what people look for
    order = sorted(range(len(inside)), key=lambda k: (inside[k] != 0.0, -abs(inside[k])))
    for k in order:
        if all(abs(place[k] - place[other]) > 0.13 * whole for other in kept):
            kept.append(k)
    return [inside[k] for k in sorted(kept)]
