"""The page of Figure 4: what was run, the paper's gains beside ours, and each method with its settings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
    Rival,
    Step,
)
from mbauc.paper.studies.clicks.results import ClickResults, Difference
from mbauc.paper.studies.clicks.sets import COLUMNS
from mbauc.paper.studies.outputs import markdown_table, unwrap
from mbauc.paper.studies.printed import CLICK_GAINS
from mbauc.paper.study import describe_origin

_SIGNIFICANT = 0.05
#: Points of AUC that a panel of the figure shows below its best line.
SHOWN = 9.0
#: The same with as many rows as the paper has, where the best lines are close.
SHOWN_FULL = 2.0
#: Points that an interval of a difference spans below which a third digit is told.
_NARROW = 0.05

_WHAT = """
Test AUC of MBA, exact fits and online methods on click logs, by regularisation strength λ. Written by `mbauc
reproduce figure4{option}`.

**Data.** The paper's own files (12.6, 23.6 and 45.8 million rows, {columns} columns) are not used here. These
are synthetic logs of their shape (`mbauc.paper.clicks.ClickLog`, {columns} hashed columns){sizes}, and small
real samples where available. A synthetic log shows how methods compare on data of that shape, not their AUC
on Avazu or Criteo. The real samples are tiny beside the paper's sets, so their differences have more noise.

**Methods.** As in the paper, training rows are shuffled (rows of the synthetic logs are exchangeable already)
and split into 100 (Avazu App) or 200 chunks, fewer if a chunk would have under 500 rows, and every method
makes one pass over them. *MBA* draws matched pairs within each chunk: B is half the rows of a chunk and T
the number of chunks, so that as many rows are drawn as there are. The mini-batch methods draw the same number.
(B is not printed in the paper; it was set beforehand and not tuned.) *exact* uses all pairs in one pass without
sampling, the limit of MBA for many pairs.

**Selection.** λ, step sizes and the best method of a group are chosen on validation rows that no method
trains on. Test rows are not used for any choice.
"""

_LAMBDA = """
- MBA-ℓ2 and exact-ℓ2: l2 in ½ l2 ‖w‖² beside half the mean squared loss of a pair (Eq. 14); ℓ1: l1 in l1
‖w‖₁; EL: l1 = l2 = λ/2.

- OLR: l2 beside the mean logistic loss of a row; MB-PSL and MB-PHL: l2 beside the mean loss of a pair.

- SOLR (FTRL-Proximal): lambda_1 = λ n, because that penalty is added to the sum of the losses of all n rows.

**Convergence.** MBA and exact stop within {ridge:g} (ℓ2) or {net:g} (ℓ1, EL) of the smallest regularised
risk. Where λ is far too small for the number of rows, solutions within this tolerance may still differ in
test AUC, and the left end of their lines depends on rounding.

**Step sizes** are O(1/√t), as in the paper, which does not print their constant. SOLR has a learning rate for
each column, of size alpha.
"""

_TRIED = """
Grid: {grid}. Online methods use the step with the best validation AUC of {steps}; *step fixed* uses {fixed}.
The last tenth of the training rows are the validation rows.
"""

_FULL_TRIED = """
As many rows as in the paper's training sets are used for training; the rows after them are for validation,
then as many as in the paper for tests. MBA and exact have {grid}; their Σ is formed once for all λ. Online
methods have {rival_grid}, each with the {count} steps that had the best validation AUC in the run with fewer
rows (below): {steps}. The better of these is chosen on the validation rows, as λ is.
"""

_GAINS = """
A gain is the test AUC of the best MBA minus that of the best other method, in points, with its 95% interval
and the p-value of the paired DeLong test; both methods are selected on the validation rows. **Bold** is
significant at 5%, for or against MBA. The tests are conditional on these training rows: they exclude the
variance from drawing other ones.
"""

_MORE_ROWS = """
Test AUC of the method and settings with the best validation AUC in each group. The larger runs have other and
more test rows, so the best possible AUC differs slightly.
"""

#: Ours, rivals, and what the two are called in a table and in a sentence.
_CONTESTS = (
    (SAMPLED, TUNED, "MBA – others, best step", "Sampled MBA against other methods with their best step"),
    (SAMPLED, FIXED, "MBA – others, fixed step", "Sampled MBA against other methods with a fixed step"),
    (EXACT, TUNED, "exact – others, best step", "The exact fit against other methods with their best step"),
)


def page(study: ClickResults, full: ClickResults | None = None) -> str:
    """The text of ``figure4.md``; results at the paper's sizes, if there are any, come first."""
    s = study.settings
    what = {"option": "", "sizes": ""}
    if full is not None:
        what = {"option": " --full", "sizes": ", with as many rows as the paper has and with fewer"}
    ends = f"{SHOWN:g} points"
    if full is not None:
        ends += f" ({SHOWN_FULL:g} with the paper's number of rows)"
    tried = _TRIED.format(grid=_grid(s.grid), steps=_steps(s.n_steps), fixed=_fixed())
    parts = [
        "# Figure 4: click logs",
        unwrap(_WHAT.format(columns=f"{COLUMNS:,}", **what)),
        "![AUC against λ](figure4.png)",
        unwrap(
            f"""Solid: the paper's seven methods, online methods with the best step for each λ. Dashed: exact.
            Dotted: MB-PSL and MB-PHL with the fixed step. A panel ends {ends} below its best line; all points
            are in [figure4.csv](figure4.csv)."""
        ),
        "## Definition of λ",
        unwrap(_LAMBDA.format(ridge=RIDGE_TOL, net=ELASTIC_NET_TOL)),
        "## Definition of gains",
        unwrap(_GAINS),
        *([] if full is None else _full_section(full, study)),
        *_section(study, f"At most {_most_rows(study):,} rows, and real samples", tried),
        describe_origin(s.seed, study.seconds + (full.seconds if full else 0.0), elapsed=True),
    ]
    if s.n_steps < max(len(rival.steps) for rival in RIVALS):
        parts.insert(1, "**A quick run**: few rows, few values of λ and few steps.")
    return "\n\n".join(parts) + "\n"


