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
        X, columns = X.tocsr(), np.ascontiguousarray(W.T)  # once: sparse products would copy it for each block
        step = max(1, _BLOCK // (1 + X.nnz // max(1, X.shape[0])))
    else:
        step = max(1, _BLOCK // X.shape[1])
    n_threads = min(n_threads, max(1, -(-n // step)))

    def walk(first: int) -> bool:
        """Every so many blocks; whether all of their scores are finite."""
        buffer = None if is_sparse(X) or subset is None else np.empty((min(step, n), X.shape[1]), dtype=X.dtype)
        finite = True
        with np.errstate(over="ignore", invalid="ignore"):  # looked for below
            for start in range(first * step, n, n_threads * step):
                part = slice(start, min(start + step, n))
                block = _take(X, part, subset, buffer)
                if is_sparse(X):
                    result[:, part] = (block @ columns).T
                else:
                    np.matmul(W, block.astype(np.float64, copy=False).T, out=result[:, part])
                finite = finite and bool(np.isfinite(result[:, part]).all())
        return finite

    with single_threaded_blas() if n_threads > 1 else nullcontext():
        finite = run_threads(walk, range(n_threads), n_threads)
    if not all(finite):
        _raise_nonfinite(X, subset, int(np.flatnonzero(~np.isfinite(result).all(axis=0))[0]))
    return result


def _take(X: Any, part: slice, subset: NDArray[np.intp] | None, buffer: NDArray[Any] | None) -> Any:
    """Rows of X, or some of its rows: of a dense X in the buffer."""
    if subset is None:
        return X[part]
    if buffer is None:
        return X[subset[part]]
    block = buffer[: part.stop - part.start]
    np.take(X, subset[part], axis=0, out=block, mode="clip")
    return block


def _raise_nonfinite(X: Any, subset: NDArray[np.intp] | None, place: int) -> None:
    row = place if subset is None else int(subset[place])
    values = X[[row]].toarray()[0] if is_sparse(X) else np.asarray(X[row])
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise NonFiniteError(row, int(bad[0]), float(values[bad[0]]))
    raise ValueError(f"the score of row {row:,} overflows float64; rescale the features.")
