"""Tables in text files: comma, tab, semicolon or bar between the fields."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.faults import Report
from mbauc.readers.table.files.csv_head import (
    CONVERT,
    HEAD_BYTES,
    check_names,
    find_separator,
    header_names,
    quote_is_open,
    read_first_lines,
    records,
)
from mbauc.readers.table.files.paths import TableFile
from mbauc.readers.table.files.pieces import Piece
from mbauc.readers.table.files.stream_loan import LentStream, Loans
from mbauc.readers.table.files.utf8_stream import OTHER_BYTES, Seen, Utf8Stream, show_bytes

#: Bytes that are parsed at a time, if the first lines are not long; no line may be longer.
_CHUNK = 1 << 22


class CsvTable:
    """A table in a text file, plain or compressed, in UTF-8.

    All fields are read as text, so that what a column is can be decided by looking at it; empty fields,
    quoted or not, are missing. Numbers of lines are exact where no quoted field contains a line break.

    Parameters
    ----------
    file : TableFile
        Where it is.
    delimiter : str, optional
        What separates fields; detected from the first lines if not given.
    names : sequence of str or "auto", optional
        Names of the columns if the file has no header line; ``"auto"`` calls them c1, c2, ….
    """

    #: Number of rows: not known.
    n_rows: int | None = None

    def __init__(
        self, file: TableFile, delimiter: str | None = None, names: Sequence[str] | str | None = None
    ) -> None:
        self.file = file
        self._stamp = file.stamp()
        with file.open() as stream:
            head = read_first_lines(stream, file)
        if delimiter is None:
            delimiter = "\t" if file.suffix in (".tsv", ".tab") else find_separator(head, file)
        elif not isinstance(delimiter, str) or len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {delimiter!r}.")
        self.delimiter = delimiter
        first = next(records(head, delimiter))
        if names is None:
            self.names = header_names(first.fields, file)
            self._header, self._header_lines = head[: first.end], first.lines
        else:
            self.names = _given_names(names, len(first.fields))
            self._header, self._header_lines = "", 0
            if len(self.names) != len(first.fields):
                raise ValueError(
                    f"{file}, line {first.lines}: expected {len(self.names)} fields, one for each of "
                    f"names, got {len(first.fields)}. "
                    + Advice("Check {names}, or pass {delimiter} ")
                    + f"(now {delimiter!r})."
                )
        check_names(self.names, file)
        # long lines need room: four of the longest that was seen
        self._chunk = max(_CHUNK, 4 * max(map(len, head.splitlines())))
        self._own = set(self.names)
        #: Columns that stand in the names of its folders and not in the file, and their values.
        self.folder_columns = {name: value for name, value in file.partitions.items() if name not in self._own}
        self.column_names = [*self.names, *self.folder_columns]

    @property
    def about_rows(self) -> int:
        """About how many rows there are, by the first megabyte."""
        start, size = self.file.sample(HEAD_BYTES)
        end = b"\n" if b"\n" in start else b"\r"
        lines = start.count(end) + (not start.endswith(end))
        return max(round(size * lines / len(start)) - self._header_lines, 0)

    def stamp(self) -> dict[str, object]:
        """Which file it was when it was first read, and how its fields are separated, for fingerprints."""
        how = {"delimiter": self.delimiter, "names": self.names, "header_lines": self._header_lines}
        return self.file.describe(self._stamp) | how

    def _check_unchanged(self) -> None:
        """Raise if it is no longer the file that it was."""
        if self.file.stamp() == self._stamp:
            with self.file.open() as stream:
                start = stream.read(len(self._header.encode()) + 3).decode("utf-8-sig", errors="replace")
            if start.startswith(self._header):
                return
        raise self.file.change_error()

    def pieces(
        self, columns: Sequence[str], report: Report, coded: Collection[str] = ()
    ) -> Generator[Piece, None, None]:
        """The rows from the first on, a few megabytes of text at a time; nothing is ``coded`` here.

        A line with the wrong number of fields, or with bytes that are not UTF-8 in one of the columns, is
        passed to ``report`` and left out; a line without any value, in whatever column, is passed over.
        """
        arrow = pyarrow()
        self._check_unchanged()
        faulty: list[Any] = []
        place = self._header_lines + 1
        last = None
        own = [name for name in columns if name in self._own]
        seen = Seen()
        with (
            self.file.open() as stream,
            _Lines(self) as lines,
            closing(self._batches(stream, seen, own, faulty)) as batches,
        ):
            while True:
                try:
                    batch = next(batches, None)
                except arrow.ArrowInvalid as error:
                    raise ValueError(self._describe_error(error, place)) from None
                if batch is None:
                    self._report(faulty, {}, report)
                    self._check_end(last or "", seen.end, place - 1)
                    return
                lines.count += 1
                rows = batch.num_rows
                if not rows:
                    continue
                places = np.arange(place, place + rows + len(faulty))
                places = places[~np.isin(places, [row.number for row in faulty])][:rows]
                place = int(places[-1]) + 1
                last = batch.column(self.names[-1])[-1].as_py()
                others = _other_bytes(batch, own) if seen.marked else {}
                # Arrow may have seen faulty lines of the next batch already
                self._report(
                    [row for row in faulty if row.number < place],
                    {int(places[row]): message for row, message in others.items()},
                    report,
                )
                faulty[:] = [row for row in faulty if row.number >= place]
                try:
                    drop = lines.empty(batch)
                except arrow.ArrowInvalid as error:
                    raise ValueError(self._describe_error(error, int(places[0]))) from None
                table = self._table(batch, own, columns)
                if others:
                    drop = np.zeros(rows, dtype=bool) if drop is None else drop
                    drop[list(others)] = True
                if drop is not None:
                    table, places = table.filter(arrow.array(~drop)), places[~drop]
                yield Piece(table, str(self.file), "line", places)

    def _report(self, faulty: list[Any], others: dict[int, str], report: Report) -> None:
        """Lines with the wrong number of fields, and lines with other bytes, in their order."""
        fields = {row.number: row for row in faulty}
        for number in sorted([*fields, *others]):
            where = f"{self.file}, line {number:,}"
            if number in others:
                report(where, "bytes that are not UTF-8", others[number])
                continue
            row = fields[number]
            if quote_is_open(row.text, self.delimiter):  # not one row, but all that follow
                raise ValueError(f"{where}: {self._describe_fields(row)} Close it, or take it out.")
            report(where, "wrong number of fields", self._describe_fields(row))

    def _batches(
        self, stream: IO[bytes], seen: Seen, columns: Sequence[str], faulty: list[Any]
    ) -> Generator[Any, None, None]:
        arrow, text = pyarrow(), pyarrow("csv")

        def handle(row: Any) -> str:
            faulty.append(row)
            return "skip"

        # the last column is always read: a quote that is never closed hides the rest of the file there
        own = list(dict.fromkeys([*columns, self.names[-1]]))
        open_csv = partial(
            text.open_csv,
            # one thread: only then does Arrow know the numbers of lines, and it is as fast
            read_options=text.ReadOptions(
                use_threads=False, block_size=self._chunk, skip_rows=self._header_lines, column_names=self.names
            ),
            parse_options=text.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                # empty lines become empty rows, or they would be missing from the numbers of lines
                ignore_empty_lines=False,
                invalid_row_handler=handle,
            ),
            convert_options=text.ConvertOptions(
                column_types={name: arrow.string() for name in own},
                include_columns=own,
                null_values=[""],
                strings_can_be_null=True,
                quoted_strings_can_be_null=True,
                check_utf8=False,  # the stream sees to that
            ),
        )
        loans = Loans()
        lent = loans.lend(LentStream(Utf8Stream(stream, seen), loans))
        loans.lend(handle)
        reader = None
        try:
            reader = open_csv(lent)
            with reader:
                for batch in reader:
                    if seen.error is not None:
                        break
                    yield batch
        except arrow.ArrowInvalid:
            if seen.error is None:
                raise
        finally:
            del reader, lent, handle, open_csv
            loans.wait()
        if seen.error is not None:
            raise seen.error

    def _check_end(self, last: str, end: bytes, place: int) -> None:
        """Raise if the last field of the last row has swallowed lines: it has some, but no quote ends it."""
        if "\n" in last and not end.rstrip(b"\r\n ").endswith(b'"'):
            raise ValueError(
                f"{self.file}, line {place:,}: a quote is opened and never closed, so that all lines below it "
                "are part of the field. Close it, or take it out."
            )

    def _table(self, batch: Any, own: Sequence[str], columns: Sequence[str]) -> Any:
        arrow = pyarrow()
        table = arrow.Table.from_batches([batch]).select(own)
        for name in columns:
            if name in self.folder_columns:
                values = arrow.array([self.folder_columns[name]] * table.num_rows, arrow.string())
                table = table.append_column(name, values)
        return table

    def _describe_fields(self, row: Any) -> str:
        text = show_bytes(row.text if len(row.text) <= 60 else row.text[:60] + "…")
        quotes = " A quote that is never closed swallows the lines below it." if row.text.count('"') % 2 else ""
        return f"expected {row.expected_columns} fields, got {row.actual_columns}: {text!r}.{quotes}"

    def _describe_error(self, error: Exception, place: int) -> str:
        said = str(error)
        if "straddl" in said:
            why = (
                f"expected lines of at most {self._chunk >> 20} MiB, got a longer one. Is a quote never closed?"
            )
        else:
            why = said
        return f"{self.file}, after line {place - 1:,}: {why}"


class _Lines:
    """Tells which lines have no value in any column, though only some columns are read.

    Where all columns that are read are empty, the same lines are read once more with all columns, by a second
    reader that cuts the file in the same places. Files without such lines are read once.
    """

    def __init__(self, table: CsvTable) -> None:
        self._table = table
        self._open = ExitStack()
        self._batches: Iterator[Any] | None = None
        self._read = 0
        #: Batches that the first reader has read.
        self.count = 0

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def empty(self, batch: Any) -> NDArray[np.bool_] | None:
        """Which lines of the latest batch are empty; None if none is."""
        maybe = _without_value(batch)
        if maybe is None or batch.num_columns == len(self._table.names):
            return maybe
        if self._batches is None:
            stream = self._open.enter_context(self._table.file.open())
            again = self._table._batches(stream, Seen(), self._table.names, [])
            self._batches = self._open.enter_context(closing(again))
        whole = None
        while self._read < self.count:
            whole = next(self._batches, None)
            self._read += 1
        if whole is None or whole.num_rows != batch.num_rows:
            raise self._table.file.change_error()
        return _without_value(whole)


def _without_value(batch: Any) -> NDArray[np.bool_] | None:
    """Which rows have no value in any column; None if none is such."""
    if any(column.null_count == 0 for column in batch.columns):
        return None
    none = np.logical_and.reduce([column.is_null().to_numpy(False) for column in batch.columns])
    return none if none.any() else None


def _other_bytes(batch: Any, columns: Sequence[str]) -> dict[int, str]:
    """What to say about rows that have other bytes than UTF-8 in one of the columns."""
    compute = pyarrow("compute")
    found: dict[int, str] = {}
    for name in columns:
        values = batch.column(name)
        marked = compute.fill_null(compute.match_substring_regex(values, OTHER_BYTES), False)
        for row in np.flatnonzero(marked.to_numpy(zero_copy_only=False)).tolist():
            text = values[row].as_py()
            shown = show_bytes(text if len(text) <= 60 else text[:60] + "…")
            found.setdefault(
                row,
                f"expected UTF-8 in column {name!r}, got '{shown}'. {CONVERT}.",
            )
    return found


def _given_names(names: Sequence[str] | str, count: int) -> list[str]:
    if isinstance(names, str):
        if names != "auto":
            raise ValueError(f"names must be a list of names, or 'auto', got {names!r}.")
        return [f"c{place}" for place in range(1, count + 1)]
    return list(names)
