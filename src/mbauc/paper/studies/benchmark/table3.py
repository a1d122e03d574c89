"""Table III: AUC on the benchmark data sets, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import paired_t_test
from mbauc.paper.datasets.registry import find
from mbauc.paper.studies.benchmark import tuned_page
from mbauc.paper.studies.benchmark.methods import (
    CONVERGED,
    METHODS,
    OURS,
    PASSES,
    PRINTED,
    SETTINGS,
    TRIAL_PASSES,
    Method,
)
from mbauc.paper.studies.benchmark.runs import DATASETS, Benchmark, is_halved, run_requested
from mbauc.paper.studies.benchmark.tuned import AUTO, Tuned
from mbauc.paper.studies.benchmark.tuned import run_requested as run_tuned
from mbauc.paper.studies.contenders import FOLDS
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_table, write_text
from mbauc.paper.studies.printed import TABLE3_CIRCLES, table3
from mbauc.paper.study import Request, describe_origin

Array = NDArray[np.float64]

_SIGNIFICANT = 0.05
_MBA = PRINTED[:2]
_RIVALS = PRINTED[2:]
#: Rivals of the second table that have no choice of columns, and what they must be ahead by to be named.
_USUAL = ("logistic", "logistic-balanced", "ridge-balanced", "lda")
_AHEAD = 0.05


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the table."""
    datasets = request.datasets or DATASETS
    study, tuned = run_requested(request, datasets), run_tuned(request, datasets)
    return render(study, tuned, datasets, request.out)


def render(study: Benchmark, tuned: Tuned, datasets: tuple[str, ...], folder: Path) -> list[Path]:
    """Write ``table3.csv``, ``table3_runs.csv``, ``table3_tuned.csv`` and ``table3.md``; return their paths."""
    head = ["dataset", "algorithm", "auc_mean", "auc_std", "runs", "seconds", "paper_mean", "paper_std"]
    of_a_run = ["dataset", "algorithm", "run", "auc", "setting", "seconds"]
    return [
        write_table(folder / "table3.csv", head, _summary(study, tuned, datasets)),
        write_table(folder / "table3_runs.csv", of_a_run, _runs(study, datasets)),
        write_table(folder / "table3_tuned.csv", tuned_page.HEAD, tuned_page.list_runs(tuned, datasets)),
        write_text(folder / "table3.md", _page(study, tuned, datasets)),
    ]


def _summary(study: Benchmark, tuned: Tuned, datasets: tuple[str, ...]) -> Iterator[list[object]]:
    keys = {method.key: method.contender.name for method in METHODS} | tuned_page.NAMES
    for dataset in datasets:
        for key, name in keys.items():
            mean, spread = table3(dataset).get(name, ("", ""))
            source = tuned if key in tuned_page.NAMES else study
            found = [] if dataset in study.missing else source.outcomes(dataset, key)
            if found:
                aucs = source.auc(dataset, key)
                seconds = np.mean([one.seconds for one in found])
                numbers = [f"{aucs.mean():.4f}", _spread(aucs), len(found), f"{seconds:.3f}"]
            else:
                numbers = ["", "", 0, ""]
            yield [dataset, key, *numbers, mean, spread]


def _runs(study: Benchmark, datasets: tuple[str, ...]) -> list[list[object]]:
    return [
        [dataset, method.key, number, f"{100 * one.auc:.4f}", f"{one.setting:g}", f"{one.seconds:.3f}"]
        for dataset in datasets
        if dataset not in study.missing
        for method in METHODS
        for number, one in enumerate(study.outcomes(dataset, method.key))
    ]


def _spread(aucs: Array) -> str:
    return f"{aucs.std(ddof=1):.4f}" if aucs.size > 1 else ""


# -- circles --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Marks:
    """How a rival compares with the better of the two MBA columns: ``●``, ``○`` or nothing."""

    plain: str
    corrected: str


def compare(study: Benchmark, dataset: str, rival: Method) -> Marks:
    """Paired t-test over the runs, as in the paper, and corrected where the splits share rows."""
    theirs = study.auc(dataset, rival.key)
    ours = max((study.auc(dataset, method.key) for method in _MBA), key=lambda aucs: float(aucs.mean()))
    marks = []
    for ratio in (0.0, 1.0 if is_halved(dataset) else 0.0):
        if ours.size < 2:
            marks.append("")
            continue
        test = paired_t_test(ours, theirs, test_ratio=ratio)
        significant = test.p_value < _SIGNIFICANT
        marks.append(("●" if test.difference > 0 else "○") if significant else "")
    return Marks(*marks)


