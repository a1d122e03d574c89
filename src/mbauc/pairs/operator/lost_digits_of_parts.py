"""Columns too large, or too far from zero, for sums that were not centred while they were made."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, CancellationWarning
from mbauc.pairs.operator.column_sums import ColumnSums
from mbauc.pairs.operator.of_parts import ClusterPairRows, KeptRows
from mbauc.rows.parts import Parts

Array = NDArray[np.float64]

#: A squared mean this much larger than the second moment of the differences leaves them six digits.
_FAR = 1e10


def check_overflow(sums: list[ColumnSums]) -> None:
    """Raise if the squares of a column are beyond floating point."""
    for one in sums:
        beyond = one.squares.indices[~np.isfinite(one.squares.data)]
        if beyond.size:
            raise ValueError(
                f"column {int(beyond.min()):,} of X holds values whose squares overflow float64; rescale the "
                "features."
            )


def warn_of_lost_digits(rows: ClusterPairRows, kept: Parts) -> None:
    """Warn of columns whose differences drown in the rounding errors of their means.

    Constant columns have no differences to lose. ``O(d)``, and one job over the compact rows if there is a
    suspicion.
    """
    far = np.flatnonzero(np.max([group.mean**2 for group in rows.groups], axis=0) > _FAR * rows.diagonal)
    if not far.size:
        return
    seen: Extremes = kept.merged(FindExtremes(far), widest)
    lost = far[(seen.counts < rows.n_rows) | (seen.lowest < seen.highest)]
    if lost.size:
        warnings.warn(
            f"column {int(rows.order.columns[lost[0]]):,} lies so far from zero, compared with its spread, "
            f"that its differences keep fewer than 6 digits ({lost.size:,} such "
            f"column{'s' if lost.size > 1 else ''}). "
            + Advice("Centre the column, or use {solver}.", solver="gram"),
            CancellationWarning,
            stacklevel=5,
        )


class Extremes(NamedTuple):
    """Rows with a value in each of some columns, and the smallest and largest of these values."""

    counts: NDArray[np.int64]
    lowest: Array
    highest: Array


@dataclass(frozen=True)
class FindExtremes:
    """Task: the extremes of some columns, given by their new numbers in rising order."""

    columns: NDArray[np.intp]

    def __call__(self, number: int, kept: Iterable[KeptRows]) -> Extremes:
        """Of the compact rows of a part."""
        size = self.columns.size
        found = Extremes(np.zeros(size, dtype=np.int64), np.full(size, np.inf), np.full(size, -np.inf))
        for _, rows in kept:
            place = np.minimum(np.searchsorted(self.columns, rows.columns), size - 1)
            entries = np.flatnonzero(self.columns[place] == rows.columns)
            place = place[entries]
            values = np.ones(entries.size) if rows.values is None else rows.values[entries].astype(np.float64)
            found.counts[...] += np.bincount(place, minlength=size)
            np.minimum.at(found.lowest, place, values)
            np.maximum.at(found.highest, place, values)
        return found


def widest(first: Extremes, second: Extremes) -> Extremes:
    """Of the rows of both."""
    return Extremes(
        first.counts + second.counts,
        np.minimum(first.lowest, second.lowest),
        np.maximum(first.highest, second.highest),
    )
