"""Adaptive-gradient OPAUC, with soft thresholding where an ℓ1 penalty is asked for."""

from __future__ import annotations

import numpy as np

from mbauc.paper.rivals.kernels.class_statistics import gradient, include
from mbauc.paper.rivals.kernels.rows import spread_out
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
    clock,
    squares,
    counts,
    means,
    spreads,
    scatters,
    sketches,
    projected,
    eta0,
    delta,
    l1,
    l2,
    centred,
    first_pass,
    loss,
):
    """One step for each row once the other class has been seen; ``squares`` sums up squared gradients."""
    x, g = np.empty(w.size), np.empty(w.size)
    for k in range(order.size):
        row = np.uintp(order[k])
        spread_out(columns, values, np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)]), x)
        own = 1 if positive[k] else 0
        if counts[1 - own] > 0.0:
            sign = 1.0 if positive[k] else -1.0
            lost = gradient(x, sign, w, l2, 1 - own, counts, means, scatters, sketches, projected, centred, g)
            if not np.isfinite(lost):
                return k
            for i in range(w.size):
                squares[i] += g[i] * g[i]
            if not np.isfinite(squares.sum()):
                return k
            loss[0] += lost
            clock[0] += 1.0
            for i in range(w.size):
                if squares[i] > 0.0:
                    eta = eta0 / (delta + np.sqrt(squares[i]))
                    moved = w[i] - eta * g[i]
                    if l1 > 0.0:
                        over = abs(moved) - eta * l1
                        moved = np.copysign(over, moved) if over > 0.0 else 0.0
                    w[i] = moved
        if first_pass:
            include(x, own, draws[k], counts, means, spreads, scatters, sketches, projected)
    return order.size
