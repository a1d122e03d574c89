"""The one loop that reads rows of tables, in blocks and without rows that cannot be used."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.arguments import name_asked, no_such_column
from mbauc.readers.table.columns.features import Features, read_features
from mbauc.readers.table.columns.number_texts import parse_number
from mbauc.readers.table.columns.plan import Column
from mbauc.readers.table.columns.values import WrongTypeError, flatten, read_numbers
from mbauc.readers.table.faults import Report, RowFault, report_faults
from mbauc.readers.table.files import ParquetTable, Piece, Table, cut_blocks, place_number
from mbauc.readers.table.groups import read_groups
from mbauc.readers.table.labels import TableLabels
from mbauc.runtime.ahead import map_ahead, one_ahead
from mbauc.runtime.threads import thread_count

#: Values of blocks that are made at the same time, at most.
_VALUES_AHEAD = 1 << 23


class TableRows(NamedTuple):
    """Rows of a block that can be used, not yet encoded."""

    #: What an encoding makes a matrix, or scores, of.
    features: Features
    #: Labels, if they are read.
    y: NDArray[np.int8] | None
    #: Weights, if they are read.
    weight: NDArray[np.float64] | None
    #: Keys of their groups, if they are read.
    groups: NDArray[np.uint64] | None
    #: Columns of numbers that each row must have, such as scores of another model.
    scores: tuple[NDArray[np.float64], ...]
    #: All columns that were read.
    table: Any
    #: Which rows they are, counted from 0 over all files: those that were left out count, empty lines do not.
    numbers: NDArray[np.int64]


class NumberColumn(NamedTuple):
    """A column in which each row must have a number, and between which ends."""

    #: What it is: "weight", "score".
    what: str
    name: str
    low: float = -np.inf
    high: float = np.inf

    @property
    def expected(self) -> str:
        """The numbers that it may have, in words."""
        if np.isfinite(self.high):
            return f"a {self.what} between {self.low:g} and {self.high:g}"
        return (
            f"a {self.what} of at least {self.low:g}"
            if np.isfinite(self.low)
            else f"a finite number as {self.what}"
        )


@dataclass(frozen=True)
class TableReader:
    """Which columns of which tables are read, and what they are."""

    #: Where the rows are.
    tables: Sequence[Table]
    #: Features.
    columns: tuple[Column, ...]
    #: The label column; None if labels are not read.
    labels: TableLabels | None
    #: Name of the weight column.
    weight: str | None
    #: Rows of a block, at most.
    block_rows: int
    #: Name of the group column.
    group: str | None = None
    #: Whether names of columns were given, so that no line should have them.
    named: bool = False
    #: Columns of numbers that each row must have.
    scores: tuple[NumberColumn, ...] = ()

    @property
    def where(self) -> str:
        """The files, for errors."""
        first = str(self.tables[0].file)
        return first if len(self.tables) == 1 else f"{first} and {len(self.tables) - 1} more"

    def check_columns(self, more: Mapping[str, Sequence[str]] | None = None) -> None:
        """Raise if a file lacks a column that is used, or one of ``more``, by the argument that asks for it."""
        named = [("label", self.labels.name)] if self.labels else []
        named += [("weight", self.weight)] if self.weight else []
        named += [("group", self.group)] if self.group else []
        named += [(column.what, column.name) for column in self.scores]
        named += [("feature", column.name) for column in self.columns]
        used = [(f"the {what} {name!r}", name) for what, name in named]
        for argument, names in (more or {}).items():
            if isinstance(names, str):
                asked = Advice.of_argument(argument)
                raise ValueError(asked + f" must be a list of names, got {names!r}; write [{names!r}].")
        used += [
            (name_asked(name, argument), name) for argument, names in (more or {}).items() for name in names
        ]
        for table in self.tables:
            present = set(table.column_names)
            for what, name in used:
                if name not in present:
                    raise ValueError(no_such_column(what, name, table.column_names, str(table.file)))

    def n_threads(self, more: Sequence[str] = ()) -> int:
        """Blocks that are made at the same time, each by a thread of its own."""
        rows = [self.block_rows if table.n_rows is None else table.n_rows for table in self.tables]
        if len(rows) == 1 and rows[0] < self.block_rows:
            return 1  # there is one block only
        values = min(self.block_rows, max(rows)) * (len(self.columns) + len(more) + 1)
        return max(1, min(thread_count(None), _VALUES_AHEAD // values))

    def read(self, report: Report, more: Sequence[str] = ()) -> Generator[TableRows, None, None]:
        """Blocks of rows that can be used, with ``more`` columns as in the files; other rows are reported.

        Columns are made numbers and texts in threads; blocks and reports come in the order of the rows.
        """
        used = [self.labels.name] if self.labels else []
        used += [name for name in (self.weight, self.group, *(column.name for column in self.scores)) if name]
        columns = list(dict.fromkeys([*used, *(column.name for column in self.columns), *more]))
        coded = {column.name for column in self.columns if column.kind != "time"} - set(more)
        texts = {*used, *more}
        numbers = {c.name for c in self.columns if c.kind == "numeric" and not c.form} - texts
        n_threads = self.n_threads(more)
        first = 0
        for table in self.tables:
            count = _RowCount(first, report)
            pieces = table.pieces(columns, count.note, coded, numbers)
            # a reader of text tells what it drops as it goes, and must not be ahead of what is told
            ahead = one_ahead(pieces) if isinstance(table, ParquetTable) else pieces
            blocks = map_ahead(self._features, cut_blocks(ahead, self.block_rows), n_threads)
            with closing(blocks):
                yield from self._usable_rows(blocks, count, report)
            first = count.end()

    def _usable_rows(
        self, blocks: Generator[_Block, None, None], count: _RowCount, report: Report
    ) -> Generator[TableRows, None, None]:
        """The rows of the blocks of a file that can be used."""
        while True:
            try:
                block = next(blocks, None)
            except ValueError:
                count.end()  # what was dropped before it comes first
                raise
            if block is None:
                return
            rows = self._rows(block, count.number(block.piece.places), report)
            if rows.features.rows:
                yield rows

    def _features(self, piece: Piece) -> _Block:
        return _Block(piece, *read_features(piece.table, self.columns, piece.file))

    def _rows(self, block: _Block, numbers: NDArray[np.int64], report: Report) -> TableRows:
        """The rows of a block that can be used."""
        piece, features, faults = block
        weight: NDArray[np.float64] | None = None
        weight_faults: list[RowFault] = []
        if self.weight is not None:
            weight, weight_faults = _read_numbers(piece, NumberColumn("weight", self.weight, low=0.0))
        read = [_read_numbers(piece, column) for column in self.scores]
        scores = tuple(values for values, _ in read)
        groups, group_faults = (None, []) if self.group is None else read_groups(piece, self.group)
        y, table = None, piece.table
        if self.labels is not None:
            y, label_faults = self.labels.read(piece)
            score_faults = [fault for _, found in read for fault in found]
            faults = label_faults + weight_faults + group_faults + score_faults + faults
        elif self.named:
            faults = _find_header(piece) + faults
        keep = report_faults(faults, piece.place, report)
        if keep is not None:
            table, numbers = table.filter(pyarrow().array(keep)), numbers[keep]
            y, weight = None if y is None else y[keep], None if weight is None else weight[keep]
            groups = None if groups is None else groups[keep]
            scores = tuple(values[keep] for values in scores)
        return TableRows(features.select(keep), y, weight, groups, scores, table, numbers)


class _Block(NamedTuple):
    """Rows of a file, their features, and what is wrong with these."""

    piece: Piece
    features: Features
    faults: list[RowFault]


class _RowCount:
    """Numbers the rows of a file, from ``first`` on, and reports the rows that its reader drops.

    The reader is ahead: what it drops is noted, and reported when the rows around it are numbered.
    """

    def __init__(self, first: int, report: Report) -> None:
        self._next, self._report = first, report
        self._dropped: list[int] = []
        self._noted: list[tuple[str, str, str]] = []

    def note(self, place: str, reason: str, message: str) -> None:
        """A row was dropped by the reader."""
        self._noted.append((place, reason, message))
        self._dropped.append(place_number(place))

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of the next rows, which stand in these places."""
        before = np.searchsorted(self._dropped, places)
        found = self._next + np.arange(places.size) + before
        self._next = int(found[-1]) + 1
        self._tell(int(before[-1]))
        return found

    def end(self) -> int:
        """Rows up to the end of the file, once it is read."""
        self._next += len(self._dropped)
        self._tell(len(self._dropped))
        return self._next

    def _tell(self, count: int) -> None:
        """Report the next rows that were dropped; none is reported twice, also if one is an error."""
        noted = self._noted[:count]
        del self._noted[:count], self._dropped[:count]
        for fault in noted:
            self._report(*fault)


