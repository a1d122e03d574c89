"""The one loop that reads rows of tables, in blocks and without rows that cannot be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.features import Features, read_features
from mbauc.readers.table.columns.plan import Column, name_asked, no_such_column
from mbauc.readers.table.columns.values import WrongTypeError, flatten, read_numbers
from mbauc.readers.table.faults import Report, RowFault, report_faults
from mbauc.readers.table.files import ParquetTable, Piece, Table, cut_blocks, place_number
from mbauc.readers.table.groups import read_groups
from mbauc.readers.table.labels import TableLabels
from mbauc.runtime.ahead import one_ahead


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

    def read(self, report: Report, more: Sequence[str] = ()) -> Iterator[TableRows]:
        """Blocks of rows that can be used, with ``more`` columns as in the files; other rows are reported."""
        used = [self.labels.name] if self.labels else []
        used += [name for name in (self.weight, self.group, *(column.name for column in self.scores)) if name]
        columns = list(dict.fromkeys([*used, *(column.name for column in self.columns), *more]))
        coded = {column.name for column in self.columns if column.kind != "time"} - set(more)
        first = 0
        for table in self.tables:
            count = _RowCount(first, report)
            pieces = table.pieces(columns, count.report, coded)
            # Parquet reports nothing ahead of its rows
            ahead = one_ahead(pieces) if isinstance(table, ParquetTable) else pieces
            for piece in cut_blocks(ahead, self.block_rows):
                rows = self._rows(piece, count.number(piece.places), report)
                if rows.features.rows:
                    yield rows
            first = count.end

    def _rows(self, piece: Piece, numbers: NDArray[np.int64], report: Report) -> TableRows:
        """The rows of a piece that can be used."""
        features, faults = read_features(piece.table, self.columns, piece.file)
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


class _RowCount:
    """Numbers the rows of a file, from ``first`` on, and reports the rows that its reader drops."""

    def __init__(self, first: int, report: Report) -> None:
        self._next, self._report = first, report
        self._dropped: list[int] = []

    def report(self, place: str, reason: str, message: str) -> None:
        """A row was dropped by the reader."""
        self._report(place, reason, message)
        self._dropped.append(place_number(place))

    def number(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
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
    message: Callable[[int], str] = lambda row: (  # noqa: E731
        f"expected {wanted.expected} in column {name!r}, got {column[row].as_py()!r}."
    )
    return values, [RowFault(bad, f"no {wanted.what}", message)]


def _find_header(piece: Piece) -> list[RowFault]:
    """The fault of a first line that has names of columns, in a file that should have none."""
    table = piece.table
    if piece.unit != "line" or piece.places[0] != 1 or not table.num_columns:
        return []
    if any(table[name][0].as_py() != name for name in table.column_names):
        return []
    message = "expected a row, got names of columns, which the model's own files did not have. Take it out."
    return [RowFault(np.arange(table.num_rows) == 0, "names of columns", lambda row: message)]
