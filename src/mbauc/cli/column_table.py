"""What each column is seen as, in a table that fits the screen."""

from __future__ import annotations

import shutil
from typing import Any

from mbauc.cli.advice import in_options
from mbauc.cli.output import escape_controls

#: Lines of a table that are shown, at most.
_LINES = 100
#: How many of them are its last lines.
_LAST = 20
#: Characters of a reason that are worth more than what overrides it.
_REASON = 30
_STANDS = "(… stands for the name of the column)"
_OVERRIDE = "(override: --types NAME=category, numeric, text, time, id or --ignore NAME)"


def column_table(plan: Any) -> str:
    """The plan of the columns as lines, with how to override each guess where that fits on the screen."""
    width = shutil.get_terminal_size().columns
    from mbauc.readers.table.columns.plan import override_advice

    cells = [["column", "seen as", "why", "becomes", "override"]]
    cells += [
        [one.name, one.kind, in_options(one.why), one.becomes or "-", in_options(override_advice(one))]
        for one in plan.columns
    ]
    cells = [[escape_controls(text) for text in row] for row in cells]
    feet = [f"({plan.basis})"]
    if _least(cells) > width:
        cells = [[*row[:4], row[4].replace(row[0], "…", 1)] for row in cells]
        feet.append(_STANDS)
    if _least(cells) > width:
        cells = [row[:4] for row in cells]
        feet[-1] = _OVERRIDE
    shown = [*_fit_to_screen(cells, width), *feet]
    if len(shown) > _LINES:
        middle = f"… {len(shown) - _LINES:,} more columns …"
        shown = [*shown[: _LINES - _LAST], middle, *shown[-_LAST:]]
    return "\n".join(shown)


def _widths(cells: list[list[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*cells, strict=True)]


def _least(cells: list[list[str]]) -> int:
    """The width of a table whose reasons are cut short."""
    widths = _widths(cells)
    return sum(widths) + 2 * (len(widths) - 1) - max(widths[2] - _REASON, 0)


def _fit_to_screen(cells: list[list[str]], width: int) -> list[str]:
    """Lines of a table that are no wider than the screen: reasons, then names, lose their ends."""
    widths = _widths(cells)
    for place, least in ((2, _REASON), (0, 10), (3, 8)):
        too_wide = sum(widths) + 2 * (len(widths) - 1) - width
        if too_wide > 0:
            widths[place] = max(widths[place] - too_wide, min(least, widths[place]))
    return [
        "  ".join(_short(text, most).ljust(most) for text, most in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]


def _short(text: str, most: int) -> str:
    if len(text) > most:
        text = text.split(" (")[0]  # figures in brackets go first
    return text if len(text) <= most else text[: most - 1] + "…"
