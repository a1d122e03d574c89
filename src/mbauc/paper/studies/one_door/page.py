"""``mbauc reproduce one_door``: the page and the files of all figures."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from mbauc.paper.studies.one_door.findings import OneDoor, minus, run_one_door
from mbauc.paper.studies.one_door.sets import EITHER
from mbauc.paper.studies.one_door.snippets import EBM_SECONDS, RANKER, SNIPPETS, UNTESTED
from mbauc.paper.studies.one_door.summary import summarise
from mbauc.paper.studies.outputs import markdown_table, unwrap, write_table, write_text
from mbauc.paper.studies.tables.findings import SIGNIFICANT
from mbauc.paper.studies.tables.parts import (
    describe_intervals,
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
from mbauc.paper.studies.tables.task import THREADS
from mbauc.paper.study import Request


def reproduce(request: Request) -> list[Path]:
    """Run what is not done yet, and write the page."""
    return render(run_one_door(request), request.out)


def render(found: OneDoor, folder: Path) -> list[Path]:
    """Write ``one_door.csv``, ``one_door_guesses.csv`` and ``one_door.md``; return their paths."""
    fields = [name for key in found.methods for name in minus(key)]
    guesses = ((table, one.column, one.kind, one.why) for table in found.tables for one in found.guesses(table))
    return [
        write_records(folder / "one_door.csv", found, fields),
        write_table(folder / "one_door_guesses.csv", ["dataset", "column", "kind", "why"], guesses),
        write_text(folder / "one_door.md", page(found)),
    ]


_WHAT = """
`TableRanker` against LightGBM, EBM and skrub on the same raw data frames, all with default settings: test
AUC, time, memory, lines of code, and accuracy of the inferred column types. Written by `mbauc reproduce
one_door`.

**Data.** Frames of raw files are the output of `pandas.read_csv` without the label and columns that leak it.
Row numbers, ids, dates, codes and blanks remain, because inferring column types is part of the task. The
other tables are numeric frames.

**Splits.** Tables with their own test rows are split as provided. The others are split into random stratified
halves: {splits} No fit uses test rows. EBM is stopped after {ebm:g} seconds, and then has no result for the
table.

**Tests.** Gains are paired differences of AUC on the same test rows (DeLong). {stderr} measures the variance of
test rows, not that of training rows. P-values have Holm's adjustment for the number of tables.
The best competitor is selected on the test rows, which favours it.

