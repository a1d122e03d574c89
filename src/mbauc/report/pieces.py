"""What sections of a report are put together from: figures, tables, facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mbauc.report.svg import Plot


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


def fold(content: str, title: str = "As a table") -> str:
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
