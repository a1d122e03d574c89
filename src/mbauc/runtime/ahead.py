"""Working ahead in threads: the next item of a generator, or the next results of a task."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def one_ahead(items: Generator[Item, None, None]) -> Generator[Item, None, None]:
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
    pool = ThreadPoolExecutor(1, thread_name_prefix="mbauc")
    coming = pool.submit(next, items, end)
    try:
        while (item := coming.result()) is not end:
            coming = pool.submit(next, items, end)
            yield item  # type: ignore[misc]
    finally:
        coming.exception()
        del coming  # it holds its error, whose traceback holds this frame: a cycle that keeps files open
        items.close()
        # the thread is idle and ends by itself; to join it from a garbage collection that runs while another
        # thread starts would wait for a lock of that start for ever
        pool.shutdown(wait=False)


def cut_ranges(n: int, size: int) -> Generator[range, None, None]:
    """The numbers below ``n`` in ranges of ``size``, the last of which may be shorter."""
    for first in range(0, n, size):
        yield range(first, min(first + size, n))


def map_ahead(
    task: Callable[[Item], Result], items: Generator[Item, None, None], n_threads: int
) -> Generator[Result, None, None]:
    """Results of ``task`` over what a generator gives, in order, each made in a thread.

    The generator itself runs in the caller's thread, up to ``n_threads`` items ahead. An error, of a task or of
    the generator, comes up where its result would. Who stops early waits for the tasks that are under way.
    Memory: ``n_threads`` items and results.

    Examples
    --------
    >>> from mbauc.runtime.ahead import map_ahead
    >>> list(map_ahead(abs, (number for number in (-1, 2, -3)), 2))
    [1, 2, 3]
    """
    if n_threads == 1:
        with closing(items):
            yield from map(task, items)
        return
    pool = ThreadPoolExecutor(n_threads, thread_name_prefix="mbauc")
    waiting: deque[Future[Result]] = deque()
    failure: Exception | None = None
    end, item = object(), None
    try:
        while item is not end:
            try:
                item = next(items, end)
            except Exception as error:
                failure, item = error, end
            if item is not end:
                waiting.append(pool.submit(task, item))  # type: ignore[arg-type]
            while len(waiting) > (0 if item is end else n_threads - 1):
                yield waiting.popleft().result()
        if failure is not None:
            raise failure
    finally:
        while waiting:
            if not waiting[0].cancel():
                waiting[0].exception()
            waiting.popleft()
        # an error, whose traceback holds this frame, would be a cycle that keeps files open
        failure = item = None
        items.close()
        pool.shutdown(wait=False)  # idle by now; for why it is not joined see one_ahead
