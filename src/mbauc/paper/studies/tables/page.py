"""``mbauc reproduce tables``: the page and the file of all figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path

from mbauc.paper.studies.outputs import markdown_table, unwrap, write_table, write_text
from mbauc.paper.studies.tables.findings import SIGNIFICANT, Facts, Findings, Outcome
from mbauc.paper.studies.tables.methods import AUTO, FOLDS, GRIDS, LIGHTGBM, METHODS
from mbauc.paper.studies.tables.runs import rival_versions, run_requested
from mbauc.paper.studies.tables.sets import TABLES
from mbauc.paper.studies.tables.summary import summarise
from mbauc.paper.studies.tables.task import THREADS
from mbauc.paper.study import Request, describe_origin

HEAD = ["dataset", "split", "method", *Facts._fields, *Outcome._fields]
_NONE = "–"


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the page."""
    return render(run_requested(request), request.out)


def render(found: Findings, folder: Path) -> list[Path]:
    """Write ``tables.csv`` and ``tables.md``; return their paths."""
    rows = ([*key, *(record[name] for name in HEAD[3:])] for key, record in found.records.items())
    return [
        write_table(folder / "tables.csv", HEAD, rows),
        write_text(folder / "tables.md", page(found)),
    ]


_WHAT = """
Made by `mbauc reproduce tables`. *linear*, *curves*, *interactions* and *auto* are
`AdditiveAUCClassifier(features=...)` with nothing else set. LightGBM is `LGBMClassifier()`, texts as
categories. EBM is `ExplainableBoostingClassifier()` with nothing set. Logistic regression (`max_iter=1000`) and
the RBF SVM (`SVC()`, up to {svm_rows:,} training rows) get standardised numbers and one-hot texts; missing
numbers are put at the median, with a column that says so. All others get the tables as they are.

Tables with test rows of their own are split as provided. The others are split into stratified halves at random:
{small} times below {large:,} rows, {large_splits} times above. AUCs, times and gains are means over the
splits. No fit and no choice of settings looks at test rows.

Gains are paired differences of AUC on the same test rows (DeLong). Splits of one table share rows: the
standard error of a mean is taken to be that of one split, which is no smaller than the true one. It tells how
test rows vary, not how training rows do. P-values have Holm's adjustment for the number of tables. Intervals
tend to be too narrow where a class has fewer than 100 test rows, or the AUC is very near to 1.

Each fit runs in a process of its own, with {threads} threads and no other fit at work, after a fit of a small
made-up table that loads compiled code. Seconds are those of `fit` by the clock. EBM keeps one core free
by its default. Memory is the peak of the process, Python and libraries included.
"""
_TUNED = """
Settings are chosen by the AUC of {folds} folds of the training rows; seconds are those of the whole search.
{grids} *auto, loss="auto"* is `AdditiveAUCClassifier(loss="auto")`. ● and ○ are against
LightGBM, tuned; beside *auto* against LightGBM at its defaults, as above.
"""
_MARKS = """
AUC in percent, best in bold. ● significantly better than LightGBM at its defaults, ○ significantly worse
(p < {significant:g} after Holm's adjustment over the tables).
"""


def page(found: Findings) -> str:
    """The text of ``tables.md``."""
    s = found.settings
    defaults = [key for key in found.methods if not METHODS[key].tuned]
    tuned = [key for key in found.methods if METHODS[key].tuned]
    what = _WHAT.format(
        svm_rows=int(METHODS["svm"].most_rows),
        small=s.small_splits,
        large=s.large,
        large_splits=s.large_splits,
        threads=THREADS,
    )
    parts = ["# Real tables", unwrap(what)]
    if s.quick:
        parts.insert(1, "**A quick run**: one split of each table.")
    parts += _list("What was found", summarise(found))
    parts += ["## The tables", markdown_table(_FACTS, (_describe_table(found, name) for name in found.tables))]
    if defaults:
        marks = unwrap(_MARKS.format(significant=SIGNIFICANT))
        parts += ["## AUC at defaults", marks, _tabulate_aucs(found, defaults)]
    if found.adjusted(AUTO):
        parts += ["## auto minus LightGBM, both at their defaults", _tabulate_gains(found)]
    if tuned:
        text = unwrap(_TUNED.format(folds=FOLDS, grids=" ".join(_describe_grids(tuned))))
        # auto with nothing set is there to be seen beside what was searched for
        shown = [key for key in (AUTO, LIGHTGBM) if key in defaults]
        parts += ["## Tuned", text, _tabulate_aucs(found, shown + tuned)]
    parts += ["## Intervals", "95% intervals of the AUC (DeLong; means over splits), in percent."]
    parts += [_tabulate(found, found.methods, _show_interval)]
    parts += ["## Seconds of a fit", _tabulate(found, found.methods, _show_seconds)]
    parts += ["## Peak of memory, MB", _tabulate(found, found.methods, _show_memory)]
    parts += _list("What is not here", _list_gaps(found))
    rivals = ", ".join(f"{name} {number}" for name, number in rival_versions().items())
    parts.append(f"{describe_origin(s.seed, found.seconds, elapsed=True)} {rivals}{_describe_memory()}.")
    return "\n\n".join(parts) + "\n"


def _list(title: str, lines: Iterator[str]) -> list[str]:
    items = [f"* {line}" for line in lines]
    return [f"## {title}", "\n".join(items)] if items else []


