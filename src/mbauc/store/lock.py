"""Locks of the system: one process at a time in a folder, and files that belong to a process while it lives."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path
from typing import IO

from mbauc.errors import CheckpointError

if sys.platform != "win32":
    import fcntl


class FolderLock:
    """Holds a folder until released, or until the process ends in whatever way; its children do not hold it.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.
    name : str
        Of the file that is locked; it stays in the folder.

    Raises
    ------
    CheckpointError
        If another process, or another call in this one, holds the folder; never on systems without ``flock``.
    """

    def __init__(self, folder: Path, name: str) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise CheckpointError(f"{folder} is a file; name a folder for the checkpoint.") from None
        self._stream = open(folder / name, "a+", encoding="ascii")  # noqa: SIM115
        if sys.platform == "win32":
            return
        try:
            fcntl.flock(self._stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._stream.seek(0)
            holder = self._stream.read(20).strip()
            self._stream.close()
            raise CheckpointError(
                f"{folder} is in use by another call{f' (process {holder})' if _is_alive(holder) else ''}. "
                "Wait until it has ended, or choose another folder."
            ) from None
        except OSError:  # a file system without locks
            return
        _held.add(self)
        self._stream.truncate(0)
        self._stream.write(str(os.getpid()))
        self._stream.flush()

    def release(self) -> None:
        """Let others in; a second time does nothing."""
        self._stream.close()


#: Locks of this process.
_held: weakref.WeakSet[FolderLock] = weakref.WeakSet()


def _release_in_child() -> None:
    """In a child after a fork: a lock belongs to the open file, which would outlive the parent in the child."""
    for lock in list(_held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_release_in_child)


def _is_alive(holder: str) -> bool:
    """Whether a number is that of a process; one of another machine may only look so."""
    try:
        os.kill(int(holder), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True


# -- files that a process needs while it lives; the next one removes them if it was killed ---------------------


def hold(stream: IO[bytes]) -> bool:
    """Lock an open file of this process's own until it is closed, or until the process ends in whatever way.

    Returns False if the file has been removed meanwhile. On systems and file systems without locks nothing
    is locked, and nothing is ever removed.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError:  # a file system without locks
            return True
    return os.fstat(stream.fileno()).st_nlink > 0


def remove_leftovers(folder: Path, pattern: str, inside: str = "") -> None:
    """Remove files of a pattern that nobody holds any more.

    Parameters
    ----------
    folder : Path
        Where they are.
    pattern : str
        Of their names.
    inside : str, default=""
        If given, the names are of folders, and the files that are held are the files in them that fit this
        pattern. A folder goes with the last of them; one without any is left alone.
    """
    from shutil import rmtree

    if sys.platform == "win32":
        return
    try:
        found = list(folder.glob(pattern))
    except OSError:
        return
    for path in found:
        if not inside:
            _remove(path)
        elif (files := list(path.glob(inside))) and all(_remove(file) for file in files):
            rmtree(path, ignore_errors=True)


def _remove(path: Path) -> bool:
    """Remove a file of this user unless somebody holds it; whether it was removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # still locked while it is removed: its writer, if there is one after all, sees that it is gone
        path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
