"""Fewer levels: categories with their most frequent ones alone, all others together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.columns import Levels, Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.smoothing import SmoothBasis

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PooledLevels:
    """Features of which categories have fewer levels, beside those that they stand for.

    Attributes
    ----------
    whole : FeatureMap
        Features with all levels.
    features : FeatureMap
        The same with fewer; all other levels count as "other".
    tables : tuple of ndarray
        For each column: the indicator that each indicator of ``whole`` becomes.
    limit : int
        Levels of a category, at most.
    """

    whole: FeatureMap
    features: FeatureMap
    tables: tuple[NDArray[np.int32], ...]
    limit: int

    @classmethod
    def of(cls, whole: FeatureMap, totals: Sequence[Array], most: int) -> PooledLevels | None:
        """At most ``most`` levels of all categories together, the most frequent of each.

        None if there are no more. ``totals`` are the weights of the indicators of each column.
        """
        sizes = np.array([one.kept.size if isinstance(one, Levels) else 0 for one in whole.columns])
        if sizes.sum() <= most:
            return None
        limit = share_evenly(sizes, most)
        columns: list[Steps | Levels] = []
        tables, coarse = [], []
        for j, column in enumerate(whole.columns):
            kept = np.arange(column.width)
            if isinstance(column, Levels) and column.kept.size > limit:
                own = np.sort(np.argsort(-totals[j][:-2], kind="stable")[:limit])
                kept = np.append(own, [column.width - 2, column.width - 1])
                column = Levels(column.kept[own], tuple(column.names[k] for k in own))
            # what is not kept becomes "other"
            table = np.full(whole.columns[j].width, max(kept.size - 2, 0), dtype=np.int32)
            table[kept] = np.arange(kept.size)
            columns.append(column)
            tables.append(table)
            # numbered anew: levels that have a coarse group of their own may be gone
            own_groups = (groups[kept] for groups in whole.coarse[j : j + 1])
            coarse += [np.unique(one, return_inverse=True)[1].astype(np.int32) for one in own_groups]
        features = replace(whole, columns=tuple(columns), coarse=tuple(coarse))
        return cls(whole, features, tuple(tables), limit)

    def codes(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Indicators of rows, given those with all levels."""
        return np.column_stack([table[codes[:, j]] for j, table in enumerate(self.tables)])

    def restore(self, found: FeatureMap, totals: Sequence[Array]) -> tuple[FeatureMap, list[Array]]:
        """Features that were made of ``features``, with all levels of columns that are as they were.

        Returns them with the weights of their indicators, given those of ``whole``.
        """
        whole, columns, after = self.whole, list(found.columns), list(totals)
        coarse = list(found.coarse)
        for j, (own, pooled) in enumerate(zip(found.columns, self.features.columns, strict=True)):
            if own is pooled:
                columns[j] = whole.columns[j]
                coarse[j : j + 1] = whole.coarse[j : j + 1] if coarse else []
            else:
                # one indicator for all values, and one for missing ones
                after[j] = np.zeros(own.width)
                after[j][-2:] = totals[j][:-1].sum(), totals[j][-1]
        return replace(found, columns=tuple(columns), coarse=tuple(coarse)), after


def share_evenly(sizes: NDArray[np.integer], most: int) -> int:
    """The largest limit under which sizes add up to at most ``most``; at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> share_evenly(np.array([2, 9, 100]), 20)
    9
    """
    low, high = 1, int(sizes.max(initial=1))
    while low < high:
        middle = (low + high + 1) // 2
        if np.minimum(sizes, middle).sum() <= most:
            low = middle
        else:
            high = middle - 1
    return low


def carry_strength(strength: Array, before: SmoothBasis, after: SmoothBasis) -> Array:
    """Penalties of the same terms in other coordinates: for each term as many times its roughness."""
    ratio = np.full(int(max(before.group.max(), after.group.max())) + 1, np.nan)
    ratio[before.group] = strength / before.roughness
    ratio[np.isnan(ratio)] = np.nanmedian(ratio)
    return np.asarray(ratio[after.group] * after.roughness)
