"""Class scatters of dense rows: blocks copied into cache, centred there, one rank-k update each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.pairs.scatter.packed import PackedScatters, Side
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.runtime.progress import Advance
from mbauc.runtime.threads import run_threads

#: Most rows of a block. Enough for BLAS to run at speed, few enough to stay in cache while centred and scaled.
BLOCK_ROWS = 2048
#: Below this many columns each thread works on blocks of its own with a single-threaded BLAS; above it one
#: block at a time goes to a multi-threaded BLAS, because a d×d matrix per thread would cost too much memory.
OWN_SCATTER_COLUMNS = 1024
#: Rows of other dtypes that are converted at a time.
_CONVERTED_ROWS = 128
#: Below this many multiplications starting threads costs more than it saves.
_MIN_PARALLEL_WORK = 2_000_000
#: Columns whose squared mean is at most this many variances are accurate to 15 digits without a shift.
_CENTRED = 4.0


def dense_class_scatter(
    X: NDArray[Any],
    index: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    packed: PackedScatters,
    side: Side,
    n_threads: int,
    advance: Advance,
) -> WeightedMean:
    """Add the scatter of ``X[index]`` around its mean to one side of ``packed``.

    Columns far from zero are shifted by a provisional mean (of rows spread over the class), so a common
    shift of any size costs no digits. Sums are float64 whatever the dtype of X.

    ``O(n d²)`` time. Memory: a block of 2,048 rows and two d×d matrices per thread up to 1,024 columns;
    one block above.
    """
    d = X.shape[1]
    if index.size == 0:
        return WeightedMean.empty(d)
    total = float(index.size) if weight is None else float(weight.sum())
    squared = total if weight is None else float(weight @ weight)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = slice(None, None, max(1, index.size // 1000))
        shift = _provisional_mean(X[index[spread]], None if weight is None else weight[spread])
        blocks = _Blocks(X, index, weight, shift, 1 if d > OWN_SCATTER_COLUMNS else n_threads)
        if d > OWN_SCATTER_COLUMNS:
            sums = np.zeros(d)
            for block in blocks.walk(0, 1):
                sums += blocks.weighted_sum(block)
                packed.add_gram(side, blocks.row_major(block))
                advance(blocks.size)
        else:
            sums, scatter = _scatter_by_threads(blocks, advance)
            packed.add_full(side, scatter)
        mean = sums / total
        packed.add_outer(side, -total, mean)
        diagonal = packed.diagonal(side)
    if not (np.isfinite(diagonal).all() and np.isfinite(sums).all()):
        _raise_nonfinite(X, index)
    np.maximum(diagonal, 0.0, out=diagonal)
    return WeightedMean(int(index.size), total, squared, mean if shift is None else shift + mean)


def _provisional_mean(probe: NDArray[Any], weight: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """What to subtract from each column, from a sample of the rows; None if nothing is far from zero.

    A column that looks constant is shifted by its very value, so that it comes out as exactly constant.
    """
    values = probe.astype(np.float64)
    mean = np.average(values, axis=0, weights=weight)
    variance = np.average((values - mean) ** 2, axis=0, weights=weight)
    constant = probe.min(axis=0) == probe.max(axis=0)
    if (mean**2 <= _CENTRED * variance).all():
        return None
    return np.asarray(np.where(constant, values[0], mean))


class _Blocks:
    """Blocks of chosen rows of X, copied, shifted and scaled by the root of their weight.

    A block is kept the way X is laid out: ``(k, d)`` for rows next to each other in memory, ``(d, k)``
    for columns next to each other.
    """

    def __init__(
        self,
        X: NDArray[Any],
        index: NDArray[np.intp],
        weight: NDArray[np.float64] | None,
        shift: NDArray[np.float64] | None,
        n_threads: int,
    ) -> None:
        self.X, self.rows, self.shift = X, index, shift
        self.root = None if weight is None else np.sqrt(weight)
        self.by_column = X.flags.f_contiguous and not X.flags.c_contiguous
        if index.size * X.shape[1] ** 2 < _MIN_PARALLEL_WORK:
            n_threads = 1
        # equal blocks, the same number for each thread
        per_thread = -(-index.size // (BLOCK_ROWS * n_threads))
        self.size = -(-index.size // (per_thread * n_threads))
        self.count = -(-index.size // self.size)
        self.n_threads = min(n_threads, self.count)
        self.stopped = False

    def walk(self, first: int, step: int) -> Any:
        """Blocks number ``first``, ``first + step``, … through one buffer."""
        d = self.X.shape[1]
        buffer = np.empty(self.size * d)
        for number in range(first, self.count, step):
            part = slice(number * self.size, (number + 1) * self.size)
            index = self.rows[part]
            k = index.size
            block = buffer[: k * d].reshape((d, k) if self.by_column else (k, d))
            if self.X.dtype == np.float64:
                self._take(index, block)
                if self.shift is not None:
                    block -= self.shift[:, None] if self.by_column else self.shift
            else:
                # in small steps, so that what is converted is still in cache
                for start in range(0, k, _CONVERTED_ROWS):
                    piece = slice(start, start + _CONVERTED_ROWS)
                    self._convert(index[piece], block[:, piece] if self.by_column else block[piece])
            if self.root is not None:
                block *= self.root[part] if self.by_column else self.root[part, None]
            yield number, block

    def _take(self, index: NDArray[np.intp], out: NDArray[Any]) -> None:
        """Copy rows of X as they are."""
        if self.by_column:
            np.take(self.X.T, index, axis=1, out=out, mode="clip")
        elif self.X.flags.c_contiguous:
            np.take(self.X, index, axis=0, out=out, mode="clip")
        else:
            out[...] = self.X[index]

    def _convert(self, index: NDArray[np.intp], out: NDArray[np.float64]) -> None:
        """Copy rows of X as float64, shifted."""
        taken = np.empty(out.shape, dtype=self.X.dtype)
        self._take(index, taken)
        if self.shift is None:
            out[...] = taken
        else:
            np.subtract(taken, self.shift[:, None] if self.by_column else self.shift, out=out)

    def stop(self) -> None:
        """Stop the threads that walk the blocks."""
        self.stopped = True

    def weighted_sum(self, numbered: tuple[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Sum over the rows of a block of ``w (x - shift)``."""
        number, block = numbered
        k = block.shape[1] if self.by_column else block.shape[0]
        start = number * self.size
        root = np.ones(k) if self.root is None else self.root[start : start + k]
        return np.asarray(block @ root if self.by_column else root @ block)

    def gram(self, numbered: tuple[int, NDArray[np.float64]], out: NDArray[np.float64]) -> None:
        """Write ``Σ w (x - shift)(x - shift)'`` over the rows of a block."""
        _, block = numbered
        # numpy sees one array times its own transpose and halves the work
        if self.by_column:
            np.matmul(block, block.T, out=out)
        else:
            np.matmul(block.T, block, out=out)

    def row_major(self, numbered: tuple[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """The block with one row of X a row."""
        return numbered[1].T if self.by_column else numbered[1]


def _scatter_by_threads(blocks: _Blocks, advance: Advance) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and Gram matrix of all blocks; of n threads each walks every n-th of them."""
    d, n_threads = blocks.X.shape[1], blocks.n_threads

    def walk(first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums, scatter, gram = np.zeros(d), np.zeros((d, d)), np.empty((d, d))
        with np.errstate(over="ignore", invalid="ignore"):  # of this thread; looked for afterwards
            for block in blocks.walk(first, n_threads):
                sums += blocks.weighted_sum(block)
                blocks.gram(block, gram)
                scatter += gram
                advance(blocks.size)
                if blocks.stopped:
                    break
        return sums, scatter

    parts = run_threads(walk, range(n_threads), n_threads, stop=blocks.stop)
    sums, scatter = parts[0]
    for more_sums, more_scatter in parts[1:]:
        sums += more_sums
        scatter += more_scatter
    return sums, scatter


def _raise_nonfinite(X: NDArray[Any], rows: NDArray[np.intp]) -> None:
    """Name the first NaN or infinity among the rows, or else the column that overflows."""
    ordered = np.sort(rows)
    for start in range(0, ordered.size, BLOCK_ROWS):
        index = ordered[start : start + BLOCK_ROWS]
        bad = ~np.isfinite(X[index])
        if bad.any():
            row, column = (int(i) for i in np.argwhere(bad)[0])
            raise NonFiniteError(int(index[row]), column, float(X[index[row], column]))
    largest = max(
        float(np.abs(X[ordered[start : start + BLOCK_ROWS]].astype(np.float64)).max())
        for start in range(0, ordered.size, BLOCK_ROWS)
    )
    raise ValueError(
        f"X holds values as large as {largest:.3g}, whose squares overflow float64; rescale the features."
    )
