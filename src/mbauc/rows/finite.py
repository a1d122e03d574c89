"""Whether every value is finite, and if not, where the first bad one stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.rows.matrix import is_sparse

#: Sums of squares above this are safe from underflow in products of sums …
_SMALLEST = 1e-200
#: … and below this from overflow.
_LARGEST = 1e200
#: Values looked at together.
_BLOCK = 1 << 20


def sum_squares(X: Any) -> float:
    """Sum the squared values of X, dense or CSR; raises if the sum cannot be used.

    One pass, since the sum shows what is wrong with any value; only then is that looked for. Memory for a
    block of 8 MB.

    Raises
    ------
    NonFiniteError
        For the first NaN or infinity.
    ValueError
        If squares come near the ends of floating point.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        total = sum(float(np.vdot(block, block)) for block in _blocks(X))
    if not total < _LARGEST:
        raise_nonfinite(X)
    if not _SMALLEST < total < _LARGEST:
        largest = max((float(np.abs(block).max(initial=0.0)) for block in _blocks(X)), default=0.0)
        if largest > 0.0:
            raise ValueError(
                f"the largest value of X is {largest:.3g}, whose square is close to the limits of float64; "
                "rescale the features."
            )
    return total


def _blocks(X: Any) -> Iterator[NDArray[np.float64]]:
    """The values of X as float64, in blocks that need no copy where they are so already."""
    if is_sparse(X):
        for start in range(0, X.data.size, _BLOCK):
            yield X.data[start : start + _BLOCK].astype(np.float64, copy=False)
    elif X.flags.f_contiguous and not X.flags.c_contiguous:
        yield from _blocks(X.T)
    else:
        step = max(1, _BLOCK // X.shape[1])
        for start in range(0, X.shape[0], step):
            yield X[start : start + step].astype(np.float64, copy=False)


def raise_nonfinite(X: Any) -> None:
    """Name the first NaN or infinity of X, if there is one."""
    if is_sparse(X):
        bad = np.flatnonzero(~np.isfinite(X.data))
        if bad.size:
            row = int(np.searchsorted(X.indptr, bad[0], side="right")) - 1
            raise NonFiniteError(row, int(X.indices[bad[0]]), float(X.data[bad[0]]))
        return
    step = max(1, _BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        places = np.argwhere(~np.isfinite(X[start : start + step]))
        if places.size:
            row, column = start + int(places[0, 0]), int(places[0, 1])
            raise NonFiniteError(row, column, float(X[row, column]))


def require_finite(part: Any, numbers: NDArray[np.intp]) -> None:
    """Raise for the first NaN or infinity in rows that have these numbers elsewhere."""
    try:
        raise_nonfinite(part)
    except NonFiniteError as error:
        raise NonFiniteError(int(numbers[error.row]), error.column, error.value) from None
