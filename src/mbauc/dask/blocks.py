"""Dask collections as parts: what may be passed as X, y, sample_weight and id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from dask.bag import Bag
from dask.delayed import Delayed, delayed

from mbauc.cluster.part_rows import Layout
from mbauc.cluster.parts import PartBlock
from mbauc.dask.parts import DaskParts


class Given(NamedTuple):
    """What a caller passed, as parts."""

    parts: DaskParts
    layout: Layout
    weighted: bool
    with_ids: bool


def is_dask(value: Any) -> bool:
    """Whether a value is a Dask collection, or a list of delayed blocks."""
    return dask.is_dask_collection(value) or (
        isinstance(value, list | tuple) and len(value) > 0 and all(isinstance(one, Delayed) for one in value)
    )


def given_rows(X: Any, y: Any, sample_weight: Any = None, ids: Any = None) -> Given:
    """Collections of rows as parts.

    Parameters
    ----------
    X : dask array or dataframe of shape (n, d), bag, or list of Delayed
        Of a bag the items, and of a list each element, are blocks (X, y) or (X, y, weight); y is None then.
    y, sample_weight, ids : dask array or series of shape (n,)
        In partitions of the same rows as X.
    """
    if isinstance(X, Bag | Delayed | list | tuple):
        if y is not None or sample_weight is not None or ids is not None:
            raise ValueError(
                "blocks of a bag or of delayed objects hold (X, y) or (X, y, weight); pass X alone."
            )
        return _given_blocks(X)
    if y is None:
        raise ValueError(
            "y is None; labels are needed, as a dask array or series in partitions like those of X."
        )
    if not is_dask(X):
        raise ValueError(
            f"X must be a dask array, dataframe, bag or a list of delayed blocks, got {type(X).__name__}; rows "
            "in memory go to mbauc.MBAClassifier, or through dask.array.from_array."
        )
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"X must be two-dimensional (rows × columns), got {X.ndim} dimension(s).")
    n_features = int(X.shape[1])
    names = tuple(str(name) for name in X.columns) if hasattr(X, "columns") else None
    rows = X.rechunk({1: -1}) if isinstance(X, da.Array) else X
    chunks = rows.chunks[0] if isinstance(rows, da.Array) else None
    features = _pieces(rows)
    others = [
        None if value is None else _like(["y", "sample_weight", "id"][k], value, len(features), chunks)
        for k, value in enumerate((y, sample_weight, ids))
    ]
    block, label = delayed(_block, pure=False), delayed(_labels, pure=False)
    columns = [[None] * len(features) if one is None else one for one in others]
    blocks = [block(x, *rest) for x, *rest in zip(features, *columns, strict=True)]
    labels = [label(*rest) for rest in zip(*columns, strict=True)]
    return Given(
        DaskParts(blocks, labels), Layout(n_features, names), sample_weight is not None, ids is not None
    )


def _given_blocks(X: Any) -> Given:
    if isinstance(X, Bag):
        parts = [delayed(_of_bag, pure=False)(part) for part in X.to_delayed()]
    else:
        parts = [delayed(_of_bag, pure=False)([one]) for one in ([X] if isinstance(X, Delayed) else X)]
    shape = delayed(_shape, pure=False)
    for part in parts:
        [found] = dask.compute(shape(part))
        if found is not None:
            n_features, weighted = found
            return Given(DaskParts(parts), Layout(n_features), weighted, False)
    raise ValueError("there are no blocks with rows; at least one is needed.")


def _pieces(value: Any) -> list[Delayed]:
    """Delayed objects of the partitions along the rows."""
    pieces = value.to_delayed()
    return list(np.asarray(pieces, dtype=object).ravel()) if isinstance(pieces, np.ndarray) else list(pieces)


def _like(name: str, value: Any, n_parts: int, chunks: Sequence[float] | None) -> list[Delayed]:
    """Partitions of a column, cut as those of X are."""
    if not is_dask(value):
        if chunks is None or any(chunk != chunk for chunk in chunks):
            raise ValueError(
                f"{name} is a {type(value).__name__} and X a Dask collection whose partitions have unknown "
                f"sizes; pass {name} as a Dask collection too."
            )
        value = da.from_array(np.asarray(value), chunks=(tuple(chunks),))
    if isinstance(value, da.Array) and value.ndim == 2 and value.shape[1] == 1:
        value = value[:, 0]
    if isinstance(value, da.Array) and chunks is not None:
        known = not any(chunk != chunk for chunk in (*chunks, *value.chunks[0]))
        if known:
            if sum(value.chunks[0]) != sum(chunks):
                raise ValueError(
                    f"X has {sum(chunks):,} rows and {name} has {sum(value.chunks[0]):,}; they must have the "
                    "same number."
                )
            value = value.rechunk((tuple(chunks),))
    pieces = _pieces(value)
    if len(pieces) != n_parts:
        raise ValueError(
            f"X has {n_parts:,} partitions and {name} has {len(pieces):,}; cut both alike (rechunk or "
            "repartition), so that each holds the same rows."
        )
    return pieces


def _block(X: Any, y: Any, weight: Any, ids: Any) -> list[PartBlock]:
    return [PartBlock(X, y, weight, ids)]


def _labels(y: Any, weight: Any, ids: Any) -> list[PartBlock]:
    return [PartBlock(None, y, weight, ids)]


def _of_bag(blocks: Any) -> list[PartBlock]:
    found = []
    for number, block in enumerate(blocks):
        if not isinstance(block, tuple | list) or len(block) not in (2, 3):
            raise ValueError(
                f"block {number:,} of a partition must be (X, y) or (X, y, weight), got {type(block).__name__}."
            )
        found.append(PartBlock(*block))
    return found


def _shape(blocks: list[PartBlock]) -> tuple[int, bool] | None:
    for block in blocks:
        if np.ndim(block.X) == 2 or hasattr(block.X, "shape"):
            return int(block.X.shape[1]), block.weight is not None
    return None
