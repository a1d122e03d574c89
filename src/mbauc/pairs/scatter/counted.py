"""Scatters of rows of ones that come in blocks: counts, exact in whatever order and tree they are added.

Where all values are one and rows have no weights, the cells of X'X are numbers of rows, which float64 holds
exactly up to 2⁵³. So nothing is centred before the end, and rows of several blocks wait until there are enough
of them to be worth a walk over the d×d matrix.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.scatter.packed import PackedScatters, Side
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.runtime.threads import run_threads

#: Rows that wait, and what counting them takes, have at most this share of the memory of the matrix …
_SHARE = 0.1
#: … within these numbers of entries: fewer waste time on walks over the matrix, more fall out of cache.
_FEWEST, _MOST = 1_000_000, 6_000_000
#: Pieces of work per thread, so that a thread with light columns takes over from one with heavy ones.
_PIECES = 16

Index = NDArray[np.intp]


class CountedScatters:
    """Accumulates rows of ones without weights, the positive and the negative ones.

    ``O(Σ k²)`` time over rows with k entries. Memory: one d×d matrix, and a tenth of it or 24 MB.

    Attributes
    ----------
    packed : PackedScatters
        How many of the rows that have been counted hold a one in both columns of a cell.
    totals : ndarray of int64, shape (2, d)
        How many of them hold a one in a column, positive rows first.
    n_rows : list of int
        Rows of each class, those that wait included.
    """

    def __init__(self, packed: PackedScatters, totals: NDArray[np.int64], n_rows: tuple[int, int]) -> None:
        self.packed, self.totals, self.n_rows = packed, totals, list(n_rows)
        self._waiting = _waiting_rows(packed)

    @classmethod
    def empty(cls, n_features: int) -> CountedScatters:
        """No rows yet."""
        totals = np.zeros((2, n_features), dtype=np.int64)
        return cls(PackedScatters.zeros(n_features), totals, (0, 0))

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to others: counts, no rows."""
        self.flush(1)
        return {"packed": self.packed, "totals": self.totals, "n_rows": self.n_rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _waiting=_waiting_rows(state["packed"]))

    def add(self, X: Any, strata: tuple[Index, Index], n_threads: int) -> None:
        """Add rows of a CSR matrix of ones without duplicates: the positive ones and the negative ones."""
        for number, index in enumerate(strata):
            waiting = self._waiting[number]
            lengths = np.asarray(X.indptr[index + 1] - X.indptr[index], dtype=np.int64)
            for part in _cut(lengths, waiting):
                if waiting.n_entries + int(lengths[part].sum()) > waiting.capacity:
                    self._count(number, n_threads)
                waiting.append(X, index[part], lengths[part], n_threads)
            self.n_rows[number] += index.size

    def merge(self, other: CountedScatters, n_threads: int) -> None:
        """Add the rows of another, which stays as it is but for rows that waited."""
        other.flush(n_threads)
        if not self.packed.buffer.flags.writeable:
            self.packed = PackedScatters(self.packed.buffer.copy())
        self.packed.buffer[...] += other.packed.buffer
        self.totals = self.totals + other.totals
        self.n_rows = [mine + theirs for mine, theirs in zip(self.n_rows, other.n_rows, strict=True)]

    def flush(self, n_threads: int) -> None:
        """Count the rows that wait."""
        for number in range(2):
            self._count(number, n_threads)

    def finish(self, n_threads: int) -> tuple[tuple[WeightedMean, WeightedMean], PackedScatters]:
        """Number and mean of the rows of each class, and their scatters; uses up the counts."""
        self.flush(n_threads)
        plus, minus = (
            _centre(self.packed, side, n, totals)
            for side, n, totals in zip(self.packed.sides, self.n_rows, self.totals, strict=True)
        )
        return (plus, minus), self.packed

    def _count(self, number: int, n_threads: int) -> None:
        """Add the rows of one class that wait to the triangle of that class."""
        side, waiting = self.packed.sides[number], self._waiting[number]
        if waiting.n_entries:
            lower = side == "positive"
            self.totals[number] += waiting.add_gram(self.packed.square(side), lower, n_threads)
        waiting.clear()


