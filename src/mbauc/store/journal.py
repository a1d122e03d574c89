"""One file for what grows record by record: caches of rows, ledgers of finished tasks.

::

    head      as of a container (:mod:`mbauc.store.container`) with the mark  89 4D 42 41 55 4A 0D 0A;
              its body has no arrays: what the whole file is about
    record    length of the body (8 bytes), CRC-32 of the body, CRC-32 of these 12 bytes,
              the body (:mod:`mbauc.store.arrays`): its kind, values of JSON and arrays
    …

A writer that is killed leaves a beginning of a record at the end, at most. Records are read one at a time, in
bounded memory, and never mapped.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from typing import IO, Any, NamedTuple

from numpy.typing import NDArray

from mbauc.errors import DiskFullError
from mbauc.store.arrays import Body, Piece, decode_memory, encode
from mbauc.store.container import HEAD, UNSEALED, file_crc, read_body, seal
from mbauc.store.file_kind import FileKind
from mbauc.store.stable_file import StableFile

MARK = b"\x89MBAUJ\r\n"
#: Length and checksum of a body, and the checksum of these two.
RECORD = struct.Struct("<QII")
#: Kind, values of JSON and arrays of a record to be written.
Entry = tuple[str, Mapping[str, Any], Mapping[str, Any]]


class Extent(NamedTuple):
    """Where a record begins, where its body begins and ends, and what the checksum of that should be."""

    start: int
    body: int
    end: int
    crc: int


class Journal:
    """The records of a file, as far as it goes; an error of its kind if its head is another or damaged."""

    def __init__(self, stream: IO[bytes], path: str, kind: FileKind) -> None:
        self.path, self._kind = path, kind
        self._file = StableFile(stream, path, kind)
        self.size = self._file.size
        #: what the whole file is about, None if it ends within its head; and where that ends
        self.about, self.first = self._read_head()
        #: records that end within the file; whether they fit their checksums is for `verify`
        self.extents: list[Extent] = []
        #: where the last of them ends
        self.end = self.first
        while self.about is not None and (extent := self._next()) is not None:
            self.extents.append(extent)
            self.end = extent.end

    def _read_head(self) -> tuple[dict[str, Any] | None, int]:
        head = bytes(self._file.read(0, min(HEAD.size, self.size)))
        if not any(head):  # empty, or a page that never reached the disk
            return None, 0
        if head[: len(MARK)] != MARK[: len(head)]:
            raise self._kind.reject_start(self.path, head, MARK)
        if len(head) < HEAD.size:
            return None, 0
        _, crc, version, length = HEAD.unpack(head)
        end = HEAD.size + length
        if end > self.size:
            return None, 0
        if file_crc(self._file, UNSEALED, end) != crc:
            raise self._kind.reject(self.path, "is damaged: its header does not match its checksum")
        self._kind.require_version(self.path, version)
        try:
            return read_body(self._file, self._kind, HEAD.size, length).about, end
        except self._kind.error:
            raise
        except ValueError as error:
            raise self._kind.reject_content(self.path, error) from error

    def _next(self) -> Extent | None:
        """The record behind the last one, if all of it is there and its head is whole."""
        body = self.end + RECORD.size
        if body > self.size:
            return None
        head = self._file.read(self.end, body)
        length, crc, own = RECORD.unpack(head)
        if zlib.crc32(head[:12]) != own or body + length > self.size:
            return None
        return Extent(self.end, body, body + length, crc)

    def verify(self, extent: Extent) -> tuple[Body, memoryview] | None:
        """A record and its bytes, which are valid until this thread reads again; None if it is damaged."""
        memory = self._file.read(extent.body, extent.end)
        if zlib.crc32(memory) != extent.crc:
            return None
        try:
            return decode_memory(memory, extent.body), memory
        except ValueError as error:
            raise self.reject_record(extent, error) from error

    def read(self, body: Body, *, keep: bool = False) -> dict[str, NDArray[Any]]:
        """The arrays of a record, valid until this thread reads again, unless they are to be kept."""
        return body.view(self._file.read(body.start, body.end, keep=keep), body.start)

    def read_all(self) -> list[Body]:
        """What all records say; a beginning of one at the end is left out, anything else must be whole."""
        bodies = []
        for number, extent in enumerate(self.extents, start=1):
            verified = self.verify(extent)
            if verified is None:
                raise self._reject_damage(number)
            bodies.append(verified[0])
        if self.about is None or not self._ends_torn():
            raise self._reject_damage(len(bodies) + 1)
        return bodies

    def _ends_torn(self) -> bool:
        """Whether what stands behind the last record is nothing, or a beginning of one."""
        if self.size < self.end + RECORD.size:
            return True
        head = self._file.read(self.end, self.end + RECORD.size)
        return bool(zlib.crc32(head[:12]) == RECORD.unpack(head)[2])

    def _reject_damage(self, number: int) -> ValueError:
        return self._kind.reject(self.path, f"is damaged: record {number} does not match its checksum")

    def reject_record(self, extent: Extent, error: ValueError) -> ValueError:
        """The error for a record that fits its checksum, but says what no mbauc has written."""
        where = f"in bytes {extent.start:,} to {extent.end:,}, {error}"
        return self._kind.reject_content(self.path, ValueError(where))


def begin_journal(kind: FileKind, about: Mapping[str, Any]) -> list[Piece]:
    """The head of a file without records, as pieces to write."""
    return seal(MARK, kind, about, {})


class JournalWriter:
    """Appends records to a file that is open for reading and writing, without a buffer.

    What stands behind ``end``, where the last whole record ends, is cut off; 0 begins the file, with what it is
    ``about``. ``advice`` says what to do when the disk is full, as a sentence without a full stop.
    """

    def __init__(
        self, stream: IO[bytes], path: str, kind: FileKind, about: Mapping[str, Any], end: int, advice: str
    ) -> None:
        self.stream, self._path, self._kind, self._advice = stream, path, kind, advice
        self.end = stream.seek(end)
        stream.truncate()
        if end == 0:
            self._write(begin_journal(kind, about), sync=False)

    def append(self, entries: Sequence[Entry], *, sync: bool = False) -> list[Body]:
        """Write records one after another; with ``sync``, they are on disk when this returns.

        If they cannot be written, what was written of them is cut off, and a DiskFullError is raised.
        """
        pieces: list[Piece] = []
        bodies: list[Body] = []
        place = self.end
        for entry in entries:
            start = place + RECORD.size
            encoded, body = encode(*entry, start)
            crc = 0
            for piece in encoded:
                crc = zlib.crc32(piece, crc)
            head = struct.pack("<QI", body.end - start, crc)
            pieces += [head + struct.pack("<I", zlib.crc32(head)) + encoded[0], *encoded[1:]]
            bodies.append(body)
            place = body.end
        self._write(pieces, sync)
        return bodies

    def _write(self, pieces: Sequence[Piece], sync: bool) -> None:
        try:
            for piece in pieces:
                rest = memoryview(piece)
                while rest:
                    rest = rest[self.stream.write(rest) :]
            if sync:
                os.fsync(self.stream.fileno())
        except BaseException as error:
            self.stream.seek(self.end)
            self.stream.truncate()
            if not isinstance(error, OSError):
                raise
            raise DiskFullError(
                error.errno,
                f"the {self._kind.name} could not be written ({error.strerror or error}) after "
                f"{self.end / 1e6:,.1f} MB. {self._advice}",
                self._path,
            ) from error
        self.end = self.stream.tell()
