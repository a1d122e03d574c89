"""Results in order, computed some steps ahead by threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def pieces(n: int, size: int) -> Iterator[range]:
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
