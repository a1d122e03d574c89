"""Weight and mean of a set of rows, and how the sets of two such sums join and part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: The largest number that can still be squared.
HEAVIEST = 1e150
_ROUNDING = 16 * np.finfo(np.float64).eps
#: A weight that no longer matters beside any other; decay stops here, before squares underflow.
_FORGOTTEN = 1e-120


@dataclass(frozen=True)
class WeightedMean:
    """Number, weight and mean of a set of rows: one class, or differences of pairs.

    Attributes
    ----------
    count : int
        Rows that entered.
    weight : float
        Sum of their weights.
    squared_weight : float
        Sum of their squared weights, for the effective sample size.
    mean : ndarray of shape (d,)
        Weighted mean row; zeros while the set is empty.
    """

    count: int
    weight: float
    squared_weight: float
    mean: NDArray[np.float64]

    @classmethod
    def empty(cls, n_features: int) -> WeightedMean:
        """Sums over no rows."""
        return cls(0, 0.0, 0.0, np.zeros(n_features))

    @property
    def effective_size(self) -> float:
        """Kish's effective number of rows, (Σw)²/Σw²."""
        return self.weight**2 / self.squared_weight if self.squared_weight > 0 else 0.0

    def merge(self, other: WeightedMean) -> tuple[WeightedMean, float, NDArray[np.float64]]:
        """Sums over both, and the rank-one term ``(coefficient, direction)`` that the scatters gain."""
        weight = self.weight + other.weight
        direction = other.mean - self.mean
        if self.weight == 0 or other.weight == 0:
            mean, coefficient = (self.mean if other.weight == 0 else other.mean), 0.0
        else:
            mean = self.mean + direction * (other.weight / weight)
            coefficient = _multiply_divide(self.weight, other.weight, weight)
        sums = WeightedMean(self.count + other.count, weight, self.squared_weight + other.squared_weight, mean)
        return sums, coefficient, direction

    def subtract(self, part: WeightedMean) -> tuple[WeightedMean, float, NDArray[np.float64]]:
        """Sums over the rest, and the rank-one term that the difference of the scatters gains."""
        weight = self.weight - part.weight
        count = self.count - part.count
        if part.weight == 0:
            return WeightedMean(count, weight, self.squared_weight, self.mean), 0.0, np.zeros_like(self.mean)
        if count <= 0 or weight <= 0:
            return WeightedMean.empty(self.mean.size), 0.0, np.zeros_like(self.mean)
        direction = self.mean - part.mean
        step = direction * (part.weight / weight)
        mean = self.mean + step
        # a column that only the part had is exactly zero in the rest
        mean[np.abs(mean) <= _ROUNDING * (np.abs(self.mean) + np.abs(step))] = 0.0
        # with δ = m - m_part, the parts are (W/W_rest) δ apart: W_rest W_part / W times that squared
        coefficient = -_multiply_divide(part.weight, self.weight, weight)
        sums = WeightedMean(count, weight, max(self.squared_weight - part.squared_weight, 0.0), mean)
        return sums, coefficient, direction

    def decay_share(self, factor: float) -> float:
        """``factor``, or as much of it as keeps a weight that is next to nothing from vanishing altogether."""
        return max(factor, min(1.0, _FORGOTTEN / self.weight)) if self.weight > 0 else factor

    def decay(self, factor: float) -> WeightedMean:
        """The same rows with every weight multiplied by ``factor``."""
        return WeightedMean(self.count, self.weight * factor, self.squared_weight * factor**2, self.mean)


def _multiply_divide(a: float, b: float, c: float) -> float:
    """ab/c, also where ab overflows or underflows."""
    product = a * b
    return product / c if HEAVIEST**-1.9 < product < np.inf else a * (b / c)
