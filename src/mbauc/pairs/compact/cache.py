"""Compact rows in a journal that products read chunk by chunk; docs/reference/formats.md describes the format.

Records are ``rows`` (a chunk of one class), ``block`` (the end of a block of the source) and ``end``. A killed
writer loses one block at most.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import abbreviate
from mbauc.errors import Advice, CheckpointError
from mbauc.pairs.compact.collector import STATE
from mbauc.pairs.compact.rows import Chunk, CompactRows, StoredRows
from mbauc.rows.fingerprint import FINGERPRINT, BlockMark
from mbauc.runtime.threads import run_threads
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.arrays import Body
from mbauc.store.file_kind import FileKind
from mbauc.store.file_schema import Number, Record
from mbauc.store.journal import Entry, Extent, Journal, JournalWriter

ROW_CACHE = FileKind("row cache", CheckpointError, "Delete it; the same call then reads the data again")
#: Kinds of records: a chunk of rows, the end of a block, the end of the file.
_ROWS = "rows"
_BLOCK = "block"
_END = "end"
_WHOLE = Number(0, 2**63, whole=True)
_HEADER = Record({"n_features": Number(1, 2**48, whole=True), "fingerprint": FINGERPRINT})
#: The arrays of a chunk, which are the attributes of compact rows.
_CHUNK = Arrays(
    {"starts": ArrayOf("<u4", ("rows+1",)), "columns": ArrayOf(("<u2", "<u4"), ("entries",))},
    optional={
        "values": ArrayOf(("<f4", "<f8"), ("entries",)),
        "weight": ArrayOf("<f8", ("rows",), low=0),
        "groups": ArrayOf("<u8", ("rows",)),
    },
)
#: What each kind of record says and holds.
_RECORDS = {
    _ROWS: (Record({"group": Number(0, 1, whole=True)}), _CHUNK),
    _BLOCK: (Record({"rows": _WHOLE, "crc": Number(0, 2**32 - 1, whole=True)}), Arrays({})),
    _END: (Record({"records": _WHOLE, "bytes": _WHOLE, "fingerprint": FINGERPRINT}), STATE),
}


@dataclass(frozen=True)
class _Part:
    """A record that fits its checksum, with number and largest column of its rows, if it has any."""

    record: Body
    rows: int = 0
    last_column: int = -1


@dataclass(frozen=True)
class RowCache:
    """A finished cache file."""

    journal: Journal
    records: Sequence[Body]
    n_features: int
    #: fingerprint of the source when the last block was read
    fingerprint: dict[str, Any] | None
    #: the blocks that the rows came in
    marks: list[BlockMark]
    #: the collector's sums
    state: dict[str, NDArray[Any]]

    def chunks(self, room: int) -> list[Chunk]:
        """The rows; if they take more than ``room`` bytes, each chunk is read each time it is asked for."""
        stored = self.journal.size > room
        return [self._chunk(record, stored) for record in self.records if record.kind == _ROWS]

    def _chunk(self, record: Body, stored: bool) -> Chunk:
        if not stored:
            return self._read(record, keep=True)
        rows, entries = record.fields[0].shape[0] - 1, record.fields[1].shape[0]
        size = sum(np.dtype(field.dtype).itemsize * field.shape[0] for field in record.fields)
        return StoredRows(record.about["group"], rows, entries, size, partial(self._read, record))

    def _read(self, record: Body, keep: bool = False) -> CompactRows:
        return _compact_rows(record, self.journal.read(record, keep=keep))


def _compact_rows(record: Body, arrays: Mapping[str, NDArray[Any]]) -> CompactRows:
    return CompactRows(
        record.about["group"],
        arrays["starts"],
        arrays["columns"],
        arrays.get("values"),
        arrays.get("weight"),
        arrays.get("groups"),
    )


# -- reading -------------------------------------------------------------------------------------------------


def open_cache(path: Path, n_threads: int) -> RowCache:
    """Open a finished file and validate all of it; damage is a CheckpointError."""
    with open(path, "rb") as stream:
        journal = _open_journal(stream, str(path))
    parts = _check_records(journal, n_threads)
    for number, (extent, part) in enumerate(zip(journal.extents, parts, strict=True)):
        if part is None:
            where = f"record {number} (bytes {extent.start:,} to {extent.end:,})"
            raise ROW_CACHE.reject(str(path), f"is damaged: {where} does not match its checksum")
    checked = [part for part in parts if part is not None]
    cache = _build_cache(journal, [part.record for part in checked])
    _check_sums(cache, checked)
    return cache


def _open_journal(stream: IO[bytes], path: str) -> Journal:
    journal = Journal(stream, path, ROW_CACHE)
    try:
        if journal.about is not None:
            _HEADER.check(journal.about, "the header")
    except ValueError as error:
        raise ROW_CACHE.reject_content(path, error) from error
    return journal


def _check_records(journal: Journal, n_threads: int) -> list[_Part | None]:
    """Each record, or None if it does not fit its checksum. One pass; memory for a chunk a thread."""

    def check(extent: Extent) -> _Part | None:
        verified = journal.verify(extent)
        if verified is None:
            return None
        record, memory = verified
        try:
            _check_declared(record)
            return _check_arrays(record, record.view(memory, extent.body))
        except ValueError as error:
            raise journal.reject_record(extent, error) from error

    return run_threads(check, journal.extents, min(n_threads, len(journal.extents) or 1))


def _check_declared(record: Body) -> None:
    """Raise a ValueError unless a record says what mbauc writes."""
    if record.kind not in _RECORDS:
        raise ValueError(f"a record of the kind {abbreviate(record.kind)}, which is not known")
    about, arrays = _RECORDS[record.kind]
    about.check(record.about, record.kind)
    arrays.check_declared(record.declared)


def _check_arrays(record: Body, arrays: Mapping[str, NDArray[Any]]) -> _Part:
    """A record, once its arrays are known to be rows, or their sums."""
    if record.kind == _END:
        STATE.check_values(arrays)
    if record.kind != _ROWS:
        return _Part(record)
    starts, columns = arrays["starts"], arrays["columns"]
    if starts[0] or starts[-1] != columns.size or not (starts[1:] >= starts[:-1]).all():
        raise ValueError("the places where rows begin do not rise from 0 to the number of entries")
    for name, schema in _CHUNK.optional.items():
        if name in arrays:
            schema.check_values(arrays[name], name)
    return _Part(record, starts.size - 1, int(columns.max()) if columns.size else -1)


def _build_cache(journal: Journal, records: Sequence[Body]) -> RowCache:
    last = records[-1] if records else None
    if journal.about is None or last is None or last.kind != _END or journal.end != journal.size:
        raise ROW_CACHE.reject(
            journal.path,
            f"is cut short or damaged: its records end at byte {journal.end:,} of {journal.size:,} without "
            "the one that closes the file",
        )
    if (last.about["records"], last.about["bytes"]) != (len(records) - 1, journal.extents[-1].start):
        raise ROW_CACHE.reject(journal.path, "is damaged: the number of its records is not what its end says")
    marks = [BlockMark(**record.about) for record in records if record.kind == _BLOCK]
    state = journal.read(last, keep=True)
    about = journal.about
    return RowCache(journal, records, about["n_features"], last.about["fingerprint"], marks, state)


def _check_last_column(path: str, parts: Iterable[_Part], used: int) -> None:
    """Raise a CheckpointError unless rows keep to the columns in use, which compiled loops do not look at."""
    last = max((part.last_column for part in parts), default=-1)
    if last >= used:
        error = ValueError(f"rows have column {last:,} of the {used:,} that are in use")
        raise ROW_CACHE.reject_content(path, error)


def _check_sums(cache: RowCache, parts: Sequence[_Part]) -> None:
    """Raise a CheckpointError unless the sums are of these rows."""
    path, columns, counts = cache.journal.path, cache.state["columns"], cache.state["counts"].tolist()
    _check_last_column(path, parts, columns.size)
    of_rows = [part for part in parts if part.record.kind == _ROWS]
    rows = [sum(part.rows for part in of_rows if part.record.about["group"] == stratum) for stratum in (0, 1)]
    if rows != counts:
        raise ROW_CACHE.reject_content(path, ValueError(f"{rows} rows of the classes, {counts} counted"))
    if columns.size and (columns.max() >= cache.n_features or np.unique(columns).size < columns.size):
        error = ValueError(f"columns in use that are none of {cache.n_features:,}, or one twice")
        raise ROW_CACHE.reject_content(path, error)


# -- writing -------------------------------------------------------------------------------------------------


class RowCacheWriter:
    """Appends blocks of compact rows to a file.

    With a path, the file is written as ``path.partial``, resumed by the next writer if this one is killed, and
    renamed when it is finished. Without one it has no name, and the system removes it when nobody reads it any
    more, also after a kill.

    ``header`` has ``n_features`` and the source's ``fingerprint``, or None; ``n_threads`` check what is there.
    """

    def __init__(self, path: Path | None, header: dict[str, Any], n_threads: int = 1) -> None:
        self._path, self._header = path, header
        #: blocks that were there already; what came after the last whole one has been cut off
        self.marks: list[BlockMark] = []
        #: of the source that the file was begun with
        self.first_fingerprint: dict[str, Any] | None = header["fingerprint"]
        self._records: list[Body] = []
        #: those that were there already
        self._parts: list[_Part] = []
        end = 0
        if path is None:
            self.name = f"a temporary file in {tempfile.gettempdir()}"
            nameless = tempfile.TemporaryFile(buffering=0, prefix="mbauc-rows-")  # noqa: SIM115
            stream = cast(IO[bytes], nameless)
        else:
            partial = path.with_name(f"{path.name}.partial")
            self.name = str(partial)
            partial.touch()
            stream = open(partial, "r+b", buffering=0)  # noqa: SIM115
        advice = (
            "The blocks before are kept: make room, and "
            + Advice("the same call resumes from there", command="the same command resumes from there")
            if path is not None
            else Advice("Make room, name a folder on another disk (or set TMPDIR), or allow more {memory}")
        )
        self._stream = stream
        try:
            if path is not None:
                end = self._resume(n_threads)
            self._writer = JournalWriter(stream, self.name, ROW_CACHE, header, end, advice)
        except BaseException:
            stream.close()
            raise

    def _resume(self, n_threads: int) -> int:
        """Take note of the whole blocks in the file; where the last of them ends."""
        journal = _open_journal(self._stream, self.name)
        if journal.about is None:
            return 0
        if journal.about["n_features"] != self._header["n_features"]:
            raise wrong_columns(self.name, journal.about["n_features"], self._header["n_features"])
        self.first_fingerprint = journal.about["fingerprint"]
        end = journal.first
        pending: list[_Part] = []
        for extent, part in zip(journal.extents, _check_records(journal, n_threads), strict=True):
            if part is None or part.record.kind == _END:
                break
            pending.append(part)
            if part.record.kind == _BLOCK:
                self.marks.append(BlockMark(**part.record.about))
                self._parts += pending
                pending, end = [], extent.end
        self._records = [part.record for part in self._parts]
        return end

    def add_block(self, chunks: Sequence[CompactRows], mark: BlockMark) -> None:
        """Append the rows of a block of the source; if there is no room for all of them, none of them."""
        entries = [*map(_entry, chunks), (_BLOCK, mark._asdict(), {})]
        self._records += self._writer.append(entries)

    def finish(self, state: dict[str, NDArray[Any]]) -> RowCache:
        """Close the file with the collector's sums, give it its name and open it for reading."""
        # blocks of an earlier run were checked when they were resumed, but for the columns in use
        _check_last_column(self.name, self._parts, state["columns"].size)
        fingerprint = self._header["fingerprint"]
        about = {"records": len(self._records), "bytes": self._writer.end, "fingerprint": fingerprint}
        self._records += self._writer.append([(_END, about, state)], sync=self._path is not None)
        if self._path is None:
            journal = Journal(self._stream, self.name, ROW_CACHE)
            self.close()
        else:
            self.close()
            os.replace(self.name, self._path)
            with open(self._path, "rb") as stream:
                journal = Journal(stream, str(self._path), ROW_CACHE)
        return _build_cache(journal, self._records)

    def close(self) -> None:
        """Close the file; one without a name is gone then."""
        self._stream.close()


def wrong_columns(path: str, was: int, now: int) -> CheckpointError:
    """The error for a cache of rows with another number of columns."""
    return CheckpointError(
        f"{path} was made from rows of {was:,} columns, the data has {now:,}. "
        "Delete it to read the data again, or choose another folder."
    )


def _entry(chunk: CompactRows) -> Entry:
    arrays = {name: getattr(chunk, name) for name in ("starts", "columns", "values", "weight", "groups")}
    held = {name: array for name, array in arrays.items() if array is not None}
    return _ROWS, {"group": int(chunk.stratum)}, held
