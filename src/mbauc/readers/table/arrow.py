"""pyarrow, loaded on first use, and data frames as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from mbauc.checks import abbreviate


def pyarrow(part: str = "") -> Any:
    """The package pyarrow, or a part of it such as ``"compute"``; an error that says how to get it.

    It is imported when first needed, so that LIBSVM text and arrays do not wait for it.
    """
    name = f"pyarrow.{part}" if part else "pyarrow"
    try:
        # not from sys.modules, which also holds what another thread has imported only in part
        return import_module(name)
    except ImportError:
        raise ImportError(
            "tables (CSV, TSV, Parquet, data frames) are read and written with pyarrow, which is not "
            "installed. Install it with: pip install pyarrow"
        ) from None


def column_names(frame: Any) -> list[str]:
    """Names of the columns of an Arrow table, a pandas or polars frame or a mapping, as text."""
    if isinstance(frame, Mapping):
        return [str(name) for name in frame]
    names = getattr(frame, "column_names", None)  # Arrow, whose columns are not their names
    if names is None:
        names = getattr(frame, "columns", None)
    if names is None or callable(names):
        raise TypeError(
            "expected a table with named columns (an Arrow table, a pandas or polars frame, or a dict of "
            f"columns), got {type(frame).__name__}."
        )
    return [str(name) for name in names]


def as_arrow_table(frame: Any, names: list[str]) -> Any:
    """The columns ``names`` of a frame as an Arrow table; the others are not looked at.

    Nothing is copied where the frame's memory is Arrow's already.
    """
    arrow = pyarrow()
    if hasattr(frame, "collect") and not hasattr(frame, "to_arrow"):
        raise TypeError(f"expected a table in memory, got a {type(frame).__name__}; call .collect() first.")
    if isinstance(frame, arrow.RecordBatch):
        frame = arrow.Table.from_batches([frame])
    if isinstance(frame, arrow.Table):
        return frame.select(names)
    if hasattr(frame, "to_arrow"):  # polars
        return _polars_as_arrow(frame.select(names))
    if not isinstance(frame, Mapping):  # pandas
        found = dict(zip(column_names(frame), range(len(frame.columns)), strict=True))
        frame = {name: frame.iloc[:, found[name]] for name in names}
    columns: dict[str, Any] = {}
    lengths: dict[str, int] = {}
    for name in names:
        values = frame[name] if name in frame else next(v for k, v in frame.items() if str(k) == name)
        columns[name] = _as_arrow_column(values, name)
        lengths[name] = len(columns[name])
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name!r} {length:,}" for name, length in lengths.items())
        raise ValueError(f"all columns must be equally long, got {shown}.")
    return arrow.table(columns)


def _polars_as_arrow(frame: Any) -> Any:
    """A polars frame as an Arrow table; an error names a column that Arrow cannot hold."""
    failure = pyarrow().ArrowException
    try:
        return frame.to_arrow()
    except failure:
        for name in frame.columns:
            try:
                frame.select(name).to_arrow()
            except failure:
                raise ValueError(
                    f"column {name!r} has the type {frame.schema[name]}, which cannot be read. Cast it first, "
                    "to Int64, Float64 or String."
                ) from None
        raise


def _as_arrow_column(values: Any, name: str) -> Any:
    arrow = pyarrow()
    if isinstance(values, arrow.Array | arrow.ChunkedArray):
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind == "M":
        # Arrow has no hours, weeks and the like
        unit = np.datetime_data(values.dtype)[0]
        values = values if unit in ("D", "s", "ms", "us", "ns") else values.astype("datetime64[s]")
    if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        shown = abbreviate(values)
        raise TypeError(f"column {name!r} must hold a value for each row, got {shown}; write [{shown}].")
    if hasattr(values, "sparse") and hasattr(values.sparse, "to_dense"):  # pandas
        values = values.sparse.to_dense()
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind == "f" and dtype.itemsize > 8:
        raise ValueError(
            f"column {name!r} has the type {dtype}, which cannot be read. Use astype(float) first."
        )
    if isinstance(values, np.ndarray) and not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    try:
        # NaN is how pandas writes "missing"
        return arrow.array(values, from_pandas=True)
    except UnicodeEncodeError as error:
        raise ValueError(
            f"column {name!r} holds {abbreviate(error.object)}, which cannot be encoded as UTF-8. Read the "
            "data again with their own encoding, or replace such characters: "
            "text.encode('utf-8', 'replace').decode()."
        ) from None
    except (arrow.ArrowInvalid, arrow.ArrowTypeError, arrow.ArrowNotImplementedError, OverflowError) as error:
        raise ValueError(
            f"column {name!r} cannot be read: {error}. Convert it to texts, as astype(str) does, or to numbers."
        ) from None
