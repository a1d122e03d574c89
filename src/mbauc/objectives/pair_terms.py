"""Which pairs of boosted rows count, from what LightGBM and XGBoost pass to an objective or a metric."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.losses import PairWeights, Region
from mbauc.metrics.grouped import warn_of_one_class_groups
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.region_area import share_of_region

Array = NDArray[np.float64]


class BoostedRows(NamedTuple):
    """What a library knows of its rows after some trees: labels, scores, weights, sizes of groups."""

    y: Any
    scores: Any
    weight: Any = None
    group_sizes: Any = None


class BoostedPairs(NamedTuple):
    """All pairs of some rows, those that count under their scores, and the scores."""

    all: PairWeights
    chosen: PairWeights
    scores: Array
    #: rows that they are worth: twice those of the smaller class of each group if the other is large
    worth: float


@dataclass(frozen=True, eq=False)
class PairTerms:
    """Which pairs count and how much: what an objective and its metric have in common."""

    region: Region = field(default_factory=Region)
    groups: NDArray[Any] | None = None
    equal_groups: bool = False

    def pairs(self, rows: BoostedRows) -> BoostedPairs:
        """The pairs of some rows."""
        if np.ndim(rows.scores) != 1:
            raise ValueError(
                f"a loss over pairs needs one score a row, got scores of shape {np.shape(rows.scores)}; "
                "train with two classes and one output."
            )
        ranked = RankedScores.validate(rows.y, rows.scores, rows.weight, y_name="y", s_name=None, finite=True)
        groups = self._groups(ranked.values.size, rows.group_sizes)
        if self.equal_groups and groups is None:
            raise ValueError("equal_groups=True needs groups, and neither the data nor the objective has any.")
        pairs = PairWeights.build(ranked.positive, ranked.weight, groups, equal_groups=self.equal_groups)
        warn_of_one_class_groups(pairs)
        chosen = self.region.select(pairs, ranked.values)
        return BoostedPairs(pairs, chosen, ranked.values, _worth(pairs, ranked.weights))

    @property
    def name(self) -> str:
        """Name of the metric; XGBoost raises what begins with auc."""
        limits = (("max_fpr", self.region.max_fpr, 1.0), ("min_tpr", self.region.min_tpr, 0.0))
        return "auc" + "".join(f"_{key}_{value:g}" for key, value, whole in limits if value != whole)

    def auc(self, rows: BoostedRows) -> float:
        """Share of the region's area that is below the ROC curve, averaged over groups."""
        pairs = self.pairs(rows)
        return share_of_region(pairs.all, pairs.scores, self.region)

    def _groups(self, n_rows: int, sizes: ArrayLike | None) -> NDArray[Any] | None:
        """Group of each row: that given to the objective, or that of the data, by the sizes."""
        if sizes is None:
            if self.groups is not None and self.groups.shape != (n_rows,):
                raise ValueError(
                    f"groups has shape {self.groups.shape}, the data have {n_rows:,} rows. Groups of an "
                    "objective are those of its training rows; if other rows are evaluated as well, pass "
                    "groups to the data sets instead."
                )
            return self.groups
        if self.groups is not None:
            raise ValueError("groups came with the data and with the objective; leave out one of them.")
        counts = np.asarray(sizes, dtype=np.int64)
        return np.repeat(np.arange(counts.size), counts)


def _worth(pairs: PairWeights, weight: Array) -> float:
    """4 A B / (A + B) for the weights A and B of the classes of a group, over all groups."""
    rows = pairs.reweigh(weight[pairs.plus], weight[pairs.minus])
    plus, minus = rows.plus_totals, rows.minus_totals
    return float((4.0 * plus * minus / (plus + minus)).sum())
