"""Rows of one stratum in the form that products read: short column numbers, no values where all are one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class CompactRows:
    """Some rows of one stratum."""

    #: which stratum they belong to: 0 for positives (or differences of pairs), 1 for negatives
    stratum: int
    #: where the entries of each row begin, shape (n + 1,)
    starts: NDArray[np.uint32]
    #: column of each entry, counted in the order of :class:`~mbauc.pairs.compact.columns.ColumnOrder`, uint16
    #: or uint32
    columns: NDArray[Any]
    #: value of each entry; None if all are one, float32 or float64
    values: NDArray[Any] | None
    #: weight of each row; None if all are one, shape (n,)
    weight: NDArray[np.float64] | None
    #: key of the group of each row; None if pairs are not within groups, shape (n,)
    groups: NDArray[np.uint64] | None = None

    def load(self) -> CompactRows:
        """The rows in memory, where they are already."""
        return self

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.starts.size - 1

    @property
    def n_entries(self) -> int:
        """Number of entries."""
        return self.columns.size

    @property
    def nbytes(self) -> int:
        """Bytes that the arrays take."""
        arrays = (self.starts, self.columns, self.values, self.weight, self.groups)
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True)
class StoredRows:
    """Some rows of one stratum in a file."""

    #: as of :class:`CompactRows`
    stratum: int
    n_rows: int
    n_entries: int
    nbytes: int
    #: reads them; what it returns is valid until its thread reads other rows
    read: Callable[[], CompactRows]

    def load(self) -> CompactRows:
        """The rows in memory, until this thread loads others."""
        return self.read()


#: Rows in memory or in a file.
Chunk = CompactRows | StoredRows
