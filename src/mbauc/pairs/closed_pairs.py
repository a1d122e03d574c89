"""Sets of pairs that class sums cannot describe: matched pairs, pairs within blocks and within groups."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.reduction import Reduction
from mbauc.pairs.scatter import WeightedMean

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClosedPairs:
    """Weight, mean and scatter of the differences x⁺ - x⁻ of a set of pairs."""

    #: number, weight and mean of the differences
    differences: WeightedMean
    #: sum of their weighted outer products around the mean, shape (d, d)
    scatter: Array
    #: of pairs within groups: norm over the rows of each class of the weight of the pairs that they are in; not
    #: its square, which overflows for weights in large units
    row_norms: tuple[float, float] | None = None

    @classmethod
    def empty(cls, n_features: int, *, grouped: bool = False) -> ClosedPairs:
        """No pairs at all."""
        scatter = np.zeros((n_features, n_features))
        return cls(WeightedMean.empty(n_features), scatter, (0.0, 0.0) if grouped else None)

    @property
    def row_sizes(self) -> tuple[float, float] | None:
        """Rows that each class counts for by the weight of their pairs (Kish); None without groups."""
        if self.row_norms is None:
            return None
        total = self.differences.weight
        plus, minus = ((total / norm) ** 2 if norm > 0 else 0.0 for norm in self.row_norms)
        return plus, minus

    def copy(self) -> ClosedPairs:
        """The same set in memory of its own."""
        return replace(self, scatter=self.scatter.copy())

    def merge(self, other: ClosedPairs) -> ClosedPairs:
        """Both sets together; no pair across them."""
        differences, factor, delta = self.differences.merge(other.differences)
        scatter = self.scatter + other.scatter + factor * np.outer(delta, delta)
        return ClosedPairs(differences, scatter, self._add_norms(other))

    def subtract(self, part: ClosedPairs) -> ClosedPairs:
        """The remaining pairs."""
        differences, factor, delta = self.differences.subtract(part.differences)
        if differences.weight == 0:
            return ClosedPairs.empty(self.differences.mean.size, grouped=self.row_norms is not None)
        scatter = self.scatter - part.scatter + factor * np.outer(delta, delta)
        return ClosedPairs(differences, scatter, self._subtract_norms(part))

    def decay(self, factor: float) -> ClosedPairs:
        """The same pairs with every weight multiplied by ``factor``."""
        norms = self.row_norms and (self.row_norms[0] * factor, self.row_norms[1] * factor)
        return ClosedPairs(self.differences.decay(factor), self.scatter * factor, norms)

    def reduce(self, reduction: Reduction) -> ClosedPairs:
        """The same pairs in other coordinates, T'x."""
        differences = replace(self.differences, mean=reduction.reduce(self.differences.mean))
        return replace(self, differences=differences, scatter=reduction.sandwich(self.scatter))

    def _add_norms(self, other: ClosedPairs) -> tuple[float, float] | None:
        if self.row_norms is None or other.row_norms is None:
            return None
        (plus, minus), more = self.row_norms, other.row_norms
        return math.hypot(plus, more[0]), math.hypot(minus, more[1])

    def _subtract_norms(self, part: ClosedPairs) -> tuple[float, float] | None:
        if self.row_norms is None or part.row_norms is None:
            return None
        plus, minus = (
            whole * math.sqrt(1.0 - (own / whole) ** 2) if own < whole else 0.0
            for whole, own in zip(self.row_norms, part.row_norms, strict=True)
        )
        return plus, minus
