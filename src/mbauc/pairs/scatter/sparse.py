"""Class scatters of sparse rows, which are never made dense.

The Gram matrix is built one of its rows at a time from column lists, so that the cells being added to stay
in cache; the mean is taken off afterwards as one rank-one update.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.scatter.few_entries import MOST_ENTRIES, add_products, look_at, loops_are_dear, places_of
from mbauc.pairs.scatter.packed import PackedScatters, Side
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.rows.finite import raise_nonfinite
from mbauc.runtime.progress import Advance
from mbauc.runtime.threads import run_threads

#: A chunk of rows takes at most this share of the memory of the scatter itself …
_CHUNK_SHARE = 0.07
#: … within these numbers of entries: fewer waste time on bookkeeping, more fall out of cache.
_MIN_CHUNK = 1_000_000
_MAX_CHUNK = 6_000_000
#: Pieces of work per thread, so that a thread with light columns takes over from one with heavy ones.
_PIECES = 16


def all_ones(X: Any, n_threads: int) -> bool:
    """Whether every stored value of a CSR matrix is 1; raises if one is not finite."""
    if X.data.size <= 2 * MOST_ENTRIES:
        found = [look_at(X.data)]
    else:
        from mbauc.pairs.scatter import kernels

        found = run_threads(kernels.inspect, np.array_split(X.data, n_threads), n_threads)
    if not all(finite for _, finite in found):
        raise_nonfinite(X)
    return all(ones for ones, _ in found)


def sparse_class_scatter(
    X: Any,
    index: NDArray[np.intp],
    weight: NDArray[np.float64] | None,
    packed: PackedScatters,
    side: Side,
    n_threads: int,
    advance: Advance,
    ones: bool,
) -> WeightedMean:
    """Add the scatter of ``X[index]`` around its mean to one side of ``packed``.

    ``O(Σ k²)`` time over rows with k entries; memory for a chunk of rows, at most 7% of the scatter's
    or 20 MB. Values that are all one (``ones``) take a faster loop.

    A column with an entry in every row is shifted by the first of them. Other columns need no shift: with
    a zero among n values of like weight the variance is at least the squared mean over n, and no more
    than log10(n) digits can be lost.
    """
    d = X.shape[1]
    if index.size == 0:
        return WeightedMean.empty(d)
    unit = ones and weight is None
    total = float(index.size) if weight is None else float(weight.sum())
    squared = total if weight is None else float(weight @ weight)
    root = None if unit else np.sqrt(weight) if weight is not None else np.ones(index.size)

    shift = np.zeros(d) if unit else find_shift(X, index)
    sums = np.zeros(d)
    square = packed.square(side)
    itemsize = 2 if d <= 1 << 16 else 4
    entry_bytes = 8 + itemsize + (0 if unit else 8)
    chunk = int(np.clip(_CHUNK_SHARE * packed.buffer.nbytes / entry_bytes, _MIN_CHUNK, _MAX_CHUNK))
    for part in _chunks(X.indptr, index, chunk):
        sums += _add_chunk(
            X, index[part], None if root is None else root[part], shift, square, side == "positive", n_threads
        )
        advance(part.stop - part.start)
    mean = sums / total
    packed.add_outer(side, -total, mean)
    diagonal = packed.diagonal(side)
    if not np.isfinite(diagonal).all():
        raise ValueError(
            f"X holds values as large as {np.abs(X.data).max():.3g}, whose squares overflow float64; "
            "rescale the features."
        )
    np.maximum(diagonal, 0.0, out=diagonal)
    return WeightedMean(int(index.size), total, squared, shift + mean)


def _chunks(indptr: NDArray[Any], index: NDArray[np.intp], entries: int) -> list[slice]:
    """Slices of ``index`` with about ``entries`` stored values each."""
    stored = np.cumsum(np.diff(indptr)[index], dtype=np.int64)
    chunks: list[slice] = []
    start = 0
    while start < index.size:
        before = stored[start - 1] if start else 0
        stop = max(int(np.searchsorted(stored, before + entries, side="right")), start + 1)
        chunks.append(slice(start, stop))
        start = stop
    return chunks


def _add_chunk(
    X: Any,
    index: NDArray[np.intp],
    root: NDArray[np.float64] | None,
    shift: NDArray[np.float64],
    square: NDArray[np.float64],
    lower: bool,
    n_threads: int,
) -> NDArray[np.float64]:
    """Add the Gram matrix of a chunk of rows to the triangle; return the weighted sum of the rows."""
    d = X.shape[1]
    lengths = X.indptr[index + 1] - X.indptr[index]
    entries = int(lengths.sum(dtype=np.int64))
    if loops_are_dear(entries, lengths):
        return add_products(X, index, root, shift, square, lower)
    from mbauc.pairs.scatter import kernels

    n_threads = min(n_threads, max(1, entries // 10_000))
    parts = np.array_split(np.arange(index.size), n_threads)

    counts = np.zeros((n_threads, d), dtype=np.int64)
    run_threads(
        lambda t: kernels.count_columns(X.indptr, X.indices, index[parts[t]], counts[t]),
        range(n_threads),
        n_threads,
    )
    totals = counts.sum(axis=0)
    offsets = np.concatenate([[0], np.cumsum(totals)])
    cursors = offsets[:-1] + np.concatenate([np.zeros((1, d), dtype=np.int64), np.cumsum(counts, axis=0)[:-1]])
    starts = np.concatenate([[0], np.cumsum(counts.sum(axis=1))])

    columns = np.empty(entries, dtype=np.uint16 if d <= 1 << 16 else np.uint32)
    values = None if root is None else np.empty(entries)
    runs = np.empty((entries, 2), dtype=np.int32)
    sums = np.zeros((n_threads, d))
    run_threads(
        lambda t: kernels.fill_chunk(
            X.indptr,
            X.indices,
            None if root is None else X.data,
            index[parts[t]],
            None if root is None else root[parts[t]],
            None if root is None else shift,
            starts[t],
            cursors[t],
            lower,
            columns,
            values,
            runs,
            sums[t],
        ),
        range(n_threads),
        n_threads,
    )
    # equal numbers of visits a piece
    pieces = 1 if n_threads == 1 else _PIECES * n_threads
    cuts = np.searchsorted(offsets, np.linspace(0, entries, pieces + 1)[1:-1])
    bounds = np.concatenate([[0], cuts, [d]])
    run_threads(
        lambda i: kernels.accumulate(columns, values, offsets, runs, lower, bounds[i], bounds[i + 1], square),
        range(pieces),
        n_threads,
    )
    return totals.astype(np.float64) if root is None else np.asarray(sums.sum(axis=0))


def find_shift(X: Any, index: NDArray[np.intp]) -> NDArray[np.float64]:
    """For columns with an entry in every one of the rows the first of these values, otherwise 0."""
    d = X.shape[1]
    shift = np.zeros(d)
    begin, end = X.indptr[index[0]], X.indptr[index[0] + 1]
    if begin == end:
        return shift
    if (X.indptr[index + 1] - X.indptr[index]).sum(dtype=np.int64) <= 2 * MOST_ENTRIES:
        counts = np.bincount(X.indices[places_of(X.indptr, index)], minlength=d)
    else:
        from mbauc.pairs.scatter import kernels

        counts = np.zeros(d, dtype=np.int64)
        kernels.count_columns(X.indptr, X.indices, index, counts)
    candidates = X.indices[begin:end]
    full = counts[candidates] == index.size
    shift[candidates[full]] = X.data[begin:end][full]
    return shift
