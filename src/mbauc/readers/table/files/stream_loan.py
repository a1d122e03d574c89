"""What Arrow's threads were given of Python's, and when they have let go of it."""

from __future__ import annotations

import queue
import time
import weakref
from contextlib import suppress
from io import RawIOBase
from typing import Any

import numpy as np

#: Seconds to wait, at most.
_PATIENCE = 60.0


class Loans:
    """Knows when nothing that was lent is held any longer, also by Arrow's threads.

    They read ahead, and let go of streams, functions and bytes some time after their reader is gone. A thread
    that wants Python's lock while the interpreter ends takes the whole process down.
    """

    def __init__(self) -> None:
        # no Python code runs at the other end, so that the thread is done when the message is there
        self._given_back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._lent: list[weakref.ref[Any]] = []

    def lend(self, thing: Any) -> Any:
        """The thing itself, which is waited for."""
        self._lent.append(weakref.ref(thing, self._given_back.put))
        return thing

    def wait(self) -> None:
        """Wait until all is given back, but not for ever."""
        end = time.monotonic() + _PATIENCE
        with suppress(queue.Empty):
            for _ in self._lent:
                self._given_back.get(timeout=max(end - time.monotonic(), 0.0))


class LentStream:
    """A stream whose bytes are lent as well: Arrow's threads free them when they like."""

    def __init__(self, stream: RawIOBase, loans: Loans) -> None:
        self._stream, self._loans = stream, loans

    def readable(self) -> bool:
        """Yes."""
        return True

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._stream.closed

    def close(self) -> None:
        """Nothing: who lends it closes it."""

    def read(self, size: int = -1) -> Any:
        """As many bytes as are asked for, in an array, because bytes cannot be watched."""
        return self._loans.lend(np.frombuffer(self._stream.read(size) or b"", dtype=np.uint8))
