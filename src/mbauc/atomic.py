"""Files that are either whole or not there."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Write to a temporary file beside ``path`` and rename it there when all of it is on disk.

    If anything goes wrong the temporary file is removed and what stood at ``path`` stays. Links are followed,
    and a file that is replaced hands on its permissions.
    """
    target = Path(os.fsdecode(path)).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: the folder {target.parent} does not exist.")
    if target.exists() and not target.is_file():
        raise OSError(f"cannot write {target}: it is not a regular file.")
    name = target.with_name(f".mbauc-{secrets.token_hex(8)}.part")
    try:
        with open(name, "xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            name.chmod(stat.S_IMODE(target.stat().st_mode))
        os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
