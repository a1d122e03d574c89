"""Centre and unit of each column, from rows that come in blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.matrix import as_dense

Array = NDArray[np.float64]

#: Numbers of a piece of rows that are made dense at once.
_PIECE = 1 << 20
#: A deviation below this share of the mean is a rounding error.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ColumnUnits:
    """Count, mean and mean squared deviation of the known values of each column; merges with ``+``.

    ``O(n d)`` time, ``O(d)`` memory.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [3.0, np.nan], [5.0, 4.0]])
    >>> whole, parts = ColumnUnits.from_rows(X), ColumnUnits.from_rows(X[:2]) + ColumnUnits.from_rows(X[2:])
    >>> whole.mean, whole.variance, parts.variance
    (array([3., 2.]), array([2.66666667, 4.        ]), array([2.66666667, 4.        ]))
    """

    count: Array
    mean: Array
    variance: Array

    @classmethod
    def from_rows(cls, X: Any) -> ColumnUnits:
        """Of the rows of an array or a CSR matrix; values that are missing (NaN) do not count."""
        rows = max(1, _PIECE // X.shape[1])
        total = cls(*np.zeros((3, X.shape[1])))
        for first in range(0, X.shape[0], rows):
            total = total + cls._of_piece(dense_rows(X, slice(first, first + rows)))
        return total

    @classmethod
    def _of_piece(cls, X: Array) -> ColumnUnits:
        known = ~np.isnan(X)
        count = known.sum(axis=0).astype(np.float64)
        divisor = np.maximum(count, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.where(known, X, 0.0).sum(axis=0) / divisor
            variance = (np.where(known, X - mean, 0.0) ** 2).sum(axis=0) / divisor
        return cls(count, mean, variance)

    def __add__(self, other: ColumnUnits) -> ColumnUnits:
        count = self.count + other.count
        share = other.count / np.maximum(count, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            step = other.mean - self.mean
            variance = self.variance + share * (other.variance - self.variance + (1.0 - share) * step**2)
        return ColumnUnits(count, self.mean + share * step, np.maximum(variance, 0.0))

    @property
    def overflows(self) -> NDArray[np.bool_]:
        """Columns with values whose squares overflow."""
        return np.asarray(~np.isfinite(self.mean + self.variance))

    def units(self, *, own: bool) -> Array:
        """What columns are divided by: the standard deviation of each, or the root mean square of them all.

        0 for columns that do not vary.
        """
        if self.overflows.any():
            column = int(np.flatnonzero(self.overflows)[0])
            raise ValueError(
                f"X holds values in column {column:,} whose squares overflow float64; rescale the column."
            )
        deviation = np.sqrt(self.variance)
        varies = deviation > _ROUNDING * np.abs(self.mean)
        if not own and varies.any():
            deviation = np.full(deviation.size, np.sqrt(np.mean(self.variance[varies])))
        return np.where(varies, deviation, 0.0)


def dense_rows(X: Any, rows: Any) -> Array:
    """Some rows of an array or a CSR matrix as a float64 array."""
    return as_dense(X[rows])
