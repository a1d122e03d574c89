"""Tables in text files: comma, tab, semicolon or bar between the fields."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.data.table.arrow import pyarrow
from mbauc.data.table.faults import stop
from mbauc.data.table.files import TableFile
from mbauc.data.table.lent_stream import Loan, WatchedStream
from mbauc.data.table.pieces import Piece, Report

_SEPARATORS = ",\t;|"
#: Bytes that are looked at to tell the separator and the header, and lines of them.
_HEAD_BYTES, _HEAD_LINES = 1 << 20, 20
#: Bytes that are parsed at a time; no line may be longer.
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
        What stands between fields; told from the first lines if not given.
    names : sequence of str, optional
        Names of the columns if the file has no header line.
    """

    #: Number of rows: not known.
    n_rows: int | None = None

    def __init__(
        self, file: TableFile, delimiter: str | None = None, names: Sequence[str] | None = None
    ) -> None:
        self.file = file
        self._stamp = file.stamp()
        with file.opened() as stream:
            head = _first_lines(stream, file)
        if delimiter is None:
            delimiter = "\t" if file.suffix in (".tsv", ".tab") else _told_separator(head, file)
        elif not isinstance(delimiter, str) or len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {delimiter!r}.")
        self.delimiter = delimiter
        reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
        first = next(record for record in reader if record)
        if names is None:
            self.names = [name.strip() for name in first]
            self._header_lines = reader.line_num
            self._check_header()
            self._header = "".join(head.splitlines(keepends=True)[: self._header_lines])
        else:
            self.names = list(names)
            self._header_lines = 0
            self._header = ""
            if len(self.names) != len(first):
                raise ValueError(
                    f"{file}, line {reader.line_num}: expected {len(self.names)} fields, one for each of "
                    f"names, got {len(first)}. Check names, or pass delimiter (now {delimiter!r})."
                )
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"{file}: two columns are named {twice!r}; give each a name of its own. {_HEADLESS}"
            )
        self._partitions = [pair for pair in file.partitions if pair[0] not in self.names]
        self.column_names = self.names + [name for name, _ in self._partitions]

    @property
    def about_rows(self) -> int:
        """About how many rows there are, by the first megabyte."""
        start, size = self.file.sample(_HEAD_BYTES)
        lines = start.count(b"\n") + (not start.endswith(b"\n"))
        return max(round(size * lines / len(start)) - self._header_lines, 0)

    def _check_header(self) -> None:
        numbers = sum(_is_number(name) for name in self.names)
        if numbers > len(self.names) / 2 or "" in self.names:
            shown = ", ".join(map(repr, self.names[:5])) + (", …" if len(self.names) > 5 else "")
            raise ValueError(
                f"{self.file}: expected names of columns in the first line, got {shown}. {_HEADLESS}"
            )

    def stamp(self) -> dict[str, object]:
        """Which file it was when it was first read, and how its fields are told apart, for fingerprints."""
        how = {"delimiter": self.delimiter, "names": self.names, "header_lines": self._header_lines}
        return self.file.told(self._stamp) | how

    def _check_unchanged(self) -> None:
        """Raise if it is no longer the file that it was."""
        if self.file.stamp() == self._stamp:
            with self.file.opened() as stream:
                start = stream.read(len(self._header.encode()) + 3).decode("utf-8-sig", errors="replace")
            if start.startswith(self._header):
                return
        raise self.file.changed()

    def pieces(
        self, columns: Sequence[str], report: Report, coded: Collection[str] = ()
    ) -> Generator[Piece, None, None]:
        """The rows from the first on, a few megabytes of text at a time; nothing is ``coded`` here.

        A line with the wrong number of fields is passed to ``report`` and left out; a line without any value,
        in whatever column, is passed over.
        """
        arrow = pyarrow()
        self._check_unchanged()
        faulty: list[Any] = []

        def handle(row: Any) -> str:
            faulty.append(row)
            return "skip"

        place = self._header_lines + 1
        skipped: list[int] = []
        last = None
        end = bytearray()
        with (
            self.file.opened() as stream,
            _Lines(self) as lines,
            closing(self._batches(stream, end, columns, handle)) as batches,
        ):
            while True:
                try:
                    batch = next(batches, None)
                except arrow.ArrowInvalid as error:
                    raise ValueError(self._unreadable(error, place)) from None
                for row in faulty:
                    skipped.append(row.number)
                    if _quote_is_open(row.text, self.delimiter):  # not one row, but all that follow
                        stop(f"{self.file}, line {row.number:,}", "open quote", self._field_fault(row))
                    report(
                        f"{self.file}, line {row.number:,}", "wrong number of fields", self._field_fault(row)
                    )
                faulty.clear()
                if batch is None:
                    self._check_end(last or "", bytes(end), place - 1)
                    return
                rows = batch.num_rows
                lines.count += 1
                places = np.arange(place, place + rows + len(skipped))
                places = places[~np.isin(places, skipped)][:rows]
                if rows:
                    place = int(places[-1]) + 1
                    skipped = [number for number in skipped if number >= place]
                    last = batch.column(self.names[-1])[-1].as_py()
                    table = self._table(batch, columns)
                    try:
                        empty = lines.empty(batch)
                    except arrow.ArrowInvalid as error:
                        raise ValueError(self._unreadable(error, int(places[0]))) from None
                    if empty is not None:
                        table, places = table.filter(arrow.array(~empty)), places[~empty]
                    yield Piece(table, str(self.file), "line", places)

    def _batches(
        self, stream: IO[bytes], end: bytearray, columns: Sequence[str], handle: Any
    ) -> Generator[Any, None, None]:
        arrow, text = pyarrow(), pyarrow("csv")
        # the last column is always read: a quote that is never closed hides the rest of the file there
        own = list(dict.fromkeys([*(name for name in columns if name in self.names), self.names[-1]]))
        open_csv = partial(
            text.open_csv,
            # one thread: only then does Arrow know the numbers of lines, and it is as fast
            read_options=text.ReadOptions(
                use_threads=False, block_size=_CHUNK, skip_rows=self._header_lines, column_names=self.names
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
            ),
        )
        lent = WatchedStream(stream, end)
        loan = Loan(lent)
        reader = None
        try:
            reader = open_csv(lent)
            with reader:
                yield from reader
        finally:
            del reader, lent
            loan.wait()

    def _check_end(self, last: str, end: bytes, place: int) -> None:
        """Raise if the last field of the last row has swallowed lines: it has some, but no quote ends it."""
        if "\n" in last and not end.rstrip(b"\r\n ").endswith(b'"'):
            raise ValueError(
                f"{self.file}, line {place:,}: a quote is opened and never closed, so that all lines below it "
                "are part of the field. Close it, or take it out."
            )

    def _table(self, batch: Any, columns: Sequence[str]) -> Any:
        arrow = pyarrow()
        table = arrow.Table.from_batches([batch]).select([name for name in columns if name in self.names])
        for name, value in self._partitions:
            table = table.append_column(name, arrow.array([value] * table.num_rows, arrow.string()))
        return table

    def _field_fault(self, row: Any) -> str:
        text = row.text if len(row.text) <= 60 else row.text[:60] + "…"
        quotes = " A quote that is never closed swallows the lines below it." if row.text.count('"') % 2 else ""
        return f"expected {row.expected_columns} fields, got {row.actual_columns}: {text!r}.{quotes}"

    def _unreadable(self, error: Exception, place: int) -> str:
        said = str(error)
        if "UTF8" in said:
            why = _NOT_UTF8
        elif "straddl" in said:
            why = f"expected lines of at most {_CHUNK >> 20} MiB, got a longer one. Is a quote never closed?"
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
            stream = self._open.enter_context(self._table.file.opened())
            again = self._table._batches(stream, bytearray(), self._table.names, lambda row: "skip")
            self._batches = self._open.enter_context(closing(again))
        whole = None
        while self._read < self.count:
            whole = next(self._batches, None)
            self._read += 1
        if whole is None or whole.num_rows != batch.num_rows:
            raise self._table.file.changed()
        return _without_value(whole)


