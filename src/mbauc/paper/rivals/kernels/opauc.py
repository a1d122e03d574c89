"""One-pass AUC optimisation: gradient descent on the squared loss against the other class as a whole."""

from __future__ import annotations

import numpy as np

from mbauc.paper.rivals.kernels.class_statistics import curvature, gradient, include
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
    counts,
    means,
    spreads,
    scatters,
    sketches,
    projected,
    eta0,
    auto,
    constant,
    l2,
    centred,
    first_pass,
    loss,
):
    """One step for each row once the other class has been seen.

    ``clock`` holds the steps taken and the largest curvature so far. Statistics are of the first pass: later
    ones would only count the same rows again.
    """
    x, g = np.empty(w.size), np.empty(w.size)
    for k in range(order.size):
        row = np.uintp(order[k])
        spread_out(columns, values, np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)]), x)
        own = 1 if positive[k] else 0
        other = 1 - own
        if counts[other] > 0.0:
            eta = eta0 if constant else eta0 / np.sqrt(clock[0] + 1.0)
            largest = clock[1]
            if auto:
                largest = max(
                    largest, curvature(x, l2, other, counts, means, spreads, sketches, projected, centred)
                )
                if 0.0 < clock[1] < largest:
                    # as if it had been known from the start
                    w *= clock[1] / largest
                eta = min(1.0, eta) / largest if largest > 0.0 else 0.0
            sign = 1.0 if positive[k] else -1.0
            lost = gradient(x, sign, w, l2, other, counts, means, scatters, sketches, projected, centred, g)
            if not np.isfinite(lost):
                return k
            loss[0] += lost
            clock[0] += 1.0
            clock[1] = largest
            for i in range(w.size):
                w[i] -= eta * g[i]
        if first_pass:
            include(x, own, draws[k], counts, means, spreads, scatters, sketches, projected)
    return order.size
