"""A program that the tests start: fits that are killed, short of memory or of disk.

Children are forked from a process that has loaded everything, so that each starts at once.
"""

import json
import os
import random
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from row_sources import Rows, make_blocks
from scipy import sparse as sp

from mbauc.errors import DiskFullError
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.readers import RawBlock
from mbauc.solvers import Penalty
from mbauc.solvers.matrix_free.ridge import solve_ridge_matrix_free
from mbauc.store.checkpoint import Checkpoint

D = 200
#: Seconds that a slow run takes for each block and each product, at least.
PAUSE = 0.02


class Slow(Rows):
    """A source that takes its time, and says so."""

    def __init__(self, blocks, n_features, pause):
        super().__init__(blocks, n_features)
        self._pause = pause

    def __iter__(self):
        for block in super().__iter__():
            self._pause()
            yield block


class SlowProducts:
    """Products that take their time, and say so."""

    def __init__(self, rows, pause):
        self._rows, self._pause = rows, pause
        self.mu, self.diagonal = rows.mu, rows.diagonal

    def product(self, v):
        self._pause()
        return self._rows.product(v)

    def leading_block(self):
        # without it there are more products, and so more moments to be killed at
        return np.empty((0, 0))


def at_once():
    """No pause."""


def fit(blocks, folder, pause=at_once):
    """Weights and number of products, from a folder that may hold what an earlier call has left."""
    source = Slow(blocks, D, pause)
    rows = build_source_operator(source, n_threads=2, memory=1, folder=folder)
    with Checkpoint(folder, {"l2": 1e-4}, interval=0) as checkpoint:
        solution = solve_ridge_matrix_free(
            SlowProducts(rows, pause),
            Penalty(0.0, 1e-4, np.ones(rows.mu.size)),
            tol=1e-13,
            max_iter=40,
            resume=checkpoint.load("ridge"),
            watch=lambda state, *_: checkpoint.offer("ridge", state),
        )
    return rows.order.restore(solution.coef).tobytes(), solution.iterations


def forked(task):
    """Run a task in a child."""
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        task()
        status = 0
    finally:
        os._exit(status)


def kills(folder, count):
    blocks = make_blocks(np.random.default_rng(0), sizes=(60,) * 25, d=D, kind="general")
    wanted, products = fit(blocks, folder / "calm")

    heard, said = os.pipe()

    def pause():
        os.write(said, b".")
        time.sleep(PAUSE)

    def child(number, pause):
        def task():
            weights, _ = fit(blocks, folder / str(number), pause)
            (folder / f"{number}.weights").write_bytes(weights)

        return forked(task)

    random.seed(0)
    outcomes = []
    for number in range(count):
        # so many pauses into the run and a part of one, however slow the machine is
        moment = (len(blocks) + products) * (number + random.random()) / count
        process = child(number, pause)
        for _ in range(int(moment) + 1):
            os.read(heard, 1)
        time.sleep(PAUSE * (moment % 1))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        outcome = {
            "killed": os.WIFSIGNALED(status),
            "reading": (folder / str(number) / "rows.cache.partial").exists(),
            "solving": (folder / str(number) / "ridge.state").exists(),
        }
        os.set_blocking(heard, False)
        with suppress(BlockingIOError):
            os.read(heard, 1000)
        os.set_blocking(heard, True)
        os.waitpid(child(number, at_once), 0)
        outcomes.append(outcome | {"same": (folder / f"{number}.weights").read_bytes() == wanted})
    return outcomes


class Generated:
    """Rows of 39 ones that are made as they are read."""

    classes, n_features = (0, 1), 2_000

    def __init__(self, n_blocks, rows=8_192):
        self._n_blocks, self._rows = n_blocks, rows

    def __iter__(self):
        for number in range(self._n_blocks):
            rng = np.random.default_rng(number)
            columns = rng.integers(0, 50, (self._rows, 39), dtype=np.int32) + 50 * np.arange(39, dtype=np.int32)
            indptr = np.arange(self._rows + 1, dtype=np.int32) * 39
            X = sp.csr_array(
                (np.ones(columns.size), columns.ravel(), indptr), shape=(self._rows, self.n_features)
            )
            yield RawBlock(X, (rng.random(self._rows) < 0.1).astype(np.int8))


def memory(limit):
    small = build_source_operator(Generated(4), n_threads=2, memory=1)
    small.product(small.mu)
    del small

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    before = peak()
    rows = build_source_operator(Generated(100), n_threads=2, memory=limit)
    for _ in range(2):
        rows.product(rows.mu)
    return {"rows": rows.nbytes, "growth": peak() - before}


def full(folder):
    blocks = make_blocks(np.random.default_rng(0), sizes=(200,) * 10, d=D)
    wanted = fit(blocks, folder / "calm")
    own = folder / "full"
    told = {}
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, most))
    try:
        fit(blocks, own)
    except DiskFullError as error:
        told = {"error": type(error).__name__, "message": str(error)}
    told["files"] = sorted(path.name for path in own.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    return told | {"same": fit(blocks, own) == wanted}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["kills", place, count]:
            print(json.dumps(kills(Path(place), int(count))))
        case ["memory", limit]:
            print(json.dumps(memory(int(limit))))
        case ["full", place]:
            print(json.dumps(full(Path(place))))
