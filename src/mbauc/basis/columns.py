"""What a column becomes: one indicator for each bin of its numbers, or for each level of a category."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.int32]

#: Stands for a missing value in names of features.
MISSING = "(missing)"
#: Stands for levels without an indicator of their own.
OTHER = "(other)"
#: Digits that tell all numbers apart.
_MOST_DIGITS = 17


@dataclass(frozen=True, eq=False)
class Steps:
    """Bins of a numeric column, and one more for missing values.

    Bin k holds the values above ``edges[k - 1]`` and up to ``edges[k]``. The first and the last bin are open:
    a value beyond all values of training, an infinite one too, counts as the most extreme of these.

    Attributes
    ----------
    edges : ndarray of shape (k,)
        Where bins end, rising.
    centers : ndarray of shape (k + 1,)
        A value of each bin, to draw it at: its median in training.
    """

    edges: Array
    centers: Array

    def __post_init__(self) -> None:
        edges, centers = (np.asarray(one, dtype=np.float64) for one in (self.edges, self.centers))
        if edges.ndim != 1 or not np.isfinite(edges).all() or (edges[1:] <= edges[:-1]).any():
            raise ValueError("edges must be finite and increasing.")
        if centers.shape != (edges.size + 1,) or not np.isfinite(centers).all():
            raise ValueError(f"centers must be {edges.size + 1} finite numbers, one for each bin.")
        vars(self).update(edges=_freeze(edges), centers=_freeze(centers))

    @property
    def width(self) -> int:
        """Number of indicators."""
        return int(self.edges.size) + 2

    def codes(self, x: ArrayLike) -> Codes:
        """Which indicator is 1 for each value; ``O(n log k)`` time."""
        values = np.asarray(x, dtype=np.float64)
        found = np.searchsorted(self.edges, values, side="left")
        # NaN sorts behind all edges, into the last bin
        return np.where(np.isnan(values), self.width - 1, found).astype(np.int32)

    def labels(self) -> list[str]:
        """Names of the indicators: ranges of values."""
        return [*(self.label_range(k, k) for k in range(self.edges.size + 1)), MISSING]

    def label_range(self, first: int, last: int) -> str:
        """Name of the bins from one to another, taken together."""
        low, high = first > 0, last < self.edges.size
        if low and high:
            return f"({self._ends[first - 1]}, {self._ends[last]}]"
        return f">{self._ends[first - 1]}" if low else f"≤{self._ends[last]}" if high else "any"

    @cached_property
    def _ends(self) -> list[str]:
        """Edges with six digits, or as many as it takes to tell them apart."""

        def write(digits: int) -> list[str]:
            return [f"{edge:.{digits}g}" for edge in self.edges]

        return write(digits_apart(write, 6))


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of a category that came as codes, and one indicator each for all others and for missing ones.

    Attributes
    ----------
    kept : ndarray of shape (k,)
        Codes with an indicator of their own, rising. All other codes, those that training never saw too, share
        one. If training saw none of these, its weight is zero.
    names : tuple of str
        What the kept codes stand for.
    """

    kept: Array
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        kept = np.asarray(self.kept, dtype=np.float64)
        if kept.ndim != 1 or not np.isfinite(kept).all() or (kept[1:] <= kept[:-1]).any():
            raise ValueError("kept must be finite and increasing codes.")
        if len(self.names) != kept.size:
            raise ValueError(f"names must be {kept.size}, one for each level that is kept.")
        vars(self).update(kept=_freeze(kept), names=tuple(self.names))

    @property
    def width(self) -> int:
        """Number of indicators."""
        return int(self.kept.size) + 2

    def codes(self, x: ArrayLike) -> Codes:
        """Which indicator is 1 for each code; ``O(n log k)`` time."""
        values = np.asarray(x, dtype=np.float64)
        found = np.searchsorted(self.kept, values, side="left")
        known = np.zeros(values.shape, dtype=np.bool_)
        inside = found < self.kept.size
        known[inside] = self.kept[found[inside]] == values[inside]
        result = np.where(known, found, self.width - 2)
        return np.where(np.isnan(values), self.width - 1, result).astype(np.int32)

    def labels(self) -> list[str]:
        """Names of the indicators: levels."""
        return [*self.names, OTHER, MISSING]


@dataclass(frozen=True)
class Number:
    """A numeric column itself, cut off beyond what nearly all of training had, and standardised.

    Attributes
    ----------
    column : int
        Which column.
    low, high : float
        Values beyond are taken for these.
    center, scale : float
        What is subtracted, and what the rest is divided by. A missing value becomes 0.
    """

    column: int
    low: float
    high: float
    center: float
    scale: float

    def __post_init__(self) -> None:
        numbers = (self.low, self.high, self.center, self.scale)
        if not np.isfinite(numbers).all() or self.scale <= 0 or self.low > self.high:
            raise ValueError("a number needs finite bounds in order, a finite center and a scale above 0.")

    def values(self, x: ArrayLike) -> Array:
        """The feature of each value."""
        result = (np.clip(np.asarray(x, dtype=np.float64), self.low, self.high) - self.center) / self.scale
        return np.where(np.isnan(result), 0.0, result)


def digits_apart(write: Callable[[int], list[str]], digits: int) -> int:
    """So many digits, or as many as it takes to write all texts differently.

    Examples
    --------
    >>> digits_apart(lambda digits: [f"{x:.{digits}g}" for x in (1.0, 1.0001, 1.0002)], 3)
    5
    """
    while digits < _MOST_DIGITS and len(set(found := write(digits))) < len(found):
        digits += 1
    return digits


def _freeze(values: Array) -> Array:
    values = np.ascontiguousarray(values)
    if values.flags.writeable:
        values = values.copy()
        values.flags.writeable = False
    return values
