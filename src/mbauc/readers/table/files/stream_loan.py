"""Streams that Arrow's threads read from, and when they have let go of them."""

from __future__ import annotations

import queue
import weakref
from contextlib import suppress
from typing import Any


class Loan:
    """Knows when a stream is no longer held, also by Arrow's threads.

    They read ahead, and let go of the stream some time after its reader is gone. A thread that wants Python's
    lock while the interpreter ends takes the whole process down.
    """

    def __init__(self, stream: Any) -> None:
        # no Python code runs at the other end, so that the thread is done when the message is there
        self._given_back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._watch = weakref.ref(stream, self._given_back.put)

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until the stream is given back, but not for ever."""
        with suppress(queue.Empty):
            self._given_back.get(timeout=seconds)
