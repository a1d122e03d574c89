"""A fit to a source of blocks: larger than memory if need be, and resumed after a kill."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_whole
from mbauc.errors import CheckpointError
from mbauc.losses import PairLoss
from mbauc.metrics.running_auc import RunningAuc
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.rows.source import Source
from mbauc.runtime.progress import Progress, progress, show_wait, silent
from mbauc.runtime.threads import MOST_THREADS, limit_blas, thread_count
from mbauc.solvers.matrix_free.face_descent import DESCENT_STATE
from mbauc.solvers.matrix_free.ridge import RIDGE_STATE
from mbauc.solvers.watch import Watch
from mbauc.store.array_schema import ArrayOf, Arrays
from mbauc.store.checkpoint import DECISIONS, Checkpoint, interruptible
from mbauc.store.file_schema import Choice

Array = NDArray[np.float64]

#: Name of the solver's state in a checkpoint.
_SOLVER = "solver"


def _check_solver(decided: Mapping[str, NDArray[Any]]) -> None:
    if "solver" in decided:
        Choice("gram", "matrix-free").check(str(decided["solver"][0]), "solver")


#: What the first run has decided: whole numbers, and the solver with the reason for it.
_DECISION_ARRAYS = Arrays(
    {"threads": ArrayOf("<i8", low=1, high=MOST_THREADS)},
    optional={
        "solver": ArrayOf("U", (2,)),
        "blas_threads": ArrayOf("<i8", low=1, high=MOST_THREADS),
    },
    others=ArrayOf("<i8", low=0),
    agree=_check_solver,
)
#: Settings that change no bit of the result, or whose effect is kept elsewhere.
_NO_MATTER = ("verbose", "n_jobs")
#: Settings of sampled pairs, which mean nothing where all pairs are used and no rows are sampled.
_SAMPLING = ("pairing", "batch_size", "random_state")
#: Products that a solver is expected to take.
_PRODUCTS = 12
#: Products for each remaining factor of ten of the excess risk.
_PER_DECADE = 3.5


def is_source(X: Any) -> bool:
    """Whether X is a source of blocks (:class:`mbauc.readers.Source`) instead of a matrix or table."""
    described = all(hasattr(X, name) for name in ("n_features", "classes", "__iter__"))
    return described and not isinstance(getattr(X, "shape", None), tuple)


def check_source(source: Any) -> None:
    """Raise for what cannot be read as a source, or not as often as a fit may want to."""
    if not is_source(source):
        raise ValueError(
            "a source must have n_features, classes and blocks (X, y) or (X, y, weight) to iterate over, each "
            f"time anew (see mbauc.readers.Source); got {type(source).__name__}. Rows in memory go to fit, "
            "blocks of a stream to partial_fit."
        )
    check_whole("n_features of the source", source.n_features)
    if iter(source) is iter(source):
        raise ValueError(
            "a source must start anew each time it is read; this one gives the same iterator again. Make a new "
            "one in __iter__, or pass the blocks to partial_fit."
        )


def check_source_alone(y: Any, sample_weight: Any, groups: Any) -> None:
    """Raise for labels, weights or groups that come beside a source."""
    if not (y is None and sample_weight is None and groups is None):
        raise ValueError(
            "a source has its labels, weights and groups with it; leave out y, sample_weight and groups."
        )


def show_auc(bar: Progress) -> Callable[[Any, NDArray[np.bool_]], None]:
    """Show an estimate of the AUC while blocks are read."""
    return RunningAuc(bar).see


class SourceRun:
    """One run of a fit to a source, the first or a later one of the same.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Where states are kept.
    n_jobs : int or None
        Threads; a later run uses as many as the first did, of its own and of BLAS, because sums depend on how
        they are shared out.
    show : bool
        Show progress bars on a terminal.
    """

    def __init__(self, checkpoint: Checkpoint | None, n_jobs: int | None, show: bool) -> None:
        self.checkpoint, self.show = checkpoint, show
        self._decisions = (None if checkpoint is None else checkpoint.load(DECISIONS, _DECISION_ARRAYS)) or {}
        self.n_threads = int(self.make_once("threads", lambda: thread_count(n_jobs)))

    def make_once(self, name: str, make: Callable[[], Any]) -> NDArray[Any]:
        """A value that the first run makes and later runs of the same checkpoint reuse."""
        if name not in self._decisions:
            self._decisions[name] = np.asarray(make())
            if self.checkpoint is not None:
                self.checkpoint.save(DECISIONS, self._decisions)
        return self._decisions[name]

    def seed(self, random_state: Any) -> Any:
        """What to draw with: where nothing is given, a later run draws what the first one drew."""
        if random_state is not None or self.checkpoint is None:
            return random_state
        return int(self.make_once("seed", lambda: np.random.default_rng().integers(2**63 - 1)))

    def load_state(self, pairs: PairOperator, solver: Arrays) -> dict[str, Any] | None:
        """The solver's state from an earlier run, if any; ``solver`` says what its states hold."""
        if self.checkpoint is None:
            return None
        expected = replace(solver, required={**solver.required, "rows": ArrayOf("<i8")})
        d = pairs.mu.size
        state = self.checkpoint.load(_SOLVER, expected, d=d, directions=(0, d), signs=(0, d))
        if state is not None and int(state["rows"]) != _mark(pairs):
            raise CheckpointError(
                f"{_SOLVER}.state in {self.checkpoint.folder} was reached on other rows than these. "
                "Delete that file, or choose another folder."
            )
        return state

    @contextmanager
    def watch(self, pairs: PairOperator, tol: float) -> Iterator[Watch]:
        """Show and save the progress of the solver, which calls what this yields with its states."""
        mark = np.int64(0 if self.checkpoint is None else _mark(pairs))
        with progress(_PRODUCTS * pairs.n_rows, "solving", show=self.show) as advance:

            def watch(state: dict[str, Any], done: int, excess: float, auc: float) -> None:
                left = _PER_DECADE * math.log10(max(excess, tol) / tol) if math.isfinite(excess) else 0.0
                # a product within groups goes over the rows twice, and other losses began with the squared one
                times = min(max(advance.done / (max(done, 1) * pairs.n_rows), 1.0), 2.0)
                expected = advance.done + pairs.n_rows * (math.ceil(times * left) + 1)
                advance.expect(max(expected, 0 if left else _PRODUCTS * pairs.n_rows))
                advance.note(f"AUC ≈ {auc:.4f}")
                if self.checkpoint is not None:
                    self.checkpoint.offer(_SOLVER, state | {"rows": mark})

            pairs.advance = advance
            try:
                yield watch
            finally:
                pairs.advance = silent


