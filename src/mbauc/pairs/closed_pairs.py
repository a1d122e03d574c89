"""Sets of pairs that class sums cannot describe: matched pairs, pairs within blocks and within groups."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.scatter import WeightedMean

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClosedPairs:
    """Weight, mean and scatter of the differences x⁺ - x⁻ of a set of pairs."""

    #: number, weight and mean of the differences
    differences: WeightedMean
    #: sum of their weighted outer products around the mean, shape (d, d)
    scatter: Array
    #: of pairs within groups: sums over the rows of each class of the squared weight of the pairs they are in
    row_squares: tuple[float, float] | None = None

    @classmethod
    def empty(cls, n_features: int, *, grouped: bool = False) -> ClosedPairs:
        """No pairs at all."""
        scatter = np.zeros((n_features, n_features))
        return cls(WeightedMean.empty(n_features), scatter, (0.0, 0.0) if grouped else None)

    @property
    def row_sizes(self) -> tuple[float, float] | None:
        """Rows that each class counts for by the weight of their pairs (Kish); None without groups."""
        if self.row_squares is None:
            return None
        total = self.differences.weight
        plus, minus = (total**2 / squares if squares > 0 else 0.0 for squares in self.row_squares)
        return plus, minus

    def copy(self) -> ClosedPairs:
        """The same set in memory of its own."""
        return replace(self, scatter=self.scatter.copy())

    def merge(self, other: ClosedPairs) -> ClosedPairs:
        """Both sets together; no pair across them."""
        differences, factor, delta = self.differences.merge(other.differences)
        scatter = self.scatter + other.scatter + factor * np.outer(delta, delta)
        return ClosedPairs(differences, scatter, self._combine_squares(other, 1.0))

    def subtract(self, part: ClosedPairs) -> ClosedPairs:
        """The remaining pairs."""
        differences, factor, delta = self.differences.subtract(part.differences)
        if differences.weight == 0:
            return ClosedPairs.empty(self.differences.mean.size, grouped=self.row_squares is not None)
        scatter = self.scatter - part.scatter + factor * np.outer(delta, delta)
        return ClosedPairs(differences, scatter, self._combine_squares(part, -1.0))

    def decay(self, factor: float) -> ClosedPairs:
        """The same pairs with every weight multiplied by ``factor``."""
        squares = self.row_squares and (self.row_squares[0] * factor**2, self.row_squares[1] * factor**2)
        return ClosedPairs(self.differences.decay(factor), self.scatter * factor, squares)

    def _combine_squares(self, other: ClosedPairs, sign: float) -> tuple[float, float] | None:
        if self.row_squares is None or other.row_squares is None:
            return None
        (plus, minus), more = self.row_squares, other.row_squares
        return max(plus + sign * more[0], 0.0), max(minus + sign * more[1], 0.0)