class _WaitingRows:
    """Columns of rows of one class that have not been counted yet, one row after the other."""

    def __init__(self, n_features: int, capacity: int) -> None:
        self.capacity = capacity
        self._n_features = n_features
        self._columns = np.empty(0, dtype=np.uint16 if n_features <= 1 << 16 else np.uint32)
        self.clear()

    def clear(self) -> None:
        """No rows."""
        self.n_entries, self._lengths = 0, list[NDArray[np.int64]]()

    def append(self, X: Any, index: Index, lengths: NDArray[np.int64], n_threads: int) -> None:
        """Copy rows of a CSR matrix."""
        from mbauc.pairs.scatter import counted_kernels

        entries = self.n_entries + int(lengths.sum())
        if entries > self._columns.size:
            # a buffer of full size once more than one small block comes: what is not written takes no memory
            grown = np.empty(max(entries, self.capacity), dtype=self._columns.dtype)
            grown[: self.n_entries] = self._columns[: self.n_entries]
            self._columns = grown
        parts, places = _share_out(lengths, self.n_entries, n_threads)
        run_threads(
            lambda t: counted_kernels.copy_rows(X.indptr, X.indices, index[parts[t]], places[t], self._columns),
            range(len(parts)),
            len(parts),
        )
        self._lengths.append(lengths)
        self.n_entries = entries

    def add_gram(self, square: NDArray[np.float64], lower: bool, n_threads: int) -> NDArray[np.int64]:
        """Add the Gram matrix of the rows to a triangle; how often each column occurs."""
        from mbauc.pairs.scatter import counted_kernels, kernels

        lengths, d, columns = np.concatenate(self._lengths), self._n_features, self._columns[: self.n_entries]
        parts, places = _share_out(lengths, 0, n_threads)
        counts = np.zeros((len(parts), d), dtype=np.int64)
        run_threads(
            lambda t: counted_kernels.count_entries(columns[places[t] : places[t + 1]], counts[t]),
            range(len(parts)),
            len(parts),
        )
        totals = counts.sum(axis=0)
        offsets = np.concatenate([[0], np.cumsum(totals)])
        cursors = offsets[:-1] + np.cumsum(counts, axis=0) - counts
        runs = np.empty((self.n_entries, 2), dtype=np.int32)
        run_threads(
            lambda t: counted_kernels.list_runs(columns, places[t], lengths[parts[t]], cursors[t], lower, runs),
            range(len(parts)),
            len(parts),
        )
        # equal numbers of visits a piece
        pieces = 1 if len(parts) == 1 else _PIECES * len(parts)
        cuts = np.searchsorted(offsets, np.linspace(0, self.n_entries, pieces + 1)[1:-1])
        bounds = [*pairwise([0, *cuts, d])]
        run_threads(
            lambda ends: kernels.accumulate(columns, None, offsets, runs, lower, *ends, square),
            bounds,
            len(parts),
        )
        return np.asarray(totals)


def _waiting_rows(packed: PackedScatters) -> tuple[_WaitingRows, _WaitingRows]:
    # 2 or 4 bytes an entry wait in each class, and 8 more are needed while one class is counted
    itemsize = 2 if packed.n_features <= 1 << 16 else 4
    capacity = int(np.clip(_SHARE * packed.buffer.nbytes / (2 * itemsize + 8), _FEWEST, _MOST))
    return _WaitingRows(packed.n_features, capacity), _WaitingRows(packed.n_features, capacity)


def _cut(lengths: NDArray[np.int64], waiting: _WaitingRows) -> list[slice]:
    """Rows in ranges that fit: the first beside what waits, if it does, and each of one row at least."""
    ends = np.cumsum(lengths)
    parts: list[slice] = []
    start = int(np.searchsorted(ends, waiting.capacity - waiting.n_entries, side="right"))
    if start:
        parts.append(slice(0, start))
    while start < lengths.size:
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + waiting.capacity, side="right")), start + 1)
        parts.append(slice(start, stop))
        start = stop
    return parts


def _share_out(lengths: NDArray[np.int64], place: int, n_threads: int) -> tuple[list[slice], list[int]]:
    """Ranges of rows for the threads, and the places of their entries, which begin at ``place``."""
    n_threads = min(n_threads, max(1, int(lengths.sum()) // 10_000))
    cuts = np.linspace(0, lengths.size, n_threads + 1).astype(np.intp).tolist()
    parts = [slice(a, b) for a, b in pairwise(cuts)]
    ends = np.cumsum([place, *(int(lengths[part].sum()) for part in parts)])
    return parts, ends.tolist()


def _centre(packed: PackedScatters, side: Side, n_rows: int, totals: NDArray[np.int64]) -> WeightedMean:
    """Take the mean off the Gram matrix of one class."""
    if n_rows == 0:
        return WeightedMean.empty(packed.n_features)
    mean = totals / n_rows
    packed.add_outer(side, -float(n_rows), mean)
    diagonal = packed.diagonal(side)
    np.maximum(diagonal, 0.0, out=diagonal)
    return WeightedMean(n_rows, float(n_rows), float(n_rows), mean)
