"""Products with Σ straight from the rows: X'(D(Xv)) in one sweep, nothing of size d×d."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.pair_rows.collector import Collector
from mbauc.pair_rows.columns import ColumnOrder
from mbauc.pair_rows.compact_rows import CompactRows
from mbauc.progress import Advance, silent
from mbauc.threads import run_threads

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Group:
    """Rows that are centred together: a class, or the differences of matched pairs.

    Attributes
    ----------
    count : int
        Number of rows.
    weight, squared_weight : float
        Sums of their weights and of the squares of these.
    mean, variance : ndarrays
        Of each column in use.
    """

    count: int
    weight: float
    squared_weight: float
    mean: Array
    variance: Array

    @property
    def effective_size(self) -> float:
        """Kish's effective number of rows."""
        return self.weight**2 / self.squared_weight if self.squared_weight > 0 else 0.0


class PairRows:
    """The pairs of a data set as something that multiplies vectors, in the columns that occur.

    With the rows of class c centred at their mean, ``Σ = Σ_c X_c' D_c X_c + μ μ'``, D_c the weights divided by
    their sum. A product computes the centred score of a row and adds its share to the result while the row
    is in cache: one sweep, 2 flops and (for ones) 2 or 4 bytes an entry and factor. The centring is of
    rank two: means of scores are taken off before, what rounding left of them after.

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
    groups : list of Group
    mu, diagonal : ndarrays
        μ and the diagonal of Σ.
    """

    def __init__(self, chunks: Sequence[CompactRows], collector: Collector, shards: int = 1) -> None:
        self.order: ColumnOrder = collector.order
        self.chunks, self.shards = chunks, shards
        self.groups = [_group(collector, number) for number in range(len(collector.counts))]
        means = [group.mean for group in self.groups]
        self.mu = means[0] - means[1] if len(means) == 2 else means[0]
        self.diagonal = np.sum([group.variance for group in self.groups], axis=0) + self.mu**2
        #: told the rows of each chunk once it is done
        self.advance: Advance = silent

    @property
    def n_rows(self) -> int:
        """Number of rows of all groups."""
        return sum(group.count for group in self.groups)

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def product(self, v: Array) -> Array:
        """Σ v."""
        return self.product_and_variances(v)[0]

    def product_and_variances(self, v: Array) -> tuple[Array, list[float]]:
        """Σ v, and the variance of the scores x'v within each group."""
        from mbauc.pair_rows import kernels

        centres = [float(group.mean @ v) for group in self.groups]

        def sweep(shard: int) -> tuple[Array, Array]:
            part, sums = np.zeros(v.size), np.zeros((len(self.groups), 2))
            for chunk in self.chunks[shard :: self.shards]:
                number = chunk.group
                sums[number] += kernels.product(
                    chunk.starts,
                    chunk.columns,
                    chunk.values,
                    chunk.weight,
                    1.0 / self.groups[number].weight,
                    v,
                    centres[number],
                    part,
                )
                if chunk.release is not None:
                    chunk.release()
                self.advance(chunk.n_rows)
            return part, sums

        swept = run_threads(sweep, range(self.shards), self.shards)
        result = self.mu * float(self.mu @ v)
        for part, _ in swept:
            result += part
        variances = []
        for group, (left, squared) in zip(self.groups, np.sum([sums for _, sums in swept], axis=0), strict=True):
            result -= left * group.mean
            variances.append(max(float(squared - left**2), 0.0))
        return result, variances


def _group(collector: Collector, number: int) -> Group:
    weight = collector.weights[number]
    sums, squares = collector.sums(number)
    mean = sums / weight if weight > 0 else sums
    variance = np.maximum(squares / weight - mean**2, 0.0) if weight > 0 else squares
    return Group(collector.counts[number], weight, collector.squared_weights[number], mean, variance)
