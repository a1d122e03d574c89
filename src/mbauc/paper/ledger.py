"""Results of a long run, one record a task: a killed run is resumed where it stopped."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from mbauc.errors import CheckpointError
from mbauc.store.array_schema import Arrays
from mbauc.store.atomic import atomic_write
from mbauc.store.file_kind import FileKind
from mbauc.store.file_schema import Record, Text
from mbauc.store.journal import Journal, JournalWriter, begin_journal
from mbauc.store.json_values import describe_differences

LEDGER = FileKind("ledger", CheckpointError, "Delete it to start again, or choose another folder")
_TASK = "task"
#: Schema of a record. A result is JSON within a text: it may be NaN, which files do not have otherwise.
_ABOUT = Record({"result": Text()})
#: A record has no arrays.
_NOTHING = Arrays({})


class Ledger:
    """An append-only file of finished tasks (:mod:`mbauc.store.journal`).

    A last record that was cut off in the middle is dropped, anything else that does not add up is an error.

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
        self._settings = json.loads(json.dumps(settings))
        if not self._path.exists():
            # so that a file without its settings is never of our making
            with atomic_write(self._path) as stream:
                stream.writelines(begin_journal(LEDGER, self._settings))
        with open(self._path, "rb") as stream:
            journal = Journal(stream, str(self._path), LEDGER)
        bodies = journal.read_all()
        if journal.about != self._settings:
            apart = describe_differences(journal.about, self._settings)
            raise LEDGER.reject(str(self._path), f"was made with other settings ({apart})")
        try:
            for number, body in enumerate(bodies, start=1):
                _ABOUT.check(body.about, f"record {number}")
                _NOTHING.check_declared(body.declared)
                self.records.append(json.loads(body.about["result"]))
        except (ValueError, RecursionError) as error:
            raise LEDGER.reject_content(str(self._path), ValueError(str(error))) from error
        if journal.end < journal.size:
            os.truncate(self._path, journal.end)

    def append(self, record: dict[str, Any]) -> None:
        """Add a finished task; it is on disk when this returns. On a full disk the tasks before it are kept."""
        text = json.dumps(record, separators=(",", ":"))
        with open(self._path, "r+b", buffering=0) as stream:
            advice = "The tasks before are kept: make room, and the same call resumes from there"
            end = stream.seek(0, os.SEEK_END)
            writer = JournalWriter(stream, str(self._path), LEDGER, self._settings, end, advice)
            writer.append([(_TASK, {"result": text}, {})], sync=True)
        self.records.append(json.loads(text))
