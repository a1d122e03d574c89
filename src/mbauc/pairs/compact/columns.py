"""Columns in the order of their frequency, so that what is read often stands together in cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_UNSEEN = np.iinfo(np.uint32).max


class ColumnOrder:
    """New numbers for the columns that occur, frequent ones first, in the order in which they are met.

    Columns that never occur get none: vectors are as long as the columns in use.

    Parameters
    ----------
    n_features : int
        Number of columns of the data.

    Attributes
    ----------
    n_features : int
    place_of : ndarray of shape (n_features,)
        New number of each column; the largest of its type for columns that have not occurred.

    Examples
    --------
    >>> import numpy as np
    >>> order = ColumnOrder(5)
    >>> order.admit(np.array([1, 0, 7, 2, 0]))
    >>> order.admit(np.array([0, 9, 9, 0, 0]))
    >>> order.columns
    array([2, 3, 0, 1])
    >>> order.restore(np.array([0.1, 0.2, 0.3, 0.4]))
    array([0.3, 0.4, 0.1, 0.2, 0. ])
    """

    def __init__(self, n_features: int) -> None:
        self.n_features = n_features
        self.place_of = np.full(n_features, _UNSEEN, dtype=np.uint32)
        self._columns: list[NDArray[np.intp]] = []
        self.used = 0

    @classmethod
    def from_columns(cls, n_features: int, columns: NDArray[np.integer]) -> ColumnOrder:
        """An order in which columns have been met."""
        order = cls(n_features)
        order._append(columns.astype(np.intp))
        return order

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_columns, (self.n_features, self.columns.astype(np.uint32))

    def admit(self, counts: NDArray[np.integer]) -> None:
        """Give numbers to columns that occur for the first time, by how often they do here."""
        new = np.flatnonzero((counts > 0) & (self.place_of == _UNSEEN))
        if not new.size:
            return
        # beyond 65,535 columns are equally worth their place in cache, and 16 bits are sorted at once
        rare = (65_535 - np.minimum(counts[new], 65_535)).astype(np.uint16)
        self._append(new[np.argsort(rare, kind="stable")])

    def _append(self, new: NDArray[np.intp]) -> None:
        self.place_of[new] = np.arange(self.used, self.used + new.size, dtype=np.uint32)
        self._columns.append(new)
        self.used += new.size

    @property
    def columns(self) -> NDArray[np.intp]:
        """The column of each new number."""
        if len(self._columns) != 1:
            self._columns = [np.concatenate([np.empty(0, dtype=np.intp), *self._columns])]
        return self._columns[0]

    def restore(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """A vector over the columns in use as one over all columns, zero elsewhere."""
        full = np.zeros(self.n_features)
        full[self.columns] = vector
        return full
