"""Sets of pairs that class sums cannot describe: matched pairs, and pairs within blocks."""

from __future__ import annotations

from dataclasses import dataclass

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

    def copy(self) -> ClosedPairs:
        """The same set in memory of its own."""
        return ClosedPairs(self.differences, self.scatter.copy())

    def merge(self, other: ClosedPairs) -> ClosedPairs:
        """Both sets together; no pair across them."""
        differences, factor, delta = self.differences.merge(other.differences)
        return ClosedPairs(differences, self.scatter + other.scatter + factor * np.outer(delta, delta))

    def subtract(self, part: ClosedPairs) -> ClosedPairs:
        """The remaining pairs."""
        differences, factor, delta = self.differences.subtract(part.differences)
        if differences.weight == 0:
            return ClosedPairs(differences, np.zeros_like(self.scatter))
        return ClosedPairs(differences, self.scatter - part.scatter + factor * np.outer(delta, delta))

    def decay(self, factor: float) -> ClosedPairs:
        """The same pairs with every weight multiplied by ``factor``."""
        return ClosedPairs(self.differences.decay(factor), self.scatter * factor)
