"""Mini-batch gradient descent on a pairwise surrogate."""

from __future__ import annotations

import numpy as np

from mbauc.paper.rivals.kernels.rows import add, call_ahead, measure
from mbauc.paper.rivals.kernels.surrogates import derivative, surrogate
from mbauc.runtime.compiled import compiled

_SMALL = 1e-9


@compiled(error_model="numpy")
def learn(  # type: ignore[no-untyped-def]
    indptr,
    columns,
    values,
    plus,
    minus,
    w,
    clock,
    sums,
    seen,
    code,
    complete,
    eta0,
    auto,
    largest,
    constant,
    l2,
    loss,
):
    """One step for each row of ``plus`` and ``minus``, which list the positives and negatives of a batch.

    The weights are ``clock[1] · w``; ``clock`` also holds the steps taken and, third, the largest mean of
    ‖x⁺‖² + ‖x⁻‖² of a batch so far, by which an automatic step of at most ``largest`` is divided. ``sums``
    and ``seen`` add up and count the rows drawn of each class.
    """
    one = np.uintp(1)
    steps, size = plus.shape
    scores = np.empty((2, size))
    pull = np.empty((2, size))
    norms = np.zeros(2)
    for step in range(steps):
        norms[:] = 0.0
        for side in range(2):
            drawn = plus[step] if side == 1 else minus[step]
            for i in range(size):
                call_ahead(indptr, columns, values, drawn, i)
                row = np.uintp(drawn[i])
                start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + one])
                scores[side, i], norm = measure(columns, values, start, stop, w)
                norms[side] += norm / size
        longest = max(clock[2], norms[0] + norms[1]) if auto else 0.0
        if 0.0 < clock[2] < longest:
            # as if it had been known from the start
            clock[1] *= clock[2] / longest
        clock[2] = longest
        scores *= clock[1]
        lost = _pulls(scores[1], scores[0], code, complete, pull[1], pull[0])
        if not np.isfinite(lost):
            return step
        loss[0] += lost
        clock[0] += 1.0
        eta = eta0 if constant else eta0 / np.sqrt(clock[0])
        if auto:
            eta = min(largest, eta) / clock[2] if clock[2] > 0.0 else 0.0
        clock[1] /= 1.0 + eta * l2
        if clock[1] < _SMALL:
            w *= clock[1]
            clock[1] = 1.0
        for side in range(2):
            drawn = plus[step] if side == 1 else minus[step]
            for i in range(size):
                row = np.uintp(drawn[i])
                start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + one])
                add(columns, values, start, stop, -eta * pull[side, i] / clock[1], w)
                add(columns, values, start, stop, 1.0, sums[side])
            seen[side] += size
    return steps


@compiled(error_model="numpy")
def _pulls(high, low, code, complete, pull_high, pull_low):  # type: ignore[no-untyped-def]
    """Mean surrogate of the pairs of a batch, and its derivative by each score."""
    size = high.size
    lost = 0.0
    if not complete:
        for i in range(size):
            t = high[i] - low[i]
            lost += surrogate(code, t) / size
            pull_high[i] = derivative(code, t) / size
            pull_low[i] = -pull_high[i]
        return lost
    pull_low[:] = 0.0
    pairs = float(size) * size
    if code == 0:
        # all size² pairs at the cost of size: only means and squares of the scores matter
        mean_high, mean_low = high.sum() / size, low.sum() / size
        gap = 1.0 - (mean_high - mean_low)
        squares = 0.0
        for i in range(size):
            squares += (high[i] - mean_high) ** 2 + (low[i] - mean_low) ** 2
            pull_high[i] = (high[i] - mean_low - 1.0) / size
            pull_low[i] = (1.0 - mean_high + low[i]) / size
        return 0.5 * (gap * gap + squares / size)
    for i in range(size):
        total = 0.0
        for j in range(size):
            t = high[i] - low[j]
            lost += surrogate(code, t) / pairs
            slope = derivative(code, t) / pairs
            total += slope
            pull_low[j] -= slope
        pull_high[i] = total
    return lost
