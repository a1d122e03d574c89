"""What pairs say to a solver that multiplies vectors: μ, the diagonal of Σ, and products Σv."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.operator.columns import ColumnOrder
from mbauc.runtime.progress import Advance, silent

Array = NDArray[np.float64]

_ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Group:
    """Rows that are centred together: a class, or the differences of matched pairs.

    Attributes
    ----------
    count : int
        Number of rows.
    weight, squared_weight : float
        Sums of their weights and of the squares of these.
    mean, variance : ndarrays
        Of each column in use.
    """

    count: int
    weight: float
    squared_weight: float
    mean: Array
    variance: Array

    @classmethod
    def of(cls, count: int, weight: float, squared_weight: float, sums: Array, squares: Array) -> Group:
        """From weighted sums of the rows and of their squares."""
        if weight <= 0:
            return cls(count, weight, squared_weight, np.zeros_like(sums), np.zeros_like(sums))
        mean = sums / weight
        variance = squares / weight - mean**2
        # rounding would make a column of one value vary a little
        variance[variance <= _ROUNDING * mean**2] = 0.0
        return cls(count, weight, squared_weight, mean, variance)

    @property
    def effective_size(self) -> float:
        """Kish's effective number of rows."""
        return self.weight**2 / self.squared_weight if self.squared_weight > 0 else 0.0


class PairSums(ABC):
    """Products with ``Σ = Σ_c X_c' D_c X_c + μ μ'``, rows centred in their group, D_c shares of its weight.

    Centring is of low rank: the mean score of a group is taken off each of its scores before these are
    multiplied back, and what rounding has left of it afterwards.

    Attributes
    ----------
    groups : sequence of Group
        Positives and negatives, or the differences alone.
    shift : ndarray
        What had been taken off the columns beforehand; not in the means of the groups.
    mu, diagonal : ndarrays
        μ and the diagonal of Σ.
    """

    def __init__(self, groups: Sequence[Group], shift: Array) -> None:
        self.groups, self.shift = groups, shift
        means = [group.mean for group in groups]
        self.mu = means[0] - means[1] if len(means) == 2 else means[0] + shift
        self.diagonal = np.sum([group.variance for group in groups], axis=0) + self.mu**2
        self._latest: tuple[Array, Array, list[float]] | None = None
        #: told the rows that a sweep has just gone over
        self.advance: Advance = silent

    @abstractmethod
    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        """Over parts of the rows: X'D(Xv - centre), and by group the sums of D(Xv - centre) and its square."""

    @property
    def n_rows(self) -> int:
        """Number of rows of all groups."""
        return sum(group.count for group in self.groups)

    def product(self, v: Array) -> Array:
        """Σ v."""
        return self.product_and_variances(v)[0]

    def product_and_variances(self, v: Array) -> tuple[Array, list[float]]:
        """Σ v, and the variance of the scores x'v within each group; those of the latest v are remembered."""
        if self._latest is not None and np.array_equal(self._latest[0], v):
            return self._latest[1].copy(), list(self._latest[2])
        swept = self._sweep(v, [float(group.mean @ v) for group in self.groups])
        result = self.mu * float(self.mu @ v)
        for part, _ in swept:
            result += part
        variances = []
        totals = np.sum([sums for _, sums in swept], axis=0)
        for group, (left, squared) in zip(self.groups, totals, strict=True):
            result -= left * group.mean
            variances.append(max(float(squared - left**2), 0.0))
        self._latest = v.copy(), result.copy(), list(variances)
        return result, variances

    def leading_block(self) -> Array:
        """About Σ among the first so many columns, from some of the rows; none if there is nothing to gain."""
        return np.empty((0, 0))

    def score_means(self, w: Array) -> list[float]:
        """Mean of the score x'w in each group."""
        return [float((group.mean + self.shift) @ w) for group in self.groups]

    def column_variances(self) -> Array:
        """Variance of each column over the rows of all groups."""
        weights = [group.weight for group in self.groups]
        total = sum(weights) or 1.0
        mean = sum((group.weight * group.mean for group in self.groups), np.zeros(self.mu.size)) / total
        spread = np.zeros(self.mu.size)
        for group in self.groups:
            spread += group.weight * (group.variance + (group.mean - mean) ** 2)
        return spread / total


class ColumnPairs(PairSums):
    """Pairs as products over the columns that occur.

    Attributes
    ----------
    order : ColumnOrder
        Which columns the vectors are over.

    The others are those of :class:`PairSums`.
    """

    order: ColumnOrder
