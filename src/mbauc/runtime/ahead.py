"""Working ahead in threads: the next item of a generator, or the next results of a task."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
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


def cut_ranges(n: int, size: int) -> Iterator[range]:
    """The numbers below ``n`` in ranges of ``size``, the last of which may be shorter."""
    for first in range(0, n, size):
        yield range(first, min(first + size, n))


def compute_ahead(task: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Iterator[Result]:
    """Results of ``task`` over any number of items, in order.

    At most ``n_threads`` results exist besides the one that the caller has. An error in a task is raised
    where its result would be; whoever stops early waits for the tasks that are under way.
    """
    if n_threads == 1:
        yield from map(task, items)
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="mbauc") as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                if len(waiting) == n_threads:
                    yield waiting.popleft().result()
                waiting.append(pool.submit(task, item))
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
