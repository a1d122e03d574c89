"""All that scoring needs of curves and interactions: features, weights, and how scores become probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.feature_map import FeatureMap
from mbauc.estimators.scorer import LinearScorer

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AdditiveScorer(LinearScorer):
    """A :class:`~mbauc.estimators.LinearScorer` of features that it makes of the rows itself.

    ``coef`` has a weight for each feature; :meth:`scores` takes rows of numbers and codes, NaN where they are
    missing.

    Attributes
    ----------
    features : FeatureMap
        How rows become features.
    """

    features: FeatureMap | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.features is None or self.features.n_features != self.coef.size:
            raise ValueError("coef must have one weight for each feature of the map.")

    def __reduce__(self) -> tuple[Any, ...]:
        _, values, state = super().__reduce__()
        return AdditiveScorer, (*values, self.features), state

    @property
    def n_features(self) -> int:
        """Number of columns of the rows."""
        return self._features.n_columns

    @property
    def _features(self) -> FeatureMap:
        if self.features is None:
            raise ValueError("an additive scorer needs features.")
        return self.features

    def scores(self, X: Any) -> Array:
        """Score of each row; the higher, the more likely positive."""
        return np.asarray(self._features.scores(X, self.coef, None) + self.intercept)

    def contributions(self, X: Any) -> Array:
        """What each term adds to the score of each row, shape (n, terms); see ``features.terms()``."""
        return self._features.contributions(X, self.coef)
