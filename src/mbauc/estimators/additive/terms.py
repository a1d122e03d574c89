"""Curves and heat maps as numbers to draw and to read: log-odds around the mean of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.basis.columns import Levels, Steps
from mbauc.basis.feature_map import WAVES, FeatureMap
from mbauc.checks import list_some
from mbauc.estimators.additive.labels import group_labels, is_discrete, step_labels

Array = NDArray[np.float64]

#: Values of a number up to which each is drawn by itself.
_FEW_VALUES = 12


class Level(NamedTuple):
    """What one level adds to log-odds, its standard error, and its share of the rows."""

    value: float
    error: float
    share: float


@dataclass(frozen=True, eq=False)
class Curve:
    """What a column alone adds to the log-odds of a row, for each of its bins or levels.

    Attributes
    ----------
    name : str
        Of the column.
    kind : {"numeric", "category"}
        What the column is.
    labels : tuple of str
        Ranges of values, or levels.
    centers, edges : ndarray or None
        A value of each bin, and where bins end; None for categories.
    discrete : bool
        Whether each bin is one value of a number that has few.
    straight : bool
        Whether it is a straight line, with heights at both ends and half of the rows at each.
    values, errors, shares : ndarray of shape (k,)
        Log-odds around the mean over the rows, their standard errors, and the shares of the rows.
    missing, other : Level or None
        The same where the value is missing, and for levels without a height of their own; None if training
        had no such rows.
    importance : float
        Standard deviation over the rows.
    """

    name: str
    kind: Literal["numeric", "category"]
    labels: tuple[str, ...]
    centers: Array | None
    edges: Array | None
    discrete: bool
    straight: bool
    values: Array
    errors: Array
    shares: Array
    missing: Level | None
    other: Level | None
    importance: float

    @property
    def has_few_values(self) -> bool:
        """Whether each bin is one of few values, to draw one by one."""
        return self.discrete and self.values.size <= _FEW_VALUES

    def levels(self) -> list[tuple[str, Level]]:
        """All levels with their names, those of missing and other values last."""
        own = [
            (label, Level(*map(float, entry)))
            for label, *entry in zip(self.labels, self.values, self.errors, self.shares, strict=True)
        ]
        rest = [("other", self.other), ("missing", self.missing)]
        return own + [(label, level) for label, level in rest if level is not None]


@dataclass(frozen=True, eq=False)
class HeatMap:
    """What two columns together add to the log-odds of a row, beyond their curves.

    Attributes
    ----------
    names : tuple of str
        Of the columns.
    labels : tuple of tuple of str
        Coarse ranges or levels of each column.
    values, errors, shares : ndarray of shape (k, m)
        Log-odds around the mean over the rows, their standard errors, and the shares of the rows in each cell.
    importance : float
        Standard deviation over the rows.
    """

    names: tuple[str, str]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    values: Array
    errors: Array
    shares: Array
    importance: float

    @property
    def name(self) -> str:
        """Both names with a cross between."""
        return " × ".join(self.names)


@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """All curves and heat maps, in the order of the columns and of the interactions.

    Attributes
    ----------
    curves : tuple of Curve
        One for each column.
    heat_maps : tuple of HeatMap
        One for each interaction.
    waves : float
        Standard deviation of what waves of all columns add, which cannot be drawn; 0 if there are none.
    """

    curves: tuple[Curve, ...]
    heat_maps: tuple[HeatMap, ...] = ()
    waves: float = 0.0

    def ranked(self) -> list[Curve | HeatMap]:
        """All of them, the most important first; those that add nothing are left out."""
        every: list[Curve | HeatMap] = [*self.curves, *self.heat_maps]
        return sorted((one for one in every if one.importance > 0), key=lambda one: -one.importance)

    def column_importance(self) -> dict[str, float]:
        """Standard deviation of all that a column takes part in, as if its terms were uncorrelated.

        Waves of all columns stand under a name of their own.
        """
        squares = {curve.name: curve.importance**2 for curve in self.curves}
        for one in self.heat_maps:
            for name in one.names:
                squares[name] += one.importance**2
        squares |= {WAVES: self.waves**2} if self.waves > 0 else {}
        found = {name: float(np.sqrt(square)) for name, square in squares.items()}
        return dict(sorted(found.items(), key=lambda entry: -entry[1]))

    def curve(self, name: str) -> Curve:
        """The curve of a column."""
        for one in self.curves:
            if one.name == name:
                return one
        known = list_some(repr(one.name) for one in self.curves)
        raise ValueError(f"there is no column {name!r}; columns are {known}.")

    def heat_map(self, a: str, b: str) -> HeatMap:
        """The interaction of two columns, named in any order."""
        for one in self.heat_maps:
            if set(one.names) == {a, b}:
                return one
        found = list_some(repr(one.name) for one in self.heat_maps) if self.heat_maps else "there are none"
        raise ValueError(f"there is no interaction of {a!r} and {b!r}; interactions: {found}.")


def describe_terms(
    features: FeatureMap,
    coef: ArrayLike,
    slope: float,
    *,
    shares: ArrayLike,
    errors: ArrayLike | None = None,
    means: ArrayLike | None = None,
    deviations: ArrayLike | None = None,
) -> AdditiveTerms:
    """Curves and heat maps of weights. ``O(features)`` time and memory.

    The curve of a number is the height of its bin plus the straight line of the number itself, if it has one.
    The standard errors of these two are added as if they were uncorrelated.

    Parameters
    ----------
    features : FeatureMap
        What the weights are of.
    coef : array-like of shape (features,)
        Weights, in units of the score.
    slope : float
        Scores times the slope are log-odds.
    shares : array-like of shape (features,)
        Share of the rows in each bin, level or cell.
    errors : array-like of shape (features,), optional
        Standard errors of the weights; zeros if not given.
    means : array-like of shape (terms,), optional
        What each term of ``features.terms()`` adds to scores on average; of the shares if not given.
    deviations : array-like of shape (terms,), optional
        The standard deviation of that; without it, a number counts as if it were the same all over a bin.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.basis.columns import Levels
    >>> from mbauc.basis.feature_map import FeatureMap
    >>> features = FeatureMap(("site",), (Levels(np.array([0.0, 1.0]), ("a", "b")),))
    >>> terms = describe_terms(features, [1.0, 3.0, 0.0, 0.0], 0.5, shares=[0.5, 0.5, 0.0, 0.0])
    >>> terms.curves[0].labels, terms.curves[0].values.tolist(), terms.curves[0].importance
    (('a', 'b'), [-0.5, 0.5], 0.5)
    """
    heights, shares = (
        _vector(name, x, features.n_features) for name, x in (("coef", coef), ("shares", shares))
    )
    spread = np.zeros(features.n_features) if errors is None else _vector("errors", errors, features.n_features)
    heights, spread = slope * heights, abs(slope) * spread
    terms = list(features.terms())
    middle, wide = (
        None if x is None else abs_slope * _vector(name, x, len(terms))
        for name, x, abs_slope in (("means", means, slope), ("deviations", deviations, abs(slope)))
    )
    numbers = {
        term.columns[0]: (place, term.start) for place, term in enumerate(terms) if term.kind == "number"
    }
    curves, heat_maps, waves = [], [], 0.0
    for place, term in enumerate(terms):
        own = slice(term.start, term.stop)
        bins = _Bins(heights[own], spread[own], shares[own], None if middle is None else float(middle[place]))
        if term.kind == "waves":
            waves = 0.0 if wide is None else float(wide[place])
        elif term.kind == "cells":
            heat_maps.append(_heat_map(features, term.columns, bins))
        elif term.kind in ("steps", "levels"):
            [j] = term.columns
            column = features.columns[j]
            straight = False
            if j in numbers and isinstance(column, Steps):
                at, feature = numbers[j]
                number = features.numbers[feature - int(features.starts[-1])]
                straight = column.edges.size == 0
                if straight:
                    ends = np.array([number.low, number.high])
                    column, bins = Steps(ends.mean(keepdims=True), ends), bins.halved()
                line = np.append(number.values(column.centers), 0.0)
                known = None if middle is None or wide is None else (float(middle[at]), float(wide[at]))
                bins = bins.plus(heights[feature] * line, spread[feature] * abs(line), known)
            curves.append(_curve(features.names[j], column, bins, straight))
    return AdditiveTerms(tuple(curves), tuple(heat_maps), waves)


@dataclass(frozen=True, eq=False)
class _Bins:
    """Heights of bins, levels or cells, their errors and shares, and their mean over the rows, if known."""

    value: Array
    error: Array
    share: Array
    mean: float | None
    #: variance over the rows within bins
    within: float = 0.0

    def halved(self) -> _Bins:
        """One bin as two."""
        value, error = (np.append(one[:1], one) for one in (self.value, self.error))
        return _Bins(value, error, np.append([self.share[0] / 2] * 2, self.share[1:]), self.mean, self.within)

    def plus(self, line: Array, error: Array, known: tuple[float, float] | None) -> _Bins:
        """With a straight line, of which the mean and the deviation over the rows may be known."""
        mean, within = self.mean, self.within
        if known is not None and mean is not None:
            mean, within = mean + known[0], known[1] ** 2 - self._variance(line)
        else:
            mean = None
        return _Bins(self.value + line, np.hypot(self.error, error), self.share, mean, within)

    def _variance(self, value: Array) -> float:
        total = float(self.share.sum()) or 1.0
        middle = float(self.share @ value) / total
        return float(self.share @ (value - middle) ** 2) / total

    def centred(self) -> Array:
        """Heights around their mean over the rows."""
        total = float(self.share.sum()) or 1.0
        mean = float(self.share @ self.value) / total if self.mean is None else self.mean
        return np.asarray(self.value - mean)

    def deviation(self) -> float:
        """Standard deviation over the rows."""
        return float(np.sqrt(max(self._variance(self.value) + self.within, 0.0)))


def _curve(name: str, column: Steps | Levels, bins: _Bins, straight: bool) -> Curve:
    value, numeric = bins.centred(), isinstance(column, Steps)
    n_rest = 1 if numeric else 2

    def rest(place: int) -> Level | None:
        found = Level(*(float(one[place]) for one in (value, bins.error, bins.share)))
        return found if found.share > 0 else None

    return Curve(
        name,
        "numeric" if numeric else "category",
        tuple(step_labels(column) if isinstance(column, Steps) else column.names),
        column.centers if isinstance(column, Steps) else None,
        column.edges if isinstance(column, Steps) else None,
        isinstance(column, Steps) and not straight and is_discrete(column),
        straight,
        value[:-n_rest],
        bins.error[:-n_rest],
        bins.share[:-n_rest],
        rest(-1),
        None if numeric else rest(-2),
        bins.deviation(),
    )


def _heat_map(features: FeatureMap, columns: tuple[int, ...], bins: _Bins) -> HeatMap:
    a, b = columns
    shape = (int(features.coarse_widths[a]), int(features.coarse_widths[b]))
    grids = [one.reshape(shape) for one in (bins.centred(), bins.error, bins.share)]
    # groups that no row is in, such as missing values of a column without any, are not drawn
    used = [grids[2].sum(axis=1) > 0, grids[2].sum(axis=0) > 0]
    labels = [
        tuple(label for label, kept in zip(group_labels(features, j), some, strict=True) if kept)
        for j, some in zip((a, b), used, strict=True)
    ]
    value, error, share = (grid[np.ix_(*used)] for grid in grids)
    names = (features.names[a], features.names[b])
    return HeatMap(names, (labels[0], labels[1]), value, error, share, bins.deviation())


def _vector(name: str, values: ArrayLike, size: int) -> Array:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (size,):
        raise ValueError(f"{name} must have {size:,} entries, got shape {found.shape}.")
    return found
