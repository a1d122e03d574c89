"""Curves and interactions of a model: the features that its weights are for, and what is told of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.feature_map import WAVES, FeatureMap
from mbauc.estimators.additive.terms import AdditiveTerms, Curve, HeatMap, describe_terms

Array = NDArray[np.float64]

#: Arrays that go with the features of a model, one number for each feature.
BY_FEATURE = ("coef_error", "feature_shares")
#: The same, one number for each term.
BY_TERM = ("term_means", "term_deviations")


class TermSummary(NamedTuple):
    """What a column, or a pair of columns, does to scores, in log-odds.

    ``kind`` is "curve", "line", "levels", "interaction" or "waves"; ``deviation`` is the standard deviation of
    what it adds over the rows; ``lowest`` and ``highest`` are the bins, levels or cells that add least and
    most, and ``low`` and ``high`` what they add, compared with the mean row. These are None for waves, which
    have no bins.
    """

    name: str
    kind: str
    deviation: float
    lowest: str | None
    low: float | None
    highest: str | None
    high: float | None


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
            raise ValueError("features described in a way that mbauc never writes")
        return cls(read, **{name: arrays[name] for name in (*BY_FEATURE, *BY_TERM) if name in arrays})

    def describe(self, coef: Array, slope: float) -> AdditiveTerms:
        """Curves and heat maps of weights, in log-odds; without shares as if each bin had as many rows."""
        shares = np.ones(self.features.n_features) if self.feature_shares is None else self.feature_shares
        return describe_terms(
            self.features,
            coef,
            slope,
            shares=shares,
            errors=self.coef_error,
            means=self.term_means,
            deviations=self.term_deviations,
        )

    def summarise(self, coef: Array, slope: float = 1.0) -> list[TermSummary]:
        """What columns, pairs of columns and waves do to scores, those that do most first. ``O(features)``.

        Parameters
        ----------
        coef : ndarray of shape (features,)
            The weights.
        slope : float, default=1.0
            Scores times the slope are log-odds.
        """
        terms = self.describe(coef, slope)
        found = [_summarise_curve(one) for one in terms.curves]
        found += [_summarise_heat_map(one) for one in terms.heat_maps]
        if self.features.waves is not None:
            found.append(TermSummary(WAVES, "waves", terms.waves, None, None, None, None))
        return sorted(found, key=lambda one: -one.deviation)


def _summarise_curve(curve: Curve) -> TermSummary:
    kind = "line" if curve.straight else "curve" if curve.kind == "numeric" else "levels"
    ends = [(label, level.value) for label, level in curve.levels() if level.share > 0]
    return TermSummary(curve.name, kind, curve.importance, *_ends(ends))


def _summarise_heat_map(one: HeatMap) -> TermSummary:
    ends = [
        (f"{one.labels[0][a]} × {one.labels[1][b]}", float(one.values[a, b]))
        for a, b in zip(*np.nonzero(one.shares), strict=True)
    ]
    return TermSummary(one.name, "interaction", one.importance, *_ends(ends))


def _ends(heights: list[tuple[str, float]]) -> tuple[str | None, float | None, str | None, float | None]:
    """The lowest and the highest; None where no row has a value."""
    if not heights:
        return None, None, None, None
    lowest, highest = (choose(heights, key=lambda entry: entry[1]) for choose in (min, max))
    return *lowest, *highest
