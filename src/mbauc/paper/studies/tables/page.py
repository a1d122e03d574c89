"""``mbauc reproduce tables``: the page and the file of all figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mbauc.paper.studies.outputs import markdown_table, unwrap, write_text
from mbauc.paper.studies.tables.findings import SIGNIFICANT, Findings, Settings
from mbauc.paper.studies.tables.methods import AUTO, FOLDS, GRIDS, LIGHTGBM, METHODS
from mbauc.paper.studies.tables.parts import (
    describe_intervals,
    describe_limit,
    describe_making,
    describe_splits,
    describe_stderr,
    list_gaps,
    list_items,
    show_gain,
    show_interval,
    show_memory,
    show_seconds,
    tabulate,
    tabulate_aucs,
    tabulate_facts,
    write_records,
)
from mbauc.paper.studies.tables.runs import run_requested
from mbauc.paper.studies.tables.summary import summarise
from mbauc.paper.studies.tables.task import THREADS
from mbauc.paper.study import Request


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the page."""
    return render(run_requested(request), request.out)


def render(found: Findings, folder: Path) -> list[Path]:
    """Write ``tables.csv`` and ``tables.md``; return their paths."""
    return [
        write_records(folder / "tables.csv", found),
        write_text(folder / "tables.md", page(found)),
    ]


_WHAT = """
Test AUC, time and memory of `AdditiveAUCClassifier` on real tables, against LightGBM, explainable boosting
(EBM), logistic regression and an RBF SVM, with default and with tuned settings. Written by `mbauc reproduce
tables{option}`.

**Methods.** *linear*, *curves*, *interactions* and *auto* are `AdditiveAUCClassifier(features=...)` with no
other setting; *auto, loss="squared"* uses the squared loss, which takes one pass over any number of rows.
LightGBM is `LGBMClassifier()`, with texts as categories. EBM is `ExplainableBoostingClassifier()` with
defaults. Logistic regression (`max_iter=1000`) and the RBF SVM (`SVC()`, up to {svm_rows:,} training rows)
get standardised numbers and one-hot encoded texts; missing numbers are imputed by the median, with an
indicator column. All others get the raw tables.

**Splits.** Tables with their own test rows are split as provided. The others are split into random stratified
halves: {splits} No fit and no choice of settings uses test rows. The rules of *auto* were developed with the
test rows of some of these tables in view.

**Tests.** Gains are paired differences of AUC on the same test rows (DeLong). {stderr} measures the variance of
test rows, not that of training rows. P-values have Holm's adjustment for the number of tables.
Intervals undercover where a class has fewer than 100 test rows, or the AUC is close to 1.

**Time and memory.** Each fit runs alone in its own process, with {threads} threads, after a warm-up fit to a
small synthetic table that loads compiled code. Seconds are wall time of `fit`. EBM leaves one core free by
default. Memory is the peak of the process, Python and libraries included.
"""
_TUNED = """
Settings are chosen by {folds}-fold cross-validated AUC on the training rows; seconds are those of the whole
search. *auto* is not tuned: it chooses features, loss and penalties by itself. ● and ○ at tuned methods are
against *auto*, at the others against LightGBM at its defaults, as above.

Grids: {grids}
"""
_MARKS = """
AUC in percent, best in bold. ● significantly better than LightGBM at its defaults, ○ significantly worse
(p < {significant:g} after Holm's adjustment over the tables).
"""


def _tell_option(settings: Settings) -> str:
    """The option of the command that asked for other splits than the default ones."""
    if settings.quick:
        return " --quick"
    small, large = settings.small_splits, settings.large_splits
    return f" --splits {small}" if small == large else ""


def page(found: Findings) -> str:
    """The text of ``tables.md``."""
    s = found.settings
    defaults = [key for key in found.methods if not METHODS[key].tuned]
    tuned = [key for key in found.methods if METHODS[key].tuned]
    what = _WHAT.format(
        option=_tell_option(s),
        svm_rows=int(METHODS["svm"].most_rows),
        splits=describe_splits(s),
        stderr=describe_stderr(s),
        threads=THREADS,
    )
    parts = ["# Additive models on real tables: AdditiveAUCClassifier, LightGBM, EBM", unwrap(what)]
    if s.quick:
        parts.insert(1, "**A quick run**: one split of each table.")
    parts += list_items("Findings", summarise(found))
    parts += ["## The tables", tabulate_facts(found)]
    if defaults:
        marks = unwrap(_MARKS.format(significant=SIGNIFICANT))
        parts += ["## AUC at defaults", marks, tabulate_aucs(found, defaults)]
    if found.adjusted(AUTO):
        parts += ["## auto minus LightGBM, both at their defaults", _tabulate_gains(found)]
    if tuned:
        text = unwrap(_TUNED.format(folds=FOLDS, grids=" ".join(_describe_grids(tuned))))
        # auto with nothing set is there to be seen beside what was searched for
        shown = [key for key in (AUTO, LIGHTGBM) if key in defaults]
        parts += ["## AUC with tuned settings", text, tabulate_aucs(found, shown + tuned)]
    parts += ["## Confidence intervals", describe_intervals(s)]
    parts += [tabulate(found, found.methods, show_interval)]
    parts += ["## Training time, s", tabulate(found, found.methods, show_seconds)]
    parts += ["## Peak memory, MB", tabulate(found, found.methods, show_memory)]
    parts += list_items("Missing results", list_gaps(found))
    parts.append(describe_making(found))
    return "\n\n".join(parts) + "\n"


def _tabulate_gains(found: Findings) -> str:
    adjusted, ratios = found.adjusted(AUTO), found.ratios(AUTO, LIGHTGBM)
    rows = []
    for table in found.tables:
        gain = found.gain(table, AUTO)
        if gain is not None:
            text = show_gain(gain, adjusted[table])
            rows.append([table, text, f"{adjusted[table]:.2g}", f"{ratios[table]:.3g}"])
    return markdown_table(["table", "points (95% interval)", "p after Holm", "time of auto / LightGBM"], rows)


# -- words ----------------------------------------------------------------------------------------------------


def _describe_grids(tuned: list[str]) -> Iterator[str]:
    """The settings that were tried, method by method."""
    for key in tuned:
        if key in GRIDS:
            tried = []
            for one in GRIDS[key]:
                named = (f"{name.removeprefix('model__')} {_show_value(value)}" for name, value in one.items())
                tried.append(", ".join(named) or "defaults")
            limit = describe_limit(METHODS[key])
            yield f"{METHODS[key].name} ({len(tried)} settings{limit}): {'; '.join(tried)}."


def _show_value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value}"
