"""Columns on one scale, learned block by block: largest absolute value, or mean and standard deviation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.rows.matrix import as_matrix, is_sparse

Array = NDArray[np.float64]

#: Ways to scale a column.
HOW = ("max-abs", "standard")

#: A standard deviation below this share of the largest value is a constant column's rounding error.
_CONSTANT = 1e-13


class ColumnStatistics:
    """Count, mean, scatter and largest absolute value of each column, of blocks that come one by one.

    Sums are centred and merged as by Chan, Golub and LeVeque, so that the blocks' sizes and order change
    nothing but rounding. NaN counts as missing and is left out. ``O(n d)`` time for dense blocks,
    ``O(entries + d)`` for sparse ones; ``O(d)`` memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.table.encoding.statistics import ColumnStatistics
    >>> first, rest = ColumnStatistics(2), ColumnStatistics(2)
    >>> first.update(np.array([[1.0, -8.0], [3.0, np.nan]]))
    >>> rest.update(np.array([[5.0, 4.0]]))
    >>> first.merge(rest)
    >>> first.count.tolist(), first.mean.tolist(), first.max_abs.tolist()
    ([3, 2], [3.0, -2.0], [5.0, 8.0])
    >>> first.standard_deviation.round(4).tolist()
    [1.633, 6.0]
    """

    def __init__(self, n_features: int) -> None:
        check_whole("n_features", n_features)
        self.count: NDArray[np.int64] = np.zeros(n_features, dtype=np.int64)
        self.mean: Array = np.zeros(n_features)
        self.max_abs: Array = np.zeros(n_features)
        self._scatter: Array = np.zeros(n_features)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.count.size

    @property
    def standard_deviation(self) -> Array:
        """Standard deviation of each column (divided by its count); 0 for constant columns."""
        with np.errstate(over="ignore"):
            deviation = np.sqrt(self._scatter / np.maximum(self.count, 1))
        deviation[deviation <= _CONSTANT * self.max_abs] = 0.0
        return deviation

    def scale(self, how: str) -> Array:
        """What columns are divided by; 1 for constant columns (``"standard"``) and zeros (``"max-abs"``)."""
        check_choice("how", how, HOW)
        scale = self.max_abs.copy() if how == "max-abs" else self.standard_deviation
        if not np.isfinite(scale).all():
            column = int(np.flatnonzero(~np.isfinite(scale))[0])
            raise ValueError(
                f"column {column:,} has values as large as {self.max_abs[column]:g}, whose squares overflow "
                "float64; use scale='max-abs'."
            )
        scale[scale == 0.0] = 1.0
        return scale

    @classmethod
    def of_block(cls, X: Any) -> ColumnStatistics:
        """Statistics of the rows of one block, dense or sparse."""
        found = cls(X.shape[1])
        found.update(X)
        return found

    def update(self, X: Any) -> None:
        """Take in the rows of a block, dense or sparse."""
        matrix = as_matrix(X)
        if matrix.shape[1] != self.n_features:
            raise ValueError(
                f"a block has {matrix.shape[1]:,} columns, but earlier ones have {self.n_features:,}; "
                "all blocks must have the same columns."
            )
        if matrix.shape[0] == 0:
            return
        block = ColumnStatistics(self.n_features)
        if is_sparse(matrix):
            block._take_sparse(matrix.tocsr())
        else:
            block._take_dense(matrix.astype(np.float64, copy=False))
        if not np.isfinite(block.max_abs).all():
            column = int(np.flatnonzero(~np.isfinite(block.max_abs))[0])
            raise ValueError(
                f"column {column:,} has an infinite value; every value must be finite. Clip it or drop the row."
            )
        self.merge(block)

    def _take_dense(self, X: Array) -> None:
        deviation = np.empty(X.shape[0])
        with np.errstate(over="ignore", invalid="ignore"):
            for j, values in enumerate(X.T):
                total = values.sum()
                if np.isnan(total):  # as that of infinities of both signs is
                    values = values[~np.isnan(values)]
                    total = values.sum()
                self.count[j] = values.size
                if values.size:
                    self.max_abs[j] = max(values.max(), -values.min())
                    self.mean[j] = total / values.size
                    apart = np.subtract(values, self.mean[j], out=deviation[: values.size])
                    self._scatter[j] = np.einsum("i,i->", apart, apart)  # in this thread, unlike BLAS

    def _take_sparse(self, X: Any) -> None:
        if not X.has_canonical_format:
            X = X.copy()  # the caller's matrix stays as it is
            X.sum_duplicates()
        entries = int(X.indptr[-1])
        columns, values = X.indices[:entries], X.data[:entries].astype(np.float64, copy=False)
        missing = np.isnan(values)
        self.count[:] = X.shape[0]
        if missing.any():
            self.count -= np.bincount(columns[missing], minlength=self.n_features)
            columns, values = columns[~missing], values[~missing]
        np.maximum.at(self.max_abs, columns, np.abs(values))
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.bincount(columns, weights=values, minlength=self.n_features)
            self.mean[:] = total / np.maximum(self.count, 1)
            stored = np.bincount(columns, minlength=self.n_features)
            squares = (values - self.mean[columns]) ** 2
            # the zeros that are not stored stand apart from the mean by the mean
            self._scatter[:] = np.bincount(columns, weights=squares, minlength=self.n_features)
            self._scatter += (self.count - stored) * self.mean**2

    def merge(self, other: ColumnStatistics) -> None:
        """Take in what other statistics have seen. ``O(d)``."""
        if other.n_features != self.n_features:
            raise ValueError(
                f"cannot merge statistics of {other.n_features:,} columns into {self.n_features:,} columns."
            )
        count = self.count + other.count
        share = other.count / np.maximum(count, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            distance = other.mean - self.mean
            self._scatter += other._scatter + distance**2 * share * self.count
            self.mean += distance * share
        self.count = count
        np.maximum(self.max_abs, other.max_abs, out=self.max_abs)
