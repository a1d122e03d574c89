"""Click logs as files: LIBSVM text and Parquet."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.rows.source import RawBlock
from mbauc.runtime.ahead import cut_ranges, map_ahead
from mbauc.runtime.progress import progress
from mbauc.store.atomic import atomic_write

Path = str | os.PathLike[str]

#: Rows that become text at a time.
_TEXT_ROWS = 1 << 14
#: Rows of a row group.
_GROUP_ROWS = 1 << 17


def write_libsvm(
    path: Path,
    read_rows: Callable[[int, int], RawBlock],
    n_rows: int,
    n_features: int,
    n_threads: int,
    verbose: bool,
) -> int:
    """Write hashed rows, made by ``read_rows`` from their first and last numbers; returns how many."""
    from mbauc.paper.clicks.text_kernels import four_digits, text

    # a space, digits, a colon and a 1
    longest = len(str(n_features)) + 3
    digits = np.empty(10_000, dtype=np.uint32)
    four_digits(digits)

    def lines(piece: range) -> tuple[NDArray[np.uint8], int]:
        X, y, _ = read_rows(piece.start, piece.stop)
        out = np.empty(longest * X.nnz + 3 * len(piece) + 4, dtype=np.uint8)
        return out[: text(X.indptr, X.indices, y, digits, out)], len(piece)

    with atomic_write(path) as stream, progress(n_rows, "writing", show=verbose) as advance:
        for part, n in map_ahead(lines, cut_ranges(n_rows, _TEXT_ROWS), n_threads):
            stream.write(part.data)
            advance(n)
    return n_rows


def write_parquet(
    path: Path, table: Callable[[int, int], Any], n_rows: int, schema: Any, n_threads: int, verbose: bool
) -> int:
    """Write raw rows, made by ``table`` from their first and last numbers; returns how many."""
    parquet = pyarrow("parquet")

    def group(piece: range) -> Any:
        return table(piece.start, piece.stop)

    with (
        atomic_write(path) as stream,
        progress(n_rows, "writing", show=verbose) as advance,
        # least and largest values of random codes help nobody, and take most of the time
        parquet.ParquetWriter(stream, schema, write_statistics=False) as writer,
    ):
        for rows in map_ahead(group, cut_ranges(n_rows, _GROUP_ROWS), n_threads):
            writer.write_table(rows, row_group_size=_GROUP_ROWS)
            advance(rows.num_rows)
    return n_rows
