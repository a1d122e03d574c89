"""Products with Σ straight from sparse rows: X'(D(Xv)) in one sweep, nothing of size d×d."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mbauc.pair_rows.collector import Collector
from mbauc.pair_rows.columns import ColumnOrder
from mbauc.pair_rows.compact_rows import CompactRows
from mbauc.pair_rows.pair_sums import Group, PairSums
from mbauc.threads import run_threads

Array = NDArray[np.float64]

#: Cube of the columns of a leading block for each entry of the rows, the columns at most, and rows of a group.
_CHOLESKY_COLUMNS, _LARGEST_BLOCK, _BLOCK_ROWS = 72, 1024, 5_000


class PairRows(PairSums):
    """The pairs of a sparse data set as something that multiplies vectors, in the columns that occur.

    A product computes the score of a row and adds its share to the result while the row is in cache: one sweep,
    4 flops and (for ones) 2 or 4 bytes an entry.

    Rows are shared out over ``shards`` in a fixed way and their results are added up in order, so that a
    product has the same bits whichever thread is faster.

    Parameters
    ----------
    chunks : sequence of CompactRows
        The rows.
    collector : Collector
        Which made them, and knows their sums.
    shards : int
        Parts that work side by side, each with a vector of its own.

    Attributes
    ----------
    order : ColumnOrder
        Which columns the vectors are over.

    The others are those of :class:`~mbauc.pair_rows.pair_sums.PairSums`.
    """

    def __init__(self, chunks: Sequence[CompactRows], collector: Collector, shards: int = 1) -> None:
        groups = [
            Group.of(count, weight, squared, *collector.sums(number))
            for number, (count, weight, squared) in enumerate(
                zip(collector.counts, collector.weights, collector.squared_weights, strict=True)
            )
        ]
        super().__init__(groups, collector.shift[collector.order.columns])
        self.order: ColumnOrder = collector.order
        self.chunks, self.shards = chunks, shards
        self._block: Array | None = None

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def leading_block(self) -> Array:
        """About Σ among the most frequent columns, from at most 5,000 rows of each group; made once.

        As many columns as have a Cholesky factorisation in the time of about one product, at most 1,024, and as
        many rows as have their outer products in that time.
        """
        if self._block is None:
            self._block = self._made_block()
        return self._block

    def _made_block(self) -> Array:
        from mbauc.pair_rows import kernels

        entries = sum(chunk.columns.size for chunk in self.chunks)
        size = min(int((_CHOLESKY_COLUMNS * entries) ** (1 / 3)), _LARGEST_BLOCK, self.mu.size)
        length = max(entries / max(self.n_rows, 1), 1.0)
        most = min(_BLOCK_ROWS, max(int(entries / length**2), 2 * size // max(int(length), 1)))

        def covariance(number: int) -> Array:
            gram, sums, total = np.zeros((size, size)), np.zeros(size), 0.0
            step = max(1, self.groups[number].count // most)
            for chunk in self.chunks:
                if chunk.group == number:
                    total += kernels.leading_gram(
                        chunk.starts, chunk.columns, chunk.values, chunk.weight, step, size, gram, sums
                    )
                    if chunk.release is not None:
                        chunk.release()
            mean = sums / total if total > 0 else sums
            return gram / total - np.outer(mean, mean) if total > 0 else gram

        found = run_threads(covariance, range(len(self.groups)), self.shards)
        return np.asarray(sum(found, np.outer(self.mu[:size], self.mu[:size])))

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        from mbauc.pair_rows import kernels

        scales = [1.0 / group.weight for group in self.groups]

        def sweep(shard: int) -> tuple[Array, Array]:
            part, sums = np.zeros(v.size), np.zeros((len(self.groups), 2))
            for chunk in self.chunks[shard :: self.shards]:
                group = chunk.group
                sums[group] += kernels.product(
                    chunk.starts,
                    chunk.columns,
                    chunk.values,
                    chunk.weight,
                    scales[group],
                    v,
                    centres[group],
                    part,
                )
                if chunk.release is not None:
                    chunk.release()
                self.advance(chunk.n_rows)
            return part, sums

        return run_threads(sweep, range(self.shards), self.shards)
