"""Scores X w of many rows, in blocks."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.threads import run_threads, single_threaded_blas

#: Numbers in a block.
_BLOCK = 1 << 18


def scores(
    X: Any, W: NDArray[np.float64], subset: NDArray[np.intp] | None = None, n_threads: int = 1
) -> NDArray[np.float64]:
    """``W X[subset]'``: one row of scores for each weight vector, shape (k, number of rows).

    Memory beyond the result: a block of 2 MB per thread.

    Raises
    ------
    NonFiniteError
        If X has a NaN or an infinity in one of the rows.
    """
    n = X.shape[0] if subset is None else subset.size
    result = np.empty((W.shape[0], n))
    if is_sparse(X):
        X = X.tocsr()
        step = max(1, _BLOCK // (1 + X.nnz // max(1, X.shape[0])))
    else:
        step = max(1, _BLOCK // X.shape[1])

    def score(start: int) -> None:
        part = slice(start, start + step)
        block = X[part] if subset is None else X[subset[part]]
        with np.errstate(over="ignore", invalid="ignore"):  # looked for below
            result[:, part] = (block.astype(np.float64, copy=False) @ W.T).T

    with single_threaded_blas() if n_threads > 1 else nullcontext():
        run_threads(score, range(0, n, step), n_threads)
    if not np.isfinite(result).all():
        _raise_nonfinite(X, subset, int(np.flatnonzero(~np.isfinite(result).all(axis=0))[0]))
    return result


def _raise_nonfinite(X: Any, subset: NDArray[np.intp] | None, place: int) -> None:
    row = place if subset is None else int(subset[place])
    values = X[[row]].toarray()[0] if is_sparse(X) else np.asarray(X[row])
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise NonFiniteError(row, int(bad[0]), float(values[bad[0]]))
    raise ValueError(f"the score of row {row:,} overflows float64; rescale the features.")
