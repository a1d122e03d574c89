"""Files that an experiment leaves behind: text, tables and figures, whole or not at all."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mbauc.store.atomic import atomic_write


def write_text(path: Path, text: str) -> Path:
    """Write a text and return its path."""
    with atomic_write(path) as stream:
        stream.write(text.encode())
    return path


def write_table(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file and return its path."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return write_text(path, stream.getvalue())


def write_figure(folder: Path, name: str, figure: Any) -> list[Path]:
    """Write a figure as PNG and SVG and return their paths."""
    from mbauc.plots import save_figure

    paths = [folder / f"{name}.{kind}" for kind in ("png", "svg")]
    for path in paths:
        save_figure(figure, path)
    return paths


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of a page; a row that is too short is filled up with empty cells."""
    lines = [f"| {' | '.join(head)} |".replace("|  |", "| |"), "|---" * len(head) + "|"]
    lines += [f"| {' | '.join(cells)} |" + " |" * (len(head) - len(cells)) for cells in rows]
    return "\n".join(lines)


def unwrap(text: str) -> str:
    """Paragraphs without the line breaks within them, parted by empty lines."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n"))
