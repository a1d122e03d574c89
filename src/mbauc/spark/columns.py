"""Columns of a Spark DataFrame as blocks of rows, from Arrow batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.rows.block import Columns as BlockColumns

#: Batches are joined up to this many rows …
_BLOCK_ROWS = 1 << 17
#: … or this many bytes.
_BLOCK_BYTES = 1 << 26
#: What a vector's first field says of it.
_DENSE = 1


@dataclass(frozen=True)
class Columns:
    """Which columns of Arrow batches hold what; they come in the order of ``names``."""

    #: columns of numbers, or one column of vectors or arrays
    features: tuple[str, ...]
    n_features: int
    label: str | None = None
    weight: str | None = None
    id: str | None = None
    group: str | None = None

    def labels_only(self) -> Columns:
        """The same rows as labels, weights, ids and groups alone."""
        return replace(self, features=())

    def in_one_array(self) -> Columns:
        """The same with all features in one column of arrays, under a name that no column has."""
        return replace(self, features=("\0features",))

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        given = [*self.features, self.label, self.weight, self.id, self.group]
        return list(dict.fromkeys(name for name in given if name is not None))

    def blocks(self, batches: Iterable[pa.RecordBatch]) -> Iterator[BlockColumns]:
        """Blocks of rows from Arrow batches, however large or small these are."""
        held: list[pa.RecordBatch] = []
        first = rows = size = 0
        for batch in _pieces(batches):
            held.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= _BLOCK_ROWS or size >= _BLOCK_BYTES:
                yield self._block(held, first)
                held, first, rows, size = [], first + rows, 0, 0
        if held:
            yield self._block(held, first)

    def _block(self, batches: list[pa.RecordBatch], first: int) -> BlockColumns:
        columns = dict(zip(self.names, pa.Table.from_batches(batches).itercolumns(), strict=True))

        def values(name: str | None) -> Any:
            return None if name is None else _values(_whole(columns[name]), name, first)

        X = self.matrix([_whole(columns[name]) for name in self.features], first) if self.features else None
        return X, values(self.label), values(self.weight), values(self.id), values(self.group)

    def matrix(self, columns: list[pa.Array], first: int = 0) -> Any:
        """Features of some rows, from row ``first`` on: dense, or CSR where there are sparse vectors."""
        if len(columns) == 1 and pa.types.is_struct(columns[0].type):
            return _vectors(columns[0], self.n_features, self.features[0], first)
        if len(columns) == 1 and _is_list(columns[0].type):
            return _arrays(columns[0], self.n_features, self.features[0], first)
        numbers = [_numbers(column) for column in columns]
        X = np.empty((len(numbers), len(numbers[0])), dtype=np.result_type(*numbers))
        for row, values in zip(X, numbers, strict=True):
            row[:] = values
        return X.T


def _pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches of no more rows and bytes than a block, as far as rows allow."""
    for batch in batches:
        parts = max(-(-batch.num_rows // _BLOCK_ROWS), -(-batch.nbytes // _BLOCK_BYTES))
        step = max(1, -(-batch.num_rows // max(1, parts)))
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)


def _whole(column: pa.ChunkedArray) -> pa.Array:
    chunks = column.combine_chunks()
    if isinstance(chunks, pa.ChunkedArray):
        return chunks.chunk(0) if chunks.num_chunks else pa.array([], column.type)
    return chunks


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _values(column: pa.Array, name: str, first: int) -> NDArray[Any]:
    """Labels, weights, ids or groups as an array; a missing one is said with its row."""
    _no_nulls(column, name, first)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _numbers(column: pa.Array) -> NDArray[Any]:
    """A column of numbers; missing ones become NaN, which is said later with its row."""
    if pa.types.is_decimal(column.type) or (pa.types.is_boolean(column.type) and column.null_count):
        column = column.cast(pa.float64())
    elif pa.types.is_boolean(column.type):
        column = column.cast(pa.int8())
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _vectors(column: pa.StructArray, n_features: int, name: str, first: int) -> Any:
    """Spark ML vectors: dense rows if all are dense, CSR otherwise."""
    _no_nulls(column, name, first)
    kinds = column.field("type").to_numpy(zero_copy_only=False)
    values = column.field("values")
    dense = kinds == _DENSE
    lengths = values.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
    sizes = np.where(dense, lengths, column.field("size").fill_null(0).to_numpy(zero_copy_only=False))
    _check_sizes(sizes, n_features, name, first)
    data = np.asarray(values.flatten().to_numpy(zero_copy_only=False))
    if dense.all():
        return data.reshape(kinds.size, n_features)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    indices = np.empty(data.size, dtype=np.int32)
    own = np.repeat(~dense, lengths)
    indices[own] = column.field("indices").flatten().to_numpy(zero_copy_only=False)
    if dense.any():
        indices[~own] = np.tile(np.arange(n_features, dtype=np.int32), int(dense.sum()))
    return sp.csr_array((data, indices, starts), shape=(kinds.size, n_features))


def _arrays(column: pa.Array, n_features: int, name: str, first: int) -> Any:
    """Arrays of numbers, all of one length."""
    _no_nulls(column, name, first)
    _check_sizes(column.value_lengths().to_numpy(zero_copy_only=False), n_features, name, first)
    return _numbers(column.flatten()).reshape(len(column), n_features)


def _no_nulls(column: pa.Array, name: str, first: int) -> None:
    if column.null_count:
        row = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise ValueError(f"column {name!r} has no value in row {row:,}; drop the row or fill it in.")


def _check_sizes(sizes: NDArray[Any], n_features: int, name: str, first: int) -> None:
    wrong = np.flatnonzero(sizes != n_features)
    if wrong.size:
        raise ValueError(
            f"column {name!r} has {int(sizes[wrong[0]]):,} numbers in row {first + int(wrong[0]):,}, but "
            f"{n_features:,} elsewhere; all rows must have the same number."
        )