# -- tables of the page ---------------------------------------------------------------------------------------

_FACTS = ["table", "training rows", "test rows", "columns", "positive", "splits", "left out, and notes"]


def _describe_table(found: Findings, name: str) -> list[str]:
    facts, table = found.facts(name), TABLES[name]
    notes = [f"`{column}`: {why}" for column, why in table.left_out.items()]
    columns = f"{facts.columns}, {facts.texts} texts" if facts.texts else f"{facts.columns}"
    return [
        f"[{name}]({table.source})",
        f"{facts.rows:,}",
        f"{facts.test_rows:,}",
        columns,
        f"{100 * facts.positives / facts.rows:.1f}%",
        f"{found.splits(name)}",
        "; ".join([*notes, *([table.note] if table.note else [])]),
    ]


def _tabulate(found: Findings, keys: list[str], show: Callable[[Findings, str, str], str]) -> str:
    rows = ([table, *(show(found, table, key) for key in keys)] for table in found.tables)
    return markdown_table(["table", *(METHODS[key].name for key in keys)], rows)


def _tabulate_aucs(found: Findings, keys: list[str]) -> str:
    """AUCs with the best in bold, marks of what is significant, and means of who was run on all tables."""
    adjusted = {key: found.adjusted(key) for key in keys}
    rows = []
    for table in found.tables:
        texts = {key: _show_auc(found, table, key) for key in keys}
        best = max((text for text in texts.values() if text != _NONE), key=float, default=None)
        row = [table]
        for key, text in texts.items():
            gain, mark = found.gain(table, key), ""
            if gain is not None and adjusted[key][table] < SIGNIFICANT:
                mark = " ●" if gain.value > 0 else " ○"
            row.append((f"**{text}**" if text == best else text) + mark)
        rows.append(row)
    means = [found.shared_means([key]) for key in keys]
    whole = [
        f"{mean[key]:.2f}" if shared == found.tables else _NONE
        for key, (mean, shared) in zip(keys, means, strict=True)
    ]
    return markdown_table(["table", *(METHODS[key].name for key in keys)], [*rows, ["mean", *whole]])


def _tabulate_gains(found: Findings) -> str:
    adjusted, ratios = found.adjusted(AUTO), found.ratios(AUTO, LIGHTGBM)
    rows = []
    for table in found.tables:
        gain = found.gain(table, AUTO)
        if gain is not None:
            interval = f"{gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f})"
            text = f"**{interval}**" if adjusted[table] < SIGNIFICANT else interval
            rows.append([table, text, f"{adjusted[table]:.2g}", f"{ratios[table]:.3g}"])
    return markdown_table(["table", "points (95% interval)", "p after Holm", "time of auto / LightGBM"], rows)


def _show_auc(found: Findings, table: str, key: str) -> str:
    value = found.mean(table, key, "auc")
    return _NONE if isnan(value) else f"{100 * value:.2f}"


def _show_interval(found: Findings, table: str, key: str) -> str:
    low, high = (100 * found.mean(table, key, end) for end in ("low", "high"))
    return _NONE if isnan(low) else f"{low:.2f} to {high:.2f}"


def _show_seconds(found: Findings, table: str, key: str) -> str:
    value = found.mean(table, key, "fit_seconds")
    return _NONE if isnan(value) else f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"


def _show_memory(found: Findings, table: str, key: str) -> str:
    value = found.mean(table, key, "peak_mb")
    return _NONE if isnan(value) else f"{value:,.0f}"


def _describe_memory() -> str:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return ""  # not every system tells
    return f"; {size / 2**30:.0f} GB of memory"


# -- words ----------------------------------------------------------------------------------------------------


def _describe_grids(tuned: list[str]) -> Iterator[str]:
    """The settings that were tried, method by method."""
    for key in tuned:
        if key in GRIDS:
            tried = []
            for one in GRIDS[key]:
                named = (f"{name.removeprefix('model__')} {_show_value(value)}" for name, value in one.items())
                tried.append(", ".join(named) or "defaults")
            yield f"{METHODS[key].name} ({len(tried)} settings{_describe_limit(key)}): {'; '.join(tried)}."


def _show_value(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else f"{value}"


def _describe_limit(key: str) -> str:
    method = METHODS[key]
    if method.most_rows < float("inf"):
        return f", up to {method.most_rows:,.0f} training rows"
    if method.most_cells < float("inf"):
        wide = f" and {method.most_columns:,.0f} columns" if method.most_columns < float("inf") else ""
        return f", up to {method.most_cells:,.0f} training rows times columns{wide}"
    return ""


def _list_gaps(found: Findings) -> Iterator[str]:
    if found.missing:
        listed = ", ".join(f"{name} ({TABLES[name].source})" for name in found.missing)
        yield f"Tables that are not on this machine: {listed}."
    for key, why in found.absent.items():
        yield f"{METHODS[key].name}: {why}."
    for table, key, why in found.errors():
        yield f"{METHODS[key].name} failed on {table}: {why}."
    if busy := found.disturbed():
        listed = ", ".join(f"{METHODS[key].name} on {table}" for table, key in busy)
        yield f"Times that are too long, because other programs used the cores as well: {listed}."
    limited = [METHODS[key].name + _describe_limit(key) for key in found.methods if _describe_limit(key)]
    if limited:
        yield f"Not run beyond their limits ({_NONE}): {'; '.join(limited)}."
