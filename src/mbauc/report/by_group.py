"""The part of a report about groups: AUC within them, how it spreads, and the groups that lose most."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mbauc.errors import NoPairsError
from mbauc.metrics.group_table import GroupBins, GroupTable, bin_groups, table_of_groups
from mbauc.metrics.grouped import FEW_GROUPS, GroupedAuc, pairs_within_groups
from mbauc.metrics.intervals.delong import AucInterval
from mbauc.metrics.intervals.sample_design import enough_rows
from mbauc.metrics.ranked import RankedScores
from mbauc.report.figures import group_plot
from mbauc.report.pieces import Section, figure, fold, side_by_side, table
from mbauc.report.text import count, escape_name, percent
from mbauc.rows.groups import check_groups

#: Groups that are shown at once, and in all.
_SHOWN, _MOST = 10, 50
#: How much lower the AUC within groups is where a word is due.
_LOWER = 0.02


@dataclass(frozen=True)
class ByGroup:
    """What a report says of groups.

    Attributes
    ----------
    column : str
        What they are called.
    pairs, alike : float or AucInterval
        AUC within groups if each pair counts, and if each group counts alike; without an interval where there
        is one group alone.
    effective_groups : float
        Groups of equal size that say as much, where each pair counts.
    within : float
        Share of all pairs that are within groups.
    bins : GroupBins
        How the AUCs spread.
    worst, largest : GroupTable
        Groups that lose most pairs, and those that have most.
    """

    column: str
    pairs: AucInterval | float
    alike: AucInterval | float
    effective_groups: float
    within: float
    bins: GroupBins
    worst: GroupTable
    largest: GroupTable


def measure_groups(ranked: RankedScores, groups: Any, column: str, names: Any = None) -> ByGroup | None:
    """AUC within groups of rows of both classes; None if no group has both.

    Where groups are numbers from 0 on, ``names`` may say what they are called.
    """
    labels = check_groups(groups, ranked.values.size)
    try:
        pairs = pairs_within_groups(ranked, labels)
    except NoPairsError:
        return None
    found = GroupedAuc.of(pairs, ranked.values)
    within = pairs.reweigh(ranked.weights[pairs.plus], ranked.weights[pairs.minus])
    by_pairs, alike = (each.interval() if pairs.n_groups > 1 else each.auc for each in (found, found.equally()))
    return ByGroup(
        column,
        by_pairs,
        alike,
        found.effective_groups,
        float(within.plus_totals @ within.minus_totals / (ranked.plus.total * ranked.minus.total)),
        bin_groups(found),
        *(
            _with_names(table_of_groups(ranked, labels, pairs, found, sort=sort, most=_MOST), names)
            for sort in ("lost", "pairs")
        ),
    )


def _with_names(found: GroupTable, names: Any) -> GroupTable:
    return found if names is None else replace(found, group=np.asarray(names)[found.group])


def about_groups(found: ByGroup, auc: float) -> Iterator[str]:
    """Groups that do not count, that are few, and an AUC that comes from telling groups apart."""
    table = found.worst
    if table.one_class_groups:
        all_of_them = table.n_groups + table.one_class_groups
        yield (
            f"{count(table.one_class_groups)} of {count(all_of_them)} groups ({count(table.one_class_rows)} "
            "rows) contain only one class. They have no pairs and do not count in the AUC within groups."
        )
    within = value_of(found.pairs)
    if found.effective_groups < enough_rows(within, FEW_GROUPS):
        yield (
            f"The effective number of groups is {found.effective_groups:.3g}: too few for a reliable "
            "confidence interval of the AUC within groups."
        )
    if auc - within > _LOWER:
        yield (
            f"The AUC is {within:.4f} within groups and {auc:.4f} over all rows: part of the ranking only "
            "separates groups, which does not help to rank the rows of one group."
        )


def value_of(auc: AucInterval | float) -> float:
    """The AUC itself."""
    return auc.auc if isinstance(auc, AucInterval) else auc


def group_section(found: ByGroup, overall: AucInterval | float) -> Section:
    """The section of the page."""
    name = escape_name(found.column, 60)
    groups = found.worst.n_groups
    rows = [
        ("All pairs", *_auc_cells(overall)),
        ("Pairs within groups", *_auc_cells(found.pairs)),
        ("Mean over groups", *_auc_cells(found.alike)),
    ]
    text = (
        f"<p>Rows with the same {name} form a group; {count(groups)} groups have both classes. The AUC within "
        f"groups compares only rows of the same group: {percent(found.within)} of all pairs. Its confidence "
        "intervals treat groups, not rows, as the sampling unit.</p>"
    )
    numbers = table("AUC over all rows and within groups", ("", "AUC", "95% interval"), rows, named=True)
    plot = figure(
        "group-plot",
        group_plot(found.bins),
        "Distribution of the AUC over groups, by share of pairs and by share of groups. The AUC of a small "
        "group varies more by chance.",
    )
    worst, largest = (_group_rows(each) for each in (found.worst, found.largest))
    heads = (name, "Rows", "Positives", "AUC", "95% interval", "Share of pairs", "Share of misranked pairs")
    tables = table("Groups with the most misranked pairs", heads, worst[:_SHOWN], named=True)
    if len(worst) > _SHOWN:
        more = table("Groups with the most misranked pairs, continued", heads, worst[_SHOWN:], named=True)
        tables += fold(more, f"The next {len(worst) - _SHOWN}")
        tables += fold(table("Groups with the most pairs", heads, largest, named=True), "The largest groups")
    return Section("groups", "By group", text + side_by_side(plot, numbers) + tables)


def _auc_cells(auc: AucInterval | float) -> tuple[str, str]:
    if isinstance(auc, AucInterval):
        return f"{auc.auc:.4f}", f"{auc.low:.4f} to {auc.high:.4f}"
    return f"{auc:.4f}", "–"


def _group_rows(found: GroupTable) -> list[tuple[str, ...]]:
    return [
        (
            escape_name(found.group[k], 60),
            count(found.rows[k]),
            count(found.positives[k]),
            f"{found.auc[k]:.4f}",
            "–" if np.isnan(found.low[k]) else f"{found.low[k]:.3f} to {found.high[k]:.3f}",
            percent(found.share[k]),
            percent(found.lost[k]),
        )
        for k in range(found.group.size)
    ]
