"""Eigenvalues and eigenvectors of a symmetric matrix, on as many threads as serve it."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mbauc.runtime.threads import single_threaded_blas

Array = NDArray[np.float64]

#: Columns of matrices that one thread decomposes: not slower on a quiet machine, and far faster on a busy one,
#: where threads of BLAS wait for each other some thousand times. Below, BLAS uses one thread by itself.
_ONE_THREAD = range(65, 513)


def decompose(matrix: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """Eigenvalues, rising, and eigenvectors as columns. ``O(d³)``.

    Examples
    --------
    >>> import numpy as np
    >>> decompose(np.diag([3.0, 2.0]))[0]
    array([2., 3.])
    """
    with single_threaded_blas() if len(matrix) in _ONE_THREAD else nullcontext():
        values, vectors = eigh(matrix, overwrite_a=overwrite, check_finite=False, driver="evd")
    return values, vectors
