"""Dask collections as parts: what may be passed as X, y, sample_weight, id and groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed

from mbauc.dask.frames import frame_pieces, is_frame, join_columns, keeps_order
from mbauc.dask.parts import DaskParts
from mbauc.rows.block import Columns
from mbauc.rows.schema import Schema

#: Fields of a block by the names of arguments.
_FIELDS = {"X": "X", "y": "y", "sample_weight": "weight", "id": "ids", "groups": "groups"}


class Given(NamedTuple):
    """What a caller passed, as parts."""

    parts: DaskParts
    schema: Schema
    weighted: bool
    with_ids: bool
    grouped: bool


def is_dask(value: Any) -> bool:
    """Whether a value is a Dask collection."""
    return bool(dask.is_dask_collection(value))


def open_collections(X: Any, y: Any, sample_weight: Any = None, ids: Any = None, groups: Any = None) -> Given:
    """Dask collections as parts; y, sample_weight, ids and groups are in partitions of the same rows as X."""
    if not (isinstance(X, da.Array) or is_frame(X)):
        raise ValueError(
            f"X must be a dask array or dataframe, got {type(X).__name__}; rows in memory go to "
            "mbauc.MBAClassifier, or through dask.array.from_array."
        )
    if y is None:
        raise ValueError(
            "y is None; labels are needed, as a dask array or series in partitions like those of X."
        )
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X must be two-dimensional (rows × columns), got {X.ndim} dimension(s).")
    if not X.shape[1] > 0:
        raise ValueError(
            "X has no columns; at least one feature is required."
            if X.shape[1] == 0
            else "X has an unknown number of columns; call X.compute_chunk_sizes() first."
        )
    schema = Schema(int(X.shape[1]), tuple(X.columns) if hasattr(X, "columns") else None)
    columns = {"X": X, "y": y, "sample_weight": sample_weight, "id": ids, "groups": groups}
    columns = {name: one for name, one in columns.items() if one is not None}
    framed = all(is_frame(one) for one in columns.values())
    parts = _open_frames(columns) if framed else _open_arrays(**columns)
    return Given(parts, schema, sample_weight is not None, ids is not None, groups is not None)


def _open_frames(columns: dict[str, Any]) -> DaskParts:
    for name, one in columns.items():
        _require_as_many(columns["X"].npartitions, name, one.npartitions)
    fields = {_FIELDS[name]: one for name, one in columns.items()}
    together = join_columns(fields)
    labels = join_columns({name: one for name, one in fields.items() if name != "X"})
    return DaskParts(frame_pieces(together), frame_pieces(labels), keeps_order(together))


def _open_arrays(X: Any, **labels_and_more: Any) -> DaskParts:
    for name, one in {"X": X, **labels_and_more}.items():
        if is_frame(one) and not keeps_order(one):
            raise ValueError(
                f"{name} comes out of a shuffle, whose rows have another order each time, and the other "
                "columns are not of the same dataframe. Persist the dataframe (df.persist()) before you select "
                "columns from it."
            )
    rows = X.rechunk({1: -1}) if isinstance(X, da.Array) else X
    chunks = rows.chunks[0] if isinstance(rows, da.Array) else None
    features = list_partitions(rows)
    columns = [
        _like(name, labels_and_more[name], len(features), chunks)
        if name in labels_and_more
        else [None] * len(features)
        for name in ("y", "sample_weight", "id", "groups")
    ]
    block = delayed(_block, pure=False)
    blocks = [block(x, *rest) for x, *rest in zip(features, *columns, strict=True)]
    labels = [block(None, *rest) for rest in zip(*columns, strict=True)]
    return DaskParts(blocks, labels)


def list_partitions(value: Any) -> list[Delayed]:
    """Delayed objects of the partitions along the rows."""
    return frame_pieces(value) if is_frame(value) else list(value.to_delayed().ravel())


def _like(name: str, value: Any, n_parts: int, chunks: Sequence[float] | None) -> list[Delayed]:
    """Partitions of a column, cut like X."""
    if not is_dask(value):
        if chunks is None or any(chunk != chunk for chunk in chunks):
            raise ValueError(
                f"{name} is a {type(value).__name__} and X a Dask collection whose partitions have unknown "
                f"sizes; pass {name} as a Dask collection too."
            )
        value = da.from_array(np.asarray(value), chunks=-1)
    if isinstance(value, da.Array) and value.ndim == 2 and value.shape[1] == 1:
        value = value[:, 0]
    if isinstance(value, da.Array) and value.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, a value for each row; got shape {value.shape}.")
    if isinstance(value, da.Array) and chunks is not None:
        known = not any(chunk != chunk for chunk in (*chunks, *value.chunks[0]))
        if known:
            if sum(value.chunks[0]) != sum(chunks):
                raise ValueError(
                    f"X has {sum(chunks):,} rows and {name} has {sum(value.chunks[0]):,}; they must have the "
                    "same number."
                )
            value = value.rechunk((tuple(chunks),))
    pieces = list_partitions(value)
    _require_as_many(n_parts, name, len(pieces))
    return pieces


def _require_as_many(n_parts: int, name: str, found: int) -> None:
    if found != n_parts:
        raise ValueError(
            f"X has {n_parts:,} partitions and {name} has {found:,}; cut both alike (rechunk or repartition), "
            "so that each holds the same rows."
        )


def _block(X: Any, y: Any, weight: Any, ids: Any, groups: Any) -> list[Columns]:
    return [(X, y, weight, ids, groups)]
