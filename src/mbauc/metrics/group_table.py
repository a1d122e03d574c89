"""Which groups are ranked badly: those that lose most pairs, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice, check_share, check_whole
from mbauc.losses import PairWeights
from mbauc.metrics.grouped import GroupedAuc, pairs_within_groups, warn_of_one_class_groups
from mbauc.metrics.intervals.delong import auc_interval
from mbauc.metrics.intervals.sample_design import frequency_design
from mbauc.metrics.ranked import RankedScores
from mbauc.rows.groups import check_groups

Array = NDArray[np.float64]

#: Groups that a table keeps.
MOST = 50
#: Bins of their AUCs.
BINS = 20
ORDERS = ("lost", "pairs", "auc")


@dataclass(frozen=True)
class GroupTable:
    """Metrics of selected groups, one entry per group.

    Attributes
    ----------
    group : ndarray of shape (k,)
        The groups.
    rows, positives : ndarray of shape (k,)
        Number of rows and of positives, or their weights if there are weights.
    auc, low, high : ndarray of shape (k,)
        AUC within each group and DeLong's interval, NaN where a class has a single row. Rows are treated as
        independent, and weights as frequencies.
    share, lost : ndarray of shape (k,)
        Share of the group in all pairs within groups, and in all misranked pairs.
    n_groups : int
        Total number of groups with rows of both classes.
    one_class_groups, one_class_rows : int
        Number of groups with rows of only one class, which have no AUC, and number of their rows.
    confidence : float
        Coverage of the intervals.
    """

    group: NDArray[Any]
    rows: Array
    positives: Array
    auc: Array
    low: Array
    high: Array
    share: Array
    lost: Array
    n_groups: int
    one_class_groups: int
    one_class_rows: int
    confidence: float

    def __str__(self) -> str:
        names = [str(name) for name in self.group]
        width = max(5, *map(len, names))
        lines = [f"{'group':{width}}  {'rows':>10}  {'positives':>10}  {'AUC':>6}  {'interval':16}  lost pairs"]
        for k, name in enumerate(names):
            interval = "" if np.isnan(self.low[k]) else f"{self.low[k]:.4f} to {self.high[k]:.4f}"
            lines.append(
                f"{name:{width}}  {self.rows[k]:>10,g}  {self.positives[k]:>10,g}  {self.auc[k]:.4f}  "
                f"{interval:16}  {self.lost[k]:10.1%}"
            )
        return "\n".join(lines)


class GroupBins(NamedTuple):
    """AUCs of groups in bins from 0 to 1: share of the pairs and share of the groups in each."""

    edges: Array
    pairs: Array
    groups: Array


def bin_groups(found: GroupedAuc) -> GroupBins:
    """How the AUCs of groups spread."""
    edges = np.linspace(0.0, 1.0, BINS + 1)
    pairs, groups = (
        np.histogram(found.aucs, edges, weights=each.shares)[0] for each in (found, found.equally())
    )
    return GroupBins(edges, pairs, groups)


def group_table(
    y_true: ArrayLike,
    y_score: ArrayLike,
    groups: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    sort: str = "lost",
    most: int = MOST,
    confidence: float = 0.95,
) -> GroupTable:
    """AUC of individual groups, for the groups that matter most.

    ``O(n log n)`` for any number of groups; intervals are computed only for the groups that are returned.

    Parameters
    ----------
    y_true, y_score, groups, sample_weight
        As for :func:`grouped_roc_auc`.
    sort : {"lost", "pairs", "auc"}, default="lost"
        Order of the groups: most misranked pairs, most pairs, or lowest AUC first.
    most : int, default=50
        Maximum number of groups to return.
    confidence : float, default=0.95
        Coverage of the intervals, between 0 and 1.

    Returns
    -------
    GroupTable

    Warns
    -----
    OneClassGroupsWarning
        As for :func:`grouped_roc_auc`.

    Examples
    --------
    >>> y = [0, 1, 0, 1, 0, 0, 1, 1, 0, 1]
    >>> s = [1, 2, 0, 1, 3, 1, 2, 4, 5, 1]
    >>> print(group_table(y, s, ["mon"] * 4 + ["tue"] * 4 + ["wed"] * 2))
    group        rows   positives     AUC  interval          lost pairs
    tue             4           2  0.7500  0.0693 to 0.9918       40.0%
    wed             2           1  0.0000                         40.0%
    mon             4           2  0.8750  0.2276 to 0.9940       20.0%
    """
    check_choice("sort", sort, ORDERS)
    check_whole("most", most)
    check_share("confidence", confidence)
    ranked = RankedScores.validate(y_true, y_score, sample_weight)
    labels = check_groups(groups, ranked.values.size)
    pairs = pairs_within_groups(ranked, labels)
    warn_of_one_class_groups(pairs)
    found = GroupedAuc.of(pairs, ranked.values)
    return table_of_groups(ranked, labels, pairs, found, sort=sort, most=most, confidence=confidence)


def table_of_groups(
    ranked: RankedScores,
    labels: NDArray[Any],
    pairs: PairWeights,
    found: GroupedAuc,
    *,
    sort: str = "lost",
    most: int = MOST,
    confidence: float = 0.95,
) -> GroupTable:
    """The table of rows whose pairs are known, and what their groups' AUCs are."""
    aucs, share = found
    lost = share * (1.0 - aucs)
    key = {"lost": -lost, "pairs": -share, "auc": aucs}[sort]
    kept = _smallest(key, most)
    rows, positives, ends = np.empty(kept.size), np.empty(kept.size), np.full((kept.size, 2), np.nan)
    for place, g in enumerate(kept):
        mine = np.concatenate(
            [
                pairs.plus[pairs.plus_starts[g] : pairs.plus_starts[g + 1]],
                pairs.minus[pairs.minus_starts[g] : pairs.minus_starts[g + 1]],
            ]
        )
        group = ranked.take(mine)
        rows[place], positives[place] = group.total, group.plus.total
        if min(group.plus.total, group.minus.total) >= 2:
            interval = auc_interval(group, frequency_design(group), confidence)
            ends[place] = interval.low, interval.high
    return GroupTable(
        labels[pairs.plus[pairs.plus_starts[kept]]],
        rows,
        positives,
        aucs[kept],
        ends[:, 0],
        ends[:, 1],
        share[kept] / share.sum(),
        lost[kept] / (lost.sum() or 1.0),
        pairs.n_groups,
        pairs.one_class_groups,
        pairs.one_class_rows,
        confidence,
    )


def _smallest(key: Array, most: int) -> NDArray[np.intp]:
    """Places of the smallest keys, in rising order; of equal ones the first."""
    some = np.arange(key.size)
    if key.size > most:
        some = np.flatnonzero(key <= np.partition(key, most - 1)[most - 1])
    return some[np.argsort(key[some], kind="stable")][:most]
