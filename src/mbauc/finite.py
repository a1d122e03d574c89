"""Whether every value is finite, and if not, where the first bad one stands."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.errors import NonFiniteError
from mbauc.matrix import is_sparse

#: Values looked at together.
_BLOCK = 1 << 20


def check_finite(X: Any) -> None:
    """Raise :class:`~mbauc.errors.NonFiniteError` for the first NaN or infinity of X, dense or CSR.

    One pass that adds the values up, since a sum shows what is wrong with any of them; only then is it
    looked for. Memory for a block of 8 MB.
    """
    values = X.data if is_sparse(X) else X
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        suspect = not np.isfinite(values.sum(dtype=np.float64))
    if suspect:
        raise_nonfinite(X)


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
