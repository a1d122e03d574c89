"""Eigenvalues and eigenvectors of a symmetric matrix, on as many threads as serve it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mbauc.runtime.threads import blas_for_matrix

Array = NDArray[np.float64]


def decompose(matrix: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Eigenvalues, rising, and eigenvectors as columns. ``O(d³)``.

    Examples
    --------
    >>> import numpy as np
    >>> decompose(np.diag([3.0, 2.0]))[0]
    array([2., 3.])
    """
    with blas_for_matrix(len(matrix)):
        values, vectors = eigh(matrix, overwrite_a=overwrite, check_finite=False, driver="evd")
    return values, vectors
