"""Products with Σ straight from sparse rows: X'(D(Xv)) in one sweep, nothing of size d×d."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.rows import Chunk, CompactRows, StoredRows
from mbauc.pairs.operator.leading_block import LeadingBlock, LeadingSums
from mbauc.pairs.operator.lost_digits import Extremes, find_extremes
from mbauc.pairs.operator.pair_operator import FEW_ENTRIES, FEW_SWEEPS, Bucket, PairOperator, RowLabels, Stratum
from mbauc.runtime.progress import Advance, silent
from mbauc.runtime.threads import run_threads

Array = NDArray[np.float64]


class SparsePairOperator(PairOperator):
    """The pairs of a sparse data set as a linear operator over the columns that occur.

    A product computes the score of a row and adds its share to the result while the row is in cache: one sweep,
    4 flops and (for ones) 2 or 4 bytes an entry.

    Rows are shared out over ``shards`` in a fixed way and their results are added up in order, so that a
    product has the same bits whichever thread is faster.

    Parameters
    ----------
    chunks : sequence of CompactRows or StoredRows
        The rows.
    collector : Collector
        Which made them, and knows their sums.
    shards : int, default=1
        Parts that work side by side, each with a vector of its own.

    Attributes
    ----------
    order : ColumnOrder
        Which columns the vectors are over.

    Others are inherited from :class:`~mbauc.pairs.operator.pair_operator.PairOperator`.
    """

    def __init__(self, chunks: Sequence[Chunk], collector: Collector, shards: int = 1) -> None:
        super().__init__(build_strata(collector), collector.shift[collector.order.columns])
        self.order: ColumnOrder = collector.order
        self.chunks, self.shards = chunks, shards
        self._block: Array | None = None
        if any(isinstance(chunk, StoredRows) for chunk in chunks):
            self.bucket_sweeps = FEW_SWEEPS

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def leading_block(self) -> Array:
        """About Σ among the most frequent columns, from at most 5,000 rows of each stratum; made once.

        As many columns as have a Cholesky factorisation in the time of about one product, at most 1,024, and as
        many rows as have their outer products in that time.
        """
        if self._block is None:
            self._block = self._build_block()
        return self._block

    def _build_block(self) -> Array:
        plan = LeadingBlock.plan(self, self._entries)

        def sums(number: int) -> LeadingSums:
            return plan.sums([chunk for chunk in self.chunks if chunk.stratum == number])

        found = run_threads(sums, range(len(self.strata)), self.shards)
        return plan.block(self.mu, sum(found[1:], found[0]))

    def find_extremes(self, columns: NDArray[np.intp]) -> Extremes:
        """Rows with a value in each of some columns, and the extremes of these values; one sweep."""
        return find_extremes(self.chunks, columns)

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        scales = [1.0 / stratum.weight for stratum in self.strata]

        def part(shard: int) -> tuple[Array, Array]:
            return sweep(self.chunks[shard :: self.shards], v, centres, scales, self.advance)

        return run_threads(part, range(self.shards), self.shards)

    # -- row by row: chunk after chunk -----------------------------------------------------------------------

    @cached_property
    def _entries(self) -> int:
        return sum(chunk.n_entries for chunk in self.chunks)

    @cached_property
    def _starts(self) -> NDArray[np.intp]:
        """Where the rows of each chunk begin, and where those of the last one end."""
        return np.cumsum([0, *(chunk.n_rows for chunk in self.chunks)])

    def scores(self, v: Array) -> Array:
        """The score x'v of each row, chunk after chunk."""
        result = np.empty(self.n_rows)

        def part(shard: int) -> None:
            for number in range(shard, len(self.chunks), self.shards):
                score_chunk(self.chunks[number], v, result[self._starts[number] : self._starts[number + 1]])
                self.advance(self.chunks[number].n_rows)

        self._run(part)
        return result

    def combine(self, r: Array) -> Array:
        """Σ rᵢ xᵢ."""
        return self._combine(r, squared=False)

    def combine_squares(self, r: Array) -> Array:
        """Σ rᵢ xᵢⱼ²."""
        return self._combine(r, squared=True)

    def _combine(self, r: Array, *, squared: bool) -> Array:
        def part(shard: int) -> Array:
            result = np.zeros(self.mu.size)
            for number in range(shard, len(self.chunks), self.shards):
                own = r[self._starts[number] : self._starts[number + 1]]
                combine_chunk(self.chunks[number], own, result, squared=squared)
                self.advance(own.size)
            return result

        result: Array = sum(self._run(part), np.zeros(self.mu.size))
        return result

    def combine_by(self, r: Array, bucket: Bucket, n_buckets: int) -> Array:
        """Σ rᵢ xᵢ of the rows of each bucket."""
        result = np.zeros((n_buckets, self.mu.size))
        for number, chunk in enumerate(self.chunks):
            own = slice(self._starts[number], self._starts[number + 1])
            combine_chunk_by(chunk, r[own], bucket[own], result)
            self.advance(chunk.n_rows)
        return result

    def _run(self, work: Callable[[int], Any]) -> list[Any]:
        """Each shard; one after another if they are small."""
        return run_threads(work, range(self.shards), self.shards if self._entries >= FEW_ENTRIES else 1)

    def curvature(self, r: Array) -> Array:
        """About the curvature of a loss, from at most 5,000 rows of a stratum; empty if columns are many."""
        plan = LeadingBlock.plan(self, self._entries)
        if not plan.suffices(self):
            return super().curvature(r)

        def sums(number: int) -> LeadingSums:
            own = [k for k, chunk in enumerate(self.chunks) if chunk.stratum == number]
            weights = [r[self._starts[k] : self._starts[k + 1]] for k in own]
            return plan.sums([self.chunks[k] for k in own], weights)

        found = run_threads(sums, range(len(self.strata)), self.shards)
        return plan.curvature(sum(found[1:], found[0]), 0.5 * float(r.sum()))

    def _labels(self) -> RowLabels:
        return label_chunks(self.chunks)


