"""From blocks of sparse rows to compact ones, in one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.rows import CompactRows
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.scatter.weighted_mean import HEAVIEST
from mbauc.runtime.threads import run_threads
from mbauc.store.array_schema import ArrayOf, Arrays

Array = NDArray[np.float64]

#: Rows of a chunk, at most; few enough to share out evenly, and to count their entries in 32 bits.
_CHUNK_ROWS = 65_536
_CHUNK_ENTRIES = 1 << 30


#: A collector's state: columns in use, and sums over them.
STATE = Arrays(
    {
        "columns": ArrayOf("<u4", ("used",)),
        "counts": ArrayOf("<i8", ("strata",), low=0),
        "weights": ArrayOf("<f8", ("strata",), low=0, high=HEAVIEST),
        "squared_weights": ArrayOf("<f8", ("strata",), low=0),
        "ones": ArrayOf("<i8", ("strata", "used"), low=0),
    },
    together={
        "sums": ArrayOf("<f8", ("strata", "used"), low=-HEAVIEST, high=HEAVIEST),
        "squares": ArrayOf("<f8", ("strata", "used"), low=0),
    },
    sizes={"strata": 2},
)


class Collector:
    """Makes compact rows of blocks, and the sums that go with them.

    Parameters
    ----------
    n_features : int
        Number of columns.
    strata : int, default=2
        Number of strata of rows.
    n_threads : int, default=1
        Threads to use.
    shift : ndarray of shape (n_features,), optional
        Taken off each stored value; for columns with a value in every row.
    order : ColumnOrder, optional
        That of the columns, where it is known; no rows need be counted then.

    Attributes
    ----------
    order : ColumnOrder
        New numbers of the columns.
    counts : list of int
        Rows of each stratum so far.
    weights, squared_weights : list of float
        Sums of their weights, and of the squares of these.
    occurrences : ndarray of shape (n_features,)
        Rows with a stored value in each column, of those that were counted here.
    """

    def __init__(
        self,
        n_features: int,
        strata: int = 2,
        n_threads: int = 1,
        shift: Array | None = None,
        order: ColumnOrder | None = None,
    ) -> None:
        self.order = ColumnOrder(n_features) if order is None else order
        self.counts = [0] * strata
        self.weights, self.squared_weights = [0.0] * strata, [0.0] * strata
        self._n_threads = n_threads
        self.shift = np.zeros(n_features) if shift is None else shift
        self._shifted = shift is not None and bool(shift.any())
        self._short = n_features <= 1 << 16
        if order is not None:
            self.finish_counting()
        self.occurrences = np.zeros(n_features, dtype=np.int64)
        #: occurrences of each column among rows whose values and weights are one, by stratum …
        self._ones = np.zeros((strata, n_features), dtype=np.int64)
        #: … and sums and squares over all other rows, once there are some
        self._sums: Array | None = None
        self._squares: Array | None = None

    def count(self, block: SparseBlock) -> None:
        """Add a block to the sums, and number the columns that are new in it."""
        from mbauc.pairs.operator import kernels

        X, strata, weight, ones = block.X, block.strata, block.weight, block.ones
        total = np.zeros(X.shape[1], dtype=np.int64)
        for stratum, rows in enumerate(strata):
            own = None if weight is None else weight[rows]
            self.counts[stratum] += int(rows.size)
            self.weights[stratum] += float(rows.size) if own is None else float(own.sum())
            self.squared_weights[stratum] += float(rows.size) if own is None else float(own @ own)
            for plain, part in self._kinds(X, rows, ones):
                occurrences = self._occurrences(X, part)
                total += occurrences
                if plain and weight is None:
                    self._ones[stratum] += occurrences
                    continue
                if self._sums is None or self._squares is None:
                    self._sums, self._squares = np.zeros(self._ones.shape), np.zeros(self._ones.shape)
                sums, squares = self._sums[stratum], self._squares[stratum]
                kernels.sum_columns(X.indptr, X.indices, X.data, part, weight, self.shift, sums, squares)
        self.occurrences += total
        self.order.admit(total)

    def finish_counting(self) -> None:
        """All rows have been counted: from here on it is known whether 16 bits are enough for a column."""
        self._short = self.order.used <= 1 << 16

    def compact(self, block: SparseBlock, steps: Sequence[int] | None = None) -> list[CompactRows]:
        """Compact rows of a block whose columns have numbers.

        With ``steps`` every so many-th row of each stratum, of those that would be in a chunk together.
        """
        X, ones, steps = block.X, block.ones, [1] * len(block.strata) if steps is None else steps
        parts = [
            (stratum, part[:: steps[stratum]], plain)
            for stratum, rows in enumerate(block.strata)
            for plain, kind in self._kinds(X, rows, ones)
            for part in _parts(X.indptr, kind)
        ]
        return run_threads(
            lambda part: self._compact(block, *part), parts, min(self._n_threads, len(parts) or 1)
        )

    def _kinds(self, X: Any, index: NDArray[np.intp], ones: bool) -> list[tuple[bool, NDArray[np.intp]]]:
        """Rows of ones, and others: a few counts among clicks must not cost all rows their values."""
        from mbauc.pairs.operator import kernels

        if ones:
            return [(True, index)] if index.size else []
        if self._shifted:
            return [(False, index)] if index.size else []
        plain = kernels.rows_of_ones(X.indptr, X.data, index)
        return [(kind, part) for kind, part in ((True, index[plain]), (False, index[~plain])) if part.size]

    def _occurrences(self, X: Any, index: NDArray[np.intp]) -> NDArray[np.int64]:
        from mbauc.pairs.operator import kernels

        n_threads = min(self._n_threads, max(1, X.nnz // (4 * X.shape[1])))
        counts = np.zeros((n_threads, X.shape[1]), dtype=np.int64)
        parts = np.array_split(index, n_threads)
        run_threads(
            lambda t: kernels.count_columns(X.indptr, X.indices, parts[t], counts[t]),
            range(n_threads),
            n_threads,
        )
        return np.asarray(counts[0] if n_threads == 1 else counts.sum(axis=0))

    def _compact(self, block: SparseBlock, stratum: int, index: NDArray[np.intp], ones: bool) -> CompactRows:
        from mbauc.pairs.operator import kernels

        X, weight, groups = block.X, block.weight, block.groups
        starts = np.zeros(index.size + 1, dtype=np.uint32)
        np.cumsum(X.indptr[index + 1] - X.indptr[index], out=starts[1:])
        columns = np.empty(starts[-1], dtype=np.uint16 if self._short else np.uint32)
        values = None if ones else np.empty(starts[-1])
        kernels.compact(
            X.indptr,
            X.indices,
            None if ones else X.data,
            index,
            self.order.place_of,
            self.shift,
            starts,
            columns,
            values,
        )
        if values is not None:
            with np.errstate(over="ignore"):
                half = values.astype(np.float32)
            values = half if np.array_equal(half, values) else values
        own = None if weight is None else weight[index], None if groups is None else groups[index]
        return CompactRows(stratum, starts, columns, values, *own)

    def sums(self, stratum: int) -> tuple[Array, Array]:
        """Weighted sums of the columns in use, and of their squares, over the rows of a stratum."""
        used = self.order.columns
        ones = self._ones[stratum][used].astype(np.float64)
        if self._sums is None or self._squares is None:
            return ones, ones
        return ones + self._sums[stratum][used], ones + self._squares[stratum][used]

    # -- to disk and back ----------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """The sums and the order of the columns; columns that have not occurred have no part in them."""
        used = self.order.columns
        state: dict[str, NDArray[Any]] = {
            "columns": used.astype(np.uint32),
            "counts": np.array(self.counts, dtype=np.int64),
            "weights": np.array(self.weights),
            "squared_weights": np.array(self.squared_weights),
            "ones": self._ones[:, used],
        }
        if self._sums is not None and self._squares is not None:
            state |= {"sums": self._sums[:, used], "squares": self._squares[:, used]}
        return state

    @classmethod
    def resume(cls, n_features: int, state: dict[str, NDArray[Any]], n_threads: int = 1) -> Collector:
        """A collector with the sums of a state, to the same bits; for rows that have not been shifted."""
        used = state["columns"].astype(np.intp)
        order = ColumnOrder.from_columns(n_features, used)
        collector = cls(n_features, state["counts"].size, n_threads)
        collector.order = order
        collector.counts = [int(count) for count in state["counts"]]
        collector.weights = [float(weight) for weight in state["weights"]]
        collector.squared_weights = [float(square) for square in state["squared_weights"]]
        collector._ones[:, used] = state["ones"]
        if "sums" in state:
            collector._sums, collector._squares = np.zeros((2, *collector._ones.shape))
            collector._sums[:, used], collector._squares[:, used] = state["sums"], state["squares"]
        return collector


def _parts(indptr: NDArray[Any], index: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Rows in pieces of bounded numbers of rows and entries."""
    if not index.size:
        return []
    parts = -(-index.size // _CHUNK_ROWS)
    entries = int((indptr[index + 1] - indptr[index]).sum(dtype=np.int64))
    return np.array_split(index, max(parts, -(-entries // _CHUNK_ENTRIES)))