def quadratic_state(l1: float, l2: float | str) -> Arrays:
    """What states of a solver of Eq. (14) hold."""
    if not l1:
        return RIDGE_STATE
    if l2 != "auto":
        return DESCENT_STATE
    return replace(DESCENT_STATE, required={**DESCENT_STATE.required, "auto_l2": ArrayOf("<f8", low=0)})


def _mark(pairs: PairOperator) -> int:
    """A checksum of what a solver knows of the pairs."""
    return zlib.crc32(pairs.diagonal.tobytes(), zlib.crc32(pairs.mu.tobytes()))


@contextmanager
def source_run(
    checkpoint: str | os.PathLike[str] | None,
    settings: dict[str, Any],
    source: Source,
) -> Iterator[SourceRun]:
    """A run with its checkpoint open, if there is one; Ctrl-C leaves it whole and says how to resume."""
    n_jobs, show = settings["n_jobs"], bool(settings["verbose"])
    if checkpoint is None:
        with show_wait("", show=show):
            yield SourceRun(None, n_jobs, show)
        return
    with Checkpoint(checkpoint, describe_identity(settings, source)) as opened, interruptible(opened):
        earlier = opened.holds_progress()
        try:
            run = SourceRun(opened, n_jobs, show)
            threads = int(run.make_once("blas_threads", lambda: thread_count(None)))
            with limit_blas(threads), show_wait("", show=show):
                yield run
        except ArithmeticError as error:
            if not earlier:
                raise
            raise CheckpointError(
                f"the fit cannot continue from the numbers in {opened.folder} ({error}). Delete the "
                "folder to start again, or choose another."
            ) from error


def describe_identity(settings: dict[str, Any], source: Source) -> dict[str, Any]:
    """What the result of a fit depends on, in plain values, apart from the rows themselves."""

    def plain(value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | float | np.number | np.bool_):
            return value if isinstance(value, int | float) else value.item()
        if isinstance(value, PairLoss):
            return [value.name, *(f"{name}={setting!r}" for name, setting in sorted(vars(value).items()))]
        array = np.ascontiguousarray(value, dtype=np.float64)
        return f"array of {array.size}, CRC {zlib.crc32(array.tobytes()):08x}"

    drawn = "search_rows" in settings or not isinstance(settings.get("pairs", "all"), str)
    left_out = _NO_MATTER + (() if drawn else _SAMPLING)
    kept = {name: value for name, value in settings.items() if name not in left_out}
    seed = kept.get("random_state")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer)):
        raise ValueError(
            "a checkpoint needs a whole number as random_state, or None, so that a later run can draw the same "
            f"rows; got {type(seed).__name__}."
        )
    return {
        "what": "fit of a source",
        "mbauc version": version("mbauc"),
        "settings": {name: plain(value) for name, value in kept.items()},
        "n_features": int(source.n_features),
    }