def _without_value(batch: Any) -> NDArray[np.bool_] | None:
    """Which rows have no value in any column; None if none is such."""
    if any(column.null_count == 0 for column in batch.columns):
        return None
    none = np.logical_and.reduce([column.is_null().to_numpy(False) for column in batch.columns])
    return none if none.any() else None


def _quote_is_open(text: str, delimiter: str) -> bool:
    """Whether a quote at the start of a field is never closed."""
    if text.count('"') % 2 == 0:
        return False
    quoted, field_end = re.compile(r'"(?:[^"]|"")*"(?!")'), re.compile(f"[{re.escape(delimiter)}\r\n]")
    place = 0
    while place < len(text):
        if text[place] == '"':
            field = quoted.match(text, place)
            if field is None:
                return True
            place = field.end()
        end = field_end.search(text, place)
        if end is None:
            return False
        place = end.end()
    return False


_NOT_UTF8 = (
    "expected UTF-8, got other bytes. Convert the file first (iconv -f latin1 -t utf-8, or from the encoding "
    "that it has)."
)
_HEADLESS = "If the file has no header line, pass names=[…], one for each column."


def _first_lines(stream: IO[bytes], file: TableFile) -> str:
    """The first lines, whole, as text."""
    data = stream.read(_HEAD_BYTES)
    if not data.strip():
        raise ValueError(f"{file} is empty; expected a header line and rows.")
    whole = data[: data.rfind(b"\n") + 1] if len(data) == _HEAD_BYTES and b"\n" in data else data
    lines = whole.splitlines(keepends=True)[: 5 * _HEAD_LINES]
    # below the header other bytes are reported when they are read, with their line
    header = next(line for line in lines if line.strip())
    # zero bytes: UTF-16 without a mark
    if b"\x00" in header or "\ufffd" in header.decode("utf-8", errors="replace"):
        raise ValueError(f"{file}: {_NOT_UTF8}")
    return b"".join(lines).decode("utf-8-sig", errors="replace")


def _told_separator(head: str, file: TableFile) -> str:
    """The separator by which most lines have as many fields as the first, and that more than one."""
    best, share, fields = "", 0.0, 1
    for separator in _SEPARATORS:
        records = csv.reader(io.StringIO(head, newline=""), delimiter=separator)
        counts = [len(record) for record, _ in zip((r for r in records if r), range(_HEAD_LINES), strict=False)]
        # lines that do not fit are reported when they are read
        fitting = counts.count(counts[0]) / len(counts)
        if counts[0] > 1 and (fitting, counts[0]) > (share, fields):
            best, share, fields = separator, fitting, counts[0]
    if not best:
        line = head.lstrip().split("\n", 1)[0][:60]
        raise ValueError(
            f"{file}: cannot tell what separates the columns of {line!r}; expected a comma, tab, semicolon or "
            "bar. Pass delimiter=…"
        )
    return best


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
