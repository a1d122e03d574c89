"""How many threads to use, and how to keep BLAS from starting more of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


@cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process; found once, because looking takes milliseconds."""
    return ThreadpoolController().select(user_api="blas")


def thread_count(n_jobs: int | None) -> int:
    """Number of threads for a request in scikit-learn's notation.

    ``None`` means as many as BLAS may use right now, so that ``OMP_NUM_THREADS``, an enclosing
    ``threadpool_limits`` and joblib's workers are all respected. Negative numbers count back from the
    number of cores: -1 is all of them.
    """
    if n_jobs is None:
        limits = [library["num_threads"] for library in _blas().info()]
        return max(limits, default=os.cpu_count() or 1)
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0; give a number of threads, -1 for all cores, or None.")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + n_jobs)
    return n_jobs


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Within this block each BLAS call stays on the thread that made it."""
    with _blas().limit(limits=1):
        yield


def run_threads(task: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> list[Result]:
    """Results of ``task`` over ``items``, in order, on ``n_threads`` threads.

    The first error stops what has not started and is raised here.
    """
    if n_threads == 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(n_threads, thread_name_prefix="mbauc") as pool:
        futures = [pool.submit(task, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
