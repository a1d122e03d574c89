"""How many rows of each class lie above a score, for any score and any number of rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.metrics.placements import sorted_classes

Array = NDArray[np.float64]


class ClassScores(NamedTuple):
    """Scores of one class.

    Attributes
    ----------
    values : ndarray of shape (n,)
        The scores, rising.
    up_to : ndarray of shape (n + 1,) or None
        Weight of the first k of them; None where each row counts one.
    """

    values: Array
    up_to: Array | None

    @classmethod
    def of(cls, values: Array, weight: Array) -> ClassScores:
        """Scores in any order, with weights."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], np.concatenate([[0.0], np.cumsum(weight[order])]))

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.values.size if self.up_to is None else self.up_to[-1])

    def first(self, rows: Any) -> Any:
        """Weight of the so many lowest rows."""
        return np.asarray(rows, dtype=np.float64) if self.up_to is None else self.up_to[rows]

    def weights(self) -> Array:
        """Weight of each row."""
        return np.diff(self.first(np.arange(self.values.size + 1)))

    def below(self, at: ArrayLike) -> Any:
        """Weight of the scores below."""
        return self.first(np.searchsorted(self.values, at, side="left"))

    def at_most(self, at: ArrayLike) -> Any:
        """Weight of the scores that are not above."""
        return self.first(np.searchsorted(self.values, at, side="right"))

    def above(self, at: ArrayLike) -> Any:
        """Weight of the scores above."""
        return self.total - self.at_most(at)

    def lowest_within(self, limit: float) -> float:
        """The lowest score of the class above which no more than a share of its weight lies."""
        place = bisect_left(self.values, True, key=lambda score: bool(self.above(score) / self.total <= limit))
        return float(self.values[place])

    def weighted_sum(self, start: int, stop: int) -> float:
        """Sum of the scores from the start-th to before the stop-th, each times its weight."""
        part = self.values[start:stop]
        return float(part.sum() if self.up_to is None else part @ np.diff(self.up_to[start : stop + 1]))


class Tally(NamedTuple):
    """Scores of the positive and of the negative rows, ready to be counted."""

    plus: ClassScores
    minus: ClassScores

    @classmethod
    def of(cls, positive: NDArray[np.bool_], values: Array, weight: Array | None) -> Tally:
        """Sort the rows; ``O(n log n)``, a copy of the scores. Rows of weight zero are left out."""
        if weight is None:
            plus, minus = sorted_classes(positive, values)
            return cls(ClassScores(plus, None), ClassScores(minus, None))
        used = weight > 0
        masks = (positive & used, ~positive & used)
        return cls(*(ClassScores.of(values[mask], weight[mask]) for mask in masks))

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return self.plus.total + self.minus.total

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.plus.up_to is not None

    def rows(self) -> tuple[NDArray[np.bool_], Array, Array | None]:
        """Labels, scores and weights again, class by class and sorted, so that the next sort is short."""
        positive = np.arange(self.plus.values.size + self.minus.values.size) < self.plus.values.size
        values = np.concatenate([part.values for part in self])
        return positive, values, np.concatenate([part.weights() for part in self]) if self.weighted else None

    def middle(self, at: float) -> float:
        """Share of the rows below a score; those at it count one half."""
        twice = sum(part.below(at) + part.at_most(at) for part in self)
        return float(twice / 2 / self.total)

    def lowest(self, reached: Callable[[float], bool]) -> float:
        """The lowest score for which something holds that holds from some score on; infinity if for none."""
        places = [(part.values, bisect_left(part.values, True, key=reached)) for part in self]
        return min((float(values[k]) for values, k in places if k < values.size), default=np.inf)

    def lowest_with(self, alarms: float) -> float:
        """The lowest score above which no more than so many rows lie."""
        return self.lowest(lambda score: bool(sum(part.above(score) for part in self) <= alarms))

    def around(self, at: Array) -> tuple[Array, Array]:
        """The highest score that is not above, and the lowest above; infinite where there is none."""
        lower, higher = np.full(at.shape, -np.inf), np.full(at.shape, np.inf)
        for values, _ in self:
            k, ends = np.searchsorted(values, at, side="right"), np.concatenate([[-np.inf], values, [np.inf]])
            lower, higher = np.maximum(lower, ends[k]), np.minimum(higher, ends[k + 1])
        return lower, higher

    def preceding(self, at: Array) -> Array:
        """The next lower score of any row; minus infinity below all of them."""
        found = np.full(at.shape, -np.inf)
        for values, _ in self:
            if values.size:
                k = np.searchsorted(values, at, side="left")
                found = np.where(k > 0, np.maximum(found, values[np.maximum(k - 1, 0)]), found)
        return found

    def distinct(self, most: int) -> Array | None:
        """The distinct scores, rising, or None if a class has more than so many."""
        parts = []
        for values, _ in self:
            new = np.flatnonzero(values[1:] != values[:-1])
            if new.size >= most:
                return None
            parts.append(np.concatenate([values[:1], values[new + 1]]))
        return np.union1d(*parts)
