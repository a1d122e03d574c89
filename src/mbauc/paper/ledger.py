"""Results of a long run, one line a task: a killed run goes on where it stopped."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

from mbauc.store.atomic import atomic_write
from mbauc.store.file_schema import shown


class Ledger:
    """An append-only file of finished tasks.

    Each line is a checksum and a JSON object; the first holds the settings. A last line that was cut off in
    the middle is dropped, anything else that does not add up is an error.

    Parameters
    ----------
    path : path
        The file; made if it does not exist.
    settings : dict
        What all results depend on. A file made with other settings is refused, never mixed.

    Attributes
    ----------
    records : list of dict
        Finished tasks.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.ledger"
    >>> Ledger(path, {"seed": 0}).append({"set": 1, "auc": 0.75})
    >>> Ledger(path, {"seed": 0}).records
    [{'set': 1, 'auc': 0.75}]
    """

    def __init__(self, path: str | os.PathLike[str], settings: dict[str, Any]) -> None:
        self._path = Path(path)
        self.records: list[dict[str, Any]] = []
        # as JSON would give them back
        wanted = json.loads(json.dumps(settings))
        if not self._path.exists():
            with atomic_write(self._path) as stream:
                stream.write(_line(wanted))
            return
        whole = self._read()
        if whole[0] != wanted:
            keys = sorted({*whole[0], *wanted})
            apart = [
                f"{key} was {whole[0].get(key)!r}, now {wanted.get(key)!r}"
                for key in keys
                if whole[0].get(key) != wanted.get(key)
            ]
            raise ValueError(
                f"{self._path} was made with other settings ({'; '.join(apart)}). "
                "Delete it, or choose another folder."
            )
        self.records = whole[1:]

    def append(self, record: dict[str, Any]) -> None:
        """Add a finished task; it is on disk when this returns."""
        with open(self._path, "r+b") as stream:
            end = stream.seek(0, os.SEEK_END)
            try:
                stream.write(_line(record))
                stream.flush()
                os.fsync(stream.fileno())
            except BaseException:
                # a full disk must not leave half a line for the next one to be joined to
                stream.truncate(end)
                raise
        self.records.append(json.loads(json.dumps(record)))

    def _read(self) -> list[dict[str, Any]]:
        content = self._path.read_bytes()
        *lines, torn = content.split(b"\n")
        records = [self._parsed(line, number) for number, line in enumerate(lines, 1)]
        if not records:
            # atomically written, so a first line is whole or not of our making
            self._parsed(torn, 1)
        if torn:
            with open(self._path, "rb+") as stream:
                stream.truncate(len(content) - len(torn))
        return records

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        checksum, _, text = line.partition(b" ")
        if checksum != _checksum(text):
            raise ValueError(
                f"{self._path}, line {number}: the checksum does not fit, so the file is damaged or was "
                "edited. Delete it to start again."
            )
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise ValueError(
                f"{self._path}, line {number}: expected a JSON object, got {shown(text)}. Delete the file to "
                "start again."
            )
        return record


def _line(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":")).encode()
    return _checksum(text) + b" " + text + b"\n"


def _checksum(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)