**Time and memory.** Each fit runs alone in its own process, with {threads} threads, after a warm-up fit to a
small synthetic table that loads compiled code. Seconds are the wall time of the code below, fit included.
TableRanker tests itself on held-out rows and then refits on all rows; *hold_out=0* skips this test. EBM leaves
one core free by default. Memory is the peak of the process, Python and libraries included.
"""
_MARKS = """
AUC in percent, best in bold. ● significantly better than TableRanker, ○ significantly worse
(p < {significant:g} after Holm's adjustment over the tables).
"""
_PAIRS = """
Number of tables on which the method of the row is significantly better than that of the column, significantly
worse, and not significantly different.
"""
_LINES = """
The code that was run. `X` is the data frame, `y` has labels 0 and 1; imports are not counted.
"""
_GUESSES = """
Column types of raw files inferred by TableRanker (`plan_`) on the training rows of the first split, against
the publishers' descriptions. Binary columns and short ordinal scales count as correct both as number and as
category.
"""


def page(found: OneDoor) -> str:
    """The text of ``one_door.md``."""
    s = found.settings
    what = _WHAT.format(splits=describe_splits(s), stderr=describe_stderr(s), ebm=EBM_SECONDS, threads=THREADS)
    parts = ["# TableRanker against LightGBM, EBM and skrub with defaults", unwrap(what)]
    if s.quick:
        parts.insert(1, "**A quick run**: one split of each table.")
    parts += list_items("Findings", summarise(found))
    parts += ["## The tables", tabulate_facts(found)]
    ranked = [key for key in found.methods if key != UNTESTED]
    marks = unwrap(_MARKS.format(significant=SIGNIFICANT))
    parts += ["## AUC", marks, tabulate_aucs(found.against(RANKER), ranked)]
    if found.standings():
        parts += ["## TableRanker minus the best competitor", _tabulate_standings(found)]
    parts += ["## TableRanker minus each competitor", "Points with 95% intervals; in bold if significant."]
    parts += [_tabulate_gains(found)]
    parts += ["## Pairwise comparison", unwrap(_PAIRS), _tabulate_pairs(found, ranked)]
    parts += ["## Confidence intervals", describe_intervals(s)]
    parts += [tabulate(found, ranked, show_interval)]
    parts += ["## Training time, s", tabulate(found, found.methods, show_seconds)]
    parts += ["## Peak memory, MB", tabulate(found, found.methods, show_memory)]
    parts += ["## Lines of code", unwrap(_LINES), *_list_snippets(found)]
    parts += ["## Inferred column types", unwrap(_GUESSES), *_list_guesses(found)]
    parts += list_items("Missing results", list_gaps(found))
    parts.append(describe_making(found))
    return "\n\n".join(parts) + "\n"


def _tabulate_standings(found: OneDoor) -> str:
    methods = found.comparison.methods
    rows = []
    for table, one in found.standings().items():
        verdict = "first" if one.is_first else "behind" if one.is_behind else "level"
        gain = show_gain(one.gain, one.p_value)
        rows.append([table, methods[one.rival].name, gain, f"{one.p_value:.2g}", verdict])
    return markdown_table(
        ["table", "best competitor", "points (95% interval)", "p after Holm", "TableRanker is"], rows
    )


def _tabulate_gains(found: OneDoor) -> str:
    views = {key: found.against(key) for key in found.rivals}
    adjusted = {key: view.adjusted(RANKER) for key, view in views.items()}

    def show(_: object, table: str, key: str) -> str:
        gain = views[key].gain(table, RANKER)
        return "–" if gain is None else show_gain(gain, adjusted[key][table])

    return tabulate(found, found.rivals, show)


def _tabulate_pairs(found: OneDoor, keys: list[str]) -> str:
    names = [found.comparison.methods[key].name for key in keys]
    views = {key: found.against(key) for key in keys}
    rows = []
    for key, name in zip(keys, names, strict=True):
        verdicts = (views[other].judge(key) for other in keys)
        counts = (f"{len(better)} / {len(worse)} / {len(level)}" for better, worse, level in verdicts)
        rows.append([name, *("" if other == key else text for other, text in zip(keys, counts, strict=True))])
    return markdown_table(["better / worse / level", *names], rows)


def _list_snippets(found: OneDoor) -> Iterator[str]:
    named = [(found.comparison.methods[key].name, SNIPPETS[key]) for key in found.methods if key != UNTESTED]
    rows = ([name, f"{one.lines}", f"{len(one.imports.splitlines())}"] for name, one in named)
    yield markdown_table(["method", "lines", "imports"], rows)
    for name, one in named:
        yield f"{name}:\n\n```text\n{one.text}\n```"


def _list_guesses(found: OneDoor) -> Iterator[str]:
    """A folded list for each table: columns by what they were taken for, wrong ones marked and explained."""
    for table in found.tables:
        guesses = found.guesses(table)
        if not guesses:
            continue
        right = sum(one.right for one in guesses)
        kinds: dict[str, list[str]] = {}
        for one in guesses:
            kinds.setdefault(one.kind, []).append(f"`{one.column}` {'✓' if one.right else '✗'}")
        lines = [f"* {kind}: {', '.join(columns)}" for kind, columns in kinds.items()]
        lines += [
            f"* ✗ `{one.column}` is {_name_kind(one.expected)}, inferred as {_name_kind(one.kind)}: {one.why}"
            for one in guesses
            if not one.right
        ]
        summary = f"<summary>{table}: {right} of {len(guesses)} columns right</summary>"
        yield "\n".join(["<details>", summary, "", *lines, "", "</details>"])


def _name_kind(kind: str) -> str:
    return {"numeric": "a number", "id": "an id", EITHER: "a number or a category", "ignore": "nothing"}.get(
        kind, f"a {kind}"
    )
