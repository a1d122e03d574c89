"""Files that a process needs for as long as it lives: the next one removes them if it was killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


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
    inside : str
        If given, the names are those of folders, and the files that are held are those in them that fit this
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
            _removed(path)
        elif (files := list(path.glob(inside))) and all(_removed(file) for file in files):
            rmtree(path, ignore_errors=True)


def _removed(path: Path) -> bool:
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
