"""Tables in text files: comma, tab, semicolon or bar between the fields."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.faults import Report
from mbauc.readers.table.files.csv_head import (
    HEAD_BYTES,
    check_names,
    find_separator,
    find_separator_line,
    header_names,
    read_first_lines,
    records,
)
from mbauc.readers.table.files.odd_lines import OddLines, TextStart
from mbauc.readers.table.files.paths import TableFile
from mbauc.readers.table.files.pieces import Piece
from mbauc.readers.table.files.plain_lines import PlainLines, TextForm
from mbauc.runtime.threads import thread_count

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
        above, said = find_separator_line(head)
        head = head.removeprefix(above)
        if delimiter is None and said:
            delimiter = said
        elif delimiter is None:
            delimiter = "\t" if file.suffix in (".tsv", ".tab") else find_separator(head, file)
        elif not isinstance(delimiter, str) or len(delimiter) != 1:
            raise ValueError(f"delimiter must be one character, got {delimiter!r}.")
        self.delimiter = delimiter
        first = next(records(head, delimiter), None)
        if first is None:
            raise ValueError(f"{file} is empty; expected a header line and rows.")
        if names is None:
            self.names = header_names(first.fields, file)
            self._header, self._header_lines = above + head[: first.end], bool(above) + first.lines
        else:
            self.names = _given_names(names, len(first.fields))
            self._header, self._header_lines = above, int(bool(above))
            if len(self.names) != len(first.fields):
                raise ValueError(
                    f"{file}, line {self._header_lines + first.lines}: expected {len(self.names)} fields, "
                    f"one for each of names, got {len(first.fields)}. "
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

    def check_unchanged(self) -> None:
        """Raise if it is no longer the file that it was."""
        if self.file.stamp() == self._stamp:
            with self.file.open() as stream:
                start = stream.read(len(self._header.encode()) + 3).decode("utf-8-sig", errors="replace")
            if start.startswith(self._header):
                return
        raise self.file.change_error()

    def pieces(
        self, columns: Sequence[str], report: Report, coded: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Generator[Piece, None, None]:
        """The rows from the first on, a few megabytes of text at a time; nothing is ``coded`` here.

        A line with the wrong number of fields, or with bytes that are not UTF-8 in one of the columns, is
        passed to ``report`` and left out; a line without any value, in whatever column, is passed over.
        Columns of ``numbers`` come as such where the lines are plain, and as texts where they are not.
        """
        self.check_unchanged()
        own = [name for name in columns if name in self._own]
        form = TextForm(self.file, tuple(self.names), self.delimiter, self._chunk)
        with self.file.open() as stream:
            below, offset = self._read_header(stream)
            if self._header and not below:  # and perhaps no line end, without which it would be odd
                return
            plain = PlainLines(form, stream, own, numbers, n_threads=thread_count(None), first=below)
            place = self._header_lines + 1
            with closing(plain.tables()) as tables:
                for table in tables:
                    places = np.arange(place, place + table.num_rows)
                    place += table.num_rows
                    yield self._piece(table.select(own), places, columns)
            if place > self._header_lines + 1:
                if plain.is_left:
                    odd = OddLines(form, TextStart(offset + plain.count, place, 0), own, report)
                    for table, places in odd.tables(plain.rest()):
                        yield self._piece(table, places, columns)
                return
        # what is odd from the first line on may be anything, its header too
        odd = OddLines(form, TextStart(0, place, self._header_lines), own, report)
        with self.file.open() as stream:
            for table, places in odd.tables(stream):
                yield self._piece(table, places, columns)

    def _read_header(self, stream: IO[bytes]) -> tuple[bytes, int]:
        """Read the header: what was read of the lines below it, if there are any, and how many bytes it has."""
        header, text = self._header.encode(), b""
        size = len(codecs.BOM_UTF8) + len(header) + 1
        while len(text) < size and (more := stream.read(size - len(text))):
            text += more
        below = text.removeprefix(codecs.BOM_UTF8).removeprefix(header)
        return below, len(text) - len(below)

    def _piece(self, table: Any, places: NDArray[np.int64], columns: Sequence[str]) -> Piece:
        """Rows with the columns that stand in the names of folders."""
        arrow = pyarrow()
        for name in columns:
            if name in self.folder_columns:
                values = arrow.array([self.folder_columns[name]] * table.num_rows, arrow.string())
                table = table.append_column(name, values)
        return Piece(table, str(self.file), "line", places)


def _given_names(names: Sequence[str] | str, count: int) -> list[str]:
    if isinstance(names, str):
        if names != "auto":
            raise ValueError(f"names must be a list of names, or 'auto', got {names!r}.")
        return [f"c{place}" for place in range(1, count + 1)]
    return list(names)
