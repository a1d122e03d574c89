"""Σ of a click log's pairs, formed chunk by chunk: worth its d² cells where rows and penalties are many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.scatter.packed import PackedScatters
from mbauc.pairs.scatter.sparse import all_ones, sparse_class_scatter
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.runtime.progress import silent
from mbauc.solvers import MatrixOperator

Array = NDArray[np.float64]

#: Entries to gather before they are added: each time costs a look at all cells of Σ.
_PIECE = 20_000_000
#: Columns of the block that solvers precondition with.
_LEADING = 1024


class FormedPairs(MatrixOperator):
    """Products with a Σ that is there as a matrix, columns with the largest variance first.

    Attributes
    ----------
    order : ColumnOrder
        Which columns the vectors are over.
    """

    def __init__(self, sigma: Array, mu: Array) -> None:
        by_size = np.argsort(-np.diagonal(sigma), kind="stable")
        self.order = ColumnOrder.from_columns(mu.size, by_size)
        super().__init__(sigma[np.ix_(by_size, by_size)], mu[by_size])

    def leading_block(self) -> Array:
        """Σ among the first columns."""
        return self._sigma[:_LEADING, :_LEADING].copy()


class FormedSums:
    """Scatters of sparse rows in one or two groups: differences of pairs, or positives and negatives.

    Memory: one d×d matrix, two more in :meth:`finish`, and some rows.
    """

    def __init__(self, n_features: int, groups: int, n_threads: int) -> None:
        self._packed = PackedScatters.zeros(n_features)
        self._parts: list[list[WeightedMean]] = [[] for _ in range(groups)]
        self._n_threads = n_threads
        self._waiting: list[tuple[Any, NDArray[np.intp]]] = []

    def add(self, X: Any, group: NDArray[np.intp]) -> None:
        """Take in rows, each with the number of its group."""
        self._waiting.append((X, group))
        if sum(rows.nnz for rows, _ in self._waiting) >= _PIECE:
            self._form()

    def _form(self) -> None:
        X = self._waiting[0][0] if len(self._waiting) == 1 else sp.vstack([X for X, _ in self._waiting], "csr")
        of_rows = np.concatenate([of_rows for _, of_rows in self._waiting])
        self._waiting = []
        ones = all_ones(X, self._n_threads)
        for group, (side, parts) in enumerate(zip(self._packed.sides, self._parts, strict=False)):
            index = np.flatnonzero(of_rows == group)
            if index.size:
                parts.append(
                    sparse_class_scatter(X, index, None, self._packed, side, self._n_threads, silent, ones)
                )

    def finish(self) -> FormedPairs:
        """All that was added; nothing can be added any more."""
        if self._waiting:
            self._form()
        means, counts = [], []
        for side, parts in zip(self._packed.sides, self._parts, strict=False):
            sizes, centres = np.array([part.weight for part in parts]), np.array([part.mean for part in parts])
            means.append(np.average(centres, axis=0, weights=sizes))
            counts.append(float(sizes.sum()))
            # each part is centred at its own mean
            self._packed.add_gram(side, np.sqrt(sizes)[:, None] * (centres - means[-1]))
        mu = means[0] if len(means) == 1 else means[0] - means[1]
        sigma = self._packed.combine(1 / counts[0], 1 / counts[1] if len(counts) == 2 else 0.0)
        del self._packed
        for row, value in zip(sigma, mu, strict=True):
            row += value * mu
        return FormedPairs(sigma, mu)
