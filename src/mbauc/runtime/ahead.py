"""Reading one step ahead, in a thread of its own."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def one_ahead(items: Generator[Item, None, None]) -> Iterator[Item]:
    """The same items; while one is used the next is made in another thread.

    An error comes up where its item would. Who stops early waits for the item that is being made. Memory: one
    item more.

    Examples
    --------
    >>> from mbauc.runtime.ahead import one_ahead
    >>> list(one_ahead(number**2 for number in range(4)))
    [0, 1, 4, 9]
    """
    end = object()
    with ThreadPoolExecutor(1, thread_name_prefix="mbauc") as pool:
        coming = pool.submit(next, items, end)
        try:
            while (item := coming.result()) is not end:
                coming = pool.submit(next, items, end)
                yield item  # type: ignore[misc]
        finally:
            coming.exception()
            del coming  # it holds its error, whose traceback holds this frame: a cycle that keeps files open
            items.close()
