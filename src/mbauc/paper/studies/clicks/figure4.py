"""Figure 4: AUC on click logs against the regularisation parameter, with the paper's gains beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mbauc.paper.studies.clicks.figure4_page import SHOWN, SHOWN_FULL, page
from mbauc.paper.studies.clicks.methods import EXACT, FIXED, NAMES, SAMPLED, TUNED
from mbauc.paper.studies.clicks.results import ClickResults
from mbauc.paper.studies.clicks.runs import run_full_requested, run_requested
from mbauc.paper.studies.clicks.sets import FULL_SETS
from mbauc.paper.studies.outputs import write_figure, write_table, write_text
from mbauc.paper.study import Request
from mbauc.plots import new_figure

_COLOURS = {"l2": "C0", "l1": "C1", "el": "C2", "olr": "C3", "solr": "C4", "mb-psl": "C5", "mb-phl": "C6"}


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and draw the figure."""
    study = run_requested(request)
    return render(study, request.out, run_full_requested(request, study) if request.full else None)


def render(study: ClickResults, folder: Path, full: ClickResults | None = None) -> list[Path]:
    """Write ``figure4.csv``, ``figure4.md``, ``figure4.png`` and ``figure4.svg``; return their paths.

    Results at the paper's sizes, if there are any, come first.
    """
    head = ["dataset", "method", "lambda", "step", "validation_auc", "test_auc", "chosen"]
    every = ClickResults(study.settings, {**(full.records if full else {}), **study.records})
    return [
        write_table(folder / "figure4.csv", head, _points(every)),
        write_text(folder / "figure4.md", page(study, full)),
        *write_figure(folder, "figure4", _figure(every)),
    ]


def _points(study: ClickResults) -> Iterator[list[object]]:
    for dataset in study.datasets:
        for key in study.methods(dataset):
            best = study.choice(dataset, key)
            for point in study.curve(dataset, key):
                aucs = ["" if np.isnan(auc) else f"{auc:.4f}" for auc in (point.validation, point.test)]
                step = "" if point.step is None else point.step
                yield [dataset, key, f"{point.penalty:g}", step, *aucs, int(point == best)]


# -- the plot -------------------------------------------------------------------------------------------------


def _figure(study: ClickResults) -> Any:
    columns = min(3, len(study.datasets))
    rows = -(-(len(study.datasets) + 1) // columns)
    figure = new_figure(4.6 * columns, 4.0 * rows)
    panels = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, dataset in zip(panels, study.datasets, strict=False):
        _panel(ax, study, dataset)
    for ax in panels[len(study.datasets) :]:
        ax.axis("off")
    handles: dict[str, Any] = {}
    for ax in panels[: len(study.datasets)]:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    ordered = [name for name in NAMES.values() if name in handles]
    lines = [handles[name] for name in ordered]
    panels[len(study.datasets)].legend(lines, ordered, loc="center", fontsize=8, frameon=False)
    return figure


def _panel(ax: Any, study: ClickResults, dataset: str) -> None:
    top = 0.0
    for key in (*SAMPLED, *EXACT, *TUNED, "mb-psl-fixed", "mb-phl-fixed"):
        if key not in study.methods(dataset):
            continue
        line = study.line(dataset, key)
        kind = key.removesuffix("-fixed")
        colour = _COLOURS[kind if kind in _COLOURS else kind.split("-")[1]]
        style: dict[str, Any] = {"marker": "o", "markersize": 3}
        if key in EXACT:
            style = {"linestyle": "--"}
        elif key in FIXED:
            style = {"linestyle": ":"}
        elif key in TUNED:
            style = {"marker": "s", "markersize": 3, "linewidth": 1.0}
        aucs = [point.test for point in line]
        ax.plot([point.penalty for point in line], aucs, color=colour, label=NAMES[key], **style)
        top = max(top, *aucs)
    shown = SHOWN_FULL if dataset in FULL_SETS else SHOWN
    ax.set(xscale="log", ylim=(top - shown, top + shown / 18), xlabel="λ", ylabel="test AUC, %")
    about = study.about(dataset)
    title = about["title"].replace("synthetic", f"{about['fit'] / 1e6:g} million rows")
    ax.set_title(title, fontsize=10)
    ax.grid(color="0.9", linewidth=0.6)
