"""Sentences on what was found, all figures from the results; losses stand beside wins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbauc.paper.studies.tables.findings import Findings
from mbauc.paper.studies.tables.methods import (
    AUTO,
    EBM,
    LIGHTGBM,
    LIGHTGBM_TUNED,
    METHODS,
    baseline,
)

#: Points behind LightGBM from which on a table is named with a reason.
BEHIND = 1.0
#: Why auto is behind, by table; printed only where it is.
EXPLANATIONS = {
    "madelon": "the classes are corners of a cube in five columns, an interaction of order five, among 480 "
    "columns of noise; interactions of pairs find these columns, and most of the ranking",
    "usps": "a digit is a pattern of many pixels, and auto is limited to curves and pairs, which are "
    "interpretable; use AdditiveAUCClassifier(features='fourier') for such columns",
}


def summarise(found: Findings) -> Iterator[str]:
    """All sentences."""
    yield from _means(found)
    for key in (AUTO, LIGHTGBM_TUNED):
        if found.adjusted(key):
            yield _verdicts(found, key)
    yield from _behind(found)
    for key, other in ((AUTO, LIGHTGBM), (AUTO, LIGHTGBM_TUNED), (AUTO, EBM)):
        yield from _times(found, key, other)


def _name(key: str) -> str:
    return METHODS[key].name if METHODS[key].tuned else f"{METHODS[key].name} at its defaults"


def _means(found: Findings) -> Iterator[str]:
    """Mean AUC of auto and LightGBM, and of each other method on the tables that it has with them."""
    for key, other in ((AUTO, LIGHTGBM), (AUTO, LIGHTGBM_TUNED)):
        means, shared = found.shared_means((key, other))
        if shared:
            yield (
                f"Mean AUC over {_count(shared)}: {_name(key)} {means[key]:.2f}, {_name(other)} "
                f"{means[other]:.2f} ({means[key] - means[other]:+.2f} points)."
            )
    others = []
    for key in found.methods:
        means, shared = found.shared_means((AUTO, key))
        if shared and key not in (AUTO, LIGHTGBM, LIGHTGBM_TUNED):
            others.append(f"{_name(key)} {means[AUTO] - means[key]:+.2f} ({_count(shared)})")
    if others:
        listed = "; ".join(others)
        yield f"Mean AUC of auto at its defaults minus others, in points, on shared tables: {listed}."


def _verdicts(found: Findings, key: str) -> str:
    better, worse, level = found.judge(key)
    listed = (f"{len(names)} ({', '.join(names)})" if names else "none" for names in (better, worse, level))
    return (
        "{} against {}: significantly better on {}; significantly worse on {}; no significant "
        "difference on {}.".format(_name(key), _name(baseline(key)), *listed)
    )


def _behind(found: Findings) -> Iterator[str]:
    gains = found.gains(AUTO)
    if not gains:
        return
    behind = {table: gain.value for table, gain in gains.items() if gain.value < -BEHIND}
    if not behind:
        yield f"auto at its defaults is nowhere more than {BEHIND:g} point behind LightGBM at its defaults."
    for table, value in sorted(behind.items(), key=lambda one: one[1]):
        why = EXPLANATIONS.get(table, "no explanation is known")
        yield f"More than {BEHIND:g} point behind LightGBM: {table}, {value:+.2f} points; {why}."


def _times(found: Findings, key: str, other: str) -> Iterator[str]:
    ratios = found.ratios(key, other)
    if ratios:
        slowest = max(ratios, key=lambda table: ratios[table])
        median = float(np.median(list(ratios.values())))
        yield (
            f"Training time, {_name(key)} over {_name(other)}: median {median:.3g}, "
            f"largest {ratios[slowest]:.3g} ({slowest}), {_count(list(ratios))}."
        )


def _count(tables: list[str]) -> str:
    return f"{len(tables)} table{'' if len(tables) == 1 else 's'}"
