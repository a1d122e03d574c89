"""Tables in memory, read as if they were files."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any

import numpy as np

from mbauc.readers.table.arrow import as_arrow_table, column_names, pyarrow
from mbauc.readers.table.faults import Report
from mbauc.readers.table.files.pieces import Piece
from mbauc.rows.matrix import is_sparse

#: Rows of a piece.
_ROWS = 65_536


def is_frame(table: Any) -> bool:
    """Whether something is a table in memory, and not the path of one."""
    if is_sparse(table):  # some are dicts
        return False
    return isinstance(table, Mapping) or hasattr(table, "column_names") or hasattr(table, "columns")


class FrameTable:
    """An Arrow table, a pandas or polars frame, or a dict of columns.

    Its columns keep their types, as those of a Parquet file do.
    """

    file = "the table"
    folder_columns: Mapping[str, str] = {}

    def __init__(self, frame: Any) -> None:
        self.column_names = column_names(frame)
        twice = next((name for name, count in Counter(self.column_names).items() if count > 1), None)
        if twice is not None:
            raise ValueError(f"the table has two columns named {twice!r}; give each a name of its own.")
        self._table = as_arrow_table(frame, self.column_names)
        self.n_rows: int = self._table.num_rows
        self.about_rows = self.n_rows

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self._table.schema

    def check_unchanged(self) -> None:
        """It is what it was: Arrow's columns are never changed."""

    def stamp(self) -> dict[str, object]:
        """What is in it, for fingerprints; ``O(bytes)`` time."""
        arrow, digest = pyarrow(), hashlib.blake2b(digest_size=16)

        class _Sink:
            closed = False

            def write(self, data: Any) -> int:
                digest.update(data)
                return len(data)

            def flush(self) -> None: ...
            def close(self) -> None: ...

        with arrow.ipc.new_stream(arrow.PythonFile(_Sink(), mode="w"), self._table.schema) as stream:
            stream.write_table(self._table.combine_chunks())
        return {"table": digest.hexdigest(), "rows": self.n_rows}

    def pieces(
        self, columns: Sequence[str], report: Report, coded: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Generator[Piece, None, None]:
        """The rows from the first on, some ten thousand at a time; nothing is reported."""
        table = self._table.select(list(columns))
        for start in range(0, self.n_rows, _ROWS):
            part = table.slice(start, _ROWS)
            # rows of a frame are counted from 0
            yield Piece(part, self.file, "row", np.arange(start, start + part.num_rows))
