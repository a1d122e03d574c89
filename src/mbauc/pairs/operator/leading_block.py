"""About Σ among the most frequent columns, from some of the rows: what a solver preconditions with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.rows import Chunk
from mbauc.pairs.operator.pair_operator import PairOperator

Array = NDArray[np.float64]

#: Cube of the columns of a leading block for each entry of the rows.
_CHOLESKY_COLUMNS = 72
#: Columns of a leading block, at most.
_LARGEST_BLOCK = 1024
#: Rows of a stratum, at most.
_BLOCK_ROWS = 5_000
#: Rows of a stratum for each column from which on a block is good where pairs do not count alike.
ENOUGH_ROWS = 4


@dataclass
class LeadingSums:
    """Sums over the sampled rows of each stratum; sums of several parts add up."""

    #: upper half of the weighted outer products, shape (strata, size, size)
    grams: Array
    #: shape (strata, size)
    sums: Array
    #: their weight, shape (strata,)
    totals: Array

    def __add__(self, other: LeadingSums) -> LeadingSums:
        return LeadingSums(self.grams + other.grams, self.sums + other.sums, self.totals + other.totals)


@dataclass(frozen=True)
class LeadingBlock:
    """The first ``size`` columns, and every ``steps[g]``-th row of stratum g."""

    size: int
    steps: tuple[int, ...]

    @classmethod
    def plan(cls, pairs: PairOperator, entries: int) -> LeadingBlock:
        """Plan for rows with ``entries`` stored values.

        As many columns as have a Cholesky factorisation in the time of about one product, at most 1,024, and as
        many rows as have their outer products in that time, at most 5,000 of a stratum.
        """
        size = min(int((_CHOLESKY_COLUMNS * entries) ** (1 / 3)), _LARGEST_BLOCK, pairs.mu.size)
        length = max(entries / max(pairs.n_rows, 1), 1.0)
        most = min(_BLOCK_ROWS, max(int(entries / length**2), 2 * size // max(int(length), 1), 1))
        return cls(size, tuple(max(1, stratum.count // most) for stratum in pairs.strata))

    def suffices(self, pairs: PairOperator) -> bool:
        """Whether it is of all columns, from many more rows than columns."""
        rows = min(stratum.count // step for stratum, step in zip(pairs.strata, self.steps, strict=True))
        return self.size == pairs.mu.size and rows >= ENOUGH_ROWS * self.size

    def sums(self, chunks: Iterable[Chunk], weights: Iterable[Array] | None = None) -> LeadingSums:
        """Over some of the rows, with their own weights or with others, those of each chunk."""
        from mbauc.pairs.operator import kernels

        count = len(self.steps)
        result = LeadingSums(
            np.zeros((count, self.size, self.size)), np.zeros((count, self.size)), np.zeros(count)
        )
        for stored, weight in zip(chunks, repeat(None) if weights is None else weights, strict=False):
            chunk = stored.load()
            stratum = chunk.stratum
            result.totals[stratum] += kernels.leading_gram(
                chunk.starts,
                chunk.columns,
                chunk.values,
                chunk.weight if weight is None else weight,
                self.steps[stratum],
                self.size,
                result.grams[stratum],
                result.sums[stratum],
            )
        return result

    def curvature(self, sums: LeadingSums, total: float) -> Array:
        """Σ hᵢⱼ (xᵢ - xⱼ)(xᵢ - xⱼ)' over pairs that weigh ``total``, from sums whose weights are Σⱼ hᵢⱼ."""
        means = sums.sums / np.maximum(sums.totals, np.finfo(np.float64).tiny)[:, None]
        return total * self.block(means[0] - means[1], sums)

    def block(self, mu: Array, sums: LeadingSums) -> Array:
        """Σ among the first columns, estimated from the sampled rows, plus μ μ'."""
        first = mu[: self.size]
        result = np.outer(first, first)
        for gram, own, total in zip(sums.grams, sums.sums, sums.totals, strict=True):
            if total > 0:
                result += gram / total - np.outer(own, own) / total**2
        return result
