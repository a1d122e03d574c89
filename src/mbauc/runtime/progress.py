"""Progress: bars, and what is waited for; on a terminal once two seconds have passed, never elsewhere."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Advance = Callable[[int], object]

_DELAY = 2.0
#: Seconds after which a bar appears where others have been waited for before.
_BRIEF = 0.5


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


class _WaitingLine:
    """The last line of a terminal: what is being waited for, and for how long.

    Waits within each other share the line, which names all of them, and the time at which it appears, so that
    many short steps are seen as well as a long one. A bar has the line to itself.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        #: words of each wait and when it began, outermost first
        self._waits: list[tuple[str, float]] = []
        self._bars = 0
        self._appears = 0.0
        self._ended: threading.Event | None = None
        self._shown = ""

    @contextmanager
    def wait(self, what: str, delay: float, *, bar: bool = False) -> Iterator[tuple[str, float]]:
        """Wait for one thing more; yields the words for all, and the seconds until it may be shown."""
        own = (what, time.monotonic())
        with self._lock:
            if not self._waits:
                self._appears, left = own[1] + delay, delay
            else:
                left = min(delay, max(self._appears - own[1], _BRIEF))
            self._waits.append(own)
            if bar:
                self._bars += 1
                self.erase()
            elif self._ended is None:
                self._ended = threading.Event()
                threading.Thread(target=self._write, args=(self._ended,), daemon=True).start()
            words = self._words()
        try:
            yield words, left
        finally:
            with self._lock:
                self._waits.remove(own)
                self._bars -= bar
                if not self._waits and self._ended is not None:
                    self._ended.set()
                    self._ended = None
                    self.erase()

    def erase(self) -> None:
        """Leave the line to others; it comes back within a second."""
        with self._lock:
            if self._shown and sys.stderr is not None:
                sys.stderr.write(f"\r{' ' * len(self._shown)}\r")
                sys.stderr.flush()
            self._shown = ""

    def _words(self) -> str:
        return ": ".join(what for what, _ in self._waits if what)

    def _write(self, ended: threading.Event) -> None:
        """Write the line once a second until nothing is waited for."""
        pause = self._appears - time.monotonic()
        while not ended.wait(pause):
            pause = 1.0
            with self._lock:
                began = [began for what, began in self._waits if what]
                if not ended.is_set() and not self._bars and began and sys.stderr is not None:
                    line = f"{self._words()}: {time.monotonic() - began[-1]:.0f} s"
                    line = line[: shutil.get_terminal_size().columns - 1]
                    sys.stderr.write(f"\r{line}{' ' * (len(self._shown) - len(line))}")
                    sys.stderr.flush()
                    self._shown = line


_line = _WaitingLine()


@contextmanager
def progress(
    total: int | None, what: str, *, unit: str = "row", show: bool = True, delay: float = _DELAY
) -> Iterator[Progress]:
    """A bar for the duration of a block; call what it yields with the number of units completed.

    Its ``note`` shows a short status. Without tqdm it is a wait (:func:`show_wait`). Without a terminal, or
    with ``show=False``, there is nothing.

    Examples
    --------
    >>> with progress(3, "counting") as advance:
    ...     for number in range(3):
    ...         advance(1)
    ...         advance.note(f"at {number}")
    """
    if not show or not _on_terminal():
        yield silent
        return
    try:
        from tqdm import tqdm
    except ImportError:
        with show_wait(what, delay=delay):
            yield silent
        return
    with (
        _line.wait(what, delay, bar=True) as (words, left),
        tqdm(total=total, desc=words, unit=unit, unit_scale=True, delay=left, leave=False) as bar,
    ):
        yield _Bar(bar)


def show_line(text: str) -> None:
    """Show a line that stays, above any bars; without a terminal there is nothing.

    Examples
    --------
    >>> show_line("compiling")
    """
    if not _on_terminal():
        return
    clear_line()
    if (bars := sys.modules.get("tqdm")) is not None:
        bars.tqdm.write(text, file=sys.stderr)
    else:
        sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def clear_line() -> None:
    """Clear the line of what is waited for, so that others can write there.

    Examples
    --------
    >>> clear_line()
    """
    _line.erase()


@contextmanager
def show_wait(what: str, *, show: bool = True, delay: float = _DELAY) -> Iterator[None]:
    """Show what is being waited for, and for how long, where there are no steps to count: one solve, say.

    A line on the terminal, once some seconds have passed, which goes when the block ends. Waits and bars inside
    appear once these seconds have passed since the outermost began. Without words a wait is only that: the
    start of the time for those inside. Without a terminal, or with ``show=False``, there is nothing.

    Examples
    --------
    >>> with show_wait("test"), show_wait("solving"):  # "test: solving: 3 s"
    ...     pass
    """
    if not show or not _on_terminal():
        yield
        return
    with _line.wait(what, delay):
        yield


def _on_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
