"""Running means and covariances of both classes, and the gradient of the squared loss they give.

All vectors here are dense, so that sums may be taken in any order: dense and sparse rows still agree.
"""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

_ANY_ORDER = {"reassoc", "contract"}


@compiled(error_model="numpy", fastmath=_ANY_ORDER)
def dot(a, b):  # type: ignore[no-untyped-def]
    """The product a'b."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@compiled(error_model="numpy")
def include(x, own, draw, counts, means, spreads, scatters, sketches, projected):  # type: ignore[no-untyped-def]
    """Add a row to the statistics of its class.

    ``scatters[c]`` is the sum of (x - c)(x - c)', by Welford's update, where covariances are kept in full;
    else ``sketches[c]`` the sum of x r' with a random r of variance 1/τ, ``projected[c]`` the mean of r.
    ``spreads[c]`` is the trace of the scatter.
    """
    counts[own] += 1.0
    n = counts[own]
    mean = means[own]
    before = np.empty_like(x)
    for i in range(x.size):
        before[i] = x[i] - mean[i]
        mean[i] += before[i] / n
    factor = (n - 1.0) / n
    spreads[own] += factor * dot(before, before)
    if scatters is not None:
        for i in range(x.size):
            cells = scatters[own, i]
            along = factor * before[i]
            for j in range(x.size):
                cells[j] += along * before[j]
    if sketches is not None:
        for i in range(x.size):
            if x[i] != 0.0:
                cells = sketches[own, i]
                for j in range(draw.size):
                    cells[j] += x[i] * draw[j]
        h = projected[own]
        for j in range(draw.size):
            h[j] += (draw[j] - h[j]) / n


@compiled(error_model="numpy")
def times_covariance(w, other, counts, means, scatters, sketches, projected, centred, out):  # type: ignore[no-untyped-def]
    """``out`` = S w, S the covariance of a class, exact or from its sketch."""
    n = counts[other]
    out[:] = 0.0
    if scatters is not None:
        for i in range(w.size):
            cells = scatters[other, i]
            factor = w[i] / n
            for j in range(w.size):
                out[j] += cells[j] * factor
    if sketches is not None:
        _times_sketch(w, n, means[other], sketches[other], projected[other], centred, out)


@compiled(error_model="numpy")
def _times_sketch(w, n, mean, sketch, h, centred, out):  # type: ignore[no-untyped-def]
    at_mean = dot(mean, w)
    u = np.zeros(h.size)
    for i in range(w.size):
        cells = sketch[i]
        for j in range(u.size):
            u[j] += cells[j] * w[i]
    if centred:
        # the sketch of the centred rows is Z - n c h'
        for j in range(u.size):
            u[j] -= n * h[j] * at_mean
        back = dot(h, u)
        for i in range(w.size):
            out[i] = dot(sketch[i], u) / n - mean[i] * back
    else:
        length = dot(h, h)
        for i in range(w.size):
            out[i] = dot(sketch[i], u) / n - mean[i] * length * at_mean


@compiled(error_model="numpy")
def gradient(  # type: ignore[no-untyped-def]
    x, sign, w, l2, other, counts, means, scatters, sketches, projected, centred, out
):
    """Gradient of ½ l2 ‖w‖² + ½ the mean of (1 - sign w'(x - x'))² over the rows x' of the other class.

    Returns the loss without the penalty.
    """
    times_covariance(w, other, counts, means, scatters, sketches, projected, centred, out)
    spread = dot(w, out)
    mean = means[other]
    apart = np.empty_like(x)
    for i in range(x.size):
        apart[i] = x[i] - mean[i]
    margin = dot(apart, w)
    factor = margin - sign
    for i in range(x.size):
        out[i] += factor * apart[i] + l2 * w[i]
    return 0.5 * ((1.0 - sign * margin) ** 2 + spread)


@compiled(error_model="numpy")
def curvature(x, l2, other, counts, means, spreads, sketches, projected, centred):  # type: ignore[no-untyped-def]
    """A bound on the largest eigenvalue of that gradient's derivative: its trace, or more.

    O(d), or O(d τ) for a sketch, whose trace varies about that of the scatter.
    """
    mean = means[other]
    apart = np.empty_like(x)
    for i in range(x.size):
        apart[i] = x[i] - mean[i]
    n = counts[other]
    spread = spreads[other]
    if sketches is not None:
        h = projected[other]
        row = np.empty_like(h)
        spread = 0.0
        for i in range(x.size):
            shift = n * mean[i] if centred else 0.0
            for j in range(row.size):
                row[j] = sketches[other, i, j] - shift * h[j]
            spread += dot(row, row)
    return dot(apart, apart) + spread / n + l2
