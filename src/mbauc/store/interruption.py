"""Ctrl-C that waits until a state can be saved."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Interruption:
    """Whether Ctrl-C was pressed, and whether there is anything worth waiting for.

    Attributes
    ----------
    pending : bool
        Ctrl-C was pressed: the next state that can be saved is the last.
    expected : bool
        States have been offered, so that another one will come.
    """

    def __init__(self) -> None:
        self.pending = self.expected = False

    def take_effect(self) -> None:
        """Raise a KeyboardInterrupt if one is pending."""
        if self.pending:
            raise KeyboardInterrupt

    @contextmanager
    def defer(self, explain: Callable[[], str]) -> Iterator[None]:
        """Within this block the first Ctrl-C is noted, the second one stops at once.

        Before anything is expected the first one stops at once as well. What is raised in the end says what
        ``explain`` returns. In threads other than the main one, and in programs with a handler of their own,
        nothing is different from usual.
        """
        main = threading.current_thread() is threading.main_thread()
        before = signal.getsignal(signal.SIGINT) if main else None
        ours = before is signal.default_int_handler
        if ours:
            signal.signal(signal.SIGINT, self._note)
        try:
            yield
            self.take_effect()
        except KeyboardInterrupt:
            raise KeyboardInterrupt(explain()) from None
        finally:
            self.pending = self.expected = False
            if ours:
                signal.signal(signal.SIGINT, before)

    def _note(self, number: int, frame: object) -> None:
        if self.pending or not self.expected:
            raise KeyboardInterrupt
        self.pending = True
        sys.stderr.write("\ninterrupted; saving at the end of this sweep (Ctrl-C again stops at once)\n")
        sys.stderr.flush()
