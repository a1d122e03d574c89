"""Columns of a table that hold no numbers, or infinite ones: which one it is, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, time, timedelta
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import abbreviate
from mbauc.errors import NonFiniteError
from mbauc.rows.finite import raise_nonfinite
from mbauc.rows.labels import check_mask, is_missing
from mbauc.rows.matrix import as_matrix, is_sparse


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a pandas, polars or Arrow table; None for what has none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None or callable(names) else [str(name) for name in names]


def check_rows(X: Any) -> None:
    """Raise for what holds no rows, or not as an array or a table does."""
    if is_sparse(X):
        return
    if isinstance(X, np.ndarray):
        check_mask(X, "X")
        if X.dtype.names is not None:
            raise ValueError(f"X is a structured array ({X.dtype}); pass pandas.DataFrame(X).")
    elif hasattr(X, "lazy") and hasattr(X, "collect"):
        raise ValueError(f"X is a {type(X).__name__}, which has no rows yet; pass X.collect().")
    elif isinstance(X, str | bytes | PathLike):
        raise ValueError(
            f"X must hold rows, got {abbreviate(X)}; read a file first, as pandas.read_csv does. Files of any "
            "size go to fit_source, through mbauc.readers."
        )
    elif isinstance(X, Mapping) or (isinstance(X, list | tuple) and X and isinstance(X[0], Mapping)):
        what = "a dict of columns" if isinstance(X, Mapping) else "a list of dicts, one for each row"
        raise ValueError(f"X must be an array or a table, got {what}; pass pandas.DataFrame(X).")
    elif X is None or isinstance(X, Iterator | set | frozenset):
        shown = "None" if X is None else f"a {type(X).__name__}; pass list(X)"
        raise ValueError(f"X must be an array or a table, got {shown}.")
    else:
        _check_names(X)


def _check_names(table: Any) -> None:
    """Raise if a table has no columns, or two of one name."""
    names = getattr(table, "column_names", getattr(table, "columns", None))
    if names is None or callable(names):
        return
    if len(names) == 0:
        raise ValueError("X has no columns: 0 feature(s), and at least one is needed.")
    name, count = Counter(names).most_common(1)[0]
    if count > 1:
        raise ValueError(f"X has two columns named {name!r}; give each a name of its own.")


def check_columns(X: Any) -> None:
    """As :func:`check_rows`; raise also for dates of polars, which would pass for numbers."""
    check_rows(X)
    if hasattr(X, "lazy") and any(dtype.is_temporal() for dtype in X.dtypes):
        explain_columns(X)


def explain_columns(X: Any) -> None:
    """Raise for the first column of X that holds a value which is no number; nothing if there is none."""
    if is_sparse(X):
        return
    if isinstance(X, list | tuple):
        _compare_lengths(X)
    names = column_names(X)
    for number, values in enumerate(_columns(X)):
        place = f"column {number:,}" + ("" if names is None else f" ({names[number]!r})")
        if values.dtype.kind in "mM":
            raise ValueError(_dates(place, str(values.dtype)))
        if values.dtype.kind in "biufc" and values.ndim == 1:
            continue
        for row, value in enumerate(values.tolist()):
            if is_number(value) or isinstance(value, complex):  # which no encoding makes real
                continue
            if isinstance(value, date | time | timedelta) or hasattr(value, "to_timestamp"):
                raise ValueError(_dates(place, f"{value}, row {row:,}"))
            raise ValueError(
                f"X has {value!r} at row {row:,}, {place}, which is not a number; encode text and category "
                "columns first (sklearn.preprocessing.OneHotEncoder). mbauc fit and TableSource encode the "
                "columns of files themselves."
            )


def rows_as_matrix(X: Any) -> Any:
    """As :func:`mbauc.rows.matrix.as_matrix`, of what a user passes; errors name columns that have names."""
    check_columns(X)
    try:
        return as_matrix(X)
    except (TypeError, ValueError):
        explain_columns(X)
        raise


def explain_failure(X: Any, error: Exception) -> None:
    """Raise in place of an error of NumPy about a value of X which is no number; nothing if there is none."""
    told = ("could not convert", "dtype='numeric'", "setting an array element")
    if any(words in str(error) for words in told) or (
        isinstance(error, TypeError) and column_names(X) is not None
    ):
        explain_columns(X)


def as_numbers(matrix: Any, X: Any) -> Any:
    """The validated matrix of X, with a type of real numbers."""
    if matrix.dtype.kind in "biuf":
        return matrix
    explain_columns(X)
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"X must hold real numbers, got dtype {matrix.dtype}; encode its columns first."
        ) from None


def raise_infinite(X: Any) -> None:
    """Raise for the first infinity of X, where NaN stands for a missing value; nothing if there is none."""
    names = column_names(X)
    if is_sparse(X):
        matrix = X.tocsr(copy=True)
        matrix.data = np.nan_to_num(matrix.data, nan=0.0, posinf=np.inf, neginf=-np.inf)
    else:
        columns = [np.asarray(values, dtype=np.float64) for values in _columns(X)]
        matrix = np.nan_to_num(np.column_stack(columns), nan=0.0, posinf=np.inf, neginf=-np.inf)
    try:
        raise_nonfinite(matrix)
    except NonFiniteError as error:
        name = None if names is None else names[error.column]
        raise NonFiniteError(error.row, error.column, error.value, name) from None


def _compare_lengths(rows: Any) -> None:
    """Raise if rows of a list are not equally long."""
    lengths = [len(row) for row in rows if hasattr(row, "__len__")]
    odd = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is not None and len(lengths) == len(rows):
        raise ValueError(
            f"X must have equally many values in each row, got {lengths[odd]:,} in row {odd:,} and "
            f"{lengths[0]:,} in row 0."
        )


def _dates(place: str, example: str) -> str:
    return (
        f"{place} of X holds dates or times ({example}), which a linear score cannot use; extract what "
        "matters, such as the hour or the days since an event, or drop the column."
    )


def _columns(X: Any) -> Iterator[NDArray[Any]]:
    """The columns one by one; none if X is no table."""
    if hasattr(X, "iloc"):
        yield from (np.asarray(X.iloc[:, k]) for k in range(X.shape[1]))
    elif hasattr(X, "to_series"):  # polars
        yield from (X.to_series(k).to_numpy() for k in range(X.shape[1]))
    elif hasattr(X, "itercolumns"):  # Arrow
        yield from (np.asarray(column.to_numpy()) for column in X.itercolumns())
    else:
        array = np.asarray(X)
        array = array if array.dtype.kind in "mM" else np.asarray(X, dtype=object)
        yield from array.T if array.ndim == 2 else ()


def is_number(value: Any) -> bool:
    """Whether a number can be made of it, or it is missing."""
    try:
        float(value)
    except (TypeError, ValueError):
        return is_missing(value)
    return True
