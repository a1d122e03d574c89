"""The part of a download that has come so far: kept beside its place until it is whole."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from mbauc.errors import DownloadError
from mbauc.store.atomic import atomic_write


class PartFile:
    """Bytes so far, and a note on the address and the version of the file that they belong to.

    Attributes
    ----------
    path : Path
        The file's place with the ending ``.part``; the note has the ending ``.part.json``.
    """

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self.path, self._stream = path, stream
        self._note = path.with_name(path.name + ".json")

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._stream.seek(0, os.SEEK_END)

    def version(self, url: str) -> str | None:
        """Version that the bytes belong to, as the server named it; None if they cannot be continued."""
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            found = note["version"] if note["url"] == url else None
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if isinstance(found, str) else None

    def restart(self, url: str = "", version: str | None = None) -> None:
        """Throw away what has come; take a note of what comes next."""
        self._stream.truncate(0)
        with atomic_write(self._note) as note:
            note.write(json.dumps({"url": url, "version": version}).encode())

    def append(self, chunk: bytes) -> None:
        """Write some more bytes, past all buffers of this process, so that none is lost if it is killed."""
        rest = memoryview(chunk)
        try:
            while rest:
                rest = rest[self._stream.write(rest) :]
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise DownloadError(
                f"{self.path}: no room left on the disk. What has come is kept: make room and download again, "
                "or choose another folder."
            ) from error

    def check_room(self, more: int | None) -> None:
        """Refuse to begin what the disk has no room for."""
        free = shutil.disk_usage(self.path.parent).free
        if more is not None and more > free:
            raise DownloadError(
                f"{self.path.parent}: {more:,} more bytes are to come, but the disk has room for {free:,}. "
                "Make room, or choose another folder."
            )

    def discard(self) -> None:
        """Keep nothing."""
        self._note.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Give the whole file its name."""
        os.fsync(self._stream.fileno())
        if os.name == "nt":  # where an open file cannot be renamed
            self._stream.close()
        os.replace(self.path, target)
        self._note.unlink(missing_ok=True)


@contextmanager
def part_of(target: Path) -> Iterator[PartFile]:
    """The part of a file, for one process at a time."""
    path = target.with_name(target.name + ".part")
    while True:
        with _opened(path) as stream:
            if not _locked(stream):
                raise DownloadError(f"{target} is being downloaded by another process; wait until it is done.")
            # whoever had the lock before may have renamed the file after it was opened here
            if not (path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat())):
                continue
            part = PartFile(path, stream)
            try:
                yield part
            except BaseException:
                if path.exists() and part.size == 0:
                    part.discard()
                raise
            return


def _opened(path: Path) -> IO[bytes]:
    try:
        # unbuffered: a full disk is noticed where bytes are written, not when the file is closed
        return open(path, "a+b", buffering=0)
    except OSError as error:
        raise DownloadError(f"cannot write {path}: {error.strerror or error}.") from error


def _locked(stream: IO[bytes]) -> bool:
    """Whether this process has the file to itself; True as well where files cannot be locked."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
