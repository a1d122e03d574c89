"""Text without quotes, parsed some megabytes at a time in threads; what is not that plain is left to others."""

from __future__ import annotations

import io
from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.values import read_numbers
from mbauc.readers.table.files.paths import TableFile
from mbauc.runtime.ahead import map_ahead

#: Chunks that text is cut into where another parser takes one, since there is one for each thread.
_SHARE = 4


class TextForm(NamedTuple):
    """What a table in text is like."""

    #: Where it is.
    file: TableFile
    #: Names of all columns.
    names: tuple[str, ...]
    #: What separates fields.
    delimiter: str
    #: Bytes that are parsed at a time; no line may be longer.
    chunk: int


class _Parsed(NamedTuple):
    """Some whole lines, and their rows; None if they are not plain."""

    lines: bytes
    table: Any


class PlainLines:
    """The rows of a text as long as its lines are plain, and then the rest of the text.

    A chunk of lines is plain if it has no quote, which might hide a line break, if it is UTF-8, and if Arrow
    makes of each line one row without a fault. Where a line begins is known without parsing then, so that
    chunks are parsed in threads and numbers of lines are still exact. Columns that are said to be numbers are
    parsed as such, at once: the same numbers as those of their texts.

    Memory: a chunk and its rows for each thread, and one more.

    Parameters
    ----------
    form : TextForm
        What the text is like.
    stream : binary file
        At the beginning of a line.
    columns : sequence of str
        Columns to read.
    numbers : collection of str, default=()
        Those of them that are numbers, plainly spelled.
    n_threads : int, default=1
        Chunks that are parsed at the same time.
    first : bytes
        What comes before the stream.
    """

    def __init__(
        self,
        form: TextForm,
        stream: IO[bytes],
        columns: Sequence[str],
        numbers: Collection[str] = (),
        *,
        n_threads: int = 1,
        first: bytes = b"",
    ) -> None:
        self._form, self._stream, self._n_threads = form, stream, n_threads
        self._numbers, self._columns = set(numbers), list(columns) or [form.names[-1]]
        self._unread = first
        self._stopped = False
        #: Bytes of the lines whose rows were given.
        self.count = 0

    def tables(self) -> Generator[Any, None, None]:
        """Arrow tables, each with one row for each of its lines."""
        with closing(map_ahead(self._parse, self._chunks(), self._n_threads)) as parsed:
            for lines, table in parsed:
                if table is None:
                    self._stopped = True
                    ahead = [lines, *(more.lines for more in parsed)]
                    self._unread = b"".join(ahead) + self._unread
                    return
                self.count += len(lines)
                yield table

    @property
    def is_left(self) -> bool:
        """Whether there is more text than was parsed, once there are no more tables."""
        return self._stopped or bool(self._unread)

    def rest(self) -> IO[bytes]:
        """What was not parsed, once there are no more tables."""
        return _Chained(self._unread, self._stream)  # type: ignore[return-value]

    def _chunks(self) -> Generator[bytes, None, None]:
        """Whole lines; what follows the last of them is unread."""
        while not self._stopped:
            more = self._stream.read(self._form.chunk // _SHARE)
            text, self._unread = self._unread + more, b""
            end = text.rfind(b"\n") + 1 if more else len(text)
            self._unread = text[end:]
            if end:
                yield text[:end]
            if not more or not end:
                return  # the end, or a line that is longer than others may be

    def _parse(self, lines: bytes) -> _Parsed:
        if b'"' in lines or not _is_utf8(lines):
            return _Parsed(lines, None)
        arrow = pyarrow()
        # memory of Arrow's own: its threads must not be those to free Python's
        room = arrow.allocate_buffer(len(lines))
        np.frombuffer(room, dtype=np.uint8)[:] = np.frombuffer(lines, dtype=np.uint8)
        try:
            table = self._read(room, self._numbers)
        except arrow.ArrowInvalid:
            table = self._read_texts(room)
        count = lines.count(b"\n") + (not lines.endswith(b"\n"))
        if table is None or table.num_rows != count or not self._is_whole(table):
            return _Parsed(lines, None)
        return _Parsed(lines, table)

    def _read_texts(self, room: Any) -> Any:
        """The rows if some numbers are spelled in other ways, or missing; None if some are none."""
        arrow = pyarrow()
        try:
            table = self._read(room, ())
        except arrow.ArrowInvalid:
            return None
        for place, name in enumerate(table.column_names):
            if name in self._numbers:
                values, bad = read_numbers(table[name])
                if bad is not None:
                    return None
                table = table.set_column(place, name, arrow.array(values, from_pandas=True))
        return table

    def _read(self, room: Any, numbers: Collection[str]) -> Any:
        arrow, text = pyarrow(), pyarrow("csv")
        types = {name: arrow.float64() if name in numbers else arrow.string() for name in self._columns}
        return text.read_csv(
            arrow.BufferReader(room),
            read_options=text.ReadOptions(
                use_threads=False, block_size=room.size + 1, column_names=list(self._form.names)
            ),
            parse_options=text.ParseOptions(
                delimiter=self._form.delimiter, quote_char=False, ignore_empty_lines=False
            ),
            convert_options=text.ConvertOptions(
                column_types=types,
                include_columns=self._columns,
                null_values=[""],
                strings_can_be_null=True,
                check_utf8=False,
            ),
        )

    def _is_whole(self, table: Any) -> bool:
        """Whether each row has some value, as one of an empty line has not, and each number is finite."""
        if find_empty_rows(table.columns) is not None:
            return False
        numbers = (table[name] for name in table.column_names if name in self._numbers)
        return not any(np.isinf(column.to_numpy()).any() for column in numbers)


def find_empty_rows(columns: Sequence[Any]) -> NDArray[np.bool_] | None:
    """Which rows have no value in any of some Arrow columns; None if none is such."""
    if any(column.null_count == 0 for column in columns):
        return None
    none = np.logical_and.reduce([np.asarray(column.is_null()) for column in columns])
    return none if none.any() else None


def _is_utf8(text: bytes) -> bool:
    if text.isascii():
        return True
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


class _Chained(io.RawIOBase):
    """Some bytes, and then a stream."""

    def __init__(self, first: bytes, stream: IO[bytes]) -> None:
        self._first, self._stream = first, stream

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._stream.read(size)
        data, self._first = (self._first, b"") if size < 0 else (self._first[:size], self._first[size:])
        return data
