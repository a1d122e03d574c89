"""Online gradient descent on the logistic loss, step O(1/√t)."""

from __future__ import annotations

import numpy as np
from numba import njit

from mbauc.rivals.kernels.rows import add, call_ahead, score, squared_norm
from mbauc.rivals.kernels.surrogates import logistic_pull

#: Below this the common factor of the weights is multiplied in.
_SMALL = 1e-9


@njit(nogil=True, cache=True, error_model="numpy")
def learn(  # type: ignore[no-untyped-def]
    indptr, columns, values, order, positive, w, clock, eta0, auto, l2, intercept, loss
):
    """One step for each row.

    The weights are ``clock[2] / clock[3] · w``: what changes them all costs one multiplication. ``clock``
    holds the steps taken, the intercept, the factor by which a penalty has shrunk the weights, and the mean
    ‖x‖² so far (1 unless ``auto``).
    """
    for k in range(order.size):
        call_ahead(indptr, columns, values, order, k)
        row = np.uintp(order[k])
        start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)])
        mean = clock[3]
        if auto:
            mean += (squared_norm(columns, values, start, stop) - mean) / (clock[0] + 1.0)
        unit = clock[2] / mean if mean > 0.0 else 0.0
        s = unit * score(columns, values, start, stop, w) + clock[1]
        if not np.isfinite(s):
            return k
        sign = 1.0 if positive[k] else -1.0
        pull = sign * logistic_pull(sign * s, loss)
        clock[0] += 1.0
        clock[3] = mean
        eta = eta0 / np.sqrt(clock[0])
        if intercept:
            clock[1] += eta * pull
        if l2 > 0.0 and mean > 0.0:
            clock[2] /= 1.0 + eta / mean * l2
            if clock[2] < _SMALL:
                w *= clock[2]
                clock[2] = 1.0
        add(columns, values, start, stop, eta * pull / clock[2], w)
    return order.size
