"""What conjugate gradients are preconditioned with: about the Hessian, or about its diagonal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Array = NDArray[np.float64]

#: Added to the diagonal as a share of it, so that there is a Cholesky factor.
_JITTER = 1e-8

#: About the inverse of a matrix: the direction that a residual asks for.
Preconditioner = Callable[[Array], Array]


def invert_matrix(matrix: Array, ridge: Array) -> Preconditioner | None:
    """By a Cholesky factor of ``matrix + diag(ridge)``; None if there is none."""
    diagonal = np.diagonal(matrix)
    whole = matrix.copy()
    np.fill_diagonal(whole, np.where(diagonal > 0.0, diagonal * (1.0 + _JITTER) + ridge, 1.0))
    try:
        factor = cho_factor(whole, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError:
        return None
    return partial(cho_solve, factor, check_finite=False)


def invert_diagonal(diagonal: Array, ridge: Array) -> Preconditioner:
    """By division by ``diagonal + ridge``."""
    metric = np.where(diagonal > 0.0, diagonal + ridge, 1.0)
    return lambda residual: np.asarray(residual / metric)
