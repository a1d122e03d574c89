"""Python's garbage collector, held back while many objects come that are there to stay."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection for the duration of a block, which should be short.

    While a large package is imported, the collector goes again and again through all that was imported before,
    and finds nothing to free. Where it is off already, it stays so.

    Examples
    --------
    >>> with collector_paused():
    ...     import decimal
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
