"""Pairs of a click log, chunk by chunk, as a linear operator in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.pairs.compact.cache import RowCacheWriter
from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.rows import CompactRows
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.pairs.scatter.sparse import all_ones
from mbauc.paper.studies.clicks.formed import FormedPairs, FormedSums
from mbauc.rows.fingerprint import BlockMark
from mbauc.rows.source import RawBlock

#: Bytes of compact rows to hold in memory; more go to a nameless temporary file.
ROOM = 2_000_000_000
#: Rows to gather before they are made compact: small pieces would cost more than they hold.
_PIECE = 32_768


class CompactSums:
    """Compact rows of chunks, in memory or, as soon as they do not fit, in a temporary file."""

    def __init__(self, n_features: int, groups: int, n_threads: int, room: int = ROOM) -> None:
        self._collector = Collector(n_features, groups, n_threads)
        self._n_features, self._n_groups = n_features, groups
        self._n_threads, self._room = n_threads, room
        self._waiting: list[tuple[Any, NDArray[np.intp]]] = []
        self._held: list[CompactRows] = []
        self._size = 0
        self._writer: RowCacheWriter | None = None

    def add(self, X: Any, group: NDArray[np.intp]) -> None:
        """Take in rows, each with the number of its group."""
        self._waiting.append((X, group))
        if sum(of_rows.size for _, of_rows in self._waiting) >= _PIECE:
            self._compact()

    def _compact(self) -> None:
        X = self._waiting[0][0] if len(self._waiting) == 1 else sp.vstack([X for X, _ in self._waiting], "csr")
        of_rows = np.concatenate([of_rows for _, of_rows in self._waiting])
        groups = [np.flatnonzero(of_rows == group) for group in range(self._n_groups)]
        self._waiting = []
        block = SparseBlock(X, groups, None, all_ones(X, self._n_threads))
        self._collector.count(block)
        chunks = self._collector.compact(block)
        self._held += chunks
        self._size += sum(chunk.nbytes for chunk in chunks)
        if self._writer is None and self._size > self._room:
            self._writer = RowCacheWriter(None, {"n_features": self._n_features, "fingerprint": None})
        if self._writer is not None:
            self._writer.add_block(self._held, BlockMark(X.shape[0], 0))
            self._held = []

    def finish(self) -> SparsePairOperator:
        """All that was added."""
        if self._waiting:
            self._compact()
        if self._writer is None:
            return SparsePairOperator(self._held, self._collector, self._n_threads)
        cache = self._writer.finish(self._collector.state())
        return SparsePairOperator(cache.chunks(self._room), self._collector, self._n_threads)


#: What chunks are added to.
Sums = CompactSums | FormedSums


class AllPairs:
    """All pairs of the rows of all chunks (Eq. 13).

    Parameters
    ----------
    n_features : int
        Number of columns.
    n_threads : int
        Threads to use.
    room : int, default=2000000000
        Bytes of compact rows to hold in memory.
    form : bool, default=False
        Whether Σ is formed, instead of keeping rows.
    """

    def __init__(self, n_features: int, n_threads: int, room: int = ROOM, *, form: bool = False) -> None:
        self._sums = _make_sums(n_features, 2, n_threads, room, form)

    def add(self, chunk: RawBlock) -> None:
        """Take in a chunk."""
        self._sums.add(chunk.X, np.where(chunk.y == 1, 0, 1))

    def rows(self) -> SparsePairOperator | FormedPairs:
        """All that was added."""
        return self._sums.finish()


class SampledPairs:
    """Matched pairs drawn within each chunk (Algorithm 1): half as many as it has rows.

    Parameters as for :class:`AllPairs`, and the generator to draw with.
    """

    def __init__(
        self,
        n_features: int,
        n_threads: int,
        rng: np.random.Generator,
        room: int = ROOM,
        *,
        form: bool = False,
    ) -> None:
        self._sums = _make_sums(n_features, 1, n_threads, room, form)
        self._rng = rng
        self.n_pairs = 0

    def add(self, chunk: RawBlock) -> None:
        """Draw from a chunk; from one of a single class there is nothing to draw."""
        positive = chunk.y == 1
        plus, minus = np.flatnonzero(positive), np.flatnonzero(~positive)
        if not plus.size or not minus.size:
            return
        size = -(-chunk.y.size // 2)
        i, j = plus[self._rng.integers(plus.size, size=size)], minus[self._rng.integers(minus.size, size=size)]
        differences = chunk.X[i] - chunk.X[j]
        differences.sort_indices()
        self._sums.add(differences, np.zeros(size, dtype=np.intp))
        self.n_pairs += size

    def rows(self) -> SparsePairOperator | FormedPairs:
        """All that was drawn."""
        return self._sums.finish()


def _make_sums(n_features: int, groups: int, n_threads: int, room: int, form: bool) -> Sums:
    if form:
        return FormedSums(n_features, groups, n_threads)
    return CompactSums(n_features, groups, n_threads, room)
