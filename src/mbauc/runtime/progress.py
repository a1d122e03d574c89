"""Progress bars: shown on a terminal once two seconds have passed, never elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int], object]

_DELAY = 2.0


class Progress:
    """Called with the number of units completed; this one shows nothing."""

    #: whether it is shown
    visible = False

    def __call__(self, done: int) -> None:
        """Add ``done`` completed units."""

    @property
    def done(self) -> int:
        """Units completed so far, if it is shown."""
        return 0

    def expect(self, total: int) -> None:
        """Expect ``total`` units in all, as far as is known now."""

    def note(self, text: str) -> None:
        """Show a short status, such as ``"AUC ≈ 0.781"``, in place of the one before."""


class _Bar(Progress):
    """A bar of tqdm, with the time left and units a second; threads may share it."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar
        self.visible = not bar.disable
        self._lock = threading.Lock()

    def __call__(self, done: int) -> None:
        with self._lock:
            self._bar.update(done)

    @property
    def done(self) -> int:
        return int(self._bar.n)

    def expect(self, total: int) -> None:
        with self._lock:
            self._bar.total = max(total, self._bar.n)

    def note(self, text: str) -> None:
        with self._lock:
            # shown with the next step: a note alone must not bring up a bar before its time
            self._bar.set_postfix_str(text, refresh=False)


#: Progress that is not shown.
silent = Progress()


@contextmanager
def progress(
    total: int | None, what: str, *, unit: str = "row", show: bool = True, delay: float = _DELAY
) -> Iterator[Progress]:
    """A bar for the duration of a block; call what it yields with the number of units completed.

    Its ``note`` shows a short status. Without tqdm, without a terminal, or with ``show=False`` there
    is no bar.

    Examples
    --------
    >>> with progress(3, "counting") as advance:
    ...     for number in range(3):
    ...         advance(1)
    ...         advance.note(f"at {number}")
    """
    if show:
        try:
            from tqdm import tqdm
        except ImportError:
            pass
        else:
            with tqdm(
                total=total, desc=what, unit=unit, unit_scale=True, delay=delay, disable=None, leave=False
            ) as bar:
                yield _Bar(bar)
            return
    yield silent


def show_line(text: str) -> None:
    """Show a line that stays, above any bars; without a terminal there is nothing.

    Examples
    --------
    >>> show_line("compiling")
    """
    if sys.stderr is None or not sys.stderr.isatty():
        return
    if (bars := sys.modules.get("tqdm")) is not None:
        bars.tqdm.write(text, file=sys.stderr)
    else:
        sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@contextmanager
def show_wait(what: str, *, show: bool = True, delay: float = _DELAY) -> Iterator[None]:
    """Show what is being waited for, and for how long, where there are no steps to count: one solve, say.

    A line on the terminal, once some seconds have passed, which goes when the block ends. Without a terminal,
    or with ``show=False``, there is nothing.

    Examples
    --------
    >>> with show_wait("solving"):
    ...     pass
    """
    if not show or sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    started = time.monotonic()

    def write_time() -> None:
        shown = ""
        pause = delay
        while not done.wait(pause):
            shown = f"{what}: {time.monotonic() - started:.0f} s"
            sys.stderr.write(f"\r{shown}")
            sys.stderr.flush()
            pause = 1.0
        sys.stderr.write(f"\r{' ' * len(shown)}\r" if shown else "")
        sys.stderr.flush()

    writer = threading.Thread(target=write_time, daemon=True)
    writer.start()
    try:
        yield
    finally:
        done.set()
        writer.join()
