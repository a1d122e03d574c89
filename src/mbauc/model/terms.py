"""Curves and interactions of a model: the features that its weights are for, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Levels, Number
from mbauc.basis.feature_map import FeatureMap, Term

Array = NDArray[np.float64]

#: Arrays that go with the features of a model, one number for each feature.
BY_FEATURE = ("coef_error", "feature_shares")
#: The same, one number for each term.
BY_TERM = ("term_means", "term_deviations")


class TermSummary(NamedTuple):
    """What a column, or a pair of columns, does to scores, in log-odds.

    ``kind`` is "curve", "line", "levels" or "interaction"; ``deviation`` is the standard deviation of what it
    adds over the rows; ``lowest`` and ``highest`` are the bins, levels or cells that add least and most, and
    ``low`` and ``high`` what they add, compared with the mean row.
    """

    name: str
    kind: str
    deviation: float
    lowest: str
    low: float
    highest: str
    high: float


@dataclass(frozen=True, eq=False)
class ModelTerms:
    """Features of an additive model, and what its pictures need beside the weights.

    Attributes
    ----------
    features : FeatureMap
        How rows of numbers and codes become features, each of which has a weight.
    coef_error : ndarray of shape (features,) or None
        Standard error of each weight.
    feature_shares : ndarray of shape (features,) or None
        Share of the rows in each bin, level or cell; 1 for a number.
    term_means, term_deviations : ndarray of shape (terms,) or None
        Mean and standard deviation of what each of ``features.terms()`` adds to scores.
    """

    features: FeatureMap
    coef_error: Array | None = None
    feature_shares: Array | None = None
    term_means: Array | None = None
    term_deviations: Array | None = None

    def __post_init__(self) -> None:
        sizes = dict.fromkeys(BY_FEATURE, self.features.n_features)
        sizes |= dict.fromkeys(BY_TERM, sum(1 for _ in self.features.terms()))
        for name, size in sizes.items():
            if getattr(self, name) is None:
                continue
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (size,) or not np.isfinite(values).all():
                raise ValueError(f"{name} must be {size:,} finite numbers, got shape {values.shape}.")
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def of(cls, ranker: Any, names: list[str]) -> ModelTerms:
        """Those of a fitted :class:`~mbauc.AdditiveAUCClassifier`, under the names of columns in files."""
        found = ranker.feature_map_
        features = replace(found, names=tuple(names))
        told = {name: getattr(ranker, f"{name}_", None) for name in (*BY_FEATURE, *BY_TERM)}
        return cls(features, **told)

    def arrays(self) -> dict[str, Array]:
        """Those that are there, by their names."""
        found = {name: getattr(self, name) for name in (*BY_FEATURE, *BY_TERM)}
        return {name: values for name, values in found.items() if values is not None}

    @classmethod
    def decode(cls, features: Mapping[str, Any], arrays: Mapping[str, Array]) -> ModelTerms:
        """From what a file holds; a ValueError for anything that no model has written."""
        read = FeatureMap.from_dict(features)
        if read.to_dict() != features:
            raise ValueError("features that would not be written as they are described")
        return cls(read, **{name: arrays[name] for name in (*BY_FEATURE, *BY_TERM) if name in arrays})

    def summarise(self, coef: Array, slope: float = 1.0) -> list[TermSummary]:
        """What columns and pairs of columns do to scores, those that do most first; ``O(features)`` time.

        Parameters
        ----------
        coef : ndarray of shape (features,)
            The weights.
        slope : float
            Scores times the slope are log-odds.
        """
        found: dict[tuple[int, ...], list[tuple[int, Term]]] = {}
        for place, term in enumerate(self.features.terms()):
            found.setdefault(term.columns, []).append((place, term))
        summaries = [self._summarise(terms, coef * slope, slope) for terms in found.values()]
        return sorted(summaries, key=lambda one: -one.deviation)

    def _summarise(self, terms: list[tuple[int, Term]], coef: Array, slope: float) -> TermSummary:
        features, first = self.features, terms[0][1]
        name, [j, *others] = features.term_name(first), first.columns
        heights = coef[first.start : first.stop].copy()
        if others:
            kind = "interaction"
            labels = [
                f"{a} × {b}" for a in features.coarse_labels(j) for b in features.coarse_labels(others[0])
            ]
        else:
            column = features.columns[j]
            kind, labels = "levels" if isinstance(column, Levels) else "curve", column.labels()
        seen = np.ones(heights.size) if self.feature_shares is None else self.feature_shares[first.start :]
        seen = seen[: heights.size]
        inside = 0.0
        if len(terms) > 1:
            place, line = terms[1]
            number, weight = self._number(line), float(coef[line.start])
            values = weight * number.values(np.append(features.columns[j].centers, np.nan))  # type: ignore[union-attr]
            if heights.size == 2:  # one bin: a straight line is all there is
                ends = weight * number.values(np.array([number.low, number.high]))
                kind, labels = "line", [f"{number.low:.6g}", f"{number.high:.6g}", *labels[1:]]
                heights = np.append(heights[0] + ends, heights[1])
                seen = np.append([seen[0] / 2] * 2, seen[1])
                values = np.append(ends, 0.0)
            else:
                heights += values
            inside = self._variance(place, slope) - _variance(values, seen)
        deviation = np.sqrt(max(_variance(heights, seen) + inside, 0.0)) if seen.any() else 0.0
        own = np.flatnonzero(seen > 0) if (seen > 0).any() else np.arange(heights.size)
        mean = float(np.average(heights[own], weights=seen[own] if (seen > 0).any() else None))
        least, most = own[np.argmin(heights[own])], own[np.argmax(heights[own])]
        ends_of = (labels[least], float(heights[least] - mean), labels[most], float(heights[most] - mean))
        return TermSummary(name, kind, float(deviation), *ends_of)

    def _variance(self, place: int, slope: float) -> float:
        return 0.0 if self.term_deviations is None else float(self.term_deviations[place] * slope) ** 2

    def _number(self, term: Term) -> Number:
        return self.features.numbers[term.start - int(self.features.starts[-1])]


def _variance(values: Array, shares: Array) -> float:
    total = float(shares.sum())
    if total <= 0:
        return 0.0
    mean = float(shares @ values) / total
    return float(shares @ (values - mean) ** 2) / total
