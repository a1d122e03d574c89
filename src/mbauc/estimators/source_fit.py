"""A fit to a source of blocks: larger than memory if need be, and gone on with after a kill."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.checkpoint import Checkpoint, interruptible
from mbauc.data.block import Block, Source
from mbauc.errors import CheckpointError
from mbauc.matrix import is_sparse
from mbauc.pair_rows.dense_pair_rows import DensePairRows
from mbauc.pair_rows.pair_rows import PairRows
from mbauc.progress import progress, silent
from mbauc.rows import Rows
from mbauc.sampling import draw_rows
from mbauc.solvers.product_ridge import Watch
from mbauc.threads import thread_count

Array = NDArray[np.float64]

#: Name of the solver's state in a checkpoint, and of what the first run settled for all later ones.
_SOLVER, _SETTLED = "solver", "settled"
#: Rows of a source that does not tell how many it has.
_UNKNOWN_ROWS = 1_000_000
#: Products that a solver is expected to take, and those for each factor of ten that it has still to go.
_PRODUCTS, _PER_DECADE = 12, 3.5


def is_source(X: Any) -> bool:
    """Whether X is a source of blocks (:class:`mbauc.data.Source`) instead of a matrix or table."""
    described = all(hasattr(X, name) for name in ("n_features", "classes", "__iter__"))
    return described and not isinstance(getattr(X, "shape", None), tuple)


def first_block(source: Source) -> Block:
    """The first block with rows in it."""
    for block in source:
        if block.X.shape[0]:
            return Block(*block)
    raise ValueError("the source has no rows; at least one block of rows is needed.")


def rows_of(source: Source) -> int:
    """How many rows a source has, or what is assumed if it does not tell."""
    return int(getattr(source, "n_rows", None) or _UNKNOWN_ROWS)


class SourceRun:
    """One run of a fit to a source, the first or a later one of the same.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        Where states are kept.
    n_jobs : int or None
        Threads; a later run uses as many as the first did, because sums depend on how rows are shared out.
    show : bool
        Show progress bars on a terminal.
    """

    def __init__(self, checkpoint: Checkpoint | None, n_jobs: int | None, show: bool) -> None:
        self.checkpoint, self.show = checkpoint, show
        self.n_threads = thread_count(n_jobs)
        if checkpoint is not None:
            settled = checkpoint.load(_SETTLED)
            if settled is None:
                checkpoint.save(_SETTLED, {"threads": np.int64(self.n_threads)})
            else:
                self.n_threads = int(settled["threads"])

    def resumed(self, rows: PairRows | DensePairRows) -> dict[str, Any] | None:
        """The state in which an earlier run left the solver, if any."""
        state = None if self.checkpoint is None else self.checkpoint.load(_SOLVER)
        if state is not None and int(state["rows"]) != _mark(rows):
            raise CheckpointError(
                f"the state in {self.checkpoint.folder} was reached on other rows than these. "  # type: ignore[union-attr]
                "Delete the folder to start again, or choose another."
            )
        return state

    @contextmanager
    def watched(self, rows: PairRows | DensePairRows, tol: float) -> Iterator[Watch]:
        """Show and save how the solver goes on; what this yields is told its states."""
        mark = np.int64(0 if self.checkpoint is None else _mark(rows))
        with progress(_PRODUCTS * rows.n_rows, "solving", show=self.show) as advance:

            def watch(state: dict[str, Any], done: int, excess: float, auc: float) -> None:
                left = _PER_DECADE * math.log10(max(excess, tol) / tol) if math.isfinite(excess) else 0.0
                advance.expect(rows.n_rows * (max(done + math.ceil(left), _PRODUCTS if not left else 0) + 1))
                advance.note(f"AUC ≈ {auc:.4f}")
                if self.checkpoint is not None:
                    self.checkpoint.offer(_SOLVER, state | {"rows": mark})

            rows.advance = advance
            try:
                yield watch
            finally:
                rows.advance = silent


def _mark(rows: PairRows | DensePairRows) -> int:
    """A checksum of what a solver is told of the rows."""
    return zlib.crc32(rows.diagonal.tobytes(), zlib.crc32(rows.mu.tobytes()))


@contextmanager
def source_run(
    checkpoint: str | os.PathLike[str] | None, identity: dict[str, Any], n_jobs: int | None, show: bool
) -> Iterator[SourceRun]:
    """A run with its checkpoint open, if there is one; Ctrl-C leaves it whole and says how to go on."""
    if checkpoint is None:
        yield SourceRun(None, n_jobs, show)
        return
    with Checkpoint(checkpoint, identity) as opened, interruptible(opened):
        yield SourceRun(opened, n_jobs, show)


def identity_of(settings: dict[str, Any], source: Source) -> dict[str, Any]:
    """What the result of a fit depends on, in plain values, apart from the rows themselves."""

    def plain(value: Any) -> Any:
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | float | np.number):
            return value if isinstance(value, int | float) else value.item()
        array = np.ascontiguousarray(value, dtype=np.float64)
        return f"array of {array.size}, CRC {zlib.crc32(array.tobytes()):08x}"

    # what is shown, and how many threads show it, changes no bit that is not kept elsewhere
    kept = {name: plain(value) for name, value in settings.items() if name not in ("verbose", "n_jobs")}
    return {"what": "fit of a source", "settings": kept, "n_features": int(source.n_features)}


def drawn_rows(
    source: Source, pairs: int, random_state: Any, show: bool
) -> tuple[Rows, tuple[NDArray[np.intp], NDArray[np.intp]], Rows]:
    """Rows for sampled pairs: the same that would be drawn from the source's rows in memory.

    Two passes: one for the labels and weights, which are kept (1 to 9 bytes a row), one for the rows drawn.

    Returns
    -------
    rows : Rows
        Those that were drawn, each once.
    drawn : pair of index arrays
        Their numbers, for each pair.
    all_rows : Rows
        Labels and weights of all rows; X is None.
    """
    labels: list[NDArray[np.bool_]] = []
    weights: list[Array | None] = []
    with progress(getattr(source, "n_rows", None), "counting", show=show) as advance:
        for X, y, weight in (Block(*block) for block in source):
            labels.append(np.asarray(y) > 0)
            weights.append(weight)
            advance(X.shape[0])
    sizes = [part.size for part in labels]
    if not sum(sizes):
        raise ValueError("the source has no rows; at least one block of rows is needed.")
    weight = None
    if any(part is not None for part in weights):
        parts = [
            np.ones(size) if part is None else np.asarray(part)
            for part, size in zip(weights, sizes, strict=True)
        ]
        weight = np.concatenate(parts)
    everything = Rows(None, np.concatenate(labels), weight)
    drawn = draw_rows(everything, pairs, random_state)
    wanted, places = np.unique(np.concatenate(drawn), return_inverse=True)
    picked, start = [], 0
    with progress(sum(sizes), "drawing rows", show=show) as advance:
        for X, _, _ in (Block(*block) for block in source):
            low, high = np.searchsorted(wanted, [start, start + X.shape[0]])
            if high > low:
                picked.append(X[wanted[low:high] - start])
            start += X.shape[0]
            advance(X.shape[0])
    if start != everything.positive.size:
        raise ValueError(
            f"the source had {everything.positive.size:,} rows in a first pass and {start:,} in a second; "
            "it must stay as it is while it is read."
        )
    X = sp.vstack(picked, format="csr") if is_sparse(picked[0]) else np.concatenate(picked)
    found = Rows(X, everything.positive[wanted], None)
    return found, (places[: drawn[0].size], places[drawn[0].size :]), everything
