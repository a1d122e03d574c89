"""Compact rows in a file that products read through a memory map; docs/scale.md describes the format.

``Records`` walks any such file, ``open_cache`` opens a finished one. Writing is in ``cache_writer``.
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.changed_input import BlockMark
from mbauc.errors import CheckpointError
from mbauc.pair_rows.compact_rows import CompactRows
from mbauc.plain_arrays import decoded, padded
from mbauc.threads import run_threads

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


class Record(NamedTuple):
    """One record: where it begins, of which kind it is, where its payload begins and ends, and its fields."""

    start: int
    kind: bytes
    payload: int
    end: int
    fields: bytes


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
    records : list of Record
        Those that end within the file; their checksums are another matter.
    """

    def __init__(self, stream: IO[bytes], path: str) -> None:
        self.path = path
        self.size = os.fstat(stream.fileno()).st_size
        self.map = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if self.size else None
        self.view = memoryview(self.map if self.map is not None else b"")
        self.header, self.first = self._header()
        self.records: list[Record] = []
        place = self.first
        while self.header is not None and place + RECORD.size <= self.size:
            kind, _, length, fields = RECORD.unpack_from(self.view, place)
            end = place + RECORD.size + length
            if kind not in (b"ROWS", b"BLCK", b"DONE") or end > self.size:
                break
            self.records.append(Record(place, kind, place + RECORD.size, end, fields))
            place = end
        #: where the last of the records ends
        self.end = place

    def _header(self) -> tuple[dict[str, Any] | None, int]:
        start = bytes(self.view[: HEAD.size])
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
        if zlib.crc32(self.view[HEAD.size - 8 : end]) != crc:
            raise damaged(self.path, "its header")
        return dict(json.loads(bytes(self.view[HEAD.size : end]))), end

    def whole(self, n_threads: int) -> list[bool]:
        """Whether each record fits its checksum. Reads the file once; memory for a chunk a thread."""

        def check(record: Record) -> bool:
            crc = int.from_bytes(self.view[record.start + 4 : record.start + 8], "little")
            fits = zlib.crc32(self.view[record.start + 8 : record.end]) == crc
            self.advise("MADV_DONTNEED", record)
            return fits

        self.advise("MADV_SEQUENTIAL", Record(0, b"", 0, self.size, b""))
        return run_threads(check, self.records, min(n_threads, len(self.records) or 1))

    def advise(self, advice: str, record: Record) -> None:
        """Tell the system how pages will be used, where it can be told."""
        if self.map is not None and hasattr(mmap, advice):
            page = record.start // mmap.PAGESIZE * mmap.PAGESIZE
            self.map.madvise(getattr(mmap, advice), page, record.end - page)

    def mark(self, record: Record) -> BlockMark:
        """What the end of a block says."""
        _, rows, crc = BLOCK.unpack_from(record.fields)
        return BlockMark(rows, crc)

    def chunks(self, release: bool) -> list[CompactRows]:
        """The rows; if ``release``, each chunk gives its pages back when it has been read."""
        return [self._chunk(record, release) for record in self.records if record.kind == b"ROWS"]

    def _chunk(self, record: Record, release: bool) -> CompactRows:
        group, rows, entries, wide, deep, weighted = ROWS.unpack_from(record.fields)
        at = record.payload

        def array(dtype: np.dtype[Any], count: int) -> NDArray[Any]:
            nonlocal at
            found = np.frombuffer(self.view, dtype, count, at)
            at += padded(found.nbytes)
            return found

        starts = array(np.dtype("<u4"), rows + 1)
        columns = array(_COLUMNS[wide], entries)
        values = array(_VALUES[deep], entries) if deep else None
        weight = array(_VALUES[8], rows) if weighted else None
        done = partial(self.advise, "MADV_DONTNEED", record) if release else None
        return CompactRows(group, starts, columns, values, weight, done)


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

    def chunks(self, room: int) -> list[CompactRows]:
        """The rows; if they take more than ``room`` bytes, each chunk gives its memory back once read."""
        return self.records.chunks(release=self.records.size > room)


def damaged(path: str, what: str) -> CheckpointError:
    """The error for a file that is not as it was written."""
    return CheckpointError(
        f"{path}: {what} does not fit its checksum, so the file is damaged. "
        "Delete it; the same call then reads the data again."
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


def finished_cache(stream: IO[bytes], path: str, n_threads: int, *, trusted: bool = False) -> Cache:
    """As :func:`open_cache`, for an open file; it may be closed afterwards."""
    found = Records(stream, path)
    chunk = 0
    for record, fits in zip(found.records, [] if trusted else found.whole(n_threads), strict=False):
        if not fits:
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
    about, state = decoded(found.view[last.payload : last.end])
    if (about["records"], about["bytes"]) != (len(found.records) - 1, last.start):
        raise damaged(path, "the number of its records")
    return Cache(found, found.header["n_features"], about["fingerprint"], marks, state)
