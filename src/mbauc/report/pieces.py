"""What sections of a report are put together from: figures, tables, facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mbauc.report.svg import Plot
from mbauc.report.text import escape_name, number

#: Columns that are listed.
_LISTED = 30


class Section(NamedTuple):
    """A part of the page: id, heading, what stands below it, and sections within it."""

    name: str
    heading: str
    content: str
    inner: tuple[Section, ...] = ()


def side_by_side(*parts: str) -> str:
    """Parts in columns, or one below the other on a phone."""
    return f'<div class="plots">{"".join(parts)}</div>'


def figure(name: str, plot: Plot, text: str, below: str = "") -> str:
    """A plot, what is to be seen in it, and something below."""
    return f'<figure>{plot.svg(name)}<figcaption id="{name}">{text}</figcaption>{below}</figure>'


def fold(content: str, title: str = "Show as table") -> str:
    """Something that is shown on demand."""
    return f"<details><summary>{title}</summary>{content}</details>"


def table(caption: str, heads: Iterable[str], rows: Iterable[Iterable[str]], *, named: bool = False) -> str:
    """A table; in one with ``named`` rows the first cell of each is its name."""
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    body = ""
    for row in rows:
        cells = [f"<td>{cell}</td>" for cell in row]
        if named:
            cells[0] = f'<th scope="row">{cells[0][4:-5]}</th>'
        body += f"<tr>{''.join(cells)}</tr>"
    return (
        f'<div class="scroll"><table><caption>{caption}</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def facts(entries: Iterable[tuple[str, str]]) -> str:
    """Names and values, a line each."""
    rows = "".join(
        f'<tr><th scope="row">{key}</th><td class="words">{value}</td></tr>' for key, value in entries
    )
    return f'<table class="facts"><tbody>{rows}</tbody></table>'


def with_sign(value: float) -> str:
    """A number that raises or lowers something."""
    return f"{'+' if value > 0 else ''}{number(value)}"


def rough_share(value: float) -> str:
    """A share of rows in four letters.

    Examples
    --------
    >>> rough_share(0.4567), rough_share(0.0123), rough_share(0.0001)
    ('46%', '1.2%', '<0.1%')
    """
    return f"{value:.0%}" if value >= 0.0995 else f"{value:.1%}" if value >= 0.001 else "<0.1%"


def bar(share: float, *, whole: bool = False) -> str:
    """A bar from the middle to the left or right, up to the whole way; ``whole`` ones begin at the left end."""
    kind = "plus-weight" if share > 0 else "minus-weight"
    first = -2 if whole else -102
    return (
        f'<svg viewBox="{first} 0 {100 - first + 2} 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="{kind}" x="{min(100 * share, 0):.1f}" y="1" width="{abs(100 * share):.1f}" height="8"/>'
        '<line x1="0" x2="0" y1="0" y2="10"/></svg>'
    )


def interval_ends(intervals: Iterable[tuple[Any, Any]], *values: float) -> tuple[float, float]:
    """AUCs between which intervals, NaN or not, and values lie, with a little room."""
    known = np.concatenate([*(np.ravel(end) for pair in intervals for end in pair), values])
    low, high = float(np.nanmin(known)), float(np.nanmax(known))
    room = 0.05 * (high - low) or 0.01
    return max(0.0, low - room), min(1.0, high + room)


def interval_bar(value: float, low: float, high: float, overall: float, ends: tuple[float, float]) -> str:
    """A dot on its interval, if that is known, between two ends, and a line where the value of all rows is."""

    def at(number: float) -> str:
        return f"{float(np.clip(100 * (number - ends[0]) / (ends[1] - ends[0]), 0, 100)):.1f}"

    whisker = "" if low != low else f'<line class="range" x1="{at(low)}" x2="{at(high)}" y1="5" y2="5"/>'
    return (
        '<svg viewBox="-2 0 104 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<line x1="{at(overall)}" x2="{at(overall)}" y1="0" y2="10"/>{whisker}'
        f'<line class="point" x1="{at(value)}" x2="{at(value)}" y1="1.5" y2="8.5"/></svg>'
    )


def importance_table(text: str, found: Mapping[str, float], lost: Mapping[str, float] | None = None) -> str:
    """Columns with what they change, the first ``_LISTED``, and the AUC that is lost without them if known."""
    most = max(found.values(), default=1.0)
    rows = []
    for name, value in list(found.items())[:_LISTED]:
        cells = [f"<td>{bar(value / most, whole=True)}</td>", f"<td>{value:.3f}</td>"]
        if lost:
            cells.append(f"<td>{-lost[name]:+z.4f}</td>".replace("-", "−"))
        rows.append(f'<tr><th scope="row">{escape_name(name, 60)}</th>{"".join(cells)}</tr>')
    head = '<th scope="col">Column</th><td></td><th scope="col">Importance</th>'
    head += '<th scope="col">AUC change without</th>' if lost else ""
    more = len(found) - _LISTED
    note = f' <span class="soft">{more} less important columns.</span>' if more > 0 else ""
    return (
        f'<p>{text}{note}</p><table class="weights"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
