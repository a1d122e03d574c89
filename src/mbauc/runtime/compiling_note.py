"""What a terminal is told while loops are compiled; importing this module imports numba."""

from __future__ import annotations

import threading
import time
from typing import Any

from numba.core import event

from mbauc.runtime.progress import show_line

#: Seconds of compiling, over all loops so far, before anything is said.
PATIENCE = 1.0


class CompilingNote(event.Listener):  # type: ignore[misc]
    """Says on a terminal, once in a process, what the first calls on a machine are waiting for.

    Loops that are found on disk are not compiled, so later processes say nothing; nor is anything said of a
    single small loop. Numba compiles one loop at a time, with others that it calls inside, under a lock.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._depth = 0
        self._started = 0.0
        self._timer: threading.Timer | None = None
        self._said = False

    def on_start(self, event: Any) -> None:
        """Something is being compiled: it was not found on disk."""
        if self._said or not _is_ours(event):
            return
        self._depth += 1
        if self._depth == 1:
            self._started = time.monotonic()
            self._timer = threading.Timer(self._patience, self._say)
            self._timer.daemon = True
            self._timer.start()

    def on_end(self, event: Any) -> None:
        """It is compiled, or could not be: less patience is left for the next."""
        if self._timer is None or not _is_ours(event):
            return
        self._depth -= 1
        if self._depth == 0:
            self._timer.cancel()
            self._timer = None
            self._patience = max(0.0, self._patience - (time.monotonic() - self._started))

    def _say(self) -> None:
        self._said = True
        show_line("compiling for this machine, once; this takes some seconds")


def _is_ours(event: Any) -> bool:
    return bool(event.data["dispatcher"].py_func.__module__.startswith("mbauc."))