# -- the page -------------------------------------------------------------------------------------------------

_WHAT = """
The paper's comparison of MBA with online methods, repeated, and extended by tuned linear models and
converged baselines. AUC in percent on the test rows, mean ± standard deviation over the runs; the paper's
figure is in brackets. Written by `mbauc reproduce table3`.

**Splits.** Sets with a test file: {provided_runs} runs with different draws and orders of the rows (the paper
does not say how many runs it has). Sets without one: {halves_runs} stratified halves. Every column is divided
by its largest absolute training value.

**Methods.** The sampled MBA columns draw S = n matched pairs in one batch (B = n, T = 1, as in the author's
demo; B and T are not printed in the paper). The online methods make one pass over all n training rows, in
random order. {choice} Runs on the same training rows use the settings chosen in the first
run. SOLR's ℓ1 penalty is 1.

● The better of the two MBA columns (by its mean here, which favours MBA slightly) is significantly better,
○ significantly worse (paired t-test at 95% over the runs, as in the paper). A circle in brackets is the
paper's. Halves of one set share rows, which gives this test too many false positives: the last line uses the
corrected test (Nadeau and Bengio) for these. On sets with a test file all runs share their rows: there the
test covers the variance of draws and orders only, not that of other data.
"""

_THOROUGH = """
Each method has {settings} settings and uses the one with the best cross-validated AUC on training rows,
with {held} of {folds} folds held out in turn.
"""

_ROUGH = """
Each method tries three settings and takes the one with the best AUC on one held-out fold of {folds}.
"""

_MORE = """
The online methods again after {passes} passes, with one of {some} settings, chosen after {trial} passes on one
held-out fold.
"""

_OTHERS = """
*exact* is MBA-ℓ2 over all pairs with l2 by cross-validation repeated five times, *balanced ridge* is
`RidgeClassifier(class_weight="balanced")`, which ranks alike, *mean difference* is the trivial baseline.
All use raw columns. Some of these are slow, so this table covers only the first {few} runs.
"""


