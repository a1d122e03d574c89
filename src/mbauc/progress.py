"""Progress bars: shown on a terminal once two seconds have passed, never elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Advance = Callable[[int], object]

_DELAY = 2.0


def silent(_: int) -> None:
    """Progress that nobody looks at."""


@contextmanager
def progress(
    total: int | None, what: str, *, unit: str = "row", show: bool = True, delay: float = _DELAY
) -> Iterator[Advance]:
    """A bar for the duration of a block; call what it yields with the number of units just done.

    Without tqdm, without a terminal, or with ``show=False`` there is none.
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
                yield bar.update
            return
    yield silent
