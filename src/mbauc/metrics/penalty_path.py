"""The penalties that cross-validation tried, as a curve over one of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple


class PenaltyPath(NamedTuple):
    """Held-out scores over one penalty.

    Attributes
    ----------
    name : {"l1", "l2"}
        The penalty; where both were varied, l2, and the other is the best for each of its values.
    entries : list of dict
        As in the model, by rising penalty.
    other_varied : bool
        Whether the other penalty was varied as well.
    """

    name: str
    entries: list[dict[str, Any]]
    other_varied: bool


def penalty_path(path: Sequence[dict[str, Any]]) -> PenaltyPath | None:
    """What can be drawn of a path; None if it has fewer than two values of any penalty."""
    # JSON has no NaN: null stands for a score that could not be computed
    finite = [entry for entry in path if entry["score"] is not None and math.isfinite(entry["score"])]
    varied = {name: len({entry[name] for entry in finite}) > 1 for name in ("l1", "l2")}
    if not any(varied.values()):
        return None
    name = "l2" if varied["l2"] else "l1"
    best: dict[float, dict[str, Any]] = {}
    for entry in finite:
        known = best.setdefault(float(entry[name]), entry)
        if entry["score"] > known["score"]:
            best[float(entry[name])] = entry
    return PenaltyPath(name, [best[value] for value in sorted(best)], all(varied.values()))
