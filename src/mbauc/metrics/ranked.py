"""Labels, scores and weights of rows, validated once and sorted once: where all metrics and curves start."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.rows.labels import check_mask, find_classes, positive_rows
from mbauc.rows.matrix import check_weights
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

#: Number of scores from which compiled loops are used.
MANY = 1 << 19


class ClassScores(NamedTuple):
    """Scores of one class, rising, with the weight of the first k of them; None where each row counts one."""

    values: Array
    up_to: Array | None

    @classmethod
    def sort(cls, values: Array, weight: Array) -> ClassScores:
        """Scores in any order, with weights."""
        order = np.argsort(values, kind="stable")
        return cls(values[order], np.append(0.0, np.cumsum(weight[order])))

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.values.size if self.up_to is None else self.up_to[-1])

    def first(self, n_rows: Any) -> Any:
        """Weight of the ``n_rows`` lowest rows."""
        return np.asarray(n_rows, dtype=np.float64) if self.up_to is None else self.up_to[n_rows]

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

    def share_below(self, at: ArrayLike) -> Array:
        """Share of the scores below, by weight; those that are equal count one half."""
        return np.asarray((self.below(at) + self.at_most(at)) / 2 / self.total)

    def lowest_within(self, limit: float) -> float:
        """The lowest score of the class above which no more than a share of its weight lies."""
        place = bisect_left(self.values, True, key=lambda score: bool(self.above(score) / self.total <= limit))
        return float(self.values[place])

    def weighted_sum(self, start: int, stop: int) -> float:
        """Sum of the scores from the start-th to before the stop-th, each times its weight."""
        part = self.values[start:stop]
        return float(part.sum() if self.up_to is None else part @ np.diff(self.up_to[start : stop + 1]))


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Rows with their scores: in the order of the caller, and on demand sorted within each class.

    Attributes
    ----------
    positive : ndarray of shape (n,)
        Which rows are positive.
    values : ndarray of shape (n,)
        Their scores.
    weight : ndarray of shape (n,) or None
        Their weights; None where each row counts one.
    pos_label : label
        The positive label, where it is known.

    Examples
    --------
    >>> ranked = RankedScores.validate([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> ranked.plus.values.tolist(), ranked.minus.values.tolist()
    ([0.35, 0.8], [0.1, 0.4])
    """

    positive: NDArray[np.bool_]
    values: Array
    weight: Array | None = None
    pos_label: Any = None

    @classmethod
    def validate(
        cls,
        y: Any,
        s: Any,
        sample_weight: Any = None,
        *,
        y_name: str = "y_true",
        s_name: str | None = "y_score",
        classes: Any = None,
        both_classes: bool = True,
        pos_label: Any = None,
        finite: bool = False,
    ) -> RankedScores:
        """Rows from what a caller passed, or an error that names what is wrong with it.

        Parameters
        ----------
        y, s, sample_weight
            Labels, scores and, if any, weights: one of each for every row.
        y_name, s_name : str
            How the caller's arguments are called; None for scores that are none of them.
        classes : sequence of two labels, optional
            Both labels, where one of them may be missing.
        both_classes : bool, default=True
            Whether rows of both classes, with weight, must be there.
        pos_label : label, optional
            The positive one; the larger if not given.
        finite : bool, default=False
            Whether infinite scores are refused, as NaN always is.
        """
        values = score_vector(s, s_name).astype(np.float64, copy=False)
        known = find_classes(y, y_name) if both_classes and classes is None else classes
        positive = positive_rows(y, known, y_name)
        check_lengths(positive.size, values.size, y_name, s_name)
        check_values(values, s_name, finite=finite)
        if known is not None:
            labels = np.asarray(known).tolist()
            place = label_place(pos_label, labels)
            positive, pos_label = positive if place == 1 else ~positive, labels[place]
        weight = check_weights(sample_weight, values.size)
        if both_classes and weight is not None and not (weight[positive].any() and weight[~positive].any()):
            raise ValueError("sample_weight is zero for all rows of a class; rows of both are needed.")
        return cls(positive, values, weight, pos_label)

    @classmethod
    def concatenate(cls, parts: Iterable[RankedScores]) -> RankedScores:
        """The rows of several, one after the other."""
        found = list(parts)
        weight = None
        if any(part.weight is not None for part in found):
            weight = np.concatenate([part.weights for part in found])
        positive = np.concatenate([part.positive for part in found])
        return cls(positive, np.concatenate([part.values for part in found]), weight)

    def take(self, rows: Any) -> RankedScores:
        """Some of the rows: numbers, a mask or a slice."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, positive=self.positive[rows], values=self.values[rows], weight=weight)

    @property
    def weights(self) -> Array:
        """Weight of each row, ones if there are none."""
        return np.ones(self.values.size) if self.weight is None else self.weight

    @property
    def many(self) -> bool:
        """Whether compiled loops in threads are worth the time to load them."""
        return self.values.size >= MANY

    # -- by class, sorted ----------------------------------------------------------------------------------

    @cached_property
    def classes(self) -> tuple[ClassScores, ClassScores]:
        """Positives and negatives with weight, sorted; ``O(n log n)``, a copy of the scores."""
        if self.weight is None:
            plus, minus = _sort_classes(self.positive, self.values, many=self.many)
            return ClassScores(plus, None), ClassScores(minus, None)
        used = self.weight > 0
        masks = self.positive & used, ~self.positive & used
        high, low = (ClassScores.sort(self.values[mask], self.weight[mask]) for mask in masks)
        return high, low

    @property
    def plus(self) -> ClassScores:
        """The positive rows, sorted."""
        return self.classes[0]

    @property
    def minus(self) -> ClassScores:
        """The negative rows, sorted."""
        return self.classes[1]

    def map_increasing(self, function: Callable[[Array], Array]) -> RankedScores:
        """The same rows with scores that a function made of them which never falls: nothing is sorted again."""
        mapped = replace(self, values=function(self.values))
        classes = tuple(ClassScores(function(part.values), part.up_to) for part in self.classes)
        mapped.__dict__["classes"] = classes  # where the cached property keeps them
        return mapped

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return self.plus.total + self.minus.total

    def lowest(self, reached: Callable[[float], bool]) -> float:
        """The lowest score for which something holds that holds from some score on; infinity if for none."""
        places = [(part.values, bisect_left(part.values, True, key=reached)) for part in self.classes]
        return min((float(values[k]) for values, k in places if k < values.size), default=np.inf)

    def lowest_with(self, alarms: float) -> float:
        """The lowest score above which no more than a number of rows lie."""
        return self.lowest(lambda score: bool(sum(part.above(score) for part in self.classes) <= alarms))

    def middle(self, at: ArrayLike) -> Any:
        """Share of the rows below scores; those at them count one half."""
        return sum(part.below(at) + part.at_most(at) for part in self.classes) / 2 / self.total

    def around(self, at: Array) -> tuple[Array, Array]:
        """The highest score that is not above, and the lowest above; infinite where there is none."""
        lower, higher = np.full(at.shape, -np.inf), np.full(at.shape, np.inf)
        for values, _ in self.classes:
            k, ends = np.searchsorted(values, at, side="right"), np.concatenate([[-np.inf], values, [np.inf]])
            lower, higher = np.maximum(lower, ends[k]), np.minimum(higher, ends[k + 1])
        return lower, higher

    def next_lower(self, at: Array) -> Array:
        """The next lower score of any row; minus infinity below all of them."""
        found = np.full(at.shape, -np.inf)
        for values, _ in self.classes:
            if values.size:
                k = np.searchsorted(values, at, side="left")
                found = np.where(k > 0, np.maximum(found, values[np.maximum(k - 1, 0)]), found)
        return found

    def distinct(self, least: float = -np.inf) -> Array:
        """The distinct scores from ``least`` on, rising."""
        parts = []
        for values, _ in self.classes:
            some = values[np.searchsorted(values, least) :]
            parts.append(some[np.append(True, some[1:] != some[:-1])] if some.size else some)
        return np.union1d(*parts)

    def has_more_distinct(self, most: int) -> bool:
        """Whether a class has more than a number of distinct scores."""
        return any(np.count_nonzero(values[1:] != values[:-1]) >= most for values, _ in self.classes)


# -- validation -----------------------------------------------------------------------------------------------


def score_vector(s: Any, name: str | None = None) -> NDArray[Any]:
    """Scores as they are where they are numbers, as float64 where they can be made some; or an error."""
    name = "scores" if name is None else name
    check_mask(s, name)
    values = np.asarray(s)
    if values.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {values.shape}; pass one score per row.")
    if values.dtype.kind in "biuf":
        return values
    try:
        if values.dtype.kind == "c":  # whose imaginary part would be lost
            raise TypeError
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers, one for each row, got dtype {values.dtype}.") from None


def check_lengths(labels: int, scores: int, y_name: str, s_name: str | None) -> None:
    """A label for each score, or an error that says how many there are of both."""
    if labels != scores:
        there = "there are" if s_name is None else s_name
        raise ValueError(f"{y_name} has {labels:,} labels and {there} {scores:,} scores.")


def check_values(values: Array, name: str | None = None, *, finite: bool = False, first: int = 0) -> None:
    """Scores that can be ranked, or an error that names the row; ``first`` rows came before."""
    bad = ~np.isfinite(values) if finite else np.isnan(values)
    if bad.any():
        row = int(np.argmax(bad))
        value, row = str(values[row]) if finite else "NaN", first + row
        where = f"the score of row {row:,} is {value}" if name is None else f"{name} has {value} at row {row:,}"
        advice = "every score must be finite." if finite else "drop the row or give it a score."
        raise ValueError(f"{where}; {advice}")


def label_place(pos_label: Any, labels: list[Any]) -> int:
    """Which of two labels is the positive one; the second unless another is named."""
    if pos_label is None:
        return 1
    if pos_label not in labels:
        raise ValueError(f"pos_label must be one of the labels {labels!r}, got {pos_label!r}.")
    return labels.index(pos_label)


def _sort_classes(positive: NDArray[np.bool_], values: Array, *, many: bool) -> tuple[Array, Array]:
    """The scores of the positive rows and of the negative ones, each sorted; many of them in two threads."""
    if not many:
        return np.sort(values[positive]), np.sort(values[~positive])
    from mbauc.metrics import kernels

    count = int(np.count_nonzero(positive))
    plus, minus = np.empty(count + 1), np.empty(values.size - count + 1)
    kernels.split(values, positive, plus, minus)
    plus, minus = plus[:-1], minus[:-1]
    run_threads(lambda part: part.sort(), (plus, minus), thread_count(None))
    return plus, minus
