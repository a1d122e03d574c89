"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import IO

from mbauc.errors import DiskFullError
from mbauc.store.lock import hold, remove_leftovers

#: Temporary names; a file is locked by its writer as long as that lives.
PARTS = ".mbauc-*.part"
#: How a system says that there is no room: on the disk, in the quota, in a file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write to a temporary file beside ``path`` and rename it there when all of it is on disk.

    If anything goes wrong the temporary file is removed and what stood at ``path`` stays. Links are followed,
    and a file that is replaced hands on its permissions, to the temporary file from the beginning. What a
    process that was killed has left in the folder is removed. An error of the system names ``path``.

    Raises
    ------
    DiskFullError
        If there is no room.
    """
    target = real_path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: the folder {target.parent} does not exist.")
    if target.exists() and not target.is_file():
        raise OSError(f"cannot write {target}: it is not a regular file.")
    _remove_parts_once(target.parent)
    with name_file(target):
        # names are noted before the files are there: a signal between the two leaves nothing behind
        names: list[Path] = []
        try:
            with _new_part(target, names) as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
                if sys.platform == "win32":  # where an open file cannot be renamed, and none is locked
                    stream.close()
                os.replace(names[-1], target)
        except BaseException as error:
            for name in names:
                name.unlink(missing_ok=True)
            if isinstance(error, OSError) and not isinstance(error, DiskFullError) and error.errno in _FULL:
                raise _disk_full(error, path) from error
            raise


def _disk_full(error: OSError, path: str | os.PathLike[str]) -> DiskFullError:
    kept = "the file that was there is kept" if os.path.exists(path) else "nothing is left of it"
    return DiskFullError(
        error.errno,
        f"could not be written ({error.strerror}): {kept}. Make room and write it again",
        os.fsdecode(path),
    )


def real_path(path: str | os.PathLike[str]) -> Path:
    """Where a path leads; an ``OSError`` if that is a circle of links."""
    given = os.fsdecode(path)
    try:
        os.stat(given)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise
    return Path(given).resolve()


def remove_parts(folder: Path) -> None:
    """Remove what writers that live no longer have left in a folder."""
    remove_leftovers(folder, PARTS)


#: The same, once in a process for each folder.
_remove_parts_once = cache(remove_parts)


@contextmanager
def name_file(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors of the system that name no file, such as a full disk while writing, name this one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = os.fsdecode(path)
        raise


def _new_part(target: Path, names: list[Path]) -> IO[bytes]:
    """A temporary file beside the target, with its permissions if it exists, locked by this process.

    Names are added to ``names``; the last of them is that of the file.
    """
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    while True:
        names.append(target.with_name(PARTS.replace("*", secrets.token_hex(8))))
        try:
            stream = os.fdopen(os.open(names[-1], flags, 0o666 if mode is None else mode & 0o600), "wb")
        except FileExistsError:  # it is somebody else's
            names.pop()
            continue
        try:
            if not hold(stream):  # somebody took it for a leftover before it was locked
                stream.close()
                continue
            if mode is not None:
                names[-1].chmod(mode)
        except BaseException:
            stream.close()
            raise
        return stream