def _read_numbers(piece: Piece, wanted: NumberColumn) -> tuple[NDArray[np.float64], list[RowFault]]:
    """A column in which a missing number is a fault, as is one that does not lie between the ends."""
    name = wanted.name
    try:
        column = flatten(piece.table[name])
        values, _ = read_numbers(column)
    except WrongTypeError as error:
        raise ValueError(
            f"{piece.file}: expected numbers in the {wanted.what} column {name!r}, got {error}."
        ) from None
    bad = ~(np.isfinite(values) & (values >= wanted.low) & (values <= wanted.high))
    if not bad.any():
        return values, []

    def message(row: int) -> str:
        found = column[row].as_py()
        comma = isinstance(found, str) and "," in found and parse_number(found, ".") is not None
        said = f"expected {wanted.expected} in column {name!r}, got {found!r}."
        return f"{said} Write it with a decimal point." if comma else said

    return values, [RowFault(bad, f"no {wanted.what}", message)]


def _find_header(piece: Piece) -> list[RowFault]:
    """The fault of a first line that has names of columns, in a file that should have none."""
    table = piece.table
    if piece.unit != "line" or piece.places[0] != 1 or not table.num_columns:
        return []
    if any(table[name][0].as_py() != name for name in table.column_names):
        return []
    message = (
        "expected a row, got names of columns; the files that the model was trained on had no such line. "
        "Remove it."
    )
    return [RowFault(np.arange(table.num_rows) == 0, "names of columns", lambda row: message)]
