"""Rows in the form that the compiled loops read, a bounded block at a time and in any order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.scatter.sparse import all_ones
from mbauc.rows.block import Block
from mbauc.rows.finite import sum_squares
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.runtime.threads import thread_count

#: Rows a block, so that a progress bar moves and an interrupt is heard.
_ROWS = 1 << 16
#: Values looked at before all are.
_LOOK = 1000
#: Numbers in a block of dense rows, which is a copy.
_NUMBERS = 1 << 19


class RowBlock(NamedTuple):
    """Some rows, to be taken in a given order; see :mod:`mbauc.paper.rivals.kernels` for the form."""

    indptr: NDArray[Any]
    columns: NDArray[Any] | None
    values: NDArray[Any] | None
    order: NDArray[np.intp]
    positive: NDArray[np.bool_]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What every loop takes first."""
        return self.indptr, self.columns, self.values


class Table:
    """Checked rows that can be taken in any order.

    Sparse rows are used where they are. Dense ones are copied a block at a time, as float64: 4 MB, or one
    row where that is more. ``squares`` is the sum of all squared values.

    Raises
    ------
    NonFiniteError
        If a value is NaN or infinite.
    """

    def __init__(self, block: Block) -> None:
        self.positive = block.positive
        self.X: Any = block.X
        self._values: NDArray[Any] | None = None
        if is_sparse(block.X):
            self.X = canonical_csr(block.X)
            if self.X.dtype.kind != "f":
                self.X = self.X.astype(np.float64)
            indices = self.X.indices
            if indices.itemsize < 4:
                indices = indices.astype(np.int32)
            self.squares = float(self.X.nnz)
            # a look at the first values spares most data that are not of ones a pass
            if not ((self.X.data[:_LOOK] == 1).all() and all_ones(self.X, thread_count(None))):
                self._values = self.X.data
                self.squares = sum_squares(self.X)
            # a sign that is never used costs the loops a comparison an entry
            self._columns = indices.view(f"u{indices.itemsize}")
        else:
            self.squares = sum_squares(self.X)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @cached_property
    def longest(self) -> int:
        """The largest number of entries of a row."""
        return int(np.diff(self.X.indptr).max(initial=0)) if is_sparse(self.X) else self.n_features

    @property
    def rows_a_block(self) -> int:
        """How many rows go into a block."""
        return _ROWS if is_sparse(self.X) else max(1, min(_ROWS, _NUMBERS // self.n_features))

    def block(self, order: NDArray[np.intp]) -> RowBlock:
        """One block of the rows listed."""
        if is_sparse(self.X):
            return RowBlock(self.X.indptr, self._columns, self._values, order, self.positive[order])
        n, d = order.size, self.n_features
        values = np.ascontiguousarray(self.X[order], dtype=np.float64)
        return RowBlock(np.arange(0, n * d + 1, d), None, values.ravel(), np.arange(n), self.positive[order])

    def blocks(self, order: NDArray[np.intp], step: int) -> Iterator[RowBlock]:
        """The rows listed, ``step`` at a time."""
        for start in range(0, order.size, step):
            yield self.block(order[start : start + step])
