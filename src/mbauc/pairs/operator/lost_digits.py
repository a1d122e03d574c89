"""Columns too large, or too far from zero, for sums that were not centred while they were made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, CancellationWarning
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.rows import Chunk
from mbauc.pairs.operator.pair_operator import Stratum
from mbauc.runtime.warn import warn

Array = NDArray[np.float64]

#: A squared mean this much larger than the second moment of the differences leaves them six digits.
_FAR = 1e10


class Extremes(NamedTuple):
    """Rows with a value in each of some columns, and the smallest and largest of these values."""

    counts: NDArray[np.int64]
    lowest: Array
    highest: Array

    def merge(self, other: Extremes) -> Extremes:
        """Of the rows of both."""
        return Extremes(
            self.counts + other.counts,
            np.minimum(self.lowest, other.lowest),
            np.maximum(self.highest, other.highest),
        )


class UncentredPairs(Protocol):
    """An operator whose rows were packed as they came."""

    strata: Sequence[Stratum]
    diagonal: Array
    order: ColumnOrder

    @property
    def n_rows(self) -> int:
        """Number of rows of all strata."""

    def find_extremes(self, columns: NDArray[np.intp]) -> Extremes:
        """Rows with a value in each of some columns, and the extremes of these values."""


def check_overflow(columns: NDArray[np.integer], squares: Array) -> None:
    """Raise if the sum of squares of a column is beyond floating point."""
    beyond = columns[~np.isfinite(squares)]
    if beyond.size:
        raise ValueError(
            f"column {int(beyond.min()):,} of X holds values whose squares overflow float64; rescale the "
            "features (sklearn.preprocessing.MaxAbsScaler)."
        )


def warn_of_lost_digits(pairs: UncentredPairs) -> None:
    """Warn of columns whose differences drown in the rounding errors of their means.

    Constant columns have no differences to lose. ``O(d)``, and a sweep over the rows if there is a suspicion.
    """
    far = np.flatnonzero(np.max([stratum.mean**2 for stratum in pairs.strata], axis=0) > _FAR * pairs.diagonal)
    if not far.size:
        return
    seen = pairs.find_extremes(far)
    lost = far[(seen.counts < pairs.n_rows) | (seen.lowest < seen.highest)]
    if lost.size:
        warn(
            f"column {int(pairs.order.columns[lost[0]]):,} has a mean so large relative to its standard "
            f"deviation that cancellation leaves fewer than 6 correct digits ({lost.size:,} such "
            f"column{'s' if lost.size > 1 else ''}). "
            + Advice("Centre the column, or use {solver}.", solver="gram"),
            CancellationWarning,
        )


def find_extremes(chunks: Iterable[Chunk], columns: NDArray[np.intp]) -> Extremes:
    """Extremes of some columns, given by their new numbers in rising order, over compact rows."""
    size = columns.size
    found = Extremes(np.zeros(size, dtype=np.int64), np.full(size, np.inf), np.full(size, -np.inf))
    for stored in chunks:
        chunk = stored.load()
        place = np.minimum(np.searchsorted(columns, chunk.columns), size - 1)
        entries = np.flatnonzero(columns[place] == chunk.columns)
        place = place[entries]
        values = np.ones(entries.size) if chunk.values is None else chunk.values[entries].astype(np.float64)
        found.counts[...] += np.bincount(place, minlength=size)
        np.minimum.at(found.lowest, place, values)
        np.maximum.at(found.highest, place, values)
    return found
