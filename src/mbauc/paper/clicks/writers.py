"""Click logs as files: LIBSVM text and Parquet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.paper.clicks.raw import arrow_schema
from mbauc.readers.table.arrow import pyarrow
from mbauc.runtime.ahead import compute_ahead, cut_ranges
from mbauc.runtime.progress import progress
from mbauc.store.atomic import atomic_write

if TYPE_CHECKING:
    from mbauc.paper.clicks.log import ClickLog

Path = str | os.PathLike[str]

#: Rows that become text, or a row group, at a time.
_TEXT_ROWS, _GROUP_ROWS = 1 << 14, 1 << 17


def write_libsvm(log: ClickLog, path: Path, n_threads: int, verbose: bool) -> int:
    """Write the hashed view; see :meth:`ClickLog.write_libsvm`."""
    from mbauc.paper.clicks.text_kernels import four_digits, text

    # a space, digits, a colon and a 1
    longest = len(str(log.n_features)) + 3
    digits = np.empty(10_000, dtype=np.uint32)
    four_digits(digits)

    def lines(piece: range) -> tuple[NDArray[np.uint8], int]:
        X, y, _ = log.rows(piece.start, piece.stop)
        out = np.empty(longest * X.nnz + 3 * len(piece) + 4, dtype=np.uint8)
        return out[: text(X.indptr, X.indices, y, digits, out)], len(piece)

    with atomic_write(path) as stream, progress(log.n_rows, "writing", show=verbose) as advance:
        for part, n in compute_ahead(lines, cut_ranges(log.n_rows, _TEXT_ROWS), n_threads):
            stream.write(part.data)
            advance(n)
    return log.n_rows


def write_parquet(log: ClickLog, path: Path, n_threads: int, verbose: bool) -> int:
    """Write the raw view; see :meth:`ClickLog.write_parquet`."""
    parquet = pyarrow("parquet")

    def group(piece: range) -> Any:
        return log.table(piece.start, piece.stop)

    with (
        atomic_write(path) as stream,
        progress(log.n_rows, "writing", show=verbose) as advance,
        # least and largest values of random codes help nobody, and take most of the time
        parquet.ParquetWriter(stream, arrow_schema(log.shape), write_statistics=False) as writer,
    ):
        for table in compute_ahead(group, cut_ranges(log.n_rows, _GROUP_ROWS), n_threads):
            writer.write_table(table, row_group_size=_GROUP_ROWS)
            advance(table.num_rows)
    return log.n_rows