def score_chunk(stored: Chunk, v: Array, out: Array) -> None:
    """Write x'v of each row of a chunk."""
    from mbauc.pairs.operator import kernels

    chunk = stored.load()
    kernels.score(chunk.starts, chunk.columns, chunk.values, v, out)


def combine_chunk(stored: Chunk, r: Array, out: Array, *, squared: bool) -> None:
    """Add Σ rᵢ xᵢ of the rows of a chunk, or of the squares of their entries."""
    from mbauc.pairs.operator import kernels

    chunk = stored.load()
    values = chunk.values
    if squared and values is not None:
        values = np.square(values, dtype=np.float64)
    kernels.combine(chunk.starts, chunk.columns, values, r, out)


def combine_chunk_by(stored: Chunk, r: Array, bucket: Bucket, out: Array) -> None:
    """Add Σ rᵢ xᵢ of the rows of a chunk to the line of their bucket."""
    from mbauc.pairs.operator import kernels

    if (bucket >= 0).any():
        chunk = stored.load()
        kernels.combine_by(chunk.starts, chunk.columns, chunk.values, r, bucket, out)


def label_chunks(chunks: Iterable[Chunk]) -> RowLabels:
    """Labels of the rows, chunk after chunk."""
    return RowLabels.concatenate([_label_chunk(chunk.load()) for chunk in chunks])


def _label_chunk(chunk: CompactRows) -> RowLabels:
    # copied: what a file's chunk holds is gone with the next one
    weight = None if chunk.weight is None else np.array(chunk.weight)
    groups = None if chunk.groups is None else np.array(chunk.groups)
    return RowLabels(np.full(chunk.n_rows, chunk.stratum == 0), weight, groups)


def build_strata(collector: Collector) -> list[Stratum]:
    """The strata that a collector has counted."""
    counted = zip(collector.counts, collector.weights, collector.squared_weights, strict=True)
    return [Stratum.from_sums(*sums, *collector.sums(number)) for number, sums in enumerate(counted)]


def sweep(
    chunks: Iterable[Chunk],
    v: Array,
    centres: Sequence[float],
    scales: Sequence[float],
    advance: Advance = silent,
) -> tuple[Array, Array]:
    """X'D(Xv - centre) over some rows, and by stratum the sums of D(Xv - centre) and of its square.

    Parameters
    ----------
    chunks : iterable of CompactRows or StoredRows
        The rows.
    v : ndarray
        Over the columns in use.
    centres, scales : sequences of float
        What is taken off the scores of each stratum, and what its weights are multiplied by.
    advance : callable
        Called with the number of rows completed.
    """
    from mbauc.pairs.operator import kernels

    part, sums = np.zeros(v.size), np.zeros((len(centres), 2))
    for stored in chunks:
        chunk = stored.load()
        stratum = chunk.stratum
        sums[stratum] += kernels.product(
            chunk.starts, chunk.columns, chunk.values, chunk.weight, scales[stratum], v, centres[stratum], part
        )
        advance(chunk.n_rows)
    return part, sums
