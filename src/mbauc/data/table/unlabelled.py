"""Rows of table files for scoring: the features of an encoding, and other columns as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from mbauc.data.ahead import one_ahead
from mbauc.data.table.arrow import pyarrow
from mbauc.data.table.columns import no_such_column
from mbauc.data.table.encoding import TableEncoding
from mbauc.data.table.faults import SkippedRows, settled, stop
from mbauc.data.table.features import Features, read_features
from mbauc.data.table.files import Paths, find_tables
from mbauc.data.table.parquet_table import ParquetTable
from mbauc.data.table.pieces import Report, in_blocks
from mbauc.data.table.source import open_table_file


class UnlabelledRows(NamedTuple):
    """Some rows to score.

    Attributes
    ----------
    features : Features
        What the encoding makes a matrix, or scores, of.
    kept : Arrow table
        Columns to pass on.
    first : int
        Rows of all files before these, those that were left out included.
    rows : ndarray of int64 or None
        Numbers of the rows from ``first`` on; None if they are all there.
    """

    features: Features
    kept: Any
    first: int
    rows: Any


class UnlabelledTable:
    """Files to score, block by block, in their order; no label is needed.

    Parameters
    ----------
    paths : path or sequence of paths
        CSV, TSV or Parquet files, or folders of them.
    encoding : TableEncoding
        How columns become numbers.
    keep : sequence of str
        Columns to pass on.
    block_rows : int
        Rows of a block.
    on_error : {"stop", "skip"}
        What to do at a row that cannot be read.
    """

    def __init__(
        self,
        paths: Paths,
        encoding: TableEncoding,
        *,
        keep: Sequence[str] = (),
        block_rows: int = 65_536,
        on_error: str = "stop",
    ) -> None:
        self._tables = [open_table_file(file) for file in find_tables(paths)]
        self._encoding, self._keep, self._block_rows = encoding, list(keep), block_rows
        self._on_error, self.skipped = on_error, SkippedRows()
        for table in self._tables:
            for name in [*(column.name for column in encoding.columns), *self._keep]:
                if name not in table.column_names:
                    raise ValueError(
                        no_such_column(f"the column {name!r}", name, table.column_names, str(table.file))
                    )

    @property
    def about_rows(self) -> int:
        """About how many rows there are in all files."""
        return sum(table.about_rows for table in self._tables)

    def __iter__(self) -> Iterator[UnlabelledRows]:
        """The blocks from the first row on."""
        import numpy as np

        skipped = self.skipped = SkippedRows()
        report: Report = stop if self._on_error == "stop" else skipped.note
        names = [column.name for column in self._encoding.columns]
        coded = {column.name for column in self._encoding.columns if column.kind != "time"} - set(self._keep)
        columns, first = list(dict.fromkeys([*names, *self._keep])), 0
        for table in self._tables:
            pieces = table.pieces(columns, report, coded)
            ahead = one_ahead(pieces) if isinstance(table, ParquetTable) else pieces
            for piece in in_blocks(ahead, self._block_rows):
                features, faults = read_features(piece.table, self._encoding.columns, piece.file)
                keep = settled(faults, piece.place, report)
                kept, rows = piece.table.select(self._keep), None
                if keep is not None:
                    kept, rows = kept.filter(pyarrow().array(keep)), np.flatnonzero(keep)
                yield UnlabelledRows(features.kept(keep), kept, first, rows)
                first += piece.table.num_rows
