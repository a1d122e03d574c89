"""Scores X w of many rows, in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.errors import NonFiniteError

#: Numbers in a block that has to be copied or converted.
_BLOCK = 1 << 20


def scores(X: Any, W: NDArray[np.float64], rows: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
    """``W X[rows]'``: one row of scores for each weight vector, shape (k, number of rows).

    Memory beyond the result: a block of a million numbers.

    Raises
    ------
    NonFiniteError
        If X has a NaN or an infinity in one of the rows.
    """
    n = X.shape[0] if rows is None else rows.size
    with np.errstate(over="ignore", invalid="ignore"):  # looked for below
        if rows is None and (sp.issparse(X) or X.dtype == np.float64):
            result = np.ascontiguousarray((X @ W.T).T)
        else:
            result = np.empty((W.shape[0], n))
            step = max(1, _BLOCK // X.shape[1])
            for start in range(0, n, step):
                part = slice(start, start + step)
                block = X[part] if rows is None else X[rows[part]]
                result[:, part] = (block.astype(np.float64, copy=False) @ W.T).T
    if not np.isfinite(result).all():
        _raise_nonfinite(X, rows, int(np.flatnonzero(~np.isfinite(result).all(axis=0))[0]))
    return result


def _raise_nonfinite(X: Any, rows: NDArray[np.intp] | None, place: int) -> None:
    row = place if rows is None else int(rows[place])
    values = X[[row]].toarray()[0] if sp.issparse(X) else np.asarray(X[row])
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise NonFiniteError(row, int(bad[0]), float(values[bad[0]]))
    raise ValueError(f"the score of row {row:,} overflows float64; rescale the features.")
