"""Parts of a page that all studies of tables have: its lists and tables, what is missing, where it was made."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from math import isnan
from pathlib import Path

from mbauc.paper.studies.outputs import markdown_table, write_table
from mbauc.paper.studies.tables.findings import SIGNIFICANT, Facts, Findings, Gain, Outcome, Settings
from mbauc.paper.studies.tables.methods import Method
from mbauc.paper.studies.tables.runs import rival_versions
from mbauc.paper.study import describe_origin

HEAD = ["dataset", "split", "method", *Facts._fields, *Outcome._fields]
#: What stands where there is no figure.
NONE = "–"


def write_records(path: Path, found: Findings, more: Iterable[str] = ()) -> Path:
    """Write the figures of all fits, and more fields of them, as CSV."""
    head = [*HEAD, *more]
    return write_table(
        path, head, ([*key, *(record[name] for name in head[3:])] for key, record in found.records.items())
    )


def list_items(title: str, lines: Iterator[str]) -> list[str]:
    """A title and a list under it; nothing if there is nothing to list."""
    items = [f"* {line}" for line in lines]
    return [f"## {title}", "\n".join(items)] if items else []


#: Head of :func:`tabulate_facts`.
_FACTS = ["table", "training rows", "test rows", "columns", "positive", "splits", "left out, and notes"]


def tabulate_facts(found: Findings) -> str:
    """What each table measures, what is left out of it, and notes."""
    return markdown_table(_FACTS, (_describe_table(found, name) for name in found.tables))


def _describe_table(found: Findings, name: str) -> list[str]:
    facts, table = found.facts(name), found.comparison.tables[name]
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


def tabulate(found: Findings, keys: list[str], show: Callable[[Findings, str, str], str]) -> str:
    """A line for each table and a column for each method."""
    rows = ([table, *(show(found, table, key) for key in keys)] for table in found.tables)
    return markdown_table(["table", *(found.comparison.methods[key].name for key in keys)], rows)


def tabulate_aucs(found: Findings, keys: list[str]) -> str:
    """AUCs with the best in bold, marks of what is significant, and means of who was run on all tables."""
    adjusted = {key: found.adjusted(key) for key in keys}
    rows = []
    for table in found.tables:
        texts = {key: show_auc(found, table, key) for key in keys}
        best = max((text for text in texts.values() if text != NONE), key=float, default=None)
        row = [table]
        for key, text in texts.items():
            gain, mark = found.gain(table, key), ""
            if gain is not None and adjusted[key][table] < SIGNIFICANT:
                mark = " ●" if gain.value > 0 else " ○"
            row.append((f"**{text}**" if text == best else text) + mark)
        rows.append(row)
    means = [found.shared_means([key]) for key in keys]
    whole = [
        f"{mean[key]:.2f}" if shared == found.tables else NONE
        for key, (mean, shared) in zip(keys, means, strict=True)
    ]
    names = (found.comparison.methods[key].name for key in keys)
    return markdown_table(["table", *names], [*rows, ["mean", *whole]])


def show_auc(found: Findings, table: str, key: str) -> str:
    """Mean AUC, in percent."""
    value = found.mean(table, key, "auc")
    return NONE if isnan(value) else f"{100 * value:.2f}"


def show_interval(found: Findings, table: str, key: str) -> str:
    """Interval of the AUC, in percent."""
    low, high = (100 * found.mean(table, key, end) for end in ("low", "high"))
    return NONE if isnan(low) else f"{low:.2f} to {high:.2f}"


def show_seconds(found: Findings, table: str, key: str) -> str:
    """Seconds of a fit."""
    value = found.mean(table, key, "fit_seconds")
    return NONE if isnan(value) else f"{value:,.0f}" if value >= 99.5 else f"{value:.2g}"


def show_memory(found: Findings, table: str, key: str) -> str:
    """Peak of memory, MB."""
    value = found.mean(table, key, "peak_mb")
    return NONE if isnan(value) else f"{value:,.0f}"


def show_gain(gain: Gain, p_value: float) -> str:
    """Points with their interval, in bold if significant."""
    interval = f"{gain.value:+.2f} ({gain.low:+.2f} to {gain.high:+.2f})"
    return f"**{interval}**" if p_value < SIGNIFICANT else interval


def list_gaps(found: Findings) -> Iterator[str]:
    """What is missing and why, and times that were disturbed."""
    methods = found.comparison.methods
    if found.missing:
        listed = ", ".join(f"{name} ({found.comparison.tables[name].source})" for name in found.missing)
        yield f"Tables not available on this machine: {listed}."
    for key, why in found.absent.items():
        yield f"{methods[key].name}: {why}."
    for table, key, why in found.errors():
        yield f"{methods[key].name} failed on {table}: {why}."
    if busy := found.disturbed():
        listed = ", ".join(f"{methods[key].name} on {table}" for table, key in busy)
        yield f"Times inflated by other programs on the same cores: {listed}."
    limited = [methods[key].name + limit for key in found.methods if (limit := describe_limit(methods[key]))]
    if limited:
        yield f"Not run above their size limits ({NONE}): {'; '.join(limited)}."


def describe_splits(settings: Settings) -> str:
    """How many splits a table has, and what is averaged over them."""
    small, large = settings.small_splits, settings.large_splits
    if small == large == 1:
        return "one split."
    number = (
        f"{small} splits" if small == large else f"{small} splits below {settings.large:,} rows, {large} above"
    )
    return f"{number}. AUCs, times and gains are means over the splits."


def describe_stderr(settings: Settings) -> str:
    """The beginning of the sentence that says what standard errors measure."""
    if settings.small_splits == settings.large_splits == 1:
        return "Their standard error"
    return (
        "Splits of one table share rows, so the standard error of a mean is taken to be that of one split, "
        "which is conservative. It"
    )


def describe_intervals(settings: Settings) -> str:
    """What the intervals of a page are."""
    means = "" if settings.small_splits == settings.large_splits == 1 else "; means over splits"
    return f"95% intervals of the AUC (DeLong{means}), in percent."


def describe_limit(method: Method) -> str:
    """Up to which size a method was run; empty if there is no limit."""
    if method.most_rows < float("inf"):
        return f", up to {method.most_rows:,.0f} training rows"
    if method.most_cells < float("inf"):
        wide = f" and {method.most_columns:,.0f} columns" if method.most_columns < float("inf") else ""
        return f", up to {method.most_cells:,.0f} training rows times columns{wide}"
    return ""


def describe_making(found: Findings) -> str:
    """The last line: seed, versions, machine and time."""
    rivals = ", ".join(f"{name} {number}" for name, number in rival_versions(found.comparison).items())
    origin = describe_origin(found.settings.seed, found.seconds, elapsed=True)
    return f"{origin} {rivals}{_describe_memory()}."


def _describe_memory() -> str:
    try:
        size = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return ""  # not every system tells
    return f"; {size / 2**30:.0f} GB of memory"
