"""What may come as a data matrix, and as row weights, below the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checks import abbreviate
from mbauc.rows.labels import check_mask, is_missing

#: Larger weights, and those smaller than its reciprocal, would overflow when squared and summed.
_LARGEST_WEIGHT = 1e100


def is_sparse(X: Any) -> bool:
    """Whether X is a scipy sparse matrix or array."""
    return bool(sp.issparse(X))


def as_dense(X: Any) -> NDArray[np.float64]:
    """The rows of X as a dense array; itself if it is one of float64."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def check_structure(X: Any) -> None:
    """Raise if entries of a CSR or CSC matrix stand outside of it: compiled loops would read beyond it."""
    along, across = X.shape if X.format == "csr" else X.shape[::-1]
    indptr, indices = X.indptr, X.indices
    if (
        indptr.size != along + 1
        or indptr[0] != 0
        or int(indptr[-1]) > min(indices.size, X.data.size)
        or (indptr[1:] < indptr[:-1]).any()
    ):
        raise ValueError(
            "X is a broken sparse matrix: indptr must have one entry more than there are rows (CSR) or columns "
            "(CSC), start at 0, never decrease and not exceed the number of entries. Build X again; "
            "X.check_format() says what is wrong."
        )
    used = indices[: indptr[-1]]
    # a negative number is a very large one without its sign
    if used.size and int(used.view(f"u{used.itemsize}").max()) >= across:
        raise ValueError(
            f"X is a broken sparse matrix: indices must lie between 0 and {across - 1:,}, the last "
            f"{'column' if X.format == 'csr' else 'row'}, got {int(used.min()):,} to {int(used.max()):,}. "
            "Build X again; X.check_format() says what is wrong."
        )


def canonical_csr(X: Any) -> Any:
    """X as CSR with sorted columns and duplicates summed; X itself where it is so already."""
    if (X.dtype.kind == "f" and X.dtype.itemsize not in (4, 8)) or not X.dtype.isnative:
        X = X.astype(np.float64)
    if X.format != "csr":
        X = X.tocsr()
        if X.has_canonical_format:
            return X
    elif X.has_canonical_format:
        return X
    else:
        X = X.copy()
    X.sum_duplicates()
    return X


def stack_rows(pieces: list[Any]) -> Any:
    """Rows below one another, sparse if some are; None of no pieces."""
    if not pieces:
        return None
    if any(is_sparse(X) for X in pieces):
        return sp.vstack([sp.csr_array(X) for X in pieces], format="csr")
    return np.concatenate(pieces)


def take_rows(X: Any, index: NDArray[np.intp]) -> Any:
    """Some rows of anything with rows: arrays, sparse matrices, pandas, polars, Arrow, lists."""
    if hasattr(X, "iloc"):
        return X.iloc[index]
    if is_sparse(X):
        return X.tocsr()[index]
    if isinstance(X, list | tuple):
        return [X[row] for row in index]
    if hasattr(X, "column_names"):  # Arrow, whose brackets are for columns
        return X.take(index)
    return X[index] if hasattr(X, "__getitem__") else np.asarray(X)[index]


def as_matrix(X: Any) -> Any:
    """X as a two-dimensional real array, or as CSR or CSC; nothing is copied where it is one already."""
    if is_sparse(X):
        matrix = X if X.format in ("csr", "csc") else X.tocsr()
        check_structure(matrix)
    else:
        matrix = np.asarray(X)
        if matrix.dtype.kind == "O":
            matrix = _object_to_float(matrix)
    if matrix.ndim != 2:
        raise ValueError(
            f"X must be two-dimensional (rows × columns), got shape {matrix.shape}. "
            "Reshape one feature with X.reshape(-1, 1), one row with X.reshape(1, -1)."
        )
    if matrix.shape[1] == 0:
        raise ValueError(f"X has no columns, got shape {matrix.shape}; at least one feature is required.")
    if matrix.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got dtype {matrix.dtype}; encode its columns first.")
    return matrix


def _object_to_float(matrix: NDArray[Any]) -> NDArray[np.float64]:
    """An object array as float64, or an error that names the first value that is no number."""
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        # pandas.NA is no number to NumPy, but a missing one to us
        known = [np.nan if is_missing(value) else value for value in matrix.ravel()]
    try:
        return np.array(known, dtype=object).reshape(matrix.shape).astype(np.float64)
    except (TypeError, ValueError):
        for place, value in np.ndenumerate(matrix):
            if is_missing(value):
                continue
            try:
                float(value)
            except (TypeError, ValueError):
                row, column = place if len(place) == 2 else (place[0], 0)
                raise ValueError(
                    f"X has {value!r} at row {row:,}, column {column:,}, which is not a number; "
                    "encode text columns first (sklearn.preprocessing.OneHotEncoder)."
                ) from None
        raise


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """``sample_weight`` as a float64 array of one finite, non-negative weight a row; None stays None."""
    if sample_weight is None:
        return None
    check_mask(sample_weight, "sample_weight")
    try:
        given = np.asarray(sample_weight)
        if given.dtype.kind == "c":  # whose imaginary part would be lost
            raise TypeError
        weight = given.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"sample_weight must hold numbers, one for each row, got {abbreviate(sample_weight)}."
        ) from None
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise ValueError(
            f"sample_weight must be one-dimensional, got shape {weight.shape}. "
            "Sample weights must be 1D array or scalar."
        )
    if weight.size != n_rows:
        raise ValueError(
            f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}: one weight for each row of X."
        )
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"sample_weight has {weight[row]} at row {row:,}; weights must be finite and not negative."
        )
    extreme = (weight > _LARGEST_WEIGHT) | ((weight > 0) & (weight < 1 / _LARGEST_WEIGHT))
    if extreme.any():
        row = int(np.flatnonzero(extreme)[0])
        raise ValueError(
            f"sample_weight has {weight[row]} at row {row:,}; weights must lie between "
            f"{1 / _LARGEST_WEIGHT:g} and {_LARGEST_WEIGHT:g}, or be 0. Multiply all by one number."
        )
    if n_rows and not weight.any():
        raise ValueError("sample_weight is zero for all rows; at least one must be positive.")
    return weight


def check_block_weights(weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """As :func:`check_weights` for some of the rows: all may have weight zero as long as others have not."""
    given = np.asarray(weight)
    if given.dtype.kind in "biuf" and given.shape == (n_rows,) and not given.any():
        return np.zeros(n_rows)
    return check_weights(weight, n_rows)