def _section(study: ClickResults, title: str, tried: str, more: Sequence[str] = ()) -> list[str]:
    return [
        f"## {title}",
        _sets(study),
        unwrap(tried),
        "### Gains over the best other method",
        _gains(study),
        _summary(study),
        *more,
        "### Each method with its best λ and step on validation rows",
        *(part for dataset in study.datasets for part in _methods(study, dataset)),
        "### Choices at the edge of the grid",
        "\n".join(_edges(study)),
    ]


def _full_section(full: ClickResults, fewer: ClickResults) -> list[str]:
    s = full.settings
    steps = "; ".join(
        f"{full.about(dataset)['title'].split(',')[0]} "
        + ", ".join(f"{rival.name} {_join(_steps_of(full, dataset, rival.key))}" for rival in RIVALS)
        for dataset in full.datasets
    )
    rivals = full.curve(full.datasets[0], RIVALS[0].key)
    tried = _FULL_TRIED.format(
        grid=_grid(s.grid),
        rival_grid=_grid([point.penalty for point in rivals]),
        count=s.n_steps,
        steps=steps,
    )
    more = ["### Effect of more rows", unwrap(_MORE_ROWS), _growth(full, fewer)]
    return _section(full, "As many rows as the paper has", f"{tried}\n\n{_machine(full)}", more)


def _steps_of(study: ClickResults, dataset: str, key: str) -> list[Step]:
    return list(dict.fromkeys(point.step for point in study.curve(dataset, key) if point.step is not None))


def _machine(study: ClickResults) -> str:
    """What the runs were made on, and what else that had to do."""
    abouts = [study.about(dataset) for dataset in study.datasets]
    machines = " or ".join(dict.fromkeys(about["machine"] for about in abouts))
    threads = " or ".join(dict.fromkeys(str(about["threads"]) for about in abouts))
    minutes = ", ".join(f"{study.records[dataset,]['seconds'] / 60:.0f}" for dataset in study.datasets)
    said = f"Run on {machines}; {threads} threads, {minutes} minutes of wall time for the sets in turn."
    loads = [about["load"] for about in abouts if about["load"] is not None]
    if loads:
        said += f" Load during the runs, mean by set: {min(loads):.1f} to {max(loads):.1f}"
        busy = max(loads) > 1.5 * max(about["threads"] for about in abouts)
        said += ", because other programs used the cores: times are inflated." if busy else "."
    return said


def _growth(full: ClickResults, fewer: ClickResults) -> str:
    """Test AUC of the best methods with few and with many rows."""
    rows = []
    for dataset in full.datasets:
        for study, key in ((fewer, dataset.removesuffix("-full")), (full, dataset)):
            if key not in study.datasets:
                continue
            about = study.about(key)
            best = [study.best(key, keys) for keys in (SAMPLED, EXACT, TUNED)]
            cells = [f"{study.choice(key, one).test:.2f} ({NAMES[one]})" for one in best]
            title = about["title"].split(",")[0]
            rows.append([title, f"{about['fit']:,}", *cells, f"{100 * about['best_auc']:.2f}"])
    return markdown_table(["data", "rows", "best MBA", "best exact", "best other", "best possible"], rows)


def _most_rows(study: ClickResults) -> int:
    abouts = [study.about(dataset) for dataset in study.datasets]
    return max(int(about["fit"] + about["validation"]) for about in abouts)


def _grid(values: Iterable[float]) -> str:
    found = sorted(set(values))
    return f"{len(found)} values of λ from {found[0]:g} to {found[-1]:g}"


def _steps(count: int) -> str:
    return "; ".join(f"{_join(rival.steps[:count])} ({rival.name})" for rival in RIVALS)


