"""Writing a row cache, block by block, so that a killed writer loses one block at most."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from numpy.typing import NDArray

from mbauc.errors import Advice, CheckpointError, DiskFullError
from mbauc.pairs.operator.cache_file import (
    BLOCK,
    HEAD,
    MAGIC,
    RECORD,
    ROWS,
    VERSION,
    Cache,
    Content,
    Records,
    check_last_column,
    finished_cache,
    open_cache,
)
from mbauc.pairs.operator.compact_rows import CompactRows
from mbauc.store.arrays import array_bytes, encoded, padded
from mbauc.store.fingerprint import BlockMark

Piece = memoryview | bytes


class CacheWriter:
    """Appends blocks of compact rows to a file.

    With a path, the file is written as ``path.partial``, taken up again by the next writer if this one is
    killed, and renamed when it is finished. Without one it has no name, and the system removes it when nobody
    reads it any more, also after a kill.

    Parameters
    ----------
    path : Path or None
        Where the finished file goes.
    header : dict
        ``n_features`` and the source's ``fingerprint``, or None.
    n_threads : int
        Threads that check what is there.

    Attributes
    ----------
    name : str
        Name of the file until it is finished.
    marks : list of BlockMark
        Blocks that were there already; what came after the last whole one has been cut off.
    begun : dict or None
        The fingerprint of the source that the file was begun with.
    """

    def __init__(self, path: Path | None, header: dict[str, Any], n_threads: int = 1) -> None:
        self._path, self._header = path, header
        self.marks: list[BlockMark] = []
        self.begun: dict[str, Any] | None = header["fingerprint"]
        self._records = self._blocks = 0
        #: of the rows that were there already
        self._contents: list[Content] = []
        if path is None:
            self.name = f"a temporary file in {tempfile.gettempdir()}"
            nameless = tempfile.TemporaryFile(buffering=0, prefix="mbauc-rows-")  # noqa: SIM115
            self._stream = cast(IO[bytes], nameless)
            end = 0
        else:
            partial = path.with_name(f"{path.name}.partial")
            self.name = str(partial)
            partial.touch()
            self._stream = open(partial, "r+b", buffering=0)  # noqa: SIM115
            try:
                end = self._whole(n_threads)
            except BaseException:
                self._stream.close()
                raise
        self._end = self._stream.seek(end)
        self._stream.truncate()
        if end == 0:
            self._append(_head(header))

    def _whole(self, n_threads: int) -> int:
        """Take note of the whole blocks in the file; where the last of them ends."""
        found = Records(self._stream, self.name)
        if found.header is None:
            return 0
        if found.header["n_features"] != self._header["n_features"]:
            raise wrong_columns(self.name, found.header["n_features"], self._header["n_features"])
        self.begun = found.header["fingerprint"]
        end = found.first
        pending: list[Content] = []
        whole = zip(found.records, found.whole(n_threads), strict=True)
        for number, (record, content) in enumerate(whole, start=1):
            if content is None or record.kind == b"DONE":
                break
            pending.append(content)
            if record.kind == b"BLCK":
                self.marks.append(found.mark(record))
                end, self._records = record.end, number
                self._contents += pending
                pending.clear()
        self._blocks = len(self.marks)
        return end

    def add_block(self, chunks: Sequence[CompactRows], mark: BlockMark) -> None:
        """Append the rows of a block of the source.

        Raises
        ------
        DiskFullError
            If they cannot be written. What was written of them is cut off.
        """
        pieces: list[Piece] = []
        for chunk in chunks:
            pieces += _chunk(chunk)
        pieces += _record(b"BLCK", BLOCK.pack(self._blocks, *mark), [])
        self._append(pieces)
        self._records += len(chunks) + 1
        self._blocks += 1

    def finish(self, state: dict[str, NDArray[Any]], n_threads: int) -> Cache:
        """Close the file with the collector's sums, give it its name and open it for reading."""
        # blocks of an earlier run were checked when they were taken up, but for the columns in use
        check_last_column(self.name, self._contents, state["columns"].size)
        about = {"records": self._records, "bytes": self._end, "fingerprint": self._header["fingerprint"]}
        self._append(_record(b"DONE", b"", encoded(state, about)))
        if self._path is None:
            groups = int(state["counts"].size)  # differences of pairs are one
            cache = finished_cache(self._stream, self.name, n_threads, trusted=True, groups=groups)
            self.close()
            return cache
        try:
            os.fsync(self._stream.fileno())
        except OSError as error:
            raise self._failed(error) from error
        self.close()
        os.replace(self.name, self._path)
        return open_cache(self._path, n_threads, trusted=True)

    def close(self) -> None:
        """Close the file; one without a name is gone then."""
        self._stream.close()

    def _append(self, pieces: Sequence[Piece]) -> None:
        try:
            for piece in pieces:
                rest = memoryview(piece)
                while rest:
                    rest = rest[self._stream.write(rest) :]
        except OSError as error:
            self._stream.seek(self._end)
            self._stream.truncate()
            raise self._failed(error) from error
        self._end = self._stream.tell()

    def _failed(self, error: OSError) -> DiskFullError:
        advice = (
            "The blocks before are kept: make room, and "
            + Advice("the same call goes on from there", command="the same command goes on from there")
            if self._path is not None
            else Advice("Make room, name a folder on another disk (or set TMPDIR), or allow more {memory}")
        )
        done = f"after {self._end / 1e6:,.0f} MB and {self._blocks:,} blocks of rows"
        return DiskFullError(
            error.errno,
            f"the row cache could not be written ({error.strerror or error}) {done}. " + advice,
            self.name,
        )


def wrong_columns(path: str, was: int, now: int) -> CheckpointError:
    """The error for a cache of rows with another number of columns."""
    return CheckpointError(
        f"{path} was made from rows of {was:,} columns, the data has {now:,}. "
        "Delete it to read the data again, or choose another folder."
    )


def _head(header: dict[str, Any]) -> list[Piece]:
    text = json.dumps(header, separators=(",", ":")).encode()
    text = text.ljust(padded(HEAD.size + len(text)) - HEAD.size)
    crc = zlib.crc32(text, zlib.crc32(len(text).to_bytes(8, "little")))
    return [HEAD.pack(MAGIC, VERSION, crc, len(text)), text]


def _record(kind: bytes, fields: bytes, payload: list[Piece]) -> list[Piece]:
    length = sum(len(piece) for piece in payload)
    start = RECORD.pack(kind, 0, length, fields)
    crc = zlib.crc32(start[8:])
    for piece in payload:
        crc = zlib.crc32(piece, crc)
    return [RECORD.pack(kind, crc, length, fields), *payload]


def _chunk(chunk: CompactRows) -> list[Piece]:
    values, weight = chunk.values, chunk.weight
    fields = ROWS.pack(
        chunk.group,
        chunk.n_rows,
        chunk.columns.size,
        chunk.columns.itemsize,
        0 if values is None else values.itemsize,
        weight is not None,
    )
    payload: list[Piece] = []
    for array in (chunk.starts, chunk.columns, values, weight):
        if array is not None:
            payload += [array_bytes(array), bytes(padded(array.nbytes) - array.nbytes)]
    return _record(b"ROWS", fields, payload)
