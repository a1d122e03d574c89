"""Table I: rows, columns and imbalance of the data sets, as found in the files and as printed."""

from __future__ import annotations

from pathlib import Path

from mbauc.errors import NotAvailableError
from mbauc.paper.datasets.registry import find, load, names
from mbauc.paper.studies.outputs import markdown_table, write_table, write_text
from mbauc.paper.study import Request, explain_none

_HEAD = [
    "dataset",
    "train_rows",
    "test_rows",
    "columns",
    "ratio",
    "paper_train",
    "paper_test",
    "paper_columns",
    "paper_ratio",
]


def reproduce(request: Request) -> list[Path]:
    """Measure the data sets, and write the table."""
    printed = tuple(name for name in names() if find(name).printed is not None)
    return render(request.datasets or printed, request.data_dir, request.out)


def render(datasets: tuple[str, ...], data_dir: Path | None, folder: Path) -> list[Path]:
    """Write ``table1.csv`` and ``table1.md``; return their paths."""
    rows, lines, notes = [], [], []
    for name in datasets:
        entry = find(name)
        printed = entry.printed
        beside = (
            [f"{printed.rows[0]:,}", f"{printed.rows[1]:,}", f"{printed.columns:,}", f"{printed.ratio:.2f}"]
            if printed
            else ["", "", "", ""]
        )
        try:
            data = load(name, data_dir)
        except NotAvailableError:
            rows.append([name, "", "", "", "", *beside])
            others = [f"({theirs})" for theirs in beside[1:]]
            lines.append([name, f"[not available]({entry.source}) ({beside[0]})", *others])
            continue
        positives = int(data.y.sum())
        found = [
            f"{data.X.shape[0]:,}",
            f"{data.X_test.shape[0]:,}",
            f"{data.X.shape[1]:,}",
            f"{(data.y.size - positives) / positives:.2f}" if positives else "no positives",
        ]
        rows.append([name, *found, *beside])
        lines.append([name, *(f"{ours} ({theirs})" for ours, theirs in zip(found, beside, strict=True))])
        notes += [f"* {name}: {note}" for note in entry.notes]
    if not any(row[1] for row in rows):
        raise NotAvailableError(explain_none(datasets))
    page = [
        "# Table I: the data sets",
        "The data sets of the paper: sizes and class imbalance as found in the files, with the paper's rounded "
        "figures in brackets. The ratio is that of negative to positive training rows. Written by "
        "`mbauc reproduce table1`.",
        markdown_table(["data set", "training rows", "test rows", "columns", "ratio"], lines),
        "\n".join(notes),
    ]
    return [
        write_table(folder / "table1.csv", _HEAD, rows),
        write_text(folder / "table1.md", "\n\n".join(page) + "\n"),
    ]
