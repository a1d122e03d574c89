"""An open file that must stay as it is, read and never mapped: one that is cut meanwhile is an error."""

from __future__ import annotations

import os
import threading
import weakref
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.store.file_kind import FileKind

#: Arrays begin at multiples of this many bytes, in the file and in memory: copying is slow where these differ.
ALIGNMENT = 64
_own = threading.local()
_seeking = threading.Lock()


class StableFile:
    """Reads pieces of one file, from any threads; the stream may be closed once this is made."""

    def __init__(self, stream: IO[bytes], path: str, kind: FileKind) -> None:
        self.path, self._kind = path, kind
        self._descriptor = os.dup(stream.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._stamp = self._status()
        self.size = self._stamp[0]

    def read(self, start: int, end: int, *, keep: bool = False) -> memoryview:
        """The bytes of a range, read-only; valid until this thread reads again, unless they are to be kept."""
        buffer = self._buffer(end - start, keep).data
        self._fill(start, buffer)
        return buffer.toreadonly()

    def fill(self, start: int, array: NDArray[Any]) -> None:
        """Read the bytes of a C-ordered array; an error of the kind if the file is no longer what it was."""
        if array.nbytes:
            self._fill(start, array.reshape(-1).view(np.uint8).data)

    def _fill(self, start: int, rest: memoryview) -> None:
        while rest and (done := _read(self._descriptor, rest, start)):
            rest, start = rest[done:], start + done
        if rest or self._status() != self._stamp:
            raise self._kind.reject(self.path, "was changed while it was in use")

    def _status(self) -> tuple[int, int]:
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns

    def _buffer(self, size: int, keep: bool) -> NDArray[np.uint8]:
        # fresh memory costs more than reading into it
        buffer: NDArray[np.uint8] | None = None if keep else getattr(_own, "buffer", None)
        if buffer is None or buffer.size < size:
            memory = np.empty(size + ALIGNMENT, dtype=np.uint8)
            buffer = memory[-memory.ctypes.data % ALIGNMENT :]
            if not keep:
                _own.buffer = buffer
        return buffer[:size]


def _read(descriptor: int, into: memoryview, place: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [into], place)
    with _seeking:
        os.lseek(descriptor, place, os.SEEK_SET)
        found = os.read(descriptor, len(into))
    into[: len(found)] = found
    return len(found)
