"""Rows of a report to step through: those scored highest, those that are ranked worst, and some at random."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.estimators.additive.explain import Explanation, explain
from mbauc.estimators.additive.labels import format_log_odds
from mbauc.report.pieces import Section, bar
from mbauc.report.text import class_name, count, escape_name, number, percent

if TYPE_CHECKING:
    from mbauc.model import RankerModel

#: Rows of each kind, and contributions of each.
_ROWS, _CONTRIBUTIONS = 6, 8
#: Kinds of rows, as headings.
_KINDS = (
    "Highest scores",
    "Positives with the lowest scores",
    "Negatives with the highest scores",
    "Random sample",
)


@dataclass(frozen=True)
class ExplainedRow:
    """A row of a report: its kind, its number from 0 on, whether it is positive, and why it has its score."""

    kind: str
    row: int
    positive: bool
    explanation: Explanation


def choose_rows(positive: NDArray[np.bool_], s: NDArray[np.float64]) -> list[tuple[str, int]]:
    """Rows to show, by kind; the same for the same rows. ``O(n)`` time."""
    rows = np.arange(s.size)
    random = np.random.default_rng(0).permutation(s.size)[:_ROWS] if s.size else rows
    groups = (_first(rows, -s), _first(rows[positive], s[positive]), _first(rows[~positive], -s[~positive]))
    return [
        (kind, int(row)) for kind, own in zip(_KINDS, (*groups, np.sort(random)), strict=True) for row in own
    ]


def _first(rows: NDArray[np.intp], key: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows with the smallest keys; of equal ones the first."""
    if rows.size > 4 * _ROWS:
        some = key <= np.partition(key, _ROWS - 1)[_ROWS - 1]
        rows, key = rows[some], key[some]
    return np.asarray(rows[np.argsort(key, kind="stable")[:_ROWS]])


def explain_rows(
    model: RankerModel,
    positive: NDArray[np.bool_],
    s: NDArray[np.float64],
    take: Callable[[NDArray[np.intp]], Any],
) -> list[ExplainedRow]:
    """Explain chosen rows; ``take`` gives rows, in the model's columns, by their numbers in rising order."""
    chosen = choose_rows(positive, s)
    wanted = np.unique([row for _, row in chosen])
    if model.terms is None or not wanted.size:
        return []
    found = explain(model.scorer, take(wanted), _CONTRIBUTIONS, means=model.terms.term_means)
    place = {int(row): k for k, row in enumerate(wanted)}
    return [ExplainedRow(kind, row, bool(positive[row]), found[place[row]]) for kind, row in chosen]


def rows_section(rows: list[ExplainedRow], classes: tuple[Any, Any]) -> Section:
    """The section of the page; a row opens where it is clicked on, and closes the one before."""
    text = (
        "<p>The largest contributions to the scores of selected rows. Each score is that of an average row "
        "plus the contributions. Rows are numbered from 0; rows that could not be read are not counted.</p>"
    )
    names = [class_name(side) for side in classes]
    for kind, own in groupby(rows, key=lambda row: row.kind):
        text += f"<h3>{kind}</h3>" + "".join(_row(one, names) for one in own)
    return Section("rows", "Explanations of single rows", text)


def _row(one: ExplainedRow, names: list[str]) -> str:
    found = one.explanation
    chance = "" if found.probability is None else f", probability {percent(found.probability)}"
    label = escape_name(names[int(one.positive)], 40)
    summary = f"Row {count(one.row)}: {label}{chance}, score {number(found.score)}"
    parts = [
        (f"{escape_name(c.name, 60)} = {escape_name(c.value, 60)}", c.log_odds) for c in found.contributions
    ]
    if found.n_rest:
        parts.append((f"{found.n_rest} more", found.rest))
    most = max((abs(amount) for _, amount in parts), default=0.0) or 1.0
    lines = [
        ("An average row", "", found.base),
        *((text, bar(amount / most), amount) for text, amount in parts),
        ("This row", "", found.log_odds),
    ]
    body = "".join(
        f'<tr><th scope="row">{text}</th><td>{drawn}</td><td>{format_log_odds(amount)}</td></tr>'
        for text, drawn, amount in lines
    )
    return (
        f'<details name="rows"><summary>{summary}</summary><table class="weights"><thead><tr>'
        '<th scope="col">Contribution</th><td></td><th scope="col">Log-odds</th></tr></thead>'
        f"<tbody>{body}</tbody></table></details>"
    )
