"""What conjugate gradients are preconditioned with: a block of the leading columns, and the diagonal."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Array = NDArray[np.float64]

#: Added to the diagonal of the block as a share of it, so that it has a Cholesky factor.
_JITTER = 1e-8


class Preconditioner:
    """About the inverse of X'HX + diag(ridge).

    Parameters
    ----------
    block : ndarray of shape (k, k)
        About X'HX among the first columns; k may be 0.
    diagonal, ridge : ndarrays of shape (d,)
        About the diagonal of X'HX, and that of the penalty.
    """

    def __init__(self, block: Array, diagonal: Array, ridge: Array) -> None:
        metric = diagonal + ridge
        self._metric = np.where(metric > 0.0, metric, 1.0)
        self._factor: Any = None
        size = len(block)
        if size:
            matrix = block.copy()
            np.fill_diagonal(matrix, np.diagonal(block) + ridge[:size] + _JITTER * self._metric[:size])
            with suppress(LinAlgError):
                self._factor = cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

    def __call__(self, residual: Array) -> Array:
        """The direction that a residual asks for."""
        direction = np.asarray(residual / self._metric)
        if self._factor is not None:
            size = len(self._factor[0])
            direction[:size] = cho_solve(self._factor, residual[:size], check_finite=False)
        return direction
