"""Lines of text that may be anything: quotes, line breaks in fields, other bytes, too few or many fields."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing
from functools import partial
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.faults import Report
from mbauc.readers.table.files.csv_head import CONVERT, quote_is_open
from mbauc.readers.table.files.plain_lines import TextForm, find_empty_rows
from mbauc.readers.table.files.stream_loan import LentStream, Loans
from mbauc.readers.table.files.utf8_stream import OTHER_BYTES, Seen, Utf8Stream, show_bytes


class TextStart(NamedTuple):
    """Where in the text reading begins."""

    #: Bytes before it.
    offset: int
    #: Number of the first line with a row.
    place: int
    #: Lines before that one.
    skip_lines: int


class OddLines:
    """The rows of a text from some line on, parsed by one thread, all columns as texts.

    Parameters
    ----------
    form : TextForm
        What the text is like.
    start : TextStart
        Where it begins.
    columns : sequence of str
        Columns to read.
    report : callable
        Told of lines that have the wrong number of fields, or bytes that are not UTF-8.
    """

    def __init__(self, form: TextForm, start: TextStart, columns: Sequence[str], report: Report) -> None:
        self.form, self._start, self._columns, self._report = form, start, columns, report

    def skip_to_start(self, stream: IO[bytes]) -> IO[bytes]:
        """The stream of the whole text, read up to where the lines begin."""
        before = self._start.offset
        while before and (passed := len(stream.read(min(before, self.form.chunk)))):
            before -= passed
        return stream

    def tables(self, stream: IO[bytes]) -> Generator[tuple[Any, NDArray[np.int64]], None, None]:
        """The rows, and the numbers of their lines."""
        arrow = pyarrow()
        faulty: list[Any] = []
        place = self._start.place
        last = None
        seen = Seen()
        with (
            _Lines(self) as lines,
            closing(self.batches(stream, seen, self._columns, faulty)) as batches,
        ):
            while True:
                try:
                    batch = next(batches, None)
                except arrow.ArrowInvalid as error:
                    raise ValueError(self._describe_error(error, place)) from None
                if batch is None:
                    self._tell(faulty, {})
                    self._check_end(last or "", seen.end, place - 1)
                    return
                lines.count += 1
                rows = batch.num_rows
                if not rows:
                    continue
                places = np.arange(place, place + rows + len(faulty))
                places = places[~np.isin(places, [row.number for row in faulty])][:rows]
                place = int(places[-1]) + 1
                last = batch.column(self.form.names[-1])[-1].as_py()
                others = _other_bytes(batch, self._columns) if seen.marked else {}
                # Arrow may have seen faulty lines of the next batch already
                self._tell(
                    [row for row in faulty if row.number < place],
                    {int(places[row]): message for row, message in others.items()},
                )
                faulty[:] = [row for row in faulty if row.number >= place]
                try:
                    drop = lines.empty(batch)
                except arrow.ArrowInvalid as error:
                    raise ValueError(self._describe_error(error, int(places[0]))) from None
                table = arrow.Table.from_batches([batch]).select(self._columns)
                if others:
                    drop = np.zeros(rows, dtype=bool) if drop is None else drop
                    drop[list(others)] = True
                if drop is not None:
                    table, places = table.filter(arrow.array(~drop)), places[~drop]
                yield table, places

    def _tell(self, faulty: list[Any], others: dict[int, str]) -> None:
        """Lines with the wrong number of fields, and lines with other bytes, in their order."""
        fields = {row.number: row for row in faulty}
        for number in sorted([*fields, *others]):
            where = f"{self.form.file}, line {number:,}"
            if number in others:
                self._report(where, "bytes that are not UTF-8", others[number])
                continue
            row = fields[number]
            if quote_is_open(row.text, self.form.delimiter):  # not one row, but all that follow
                raise ValueError(f"{where}: {self._describe_fields(row)} Close it, or take it out.")
            self._report(where, "wrong number of fields", self._describe_fields(row))

    def batches(
        self, stream: IO[bytes], seen: Seen, columns: Sequence[str], faulty: list[Any]
    ) -> Generator[Any, None, None]:
        """Arrow's batches of the rows that have as many fields as they should; the others go to ``faulty``."""
        arrow, text = pyarrow(), pyarrow("csv")
        form, skip = self.form, self._start.skip_lines
        before = self._start.place - 1 - skip

        def handle(row: Any) -> str:
            faulty.append(row._replace(number=row.number + before))
            return "skip"

        # the last column is always read: a quote that is never closed hides the rest of the file there
        own = list(dict.fromkeys([*columns, form.names[-1]]))
        open_csv = partial(
            text.open_csv,
            # one thread: only then does Arrow know the numbers of lines, and it is as fast
            read_options=text.ReadOptions(
                use_threads=False, block_size=form.chunk, skip_rows=skip, column_names=list(form.names)
            ),
            parse_options=text.ParseOptions(
                delimiter=form.delimiter,
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
                f"{self.form.file}, line {place:,}: a quote is opened and never closed, so that all lines "
                "below it are part of the field. Close it, or take it out."
            )

    def _describe_fields(self, row: Any) -> str:
        text = show_bytes(row.text if len(row.text) <= 60 else row.text[:60] + "…")
        quotes = " A quote that is never closed swallows the lines below it." if row.text.count('"') % 2 else ""
        return f"expected {row.expected_columns} fields, got {row.actual_columns}: {text!r}.{quotes}"

    def _describe_error(self, error: Exception, place: int) -> str:
        said = str(error)
        if "straddl" in said:
            most = f"{self.form.chunk >> 20} MiB"
            why = f"expected lines of at most {most}, got a longer one. Is a quote never closed?"
        else:
            why = said
        return f"{self.form.file}, after line {place - 1:,}: {why}"


class _Lines:
    """Tells which lines have no value in any column, though only some columns are read.

    Where all columns that are read are empty, the same lines are read once more with all columns, by a second
    reader that cuts the file in the same places. Files without such lines are read once.
    """

    def __init__(self, text: OddLines) -> None:
        self._text = text
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
        maybe = find_empty_rows(batch.columns)
        form = self._text.form
        if maybe is None or batch.num_columns == len(form.names):
            return maybe
        if self._batches is None:
            stream = self._open.enter_context(form.file.open())
            again = self._text.batches(self._text.skip_to_start(stream), Seen(), form.names, [])
            self._batches = self._open.enter_context(closing(again))
        whole = None
        while self._read < self.count:
            whole = next(self._batches, None)
            self._read += 1
        if whole is None or whole.num_rows != batch.num_rows:
            raise form.file.change_error()
        return find_empty_rows(whole.columns)


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
