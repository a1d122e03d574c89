"""Writing a file of a model: whole or not at all, and a full disk is told in words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

from mbauc.errors import DiskFullError
from mbauc.store.atomic import atomic_write

#: How a system says that there is no room: on the disk, in the quota, in a file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A stream that becomes the file ``path`` once all of it is on disk (:mod:`mbauc.store.atomic`).

    Raises
    ------
    DiskFullError
        If there is no room. What stood at ``path`` is still there, and nothing else is left behind.
    """
    try:
        with atomic_write(path) as stream:
            yield stream
    except OSError as error:
        if error.errno not in _FULL:
            raise
        kept = "the file that was there is kept" if os.path.exists(path) else "nothing is left of it"
        raise DiskFullError(
            error.errno,
            f"could not be written ({error.strerror}): {kept}. Make room and write it again",
            str(path),
        ) from error
