"""How many threads to use, and how to keep BLAS from starting more of its own."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

from mbauc.checks import abbreviate

#: More threads than this are taken for a mistake.
MOST_THREADS = 4096
#: Up to this many columns one thread factorises a matrix: not slower on a quiet machine, and far faster on a
#: busy one, where threads of BLAS wait for each other some thousand times.
_ONE_THREAD = 512
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
        return _quiet.blas_threads()
    try:
        wanted = operator.index(n_jobs)
    except TypeError:
        raise ValueError(f"n_jobs must be a whole number or None, got {n_jobs!r}.") from None
    if wanted == 0:
        raise ValueError("n_jobs must not be 0; give a number of threads, -1 for all cores, or None.")
    if wanted > MOST_THREADS:
        raise ValueError(f"n_jobs must be at most {MOST_THREADS:,}, got {abbreviate(wanted)}.")
    return wanted if wanted > 0 else max(1, (os.cpu_count() or 1) + 1 + wanted)


class _QuietBlas:
    """BLAS on one thread while anybody needs it so.

    The limit belongs to the whole process: the first to need it sets it, the last to leave puts back what
    was there, in whatever order they come and go.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._before = 1
        self._limiter: Any = None

    def blas_threads(self) -> int:
        """Threads that BLAS may use, apart from the limit set here."""
        with self._lock:
            if self._users:
                return self._before
            limits = [library["num_threads"] for library in _blas().info()]
            return max(limits, default=os.cpu_count() or 1)

    @contextmanager
    def limit(self) -> Iterator[None]:
        before = self.blas_threads()
        with self._lock:
            if self._users == 0:
                self._before = before
                self._limiter = _blas().limit(limits=1)
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._limiter.restore_original_limits()


_quiet = _QuietBlas()
single_threaded_blas = _quiet.limit


def blas_for_matrix(columns: int) -> AbstractContextManager[None]:
    """Within this block BLAS uses as many threads as serve it to work on symmetric matrices of this size."""
    return single_threaded_blas() if columns <= _ONE_THREAD else nullcontext()


@contextmanager
def limit_blas(n_threads: int) -> Iterator[None]:
    """Within this block BLAS uses ``n_threads`` threads, in all threads of the process."""
    if n_threads == thread_count(None):
        yield
        return
    with _blas().limit(limits=n_threads):
        yield


def run_threads(
    task: Callable[[Item], Result],
    items: Iterable[Item],
    n_threads: int,
    stop: Callable[[], object] = lambda: None,
) -> list[Result]:
    """Results of ``task`` over ``items``, in order, on ``n_threads`` threads.

    The first error, an interruption included, stops what has not started and is raised here; ``stop`` is
    called before, so that long tasks can be stopped.
    """
    if n_threads == 1:
        return [task(item) for item in items]
    with ThreadPoolExecutor(n_threads, thread_name_prefix="mbauc") as pool:
        futures = [pool.submit(task, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
