"""Sentences on what was found, all figures from the results; losses stand beside wins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil

import numpy as np

from mbauc.paper.studies.one_door.findings import AIM, OneDoor
from mbauc.paper.studies.one_door.snippets import RANKER, UNTESTED
from mbauc.paper.studies.tables.findings import SIGNIFICANT


def summarise(found: OneDoor) -> Iterator[str]:
    """All sentences."""
    yield from _aim(found)
    yield from _verdicts(found)
    yield from _means(found)
    yield from _times(found)
    yield from _guesses(found)


def _aim(found: OneDoor) -> Iterator[str]:
    standings = found.standings()
    if not standings:
        return
    first = [table for table, one in standings.items() if one.is_first]
    behind = [table for table, one in standings.items() if one.is_behind]
    level = [table for table in standings if table not in first and table not in behind]
    clear = [table for table in first if standings[table].p_value < SIGNIFICANT]
    needed = ceil(AIM * len(standings) - 1e-9)
    reached = len(first) + len(level)
    yield (
        "Target: TableRanker first, or not significantly worse than the best competitor, on at least two "
        f"thirds of the tables, {needed} of {len(standings)}. It holds on {reached}: the target is "
        f"{'reached' if reached >= needed else '**missed**'}."
    )
    yield (
        f"TableRanker is first on {_list(first)}, of these significantly better than the best competitor on "
        f"{_list(clear)}; behind it, but not significantly, on {_list(level)}; significantly worse on "
        f"{_list(behind)}."
    )
    worse = [one for one in standings.values() if not one.is_first and one.gain.p_value < SIGNIFICANT]
    yield (
        f"Without Holm's adjustment the target would hold on {len(standings) - len(worse)} of {len(standings)}."
    )
    without = [
        f"{_name(found, key)} on {table}"
        for key in found.rivals
        for table in standings
        if not found.outcomes(table, key)
    ]
    if without:
        yield f"Competitors without a result, left out: {', '.join(without)}."


def _verdicts(found: OneDoor) -> Iterator[str]:
    for key in found.rivals:
        better, worse, level = found.against(key).judge(RANKER)
        if better or worse or level:
            yield (
                f"TableRanker against {_name(found, key)}: significantly better on {_list(better)}; "
                f"significantly worse on {_list(worse)}; no significant difference on {_list(level)}."
            )


def _means(found: OneDoor) -> Iterator[str]:
    others = []
    for key in found.rivals:
        means, shared = found.shared_means((RANKER, key))
        if shared:
            difference = means[RANKER] - means[key]
            others.append(f"{_name(found, key)} {difference:+.2f} ({_count(len(shared), 'table')})")
    if others:
        yield f"Mean AUC of TableRanker minus others, in points, on shared tables: {'; '.join(others)}."


def _times(found: OneDoor) -> Iterator[str]:
    for key in (*found.rivals, UNTESTED):
        ratios = found.ratios(RANKER, key)
        if ratios:
            slowest = max(ratios, key=lambda table: ratios[table])
            yield (
                f"Training time, TableRanker over {_name(found, key)}: median "
                f"{float(np.median(list(ratios.values()))):.3g}, largest {ratios[slowest]:.3g} ({slowest}), "
                f"{_count(len(ratios), 'table')}."
            )


def _guesses(found: OneDoor) -> Iterator[str]:
    guesses = {table: listed for table in found.tables if (listed := found.guesses(table))}
    if guesses:
        right = sum(one.right for listed in guesses.values() for one in listed)
        total = sum(map(len, guesses.values()))
        whole = [table for table, listed in guesses.items() if all(one.right for one in listed)]
        yield (
            f"Correctly inferred column types of raw files: {right} of {total}; tables with all columns right: "
            f"{_list(whole)}."
        )


def _name(found: OneDoor, key: str) -> str:
    return found.comparison.methods[key].name


def _list(tables: Iterable[str]) -> str:
    names = list(tables)
    return f"{len(names)} ({', '.join(names)})" if names else "none"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