def _page(study: Benchmark, tuned: Tuned, datasets: tuple[str, ...]) -> str:
    s = study.settings
    present = [name for name in datasets if name not in study.missing]
    others = (*(CONVERGED if s.thorough else ()), *OURS)
    parts = [
        "# Table III: the benchmark data sets",
        unwrap(
            _WHAT.format(
                provided_runs=s.provided_runs,
                halves_runs=s.halves_runs,
                choice=(_THOROUGH if s.thorough else _ROUGH)
                .format(settings=SETTINGS, folds=FOLDS, held=PRINTED[0].folds)
                .strip(),
            )
        ),
        _table(study, datasets, present),
        *tuned_page.write_section(tuned, present),
        *_without_choice(study, tuned, present),
        "## Online methods at convergence, and other baselines",
        unwrap(
            (_MORE if s.thorough else "")
            + _OTHERS.format(passes=PASSES, trial=TRIAL_PASSES, some=SETTINGS // 2, few=s.few)
        ).format(passes=PASSES, trial=TRIAL_PASSES, some=SETTINGS // 2),
        _others(study, present, others),
        "## MBA here and in the paper",
        *_against(study, tuned, present),
        "## Settings at the edge of the grid",
        "\n".join(_edges(study, present)),
        describe_origin(s.seed, study.seconds + tuned.seconds),
    ]
    if not s.thorough:
        parts.insert(
            1, "**A quick run**: few runs and settings, nothing run to convergence; circles are unreliable."
        )
    return "\n\n".join(parts) + "\n"


def _table(study: Benchmark, datasets: tuple[str, ...], present: list[str]) -> str:
    rows = []
    for dataset in datasets:
        if dataset in study.missing:
            rows.append([dataset, f"[not available]({find(dataset).source})"])
            continue
        cells = []
        for column, method in enumerate(PRINTED):
            mean, spread = table3(dataset)[method.contender.name]
            printed, ours = f"{mean:.2f} ± {spread:.2f}", ""
            if method in _RIVALS:
                printed = f"{TABLE3_CIRCLES[dataset][column - 2]} {printed}".strip()
                ours = compare(study, dataset, method).plain
            cells.append(f"{ours} {_cell(study.auc(dataset, method.key))} ({printed})".strip())
        rows.append([dataset, *cells])
    for name, which in (("win/tie/loss", "plain"), ("the same, corrected", "corrected")):
        counts = []
        for method in _RIVALS:
            marks = [getattr(compare(study, dataset, method), which) for dataset in present]
            paper = [TABLE3_CIRCLES[dataset][_RIVALS.index(method)] for dataset in present]
            counts.append(
                f"{marks.count('●')}/{marks.count('')}/{marks.count('○')}"
                + (f" ({paper.count('●')}/{paper.count(' ')}/{paper.count('○')})" if which == "plain" else "")
            )
        rows.append([name, "–", "–", *counts])
    return markdown_table(["data set", *(method.contender.name for method in PRINTED)], rows)


def _cell(aucs: Array) -> str:
    return f"{aucs.mean():.2f}" + (f" ± {aucs.std(ddof=1):.2f}" if aucs.size > 1 else "")


def _others(study: Benchmark, present: list[str], methods: tuple[Method, ...]) -> str:
    few = study.settings.few
    rows = ([name, *(_cell(study.auc(name, method.key)[:few]) for method in methods)] for name in present)
    return markdown_table(["data set", *(method.contender.name for method in methods)], rows)


def _against(study: Benchmark, tuned: Tuned, present: list[str]) -> Iterator[str]:
    yield (
        "Difference to the printed mean of MBA-ℓ2, in points, over all runs; and the method with the best mean "
        "of this page over the first runs, those that include the tuned linear models."
    )
    rows = []
    for dataset in present:
        printed = table3(dataset)["MBA-ℓ2"][0]
        sampled, exact = (study.auc(dataset, key).mean() - printed for key in ("mba-l2", "mba-exact"))
        runs = tuned.settings.runs(dataset)
        means = {
            method.contender.name: float(study.auc(dataset, method.key)[:runs].mean())
            for method in METHODS
            if study.outcomes(dataset, method.key)
        }
        for key, name in tuned_page.NAMES.items():
            who = name if key in tuned_page.OURS else f"tuned {name}"
            means[who] = float(tuned.auc(dataset, key).mean())
        best = max(means, key=lambda name: means[name])
        rows.append(
            [dataset, f"{printed:.2f}", f"{sampled:+.2f}", f"{exact:+.2f}", f"{means[best]:.2f} {best}"]
        )
    yield markdown_table(["data set", "printed", "MBA-ℓ2", "exact", "best here"], rows)


def _without_choice(study: Benchmark, tuned: Tuned, present: list[str]) -> Iterator[str]:
    """Where a rival that was not offered standardised columns is ahead of auto."""
    ahead = []
    for dataset in present:
        runs, ours = tuned.settings.runs(dataset), float(tuned.auc(dataset, AUTO).mean())
        means = {
            method.contender.name: float(study.auc(dataset, method.key)[:runs].mean())
            for method in OURS
            if method.key in _USUAL
        }
        best = max(means, key=lambda name: means[name])
        if means[best] > ours + _AHEAD:
            ahead.append(f"{dataset} ({best} {means[best]:.2f}, *auto* {ours:.2f})")
    if ahead:
        yield (
            "Cross-validation may choose the wrong column scaling: methods with raw columns, in the next "
            f"table, are ahead of *auto* by more than {_AHEAD:g} points on {', '.join(ahead)}."
        )


def _edges(study: Benchmark, present: list[str]) -> Iterator[str]:
    yield (
        "Methods whose chosen setting was the first or the last of the grid in most runs: a wider grid might "
        "change these figures. (For l2, l1 and shrinkage the small end means no penalty, beyond which nothing "
        "changes.)"
    )
    yield ""
    for dataset in present:
        methods = [
            f"{method.contender.name} ({method.contender.setting}, {study.share_at_edge(dataset, method):.0%})"
            for method in METHODS
            if len(method.contender.grid) > 1
            and study.outcomes(dataset, method.key)
            and study.share_at_edge(dataset, method) > 0.5
        ]
        yield f"* {dataset}: {', '.join(methods) or 'none'}"
