"""The first lines of a text table: what separates its fields, and how its columns are named."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from itertools import islice
from typing import IO, NamedTuple

from mbauc.errors import Advice
from mbauc.readers.table.files.paths import TableFile

_SEPARATORS = ",\t;|"
#: Bytes of a file that are looked at to find its separator and header.
HEAD_BYTES = 1 << 20
#: Lines of them that are looked at.
_HEAD_LINES = 20
#: Bytes that the first line may have.
_LONGEST_HEADER = 1 << 25
#: Bytes that tell whether characters have two bytes each.
_WIDE_BYTES = 1 << 10
#: What to do about other encodings.
CONVERT = "Convert the file first (iconv -f latin1 -t utf-8, or from the encoding that it has)"
#: What files of other programs begin with.
_OTHERS = {
    b"\xd0\xcf\x11\xe0": "an Excel workbook",  # before .xlsx
    b"ARROW1": "a Feather file",
    b"SQLite format 3": "an SQLite database",
    b"\x93NUMPY": "a NumPy array",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), "a pickle"),
}
_JSON = re.compile(rb"\s*(\[\s*)?\{\s*\"")
_HEADLESS = Advice(
    "If the file has no header line, pass {names}, which calls them c1, c2, …, ", names="auto"
) + Advice("or {names} with a name for each column.", names=[...])
#: A first line by which a spreadsheet says what separates the fields of the lines below.
_SEPARATOR_LINE = re.compile(r"(\"?)sep=([^\r\n\"])\1(?:\r\n|\r|\n)", re.IGNORECASE)
_BREAK = re.compile(r"\r\n|\r|\n")


class CsvRecord(NamedTuple):
    """A line of a text table, or several if a quoted field has line breaks."""

    #: Its fields, without their quotes.
    fields: list[str]
    #: Place in the text behind it.
    end: int
    #: Lines of the text up to its end.
    lines: int


def records(text: str, delimiter: str) -> Iterator[CsvRecord]:
    r"""The lines of a text that are not empty; a field may have any length.

    ``O(length)`` time.

    Examples
    --------
    >>> from mbauc.readers.table.files.csv_head import records
    >>> [record.fields for record in records('a,b\n\n"x, y",2\n', ",")]
    [['a', 'b'], ['x, y', '2']]
    """
    end, bare = re.escape(delimiter), f"[^{re.escape(delimiter)}\r\n]*"
    field = re.compile(rf'(?:"([^"]*(?:""[^"]*)*)"?)?({bare})({end}|\r\n|\r|\n|\Z)')
    place = lines = 0
    while place < len(text):
        found = _BREAK.search(text, place)
        stop, next_line = found.span() if found else (len(text), len(text))
        if '"' in text[place:stop]:
            fields, ended = [], delimiter
            start = place
            while ended == delimiter and (part := field.match(text, place)):
                quoted, rest, ended = part.groups()
                fields.append((quoted or "").replace('""', '"') + rest)
                place = part.end()
            lines += len(_BREAK.findall(text, start, place)) + (ended == "")
        else:
            fields, place, lines = text[place:stop].split(delimiter), next_line, lines + 1
        if fields != [""]:
            yield CsvRecord(fields, place, lines)


def quote_is_open(text: str, delimiter: str) -> bool:
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


def read_first_lines(stream: IO[bytes], file: TableFile) -> str:
    """The first lines, whole, as text; an error if there are none, or the first one is not UTF-8."""
    data = _start(stream)
    kind = next((name for start, name in _OTHERS.items() if data.startswith(start)), None)
    if kind or _JSON.match(data):
        raise ValueError(
            f"{file} is {kind or 'JSON'}; expected rows as CSV, TSV or Parquet. Save the table as one of these."
        )
    if len(data) >= _LONGEST_HEADER:
        raise ValueError(
            f"{file}: the first line is longer than {_LONGEST_HEADER >> 20} MiB; expected names of columns, or "
            "a row. Is it a text file with line ends?"
        )
    wide = _find_wide(data)
    if wide:
        raise ValueError(
            f"{file}: expected UTF-8, got {wide.upper()}. Convert the file first (iconv -f {wide} -t utf-8)."
        )
    data = data.removeprefix(codecs.BOM_UTF8)
    if not data.strip():
        raise ValueError(f"{file} is empty; expected a header line and rows.")
    lines = data.splitlines(keepends=True)[: 5 * _HEAD_LINES]
    # below the header other bytes are reported when they are read, with their line
    header = next(line for line in lines if line.strip())
    if b"\x00" in header or "\ufffd" in header.decode("utf-8", errors="replace"):
        raise ValueError(f"{file}: expected UTF-8, got other bytes. {CONVERT}.")
    return b"".join(lines).decode("utf-8", errors="replace")


def _find_wide(data: bytes) -> str:
    """The encoding of a text of two or four bytes a character, by its mark or its zero bytes; empty if none."""
    # the marks of UTF-32 begin with those of UTF-16
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    first, second = (data[place:_WIDE_BYTES:2] for place in (0, 1))
    if first.count(0) > len(first) // 2 and 0 not in second:
        return "utf-16-be"
    if second.count(0) > len(second) // 2 and 0 not in first:
        return "utf-16-le"
    return ""


def _start(stream: IO[bytes]) -> bytes:
    """Whole lines from the start of a file, as many as are looked at or at least the first one."""
    data, size = b"", HEAD_BYTES
    while more := stream.read(size - len(data)):
        data += more
        if len(data) < size:
            continue
        whole = data[: max(data.rfind(b"\n"), data.rfind(b"\r")) + 1]
        if whole.removeprefix(codecs.BOM_UTF8).strip():
            return whole
        if size >= _LONGEST_HEADER:
            break
        size *= 2
    return data


def find_separator_line(head: str) -> tuple[str, str]:
    r"""A first line such as ``sep=;``, and the separator that it names; both empty if there is none.

    Examples
    --------
    >>> from mbauc.readers.table.files.csv_head import find_separator_line
    >>> find_separator_line("sep=;\na;b\n1;2\n"), find_separator_line("a;b\n1;2\n")
    (('sep=;\n', ';'), ('', ''))
    """
    found = _SEPARATOR_LINE.match(head)
    return (found[0], found[2]) if found else ("", "")


def find_separator(head: str, file: TableFile) -> str:
    """The separator by which most lines have as many fields as the first, and that more than one."""
    best, share, fields = "", 0.0, 1
    for separator in _SEPARATORS:
        counts = [len(record.fields) for record in islice(records(head, separator), _HEAD_LINES)]
        if not counts:
            continue
        # lines that do not fit are reported when they are read
        fitting = counts.count(counts[0]) / len(counts)
        if counts[0] > 1 and (fitting, counts[0]) > (share, fields):
            best, share, fields = separator, fitting, counts[0]
    if not best:
        line = head.lstrip().split("\n", 1)[0][:60]
        raise ValueError(
            f"{file}: cannot tell what separates the columns of {line!r}; expected a comma, tab, semicolon or "
            "bar. " + Advice("Pass {delimiter}", delimiter=...)
        )
    return best


def header_names(fields: list[str], file: TableFile) -> list[str]:
    """Names of columns by the header line (``Unnamed: 0`` as in pandas); an error if it looks like a row."""
    names = [field.strip() for field in fields]
    if _looks_like_a_row(names):
        shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
        raise ValueError(f"{file}: expected names of columns in the first line, got {shown}. " + _HEADLESS)
    taken = set(names)
    for place, name in enumerate(names):
        if not name:
            free = f"Unnamed: {place}"
            while free in taken:
                free += "_"
            names[place] = free
            taken.add(free)
    return names


def _looks_like_a_row(names: list[str]) -> bool:
    numbers = [name for name in names if _is_number(name)]
    if numbers == [str(k) for k in range(len(numbers))] and len(numbers) > (2 if names[0] else 1):
        return False  # columns of a frame that pandas has numbered
    if len(numbers) > len(names) / 2 or not any(names):
        return True
    return bool(numbers) and ("" in names[1:] or len(set(names)) < len(names))


def check_names(names: list[str], file: TableFile) -> None:
    """Raise if two columns have one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f"{file}: two columns are named {name!r}; give each a name of its own. " + _HEADLESS
            )
        seen.add(name)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
