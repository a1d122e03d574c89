"""Pieces of a file that must stay as it is, read and never mapped: one that is cut meanwhile is an error."""

from __future__ import annotations

import os
import threading
import weakref
from typing import IO

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CheckpointError

#: Arrays begin at multiples of this, in the file and in memory.
_ALIGNED = 64
_own = threading.local()
_seeking = threading.Lock()


class FileReads:
    """Reads of one file, by any threads.

    Parameters
    ----------
    stream : file
        Open for reading; it may be closed afterwards.
    path : str
        Its name, for errors.

    Attributes
    ----------
    size : int
        Bytes of the file.
    """

    def __init__(self, stream: IO[bytes], path: str) -> None:
        self._path, self._descriptor = path, os.dup(stream.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._stamp = self._now()
        self.size = self._stamp[0]

    def __call__(self, start: int, end: int, *, keep: bool = False) -> memoryview:
        """The bytes of a range, read-only; valid until this thread reads again, unless they are to be kept.

        Raises
        ------
        CheckpointError
            If the file is no longer what it was when it was opened.
        """
        buffer = self._buffer(end - start, keep)
        rest = memoryview(buffer)  # type: ignore[arg-type]
        while rest and (done := _read(self._descriptor, rest, start)):
            rest, start = rest[done:], start + done
        if rest or self._now() != self._stamp:
            raise CheckpointError(
                f"{self._path} was changed while it was in use. Delete it; the same call then reads the data "
                "again."
            )
        return memoryview(buffer).toreadonly()  # type: ignore[arg-type]

    def _now(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def _buffer(self, size: int, keep: bool) -> NDArray[np.uint8]:
        # fresh memory costs more than reading into it
        found: NDArray[np.uint8] | None = None if keep else getattr(_own, "buffer", None)
        if found is None or found.size < size:
            memory = np.empty(size + _ALIGNED, dtype=np.uint8)
            found = memory[-memory.ctypes.data % _ALIGNED :]
            if not keep:
                _own.buffer = found
        return found[:size]


def _read(descriptor: int, into: memoryview, place: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [into], place)
    with _seeking:
        os.lseek(descriptor, place, os.SEEK_SET)
        found = os.read(descriptor, len(into))
    into[: len(found)] = found
    return len(found)
