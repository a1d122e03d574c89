"""One process at a time in a folder."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path

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
                f"{folder} is in use by another call{f' (process {holder})' if _lives(holder) else ''}. "
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


def _let_go() -> None:
    """In a child after a fork: a lock belongs to the open file, which would outlive the parent in the child."""
    for lock in list(_held):
        lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _lives(holder: str) -> bool:
    """Whether a number is that of a process; one of another machine may only look so."""
    try:
        os.kill(int(holder), 0)
    except PermissionError:
        return True
    except (OSError, ValueError, OverflowError):
        return False
    return True
