"""Small factorisations on one thread and on all, on a quiet machine and beside neighbours that keep it busy."""

import multiprocessing
import os
import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh

from benchmarks.timing import once, report
from mbauc.runtime.threads import limit_blas, thread_count

SIZES = (32, 64, 128, 256, 512, 1024)


def _work_until(deadline):
    while time.monotonic() < deadline:
        sum(range(10_000))


def _times(sigma, repeats):
    def limited(task, n_threads):
        def run():
            with limit_blas(n_threads):
                task()

        return run

    factor, unit = cho_factor(sigma, check_finite=False), np.eye(len(sigma))
    tasks = {
        "eigh": lambda: eigh(sigma, driver="evd", check_finite=False),
        "Cholesky": lambda: cho_factor(sigma, check_finite=False),
        "inverse": lambda: cho_solve(factor, unit, check_finite=False),
    }
    counts = (1, thread_count(None))
    found = {(name, n): [] for name in tasks for n in counts}
    for _ in range(repeats):
        for (name, n), times in found.items():
            times.append(once(limited(tasks[name], n)))
    # the mean: to be held up now and then is what it is about
    return {name: tuple(float(np.mean(found[name, n][1:])) for n in counts) for name in tasks}


def _rows(times, where):
    return [
        (
            f"{where}, {name} of {size:,} columns: all threads / one",
            f"{many / one:.2f} ({1000 * one:.2f} ms on one)",
            "",
        )
        for (size, name), (one, many) in times.items()
    ]


def _measure(repeats):
    rng, found = np.random.default_rng(0), {}
    for size in SIZES:
        rows = rng.standard_normal((2 * size, size))
        for name, both in _times(rows.T @ rows, repeats).items():
            found[size, name] = both
    return found


def run():
    rows = _rows(_measure(repeats=20), "quiet")
    cores = os.cpu_count() or 1
    # as many neighbours as cores, for as long as it may take
    neighbours = [
        multiprocessing.Process(target=_work_until, args=(time.monotonic() + 600,), daemon=True)
        for _ in range(cores)
    ]
    for one in neighbours:
        one.start()
    try:
        rows += _rows(_measure(repeats=12), f"{cores} busy neighbours")
    finally:
        for one in neighbours:
            one.terminate()
    report("factorisations", rows, ["means of several runs that take turns; above 1, one thread is faster"])


if __name__ == "__main__":
    run()
