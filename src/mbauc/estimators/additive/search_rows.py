"""The rows that features are chosen on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.smoothing import SmoothBasis
from mbauc.estimators.additive.coordinates import FoldedRows

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SearchRows:
    """The rows that features are chosen on."""

    #: indicators of each column
    codes: NDArray[np.int32]
    numbers: Array
    positive: NDArray[np.bool_]
    weight: Array | None
    #: what each row stands for among all rows, classes together
    share: Array
    fold: NDArray[np.int32]
    frequencies: bool = False
    n_jobs: int | None = None
    #: waves of each row, if there are some
    waves: Array | None = None
    #: indicators of each column
    widths: tuple[int, ...] = ()
    #: key of the group of each row, where only pairs within groups count; each is in one fold
    groups: NDArray[np.uint64] | None = None

    def totals(self, features: FeatureMap) -> list[Array]:
        """Weight of each indicator of each column."""
        return weigh_indicators(features, self.codes, self.share)

    def fold_rows(self, basis: SmoothBasis, features: FeatureMap, fold: NDArray[np.int32]) -> FoldedRows:
        """The rows in coordinates."""
        Z = basis.rows(features, self.codes, self.numbers, self.waves, self.n_jobs)
        return FoldedRows(Z, self.positive, self.weight, fold, self.frequencies, self.n_jobs, self.groups)

    def collapse(self, features: FeatureMap, kept: set[int]) -> NDArray[np.int32]:
        """Codes for a map in which all but some columns have one indicator, and one for missing values."""
        width = np.array([column.width for column in features.columns], dtype=np.int32)
        missing = self.codes == [before - 1 for before in self.widths]
        single = np.where(missing, width - 1, width - 2)
        own = [j in kept for j in range(features.n_columns)]
        return np.where(own, self.codes, single).astype(np.int32)


def weigh_indicators(features: FeatureMap, codes: NDArray[np.int32], share: Array) -> list[Array]:
    """Weight of each indicator of each column, given what each row stands for."""
    return [
        np.bincount(codes[:, j], share, minlength=column.width).astype(np.float64)
        for j, column in enumerate(features.columns)
    ]