def _join(steps: Iterable[Step]) -> str:
    return ", ".join(step if isinstance(step, str) else f"{step:g}" for step in steps)


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


def _contests(study: ClickResults) -> list[tuple[dict[str, str], dict[str, str], str, str]]:
    """Those that all sets have."""
    return [
        contest
        for contest in _CONTESTS
        if all(set(contest[1]) & set(study.methods(dataset)) for dataset in study.datasets)
    ]


def _gains(study: ClickResults) -> str:
    rows = []
    contests = _contests(study)
    for dataset in study.datasets:
        about = study.about(dataset)
        cells = [_difference(study.gain(dataset, ours, rivals)) for ours, rivals, _, _ in contests]
        printed = f"+{CLICK_GAINS[about['paper']]:.2f}" if dataset != "avazu-sample" else "–"
        rows.append([about["title"], printed, *cells])
    return markdown_table(["data", "paper", *(name for _, _, name, _ in contests)], rows)


def _difference(found: Difference) -> str:
    points = _points(found, found.points)
    if found.p_value < _SIGNIFICANT:
        points = f"**{points}**"
    return (
        f"{points} ({_points(found, found.low)} to {_points(found, found.high)}), p = {found.p_value:.2g}: "
        f"{NAMES[found.ours]} – {NAMES[found.rival].removesuffix(', step fixed')}"
    )


def _points(found: Difference, value: float) -> str:
    """A number of points, with a digit more where the difference is known that well."""
    return f"{value:+.{3 if 0.0 < found.high - found.low < _NARROW else 2}f}"


def _summary(study: ClickResults) -> str:
    """Wins and losses in words, and which of the paper's claims hold."""
    said = []
    for ours, rivals, _, name in _contests(study):
        found = [study.gain(dataset, ours, rivals) for dataset in study.datasets]
        wins = sum(one.points > 0 and one.p_value < _SIGNIFICANT for one in found)
        losses = sum(one.points < 0 and one.p_value < _SIGNIFICANT for one in found)
        said.append(
            f"* {name}: {wins} significantly better, {len(found) - wins - losses} without significant "
            f"difference, {losses} significantly worse."
        )
    reached = [
        study.gain(dataset, SAMPLED, TUNED).points >= CLICK_GAINS[study.about(dataset)["paper"]]
        for dataset in study.datasets
        if dataset != "avazu-sample"
    ]
    said.append(
        f"* The paper's gain of the sampled MBA is reached on {sum(reached)} of {len(reached)} sets that stand "
        "for one of the paper's."
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
        difference = ("–", "–") if key == rival else (_points(apart, apart.points), f"{apart.p_value:.2g}")
        aucs = f"{point.validation:.2f}", f"{point.test:.2f} ({low:.2f}–{high:.2f})"
        rows.append([NAMES[key], f"{point.penalty:g}", step, *aucs, *difference])
    head = ["method", "λ", "step", "validation AUC", "test AUC (95%)", f"less {NAMES[rival]}", "p"]
    return [f"#### {study.about(dataset)['title']}", markdown_table(head, rows)]


def _step_end(study: ClickResults, dataset: str, rival: Rival) -> str:
    """Whether the chosen step is the smallest or the largest of the numbers that a rival may have."""
    numbers = [step for step in rival.steps if not isinstance(step, str)]
    if rival.key not in study.methods(dataset):
        return ""
    ends = {min(numbers): "smallest", max(numbers): "largest"}
    return ends.get(study.choice(dataset, rival.key).step, "")  # type: ignore[arg-type]


def _edges(study: ClickResults) -> Iterator[str]:
    yield (
        "Methods whose chosen λ or step is the smallest or the largest of the grid (the smallest λ means "
        "hardly any penalty, below which little changes), runs that diverged, and solutions that did not "
        "converge."
    )
    yield ""
    for dataset in study.datasets:
        found = []
        for key in study.methods(dataset):
            tried = [point.penalty for point in study.curve(dataset, key)]
            end = {min(tried): "smallest", max(tried): "largest"}.get(study.choice(dataset, key).penalty)
            if key not in FIXED and end:
                found.append(f"{NAMES[key]} ({end})")
        found += [f"{rival.name} ({end} step)" for rival in RIVALS if (end := _step_end(study, dataset, rival))]
        about = study.about(dataset)
        curves = {key: study.curve(dataset, key) for key in study.methods(dataset) if key in TUNED}
        diverged = [
            f"{NAMES[key]} diverged with {lost} of {len(curve)} settings"
            for key, curve in curves.items()
            if (lost := sum(np.isnan(point.validation) for point in curve))
        ]
        diverged += [f"{NAMES[key]} diverged with all settings" for key in about["diverged"]]
        unfinished = about["unfinished"]
        solutions = "solution" if unfinished == 1 else "solutions"
        late = [f"{unfinished} {solutions} stopped before the tolerance"] if unfinished else []
        yield f"* {about['title']}: {', '.join([*found, *diverged, *late]) or 'none'}"
