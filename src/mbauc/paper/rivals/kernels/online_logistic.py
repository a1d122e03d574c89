"""Online gradient descent on the logistic loss, step O(1/√t)."""

from __future__ import annotations

import numpy as np

from mbauc.paper.rivals.kernels.rows import add, call_ahead, measure
from mbauc.paper.rivals.kernels.surrogates import logistic_pull
from mbauc.runtime.compiled import compiled

#: Below this the common factor of the weights is multiplied in.
_SMALL = 1e-9


@compiled(error_model="numpy")
def learn(  # type: ignore[no-untyped-def]
    indptr, columns, values, order, positive, w, clock, eta0, intercept_step, auto, l2, loss
):
    """One step for each row.

    The intercept has a step of its own, 0 if there is none.
    ``clock`` holds the steps taken, the intercept, the factor by which a penalty has shrunk the weights, and
    the mean ‖x‖² so far (1 unless ``auto``). The weights are w times the third over the fourth: what changes
    them all costs one multiplication.
    """
    t, bias, shrinkage, mean = clock
    total, product = loss
    taken = order.size
    for k in range(order.size):
        call_ahead(indptr, columns, values, order, k)
        row = np.uintp(order[k])
        start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + np.uintp(1)])
        s, norm = measure(columns, values, start, stop, w)
        norm = mean * (t / (t + 1.0)) + norm / (t + 1.0) if auto else mean
        s = s * (shrinkage / norm if norm > 0.0 else 0.0) + bias
        if not np.isfinite(s):
            taken = k
            break
        sign = 1.0 if positive[k] else -1.0
        pull, total, product = logistic_pull(sign * s, total, product)
        t += 1.0
        mean = norm
        eta = eta0 / np.sqrt(t)
        if l2 > 0.0 and mean > 0.0:
            shrinkage /= 1.0 + eta / mean * l2
            if shrinkage < _SMALL:
                w *= shrinkage
                shrinkage = 1.0
        # what does not wait for the score is divided first
        add(columns, values, start, stop, sign * pull * (eta / shrinkage), w)
        bias += sign * pull * (intercept_step / np.sqrt(t))
    clock[:] = t, bias, shrinkage, mean
    loss[:] = total, product
    return taken
