"""Columns of a table that hold no numbers, or infinite ones: which one it is, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.rows.finite import raise_nonfinite
from mbauc.rows.matrix import is_sparse


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a pandas, polars or Arrow table; None for what has none."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    return None if names is None or callable(names) else [str(name) for name in names]


def check_columns(X: Any) -> None:
    """Raise for what would fail in the dark, or pass for numbers: tables without rows, and dates of polars."""
    if hasattr(X, "lazy") and hasattr(X, "collect"):
        raise ValueError(f"X is a {type(X).__name__}, which has no rows yet; pass X.collect().")
    if hasattr(X, "lazy") and any(dtype.is_temporal() for dtype in X.dtypes):
        explain_columns(X)


def explain_columns(X: Any) -> None:
    """Raise for the first column of X that holds a value which is no number; nothing if there is none."""
    if is_sparse(X):
        return
    names = column_names(X)
    for number, values in enumerate(_columns(X)):
        place = f"column {number:,}" + ("" if names is None else f" ({names[number]!r})")
        if values.dtype.kind in "mM":
            raise ValueError(_dates(place, str(values.dtype)))
        if values.dtype.kind in "biufc":
            continue
        for row, value in enumerate(values.tolist()):
            if _is_number(value):
                continue
            if isinstance(value, date | time | timedelta) or hasattr(value, "to_timestamp"):
                raise ValueError(_dates(place, f"{value}, row {row:,}"))
            raise ValueError(
                f"X has {value!r} at row {row:,}, {place}, which is not a number; encode text and category "
                "columns first (sklearn.preprocessing.OneHotEncoder). mbauc fit and TableSource encode the "
                "columns of files themselves."
            )


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


def _is_number(value: Any) -> bool:
    """Whether a number can be made of it, or it is missing."""
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")
    return True
