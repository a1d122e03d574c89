"""Class scatters of dense rows: blocks copied into cache, centred there, one rank-k update each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NonFiniteError
from mbauc.pairs.scatter.packed import PackedScatters, Side
from mbauc.pairs.scatter.row_blocks import BLOCK_ROWS, RowBlocks
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.runtime.progress import Advance
from mbauc.runtime.threads import run_threads

#: Below this many columns each thread works on blocks of its own with a single-threaded BLAS; above it one
#: block at a time goes to a multi-threaded BLAS, because a d×d matrix per thread would cost too much memory.
OWN_SCATTER_COLUMNS = 1024
#: From so many multiplications on, float32 rows are multiplied in single precision.
_MANY_MULTIPLICATIONS = 1e9
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
    shift of any size costs no digits. Sums are float64 whatever the dtype of X. Blocks of many float32 rows are
    multiplied in single precision before they are summed, in half the time: entries of the scatter are within
    1e-6 of the root of the product of their two variances. Pass float64 rows for all digits.

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
        single = is_single(X) and d <= OWN_SCATTER_COLUMNS
        if single and shift is not None:
            shift = shift.astype(np.float32).astype(np.float64)
        blocks = RowBlocks(X, index, weight, shift, 1 if d > OWN_SCATTER_COLUMNS else n_threads, single=single)
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


def is_single(X: NDArray[Any]) -> bool:
    """Whether rows are multiplied in single precision: float32, and so many that it saves time."""
    return bool(X.dtype == np.float32 and X.shape[0] * X.shape[1] ** 2 >= _MANY_MULTIPLICATIONS)


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


def _scatter_by_threads(blocks: RowBlocks, advance: Advance) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and Gram matrix of all blocks; of n threads each walks every n-th of them."""
    d, n_threads = blocks.X.shape[1], blocks.n_threads

    def walk(first: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums, scatter, gram = np.zeros(d), np.zeros((d, d)), np.empty((d, d), dtype=blocks.dtype)
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
