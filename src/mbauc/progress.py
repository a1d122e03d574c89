"""Progress bars: shown on a terminal once two seconds have passed, never elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

_DELAY = 2.0


def progress(
    items: Iterable[Item], what: str, *, total: int | None = None, show: bool = True, unit: str = "block"
) -> Iterator[Item]:
    """The items, with a bar while they go by. Without tqdm, or off a terminal, just the items."""
    if show:
        try:
            from tqdm import tqdm
        except ImportError:
            pass
        else:
            yield from tqdm(items, desc=what, total=total, unit=unit, delay=_DELAY, disable=None, leave=False)
            return
    yield from items
