"""R_x of Section IV: how far the furthest row lies from a point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.runtime.threads import run_threads

Array = NDArray[np.float64]

#: Numbers in a block.
_BLOCK = 1 << 18


def squared_radius(X: Any, centre: Array, rows: NDArray[np.intp] | None = None, n_threads: int = 1) -> float:
    """Largest ‖x - c‖² over the rows, or over some of them.

    One pass, ``O(n d)`` for dense and ``O(entries)`` for sparse rows (two passes over their column numbers);
    memory for two blocks of 2 MB a thread. Sparse rows are not made dense; CSC is converted to CSR once.

    Differences of rows do not depend on c, so R_x may be taken around any point; the mean makes it
    independent of a common shift.

    Parameters
    ----------
    X : ndarray or CSR/CSC of shape (n, d)
        Finite numbers of any real dtype.
    centre : ndarray of shape (d,)
        The point c.
    rows : index array, optional
        Rows to look at.
    n_threads : int, default=1
        Threads to use.

    Examples
    --------
    >>> import numpy as np
    >>> squared_radius(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([0.0, 1.0]))
    18.0
    """
    if is_sparse(X):
        X = canonical_csr(X)
    n = X.shape[0] if rows is None else rows.size
    step = max(1, _BLOCK // (1 + X.nnz // max(1, X.shape[0]) if is_sparse(X) else X.shape[1]))
    starts = range(0, n, step)

    def block(start: int) -> Any:
        part = slice(start, start + step)
        return X[part] if rows is None else X[rows[part]]

    if not is_sparse(X):
        return max(run_threads(lambda start: _of_dense(block(start), centre), starts, n_threads), default=0.0)
    entries = np.zeros(X.shape[1], dtype=np.intp)
    for start in starts:
        entries += np.bincount(block(start).indices, minlength=entries.size)
    # c² for an absent entry. A column without any is left out, because its mean may be far from zero and
    # adding c² for all columns to take it off again would cancel; elsewhere a row without the entry is as
    # far away as that.
    absent = np.where(entries == n, 0.0, centre**2)
    return max(
        run_threads(lambda start: _of_sparse(block(start), centre, absent), starts, n_threads), default=0.0
    )


def _of_dense(block: Any, centre: Array) -> float:
    apart = block - centre
    return float(np.einsum("ij,ij->i", apart, apart).max())


def _of_sparse(block: Any, centre: Array, absent: Array) -> float:
    gains = (block.data - centre[block.indices]) ** 2 - absent[block.indices]
    by_row = sp.csr_array((gains, block.indices, block.indptr), shape=block.shape) @ np.ones(centre.size)
    return float(absent.sum() + by_row.max())
