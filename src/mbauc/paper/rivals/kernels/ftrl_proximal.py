"""FTRL-Proximal on the logistic loss, with a rate of its own for each column."""

from __future__ import annotations

import numpy as np

from mbauc.paper.rivals.kernels.rows import call_ahead, column, value
from mbauc.paper.rivals.kernels.surrogates import logistic_pull
from mbauc.runtime.compiled import compiled


@compiled(error_model="numpy")
def learn(  # type: ignore[no-untyped-def]
    indptr,
    columns,
    values,
    order,
    positive,
    records,
    clock,
    rate,
    beta,
    lambda_1,
    lambda_2,
    intercept,
    longest,
    loss,
):
    """One step for each row; touches the records of its columns only.

    ``records[j]`` is (zⱼ, √nⱼ): the weight follows from it, and 16 bytes a column are all that has to come
    into cache. A row's records are gathered, computed on side by side, and scattered. ``rate`` is 1/α;
    ``clock`` holds the steps taken and the record of the intercept, which is not penalised; ``longest`` is
    the largest number of entries of a row.
    """
    z, root, w = np.empty(longest), np.empty(longest), np.empty(longest)
    one = np.uintp(1)
    t, bias_z, bias_root = clock
    total, product = loss
    taken = order.size
    for k in range(order.size):
        call_ahead(indptr, columns, values, order, k)
        row = np.uintp(order[k])
        start, stop = np.uintp(indptr[row]), np.uintp(indptr[row + one])
        size = stop - start
        i = np.uintp(0)
        while i < size:
            j = column(columns, start + i, start)
            z[i], root[i] = records[j, 0], records[j, 1]
            i += one
        i = np.uintp(0)
        while i < size:
            over = abs(z[i]) - lambda_1
            over = over if over > 0.0 else 0.0
            w[i] = np.copysign(over, -z[i]) / ((beta + root[i]) * rate + lambda_2)
            i += one
        bias = -bias_z / ((beta + bias_root) * rate)
        s = 0.0
        i = np.uintp(0)
        while i < size:
            s += w[i] * value(values, start + i)
            i += one
        s += bias
        if not np.isfinite(s):
            taken = k
            break
        sign = 1.0 if positive[k] else -1.0
        pull, total, product = logistic_pull(sign * s, total, product)
        pull *= -sign
        t += 1.0
        i = np.uintp(0)
        while i < size:
            g = pull * value(values, start + i)
            grown = np.sqrt(root[i] * root[i] + g * g)
            z[i] += g - (grown - root[i]) * rate * w[i]
            root[i] = grown
            i += one
        i = np.uintp(0)
        while i < size:
            j = column(columns, start + i, start)
            records[j, 0], records[j, 1] = z[i], root[i]
            i += one
        if intercept:
            grown = np.sqrt(bias_root * bias_root + pull * pull)
            bias_z += pull - (grown - bias_root) * rate * bias
            bias_root = grown
    clock[:] = t, bias_z, bias_root
    loss[:] = total, product
    return taken
