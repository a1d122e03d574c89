"""The four convex surrogates φ(t) of Eq. (7), t = f(x⁺) - f(x⁻), and their derivatives.

The squared loss is halved, as in Eq. (14), so that l2 means the same beside it as in the exact problem.
"""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

#: What the kernels call them.
CODES = {"squared": 0, "hinge": 1, "logistic": 2, "exponential": 3}

_LARGE = 1e150


@compiled(error_model="numpy")
def surrogate(code, t):  # type: ignore[no-untyped-def]
    """φ(t); what is not a number stays so."""
    if code == 0:
        return 0.5 * (1.0 - t) * (1.0 - t)
    if code == 1:
        return 0.0 if t >= 1.0 else 1.0 - t
    if code == 2:
        return logistic_loss(t)
    return np.exp(-t)


@compiled(error_model="numpy")
def derivative(code, t):  # type: ignore[no-untyped-def]
    """φ'(t); at the kink of the hinge, where any number in [-1, 0] would do, -1."""
    if code == 0:
        return t - 1.0
    if code == 1:
        return 0.0 if t > 1.0 else -1.0
    if code == 2:
        return -chance(-t)
    return -np.exp(-t)


@compiled(error_model="numpy")
def logistic_loss(t):  # type: ignore[no-untyped-def]
    """log(1 + exp(-t)), without overflow."""
    return np.log1p(np.exp(-abs(t))) + max(0.0, -t)


@compiled(error_model="numpy")
def chance(t):  # type: ignore[no-untyped-def]
    """1 / (1 + exp(-t)), without overflow."""
    e = np.exp(-abs(t))
    return (1.0 if t > 0 else e) / (1.0 + e)


@compiled(error_model="numpy")
def logistic_pull(t, total, product):  # type: ignore[no-untyped-def]
    """-φ'(t) of the logistic loss, and ``total`` and ``product`` after adding φ(t), from one exponential.

    Σ log(1 + e) is the logarithm of a product, which is taken now and then.
    """
    e = np.exp(-abs(t))
    total += max(0.0, -t)
    product *= 1.0 + e
    if product > _LARGE:
        total += np.log(product)
        product = 1.0
    return (e if t > 0 else 1.0) / (1.0 + e), total, product
