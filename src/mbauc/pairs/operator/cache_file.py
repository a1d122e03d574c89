"""Compact rows in a file that products read chunk by chunk; docs/scale.md describes the format.

``Records`` walks any such file, ``open_cache`` opens a finished one. Writing is in ``cache_writer``.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CheckpointError
from mbauc.pairs.operator.collector import STATE
from mbauc.pairs.operator.compact_rows import Chunk, CompactRows, StoredRows
from mbauc.pairs.operator.file_reads import FileReads
from mbauc.runtime.threads import run_threads
from mbauc.store.array_schema import ArrayOf
from mbauc.store.arrays import Declared, padded, read_plain
from mbauc.store.file_schema import Number, Record, read_json, shortened, shown
from mbauc.store.fingerprint import FINGERPRINT, BlockMark

MAGIC = b"MBAUCROW"
VERSION = 1
#: Magic, version, CRC-32 of what follows, length of the JSON text that follows (padded by spaces).
HEAD = struct.Struct("<8sIIQ")
#: Kind, CRC-32 of what follows (the payload included), bytes of payload, 48 bytes that depend on the kind.
RECORD = struct.Struct("<4sIQ48s")
#: Group, rows, entries, bytes of a column number, bytes of a value (0: all are one), whether there are weights.
ROWS = struct.Struct("<IIQBBB")
#: Number of the block in the source, its rows, CRC-32 of what it says.
BLOCK = struct.Struct("<QQI")
_COLUMNS: dict[int, np.dtype[Any]] = {2: np.dtype("<u2"), 4: np.dtype("<u4")}
_VALUES: dict[int, np.dtype[Any]] = {4: np.dtype("<f4"), 8: np.dtype("<f8")}
_WHOLE = Number(0, 2**63, whole=True)
#: What the texts at the beginning and at the end tell.
_HEADER = Record({"n_features": Number(1, 2**48, whole=True), "fingerprint": FINGERPRINT})
_CLOSING = Record({"records": _WHOLE, "bytes": _WHOLE, "fingerprint": FINGERPRINT})
_VALUE, _WEIGHT = ArrayOf("<f8", ("entries",)), ArrayOf("<f8", ("rows",), low=0)


#: Group, rows, entries, bytes of a column number and of a value, weights: the fields of a record of rows.
Form = tuple[int, int, int, int, int, int]


class Extent(NamedTuple):
    """One record: where it begins, of which kind it is, where its payload begins and ends, and its fields."""

    start: int
    kind: bytes
    payload: int
    end: int
    fields: bytes


class Content(NamedTuple):
    """Group, number and largest column of the rows of a record; those of others are none."""

    group: int = 0
    rows: int = 0
    last: int = -1


class Records:
    """The records of a file, as far as it goes.

    Parameters
    ----------
    stream : file
        Open for reading.
    path : str
        Its name, for errors.

    Attributes
    ----------
    header : dict or None
        None if the file ends within its header.
    first : int
        Where the header ends.
    records : list of Extent
        Those that end within the file; their checksums are another matter.
    """

    def __init__(self, stream: IO[bytes], path: str) -> None:
        self.path = path
        self._read = FileReads(stream, path)
        self.size = self._read.size
        self.header, self.first = self._header()
        self.records: list[Extent] = []
        place = self.first
        while self.header is not None and place + RECORD.size <= self.size:
            kind, _, length, fields = RECORD.unpack(self._read(place, place + RECORD.size))
            end = place + RECORD.size + length
            if kind not in (b"ROWS", b"BLCK", b"DONE") or end > self.size:
                break
            self.records.append(Extent(place, kind, place + RECORD.size, end, fields))
            place = end
        #: where the last of the records ends
        self.end = place

    def _header(self) -> tuple[dict[str, Any] | None, int]:
        start = bytes(self._read(0, min(HEAD.size, self.size)))
        if not any(start):  # empty, or a page that never reached the disk
            return None, 0
        if start[: len(MAGIC)] != MAGIC[: len(start)]:
            raise CheckpointError(f"{self.path} is not a row cache of mbauc. Choose another folder.")
        if len(start) < HEAD.size:
            return None, 0
        _, version, crc, length = HEAD.unpack(start)
        if version != VERSION:
            raise CheckpointError(
                f"{self.path} has format version {version}, this mbauc reads version {VERSION}. "
                "Delete it to read the data again, or go on with the mbauc that wrote it."
            )
        end = HEAD.size + length
        if end > self.size:
            return None, 0
        if zlib.crc32(self._read(HEAD.size - 8, end)) != crc:
            raise damaged(self.path, "its header")
        try:
            header = read_json(bytes(self._read(HEAD.size, end)))
            _HEADER.check(header, "the header")
        except ValueError as error:
            raise impossible(self.path, error) from error
        return dict(header), end

    def whole(self, n_threads: int) -> list[Content | None]:
        """What the rows of each record are, or None if it does not fit its checksum.

        Reads the file once; memory for a chunk a thread.

        Raises
        ------
        CheckpointError
            If the checksum fits, but no rows can be like that.
        """

        def check(record: Extent) -> Content | None:
            data = self._read(record.start, record.end)
            if zlib.crc32(data[8:]) != int.from_bytes(data[4:8], "little"):
                return None
            return self._content(record, data[RECORD.size :]) if record.kind == b"ROWS" else Content()

        return run_threads(check, self.records, min(n_threads, len(self.records) or 1))

    def _content(self, record: Extent, payload: memoryview) -> Content:
        """What the rows of a chunk are, once they are known to be rows."""
        try:
            rows = _arrays(payload, *self._form(record))
            starts, columns = rows.starts, rows.columns
            if starts[0] or starts[-1] != columns.size or not (starts[1:] >= starts[:-1]).all():
                raise ValueError("the places where rows begin do not rise from 0 to the number of entries")
            _VALUE.check_values(rows.columns if rows.values is None else rows.values, "values")
            if rows.weight is not None:
                _WEIGHT.check_values(rows.weight, "weights")
        except ValueError as error:
            where = f"in bytes {record.start:,} to {record.end:,}, {error}"
            raise impossible(self.path, ValueError(where)) from error
        return Content(rows.group, rows.n_rows, int(columns.max(initial=0)) if columns.size else -1)

    def mark(self, record: Extent) -> BlockMark:
        """What the end of a block says."""
        _, rows, crc = BLOCK.unpack_from(record.fields)
        return BlockMark(rows, crc)

    def chunks(self, stored: bool) -> list[Chunk]:
        """The rows; if ``stored``, each chunk is read when it is asked for, otherwise now."""
        return [self._chunk(record, stored) for record in self.records if record.kind == b"ROWS"]

    def _chunk(self, record: Extent, stored: bool) -> Chunk:
        form = self._form(record)
        if not stored:
            return self._rows(record, form, keep=True)
        group, rows, entries, wide, deep, weighted = form
        size = 4 * (rows + 1) + (wide + deep) * entries + 8 * rows * weighted
        return StoredRows(group, rows, entries, size, partial(self._rows, record, form))

    def _form(self, record: Extent) -> Form:
        """What the fields say of the rows, once they are known to fit the bytes that are there."""
        group, rows, entries, wide, deep, weighted = ROWS.unpack_from(record.fields)
        if group > 1 or wide not in _COLUMNS or (deep and deep not in _VALUES) or weighted > 1:
            raise ValueError(f"rows of a kind that is not known: {shown((group, wide, deep, weighted))}")
        sizes = (4 * (rows + 1), wide * entries, deep * entries, 8 * rows * weighted)
        if sum(map(padded, sizes)) != record.end - record.payload:
            raise ValueError(f"{rows:,} rows of {entries:,} entries do not take the bytes that are there")
        return group, rows, entries, wide, deep, weighted

    def _rows(self, record: Extent, form: Form, keep: bool = False) -> CompactRows:
        return _arrays(self._read(record.payload, record.end, keep=keep), *form)


def _arrays(
    payload: memoryview, group: int, rows: int, entries: int, wide: int, deep: int, weighted: int
) -> CompactRows:
    """The rows of a record, as views of its payload."""
    at = 0

    def array(dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        nonlocal at
        found = np.frombuffer(payload, dtype, count, at)
        at += padded(found.nbytes)
        return found

    starts = array(np.dtype("<u4"), rows + 1)
    columns = array(_COLUMNS[wide], entries)
    values = array(_VALUES[deep], entries) if deep else None
    weight = array(_VALUES[8], rows) if weighted else None
    return CompactRows(group, starts, columns, values, weight)


@dataclass(frozen=True)
class Cache:
    """A finished cache file.

    Attributes
    ----------
    records : Records
        What is in it.
    n_features : int
        Columns of the source.
    fingerprint : dict or None
        What the source told of itself when the last block was read.
    marks : list of BlockMark
        The blocks that the rows came in.
    state : dict of ndarrays
        The collector's sums.
    """

    records: Records
    n_features: int
    fingerprint: dict[str, Any] | None
    marks: list[BlockMark]
    state: dict[str, NDArray[Any]]

    def chunks(self, room: int) -> list[Chunk]:
        """The rows; if they take more than ``room`` bytes, each chunk is read each time it is asked for."""
        return self.records.chunks(stored=self.records.size > room)


def damaged(path: str, what: str) -> CheckpointError:
    """The error for a file that is not as it was written."""
    return CheckpointError(
        f"{path}: {what} does not fit its checksum, so the file is damaged. "
        "Delete it; the same call then reads the data again."
    )


def impossible(path: str, error: ValueError) -> CheckpointError:
    """The error for a file that fits its checksums, but that no rows can have given."""
    return CheckpointError(
        f"{path} fits its checksums, but is no cache of rows that mbauc has written: "
        f"{shortened(str(error)).rstrip('.')}. Delete it; the same call then reads the data again."
    )


def open_cache(path: Path, n_threads: int, *, trusted: bool = False) -> Cache:
    """Open a finished file.

    Parameters
    ----------
    path : Path
        The file.
    n_threads : int
        Threads that check it.
    trusted : bool
        Whether this process has just written it, so that checksums need no second look.

    Raises
    ------
    CheckpointError
        If the file is damaged, cut short, something else, or of a newer version.
    """
    with open(path, "rb") as stream:
        return finished_cache(stream, str(path), n_threads, trusted=trusted)


def finished_cache(
    stream: IO[bytes], path: str, n_threads: int, *, trusted: bool = False, groups: int = 2
) -> Cache:
    """As :func:`open_cache`, for an open file of that many groups of rows; it may be closed afterwards."""
    found = Records(stream, path)
    chunk = 0
    contents = [] if trusted else found.whole(n_threads)
    for record, content in zip(found.records, contents, strict=False):
        if content is None:
            what = f"chunk {chunk}" if record.kind == b"ROWS" else "the end of a block or of the file"
            raise damaged(path, f"{what} (bytes {record.start:,} to {record.end:,})")
        chunk += record.kind == b"ROWS"
    last = found.records[-1] if found.records else None
    if found.header is None or last is None or last.kind != b"DONE" or found.end != found.size:
        raise CheckpointError(
            f"{path} is cut short or damaged: its records end at byte {found.end:,} of {found.size:,} without "
            "the one that closes the file. Delete it; the same call then reads the data again."
        )
    marks = [found.mark(record) for record in found.records if record.kind == b"BLCK"]
    about, state = _closing(stream, path, last, groups)
    if (about["records"], about["bytes"]) != (len(found.records) - 1, last.start):
        raise damaged(path, "the number of its records")
    if not trusted:
        _check_sums(path, [content for content in contents if content], state, found.header["n_features"])
    return Cache(found, found.header["n_features"], about["fingerprint"], marks, state)


def _closing(
    stream: IO[bytes], path: str, last: Extent, groups: int
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The note and the collector's sums at the end of a file."""

    def wanted(about: dict[str, Any], declared: Declared) -> Collection[str]:
        _CLOSING.check(about, "the end")
        STATE.check_declared(declared, groups=groups)
        return declared

    try:
        about, state = read_plain(stream, last.payload, last.end - last.payload, wanted)
        STATE.check_values(state)
    except ValueError as error:
        raise impossible(path, error) from error
    return about, state


def check_last_column(path: str, contents: Iterable[Content], used: int) -> None:
    """Raise a CheckpointError unless rows keep to the columns in use, which compiled loops do not look at."""
    last = max((content.last for content in contents), default=-1)
    if last >= used:
        raise impossible(path, ValueError(f"rows have column {last:,} of the {used:,} that are in use"))


def _check_sums(path: str, contents: list[Content], state: dict[str, NDArray[Any]], n_features: int) -> None:
    """Raise a CheckpointError unless the sums are of these rows."""
    columns = state["columns"]
    check_last_column(path, contents, columns.size)
    rows = [sum(content.rows for content in contents if content.group == group) for group in (0, 1)]
    if rows != state["counts"].tolist():
        raise impossible(path, ValueError(f"{rows} rows of the classes, {state['counts'].tolist()} counted"))
    if columns.size and (columns.max() >= n_features or np.unique(columns).size < columns.size):
        raise impossible(path, ValueError(f"columns in use that are none of {n_features:,}, or one twice"))
