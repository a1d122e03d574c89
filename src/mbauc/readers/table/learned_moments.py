"""Moments of rows of numbers, added up while their scales are learned, so that they need not be read again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.accumulator import MomentsAccumulator, accumulate_block
from mbauc.pairs.moments import PairMoments
from mbauc.readers.table.encoding import TableEncoding
from mbauc.readers.table.encoding.feature_kinds import NumericFeature
from mbauc.readers.table.labels import TableLabels
from mbauc.readers.table.reading import TableRows
from mbauc.rows.block import Block
from mbauc.rows.matrix import check_block_weights

#: Columns up to which moments are added up on suspicion that they will be wanted: less work than the reading.
MOST_COLUMNS = 128
#: Scales whose squares, and those of as many numbers as there may be, neither overflow nor lose digits.
_LEAST, _LARGEST = 1e-120, 1e120


class LearnedMoments:
    """Adds up moments of the columns as they are, and turns them into moments of the encoded ones.

    With x = center + scale · z, the mean of z is that of x less its center, over its scale, and the scatter of
    z that of x over the scales of both columns: the same as from encoded rows, up to rounding. They are given
    up where a number is missing, which takes a column of its own, or where squares of numbers overflow.

    ``O(n d²)`` time, ``O(d²)`` memory.
    """

    def __init__(self, n_columns: int) -> None:
        # while one label has been seen, nobody knows which class it is
        self._decided, self._undecided = MomentsAccumulator(n_columns), MomentsAccumulator(n_columns)
        self._given_up = False

    def of_block(self, rows: TableRows, X: NDArray[np.float64]) -> PairMoments | None:
        """Moments of some rows and their columns; None if they are of no use. Changes nothing."""
        if self._given_up:
            return None
        weight: Any = rows.weight
        positive = np.zeros(X.shape[0], dtype=np.bool_) if rows.y is None else rows.y == 1
        try:
            if weight is not None:
                weight = check_block_weights(weight, X.shape[0])
            return accumulate_block(Block(X, positive, weight), n_threads=1)
        except ValueError:  # whoever reads the rows says what is wrong, if anything
            return None

    def add(self, rows: TableRows, moments: PairMoments | None) -> None:
        """Add moments of the next rows."""
        self._given_up |= moments is None
        if moments is not None:
            (self._undecided if rows.y is None else self._decided).add_moments(moments)

    def encoded(self, encoding: TableEncoding, labels: TableLabels) -> PairMoments | None:
        """Moments of all rows as they are encoded; None if they were given up."""
        if self._given_up:
            return None
        numbers = [one for one in encoding.features if isinstance(one, NumericFeature) and not one.indicator]
        center, scale = (np.array([getattr(one, name) for one in numbers]) for name in ("center", "scale"))
        moments, first = self._decided.finish(), self._undecided.finish()
        if scale.size != moments.n_features or scale.min() < _LEAST or scale.max() > _LARGEST:
            return None
        if any(first.counts):
            moments = (first.swapped() if labels.first_is_positive else first) + moments
        return moments.rescaled(center, scale)
