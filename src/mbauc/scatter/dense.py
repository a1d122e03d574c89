"""Class scatters of dense rows: blocks copied into cache, centred there, one rank-k update each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.scatter.weighted_mean import WeightedMean
from mbauc.scatter.packed import PackedScatters, Side
from mbauc.threads import run_threads, single_threaded_blas

#: Rows of a block. Enough for BLAS to run at speed, few enough to stay in cache while centred and scaled.
BLOCK_ROWS = 1024
#: Below this many columns each thread works on blocks of its own with a single-threaded BLAS; above it one
#: block at a time goes to a multi-threaded BLAS, because a d×d matrix per thread would cost too much memory.
OWN_SCATTER_COLUMNS = 1024
#: Below this many multiplications starting threads costs more than it saves.
_MIN_PARALLEL_WORK = 2_000_000


def dense_class_scatter(
    X: NDArray[Any],
    rows: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    packed: PackedScatters,
    side: Side,
    n_threads: int,
) -> WeightedMean:
    """Add the scatter of ``X[rows]`` around its mean to one side of ``packed``.

    Rows are shifted by a provisional mean (of rows spread over the class), so a common shift of any size
    costs no digits, and are accumulated in float64 whatever the dtype of X.

    ``O(n d²)`` time. Memory: a block of 1,024 rows and up to two d×d matrices per thread below 1,024
    columns; one block above.
    """
    d = X.shape[1]
    if rows.size == 0:
        return WeightedMean.empty(d)
    total = float(rows.size) if weight is None else float(weight.sum())
    squared = total if weight is None else float(weight @ weight)
    with np.errstate(over="ignore", invalid="ignore"):
        probe = X[rows[:: max(1, rows.size // BLOCK_ROWS)][:BLOCK_ROWS]]
        # the value itself where a column looks constant, so that it comes out as exactly that
        shift = np.where(probe.min(axis=0) == probe.max(axis=0), probe[0], probe.mean(axis=0, dtype=np.float64))
        blocks = _Blocks(X, rows, weight, shift)
        if d > OWN_SCATTER_COLUMNS:
            sums = np.zeros(d)
            for block in blocks.walk(0, 1):
                sums += blocks.weighted_sum(block)
                packed.add_gram(side, blocks.rows_of(block))
        else:
            sums, scatter = _scatter_by_threads(blocks, n_threads)
            packed.add_full(side, scatter)
        mean = sums / total
        packed.add_outer(side, -total, mean)
        diagonal = packed.diagonal(side)
    if not (np.isfinite(diagonal).all() and np.isfinite(sums).all()):
        _raise_nonfinite(X, rows)
    np.maximum(diagonal, 0.0, out=diagonal)
    return WeightedMean(int(rows.size), total, squared, shift + mean)


class _Blocks:
    """Blocks of chosen rows of X, copied, shifted and scaled by the root of their weight.

    A block is kept the way X is laid out: ``(k, d)`` for rows next to each other in memory, ``(d, k)``
    for columns next to each other.
    """

    def __init__(
        self,
        X: NDArray[Any],
        rows: NDArray[np.intp],
        weight: NDArray[np.float64] | None,
        shift: NDArray[np.float64],
    ) -> None:
        self.X, self.rows, self.shift = X, rows, shift
        self.root = None if weight is None else np.sqrt(weight)
        self.by_column = X.flags.f_contiguous and not X.flags.c_contiguous
        self.count = -(-rows.size // BLOCK_ROWS)

    def walk(self, first: int, step: int) -> Any:
        """Blocks number ``first``, ``first + step``, … through one buffer."""
        d = self.X.shape[1]
        size = min(BLOCK_ROWS, self.rows.size) * d
        buffer = np.empty(size)
        copied = buffer if self.X.dtype == np.float64 else np.empty(size, dtype=self.X.dtype)
        for number in range(first, self.count, step):
            part = slice(number * BLOCK_ROWS, (number + 1) * BLOCK_ROWS)
            index = self.rows[part]
            k = index.size
            shape = (d, k) if self.by_column else (k, d)
            taken, block = copied[: k * d].reshape(shape), buffer[: k * d].reshape(shape)
            if self.by_column:
                np.take(self.X.T, index, axis=1, out=taken, mode="clip")
                np.subtract(taken, self.shift[:, None], out=block)
            else:
                if self.X.flags.c_contiguous:
                    np.take(self.X, index, axis=0, out=taken, mode="clip")
                else:
                    taken[...] = self.X[index]
                np.subtract(taken, self.shift, out=block)
            if self.root is not None:
                block *= self.root[part] if self.by_column else self.root[part, None]
            yield number, block

    def weighted_sum(self, numbered: tuple[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Sum over the rows of a block of ``w (x - shift)``."""
        number, block = numbered
        k = block.shape[1] if self.by_column else block.shape[0]
        start = number * BLOCK_ROWS
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

    def rows_of(self, numbered: tuple[int, NDArray[np.float64]]) -> NDArray[np.float64]:
        """The block with one row of X a row."""
        return numbered[1].T if self.by_column else numbered[1]


def _scatter_by_threads(
    blocks: _Blocks, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and Gram matrix of all blocks; each thread walks every n_threads-th of them."""
    d = blocks.X.shape[1]
    if blocks.rows.size * d * d < _MIN_PARALLEL_WORK:
        n_threads = 1
    n_threads = min(n_threads, blocks.count)

    def walk(first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums, scatter, gram = np.zeros(d), np.zeros((d, d)), np.empty((d, d))
        for block in blocks.walk(first, n_threads):
            sums += blocks.weighted_sum(block)
            blocks.gram(block, gram)
            scatter += gram
        return sums, scatter

    if n_threads == 1:
        return walk(0)
    with single_threaded_blas():
        parts = run_threads(walk, range(n_threads), n_threads)
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
