"""Figure 4: AUC on click logs against the regularisation parameter, with the paper's gains beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mbauc.paper.studies.clicks.methods import (
    ELASTIC_NET_TOL,
    EXACT,
    FIXED,
    NAMES,
    RIDGE_TOL,
    RIVALS,
    SAMPLED,
    TUNED,
)
from mbauc.paper.studies.clicks.results import ClickResults, Difference, Settings
from mbauc.paper.studies.clicks.runs import run_requested
from mbauc.paper.studies.clicks.sets import COLUMNS
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_figure, write_table, write_text
from mbauc.paper.studies.printed import CLICK_GAINS
from mbauc.paper.study import Request, describe_origin
from mbauc.plots import new_figure

_SIGNIFICANT = 0.05
#: Points of AUC that a panel shows below its best line.
_SHOWN = 9.0
_COLOURS = {"l2": "C0", "l1": "C1", "el": "C2", "olr": "C3", "solr": "C4", "mb-psl": "C5", "mb-phl": "C6"}


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and draw the figure."""
    return render(run_requested(request), request.out)


def render(study: ClickResults, folder: Path) -> list[Path]:
    """Write ``figure4.csv``, ``figure4.md``, ``figure4.png`` and ``figure4.svg``; return their paths."""
    head = ["dataset", "method", "lambda", "step", "validation_auc", "test_auc", "chosen"]
    return [
        write_table(folder / "figure4.csv", head, _points(study)),
        write_text(folder / "figure4.md", page(study)),
        *write_figure(folder, "figure4", _figure(study)),
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
    handles, labels = panels[0].get_legend_handles_labels()
    panels[len(study.datasets)].legend(handles, labels, loc="center", fontsize=8, frameon=False)
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
    ax.set(xscale="log", ylim=(top - _SHOWN, top + 0.5), xlabel="λ", ylabel="test AUC, %")
    ax.set_title(study.about(dataset)["title"], fontsize=10)
    ax.grid(color="0.9", linewidth=0.6)


# -- the page -------------------------------------------------------------------------------------------------

_WHAT = """
Made by `mbauc reproduce figure4`. The paper's own files (12.6, 23.6 and 45.8 million rows, {columns} columns)
are not used here: these are synthetic logs of their shape (`mbauc.paper.clicks.ClickLog`, {columns} hashed
columns), and small real samples where they were found. A synthetic log says how methods compare on data of
that shape, not what they reach on Avazu or Criteo; on the real samples, which are tiny beside the paper's
sets, chance plays a larger part.

As in the paper, training rows are shuffled (rows of the synthetic logs are exchangeable as they come) and
split into 100 (Avazu App) or 200 chunks, fewer if a chunk would have under 500 rows, and every method makes one
pass over them. *MBA* draws matched pairs within each chunk, B = half its rows, so that as many rows are drawn
as there are, which is also what the mini-batch rivals draw; T is the number of chunks. (B is not printed in
the paper; it was set beforehand and not tuned.) *exact* is ours: all pairs, one pass, no draws, which is
where MBA tends to as more pairs are drawn. The last tenth of the training rows is left out by
all: on it λ, steps and the best method of a group are chosen. Test rows have no say in any choice.
"""

_LAMBDA = """
λ is, for MBA-ℓ2 and exact-ℓ2, l2 in ½ l2 ‖w‖² beside half the mean squared loss of a pair (Eq. 14); for ℓ1,
l1 in l1 ‖w‖₁; for EL, l1 = l2 = λ/2. For OLR it is l2 beside the mean logistic loss of a row, for MB-PSL and
MB-PHL l2 beside the mean loss of a pair. For SOLR (FTRL-Proximal) lambda_1 = λ n, because that penalty counts
against the sum of the losses of all n rows. Tried are {grid}. MBA and exact stop within {ridge:g} (ℓ2) or
{net:g} (ℓ1, EL) of the smallest regularised risk; where λ is far too small for the rows, solutions that close
may still differ in test AUC, and the left end of their lines moves with rounding.

Steps are O(1/√t), as in the paper, which does not print their constant. Rivals have the best of {steps} on the
validation rows; *step fixed* has {fixed}. SOLR has a rate for each column, of size alpha.
"""

_GAINS = """
AUC of the best MBA less that of the best other method, in points, with its 95% interval and the p value of the
paired DeLong test on the test rows; both are picked on the validation rows. **Bold** is significant at 5%, for
or against MBA. The tests speak of these training rows: they do not know that others give other weights.
"""


def page(study: ClickResults) -> str:
    """The text of ``figure4.md``."""
    s = study.settings
    parts = [
        "# Figure 4: click logs",
        unwrap(_WHAT.format(columns=f"{COLUMNS:,}")),
        "![AUC against λ](figure4.png)",
        unwrap(
            f"""Solid: the paper's seven methods, rivals with the best step for each λ. Dashed: exact. Dotted:
            MB-PSL and MB-PHL with the fixed step. A panel ends {_SHOWN:g} points below its best line; all
            points are in figure4.csv."""
        ),
        _sets(study),
        "## What λ is",
        unwrap(
            _LAMBDA.format(ridge=RIDGE_TOL, net=ELASTIC_NET_TOL, grid=_grid(s), steps=_steps(s), fixed=_fixed())
        ),
        "## Gains over the best other method",
        unwrap(_GAINS),
        _gains(study),
        _summary(study),
        "## Each method with the λ and step that the validation rows favour",
        *(part for dataset in study.datasets for part in _methods(study, dataset)),
        "## At the edge",
        "\n".join(_edges(study)),
        describe_origin(s.seed, study.seconds, elapsed=True),
    ]
    if s.n_steps < max(len(rival.steps) for rival in RIVALS):
        parts.insert(1, "**A quick run**: few rows, few values of λ and few steps.")
    return "\n\n".join(parts) + "\n"


def _grid(settings: Settings) -> str:
    return f"{len(settings.grid)} values of λ from {min(settings.grid):g} to {max(settings.grid):g}"


def _steps(settings: Settings) -> str:
    return "; ".join(
        f"{', '.join(f'{s:g}' if not isinstance(s, str) else s for s in rival.steps[: settings.n_steps])} "
        f"({rival.name})"
        for rival in RIVALS
    )


def _fixed() -> str:
    return ", ".join(f"{rival.fixed:g} ({rival.name})" for rival in RIVALS)


def _sets(study: ClickResults) -> str:
    head = ["data", "learned from", "chunks", "pairs drawn", "validation", "test", "positives"]
    rows = []
    for dataset in study.datasets:
        a = study.about(dataset)
        best = "unknown" if a["best_auc"] is None else f"{100 * a['best_auc']:.2f}"
        sizes = [f"{a['fit']:,}", str(a["chunks"]), *(f"{a[key]:,}" for key in ("pairs", "validation", "test"))]
        rows.append([a["title"], *sizes, f"{a['positives']:.1%}", best])
    rows += [[dataset, f"left out: {reason}"] for dataset, reason in study.missing.items()]
    return markdown_table([*head, "best possible AUC"], rows)


def _gains(study: ClickResults) -> str:
    rows = []
    for dataset in study.datasets:
        about = study.about(dataset)
        cells = [
            _difference(study.gain(dataset, ours, rivals))
            for ours, rivals in ((SAMPLED, TUNED), (SAMPLED, FIXED), (EXACT, TUNED))
        ]
        printed = f"+{CLICK_GAINS[about['paper']]:.2f}" if dataset != "avazu-sample" else "–"
        rows.append([about["title"], printed, *cells])
    head = ["MBA, rivals' best step", "MBA, rivals' step fixed", "exact, rivals' best step"]
    return markdown_table(["data", "paper", *head], rows)


def _difference(found: Difference) -> str:
    points = f"{found.points:+.2f}"
    if found.p_value < _SIGNIFICANT:
        points = f"**{points}**"
    return (
        f"{points} ({found.low:+.2f} to {found.high:+.2f}), p = {found.p_value:.2g}: "
        f"{NAMES[found.ours]} – {NAMES[found.rival].removesuffix(', step fixed')}"
    )


def _summary(study: ClickResults) -> str:
    """Wins and losses in words, and who of the paper's claims stands."""
    said = []
    for name, ours, rivals in (
        ("Sampled MBA against rivals with their best step", SAMPLED, TUNED),
        ("Sampled MBA against rivals with a fixed step", SAMPLED, FIXED),
        ("The exact fit against rivals with their best step", EXACT, TUNED),
    ):
        found = [study.gain(dataset, ours, rivals) for dataset in study.datasets]
        wins = sum(one.points > 0 and one.p_value < _SIGNIFICANT for one in found)
        losses = sum(one.points < 0 and one.p_value < _SIGNIFICANT for one in found)
        said.append(f"* {name}: {wins} won, {len(found) - wins - losses} open, {losses} lost.")
    reached = [
        study.gain(dataset, SAMPLED, TUNED).points >= CLICK_GAINS[study.about(dataset)["paper"]]
        for dataset in study.datasets
        if dataset != "avazu-sample"
    ]
    said.append(
        f"* The paper's gain of the sampled MBA is reached on {sum(reached)} of {len(reached)} sets that stand "
        "for one of its own."
    )
    return "\n".join(said)


def _methods(study: ClickResults, dataset: str) -> list[str]:
    """A section on a set."""
    rival = study.best(dataset, TUNED)
    rows = []
    for key in study.methods(dataset):
        point, (low, high) = study.choice(dataset, key), study.interval(dataset, key)
        apart = study.difference(dataset, key, rival)
        step = "–" if point.step is None else point.step if isinstance(point.step, str) else f"{point.step:g}"
        difference = ("–", "–") if key == rival else (f"{apart.points:+.2f}", f"{apart.p_value:.2g}")
        aucs = f"{point.validation:.2f}", f"{point.test:.2f} ({low:.2f}–{high:.2f})"
        rows.append([NAMES[key], f"{point.penalty:g}", step, *aucs, *difference])
    head = ["method", "λ", "step", "validation AUC", "test AUC (95%)", f"less {NAMES[rival]}", "p"]
    return [f"### {study.about(dataset)['title']}", markdown_table(head, rows)]


def _edges(study: ClickResults) -> Iterator[str]:
    yield (
        "Where the chosen λ is the smallest or the largest of those tried (the smallest means hardly any "
        "penalty, beyond which little changes), and what else did not go well."
    )
    yield ""
    ends = {min(study.settings.grid): "smallest", max(study.settings.grid): "largest"}
    for dataset in study.datasets:
        found = [
            f"{NAMES[key]} ({ends[value]})"
            for key in study.methods(dataset)
            if key not in FIXED and (value := study.choice(dataset, key).penalty) in ends
        ]
        about = study.about(dataset)
        curves = {key: study.curve(dataset, key) for key in study.methods(dataset) if key in TUNED}
        diverged = [
            f"{NAMES[key]} diverged with {lost} of {len(curve)} settings"
            for key, curve in curves.items()
            if (lost := sum(np.isnan(point.validation) for point in curve))
        ]
        diverged += [f"{NAMES[key]} diverged with all settings" for key in about["diverged"]]
        late = (
            [f"{about['unfinished']} solutions stopped before their tolerance"] if about["unfinished"] else []
        )
        yield f"* {about['title']}: {', '.join([*found, *diverged, *late]) or 'none'}"
