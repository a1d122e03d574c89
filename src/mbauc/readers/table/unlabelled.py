"""Rows of table files for scoring: the features of an encoding, and other columns as they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.features import Features, read_features
from mbauc.readers.table.columns.plan import no_such_column
from mbauc.readers.table.encoding.table_encoding import TableEncoding
from mbauc.readers.table.faults import Fault, SkippedRows, settled, stop
from mbauc.readers.table.files.parquet_table import ParquetTable
from mbauc.readers.table.files.paths import Paths
from mbauc.readers.table.files.pieces import Piece, Report, in_blocks, number_of
from mbauc.readers.table.files.tables import open_tables
from mbauc.runtime.ahead import one_ahead


class UnlabelledRows(NamedTuple):
    """Some rows to score.

    Attributes
    ----------
    features : Features
        What the encoding makes a matrix, or scores, of.
    kept : Arrow table
        Columns to pass on.
    numbers : ndarray of int64
        Which rows they are, counted from 0 over all files: those that were left out count, empty lines do not.
    """

    features: Features
    kept: Any
    numbers: NDArray[np.int64]


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
    delimiter, names : str and sequence of str, optional
        How text files are read; see :class:`~mbauc.readers.TableSource`.
    """

    def __init__(
        self,
        paths: Paths,
        encoding: TableEncoding,
        *,
        keep: Sequence[str] = (),
        block_rows: int = 65_536,
        on_error: str = "stop",
        delimiter: str | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self._tables, _ = open_tables(paths, delimiter, names)
        self._named = names is not None
        self._encoding, self._keep, self._block_rows = encoding, list(dict.fromkeys(keep)), block_rows
        self._on_error, self.skipped = on_error, SkippedRows()
        for table in self._tables:
            present = set(table.column_names)
            for name in [*(column.name for column in encoding.columns), *self._keep]:
                if name not in present:
                    raise ValueError(no_such_column(repr(name), name, table.column_names, str(table.file)))
        self._kept = _kept_schema(self._tables, self._keep)

    @property
    def about_rows(self) -> int:
        """About how many rows there are in all files."""
        return sum(table.about_rows for table in self._tables)

    def __iter__(self) -> Iterator[UnlabelledRows]:
        """The blocks from the first row on."""
        skipped = self.skipped = SkippedRows()
        report: Report = stop if self._on_error == "stop" else skipped.note
        names = [column.name for column in self._encoding.columns]
        coded = {column.name for column in self._encoding.columns if column.kind != "time"} - set(self._keep)
        columns, first = list(dict.fromkeys([*names, *self._keep])), 0
        for table in self._tables:
            count = _Count(first, report)
            pieces = table.pieces(columns, count.report, coded)
            ahead = one_ahead(pieces) if isinstance(table, ParquetTable) else pieces
            for piece in in_blocks(ahead, self._block_rows):
                features, faults = read_features(piece.table, self._encoding.columns, piece.file)
                if self._named:
                    faults = _names_for_a_row(piece) + faults
                keep = settled(faults, piece.place, report)
                kept, numbers = piece.table.select(self._kept.names), count.numbers(piece.places)
                kept = kept if kept.schema == self._kept else kept.cast(self._kept)
                if keep is not None:
                    kept, numbers = kept.filter(pyarrow().array(keep)), numbers[keep]
                yield UnlabelledRows(features.kept(keep), kept, numbers)
            first = count.end

    def nothing(self) -> Any:
        """The columns to pass on, without rows: an Arrow table."""
        return self._kept.empty_table()


def _kept_schema(tables: Sequence[Any], keep: Sequence[str]) -> Any:
    """Types of the columns to pass on: those of the files, or texts where files do not agree."""
    arrow = pyarrow()
    types: dict[str, set[Any]] = {name: set() for name in keep}
    for table in tables:
        known = {}
        if isinstance(table, ParquetTable):
            known = {field.name: field.type for field in pyarrow("parquet").read_schema(table.file.path)}
        for name in types:
            kind = known.get(name, arrow.string())  # text files, and names of folders
            types[name].add(kind.value_type if arrow.types.is_dictionary(kind) else kind)
    return arrow.schema(
        (name, next(iter(found)) if len(found) == 1 else arrow.string()) for name, found in types.items()
    )


class _Count:
    """Numbers the rows of a file, from ``first`` on, though the reader drops some of them.

    Parameters
    ----------
    first : int
        Rows of earlier files.
    report : callable
        Told of rows that the reader drops.
    """

    def __init__(self, first: int, report: Report) -> None:
        self._next, self._report = first, report
        self._dropped: list[int] = []

    def report(self, place: str, reason: str, message: str) -> None:
        """A row was dropped by the reader."""
        self._report(place, reason, message)
        self._dropped.append(number_of(place))

    def numbers(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the next rows, which stand in these places."""
        before = np.searchsorted(self._dropped, places)
        found = self._next + np.arange(places.size) + before
        self._next = int(found[-1]) + 1
        del self._dropped[: int(before[-1])]
        return found

    @property
    def end(self) -> int:
        """Rows up to the end of the file, once it is read."""
        return self._next + len(self._dropped)


def _names_for_a_row(piece: Piece) -> list[Fault]:
    """The fault of a first line that has names of columns, in a file that should have none."""
    table = piece.table
    if piece.unit != "line" or piece.places[0] != 1 or not table.num_columns:
        return []
    if any(table[name][0].as_py() != name for name in table.column_names):
        return []
    message = "expected a row, got names of columns, which the model's own files did not have. Take it out."
    return [Fault(np.arange(table.num_rows) == 0, "names of columns", lambda row: message)]
