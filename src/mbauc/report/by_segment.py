"""The part of a report about segments: AUC for each level of a column, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbauc.metrics.ranked import RankedScores
from mbauc.report.levels import Levels, cut_levels, measure_levels
from mbauc.report.pieces import Section, interval_bar, interval_ends
from mbauc.report.text import count, escape_name, rough_count

#: How much lower the AUC of a level is where a word is due.
_LOWER = 0.02


@dataclass(frozen=True)
class BySegment:
    """AUC by the levels of a column.

    Attributes
    ----------
    column : str
        Which one.
    levels : Levels
        The worst first.
    doubted : int or None
        Level whose AUC is lower than that of all rows by more than chance among so many levels explains.
    """

    column: str
    levels: Levels
    doubted: int | None


def measure_segments(ranked: RankedScores, segments: Mapping[str, Any], auc: float) -> Iterator[BySegment]:
    """AUC by each column; ``O(n log n)`` each."""
    for name, values in segments.items():
        codes, names = cut_levels(values, ranked.values.size, name)
        levels = measure_levels(ranked, codes, names).worst_first()
        # Bonferroni: one of many levels is low by chance
        strict = measure_levels(ranked, codes, names, 1 - 0.05 / max(len(names), 1)).worst_first()
        low = (strict.high < auc) & (strict.auc < auc - _LOWER)
        yield BySegment(name, levels, int(np.flatnonzero(low)[0]) if low.any() else None)


def about_segments(segments: list[BySegment], auc: float) -> Iterator[str]:
    """Levels in which rows are ranked worse than elsewhere."""
    for one in segments:
        if one.doubted is not None:
            levels, k = one.levels, one.doubted
            yield (
                f"Segment {one.column} = {levels.names[k]}: the AUC of its {count(levels.rows[k])} rows is "
                f"{levels.auc[k]:.4f} (95% interval {levels.low[k]:.4f} to {levels.high[k]:.4f}), "
                f"significantly below that of all rows, {auc:.4f}."
            )


def segments_section(segments: list[BySegment], auc: float) -> Section:
    """The section of the page."""
    text = (
        "<p>AUC of the rows of each level, with its 95% confidence interval (DeLong), lowest first. The line "
        f"is the AUC of all rows, {auc:.4f}. Levels with few rows vary by chance. Pairs of rows from "
        "different levels are not counted.</p>"
    )
    ends = interval_ends([(one.levels.low, one.levels.high) for one in segments], auc)
    return Section("segments", "By segment", text + "".join(_table(one, auc, ends) for one in segments))


def _table(found: BySegment, auc: float, ends: tuple[float, float]) -> str:
    levels, rows = found.levels, ""
    for k, name in enumerate(levels.names):
        known = not np.isnan(levels.auc[k])
        drawn = interval_bar(levels.auc[k], levels.low[k], levels.high[k], auc, ends) if known else ""
        interval = "" if np.isnan(levels.low[k]) else f"{levels.low[k]:.3f}–{levels.high[k]:.3f}"
        rows += (
            f'<tr><th scope="row">{escape_name(name, 60)}</th><td>{drawn}</td>'
            f"<td>{f'{levels.auc[k]:.4f}' if known else '–'} <span>{interval}</span></td>"
            f"<td>{rough_count(levels.rows[k])}</td><td>{rough_count(levels.positives[k])}</td></tr>"
        )
    heads = ("AUC, 95% interval", "Rows", "Positives")
    return (
        f'<div class="scroll"><table class="segments"><caption>By {escape_name(found.column, 60)}</caption>'
        '<thead><tr><th scope="col">Level</th><td></td>'
        + "".join(f'<th scope="col">{head}</th>' for head in heads)
        + f"</tr></thead><tbody>{rows}</tbody></table></div>"
    )
