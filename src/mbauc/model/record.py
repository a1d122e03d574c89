"""What a model's record says of a fit. Records are for people: malformed entries are ignored."""

from __future__ import annotations

import math
import time
from importlib.metadata import version
from typing import Any

from mbauc.losses import Region
from mbauc.metrics.region_area import standardized_area
from mbauc.model.testing import Tested


def describe_fit(ranker: Any) -> dict[str, Any]:
    """By which version, when, how, and on how many rows a fitted ranker came to be."""
    plus, minus = ranker.effective_sample_size_
    return {
        "mbauc": version("mbauc"),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **({"solver": str(ranker.solver_)} if hasattr(ranker, "solver_") else {}),
        "positives": float(plus),
        "negatives": float(minus),
    }


def list_ids(record: dict[str, Any]) -> list[str]:
    """Columns that name rows, as given to the training; none if it was not."""
    known = record.get("id")
    return [name for name in known if isinstance(name, str)] if isinstance(known, list) else []


def list_penalties(ranker: Any, folds: int) -> list[dict[str, float]]:
    """Penalties and their held-out scores, with the standard error of the mean over the folds.

    Of several losses, and ways of scaling, those of the chosen one; none that need not be tried.
    """
    results = ranker.cv_results_
    keys = ("param_l1", "param_l2", "mean_test_score", "std_test_score")
    points = [tuple(map(float, point)) for point in zip(*(results[key] for key in keys), strict=True)]
    others = [
        {name: value for name, value in given.items() if name not in ("l1", "l2")}
        for given in results["params"]
    ]
    return [
        {"l1": l1, "l2": l2, "score": score, "stderr": std / math.sqrt(folds - 1)}
        for kind, (l1, l2, score, std) in zip(others, points, strict=True)
        if kind == others[ranker.best_index_] and not math.isnan(score)
    ]


def compare_losses(ranker: Any) -> dict[str, float]:
    """The best held-out score of each loss that was tried; nothing where there was no choice."""
    results = getattr(ranker, "cv_results_", {})
    best: dict[str, float] = {}
    for loss, score in zip(results.get("param_loss", ()), results.get("mean_test_score", ()), strict=False):
        best[str(loss)] = max(best.get(str(loss), 0.0), round(float(score), 5))
    return best if len(best) > 1 else {}


def describe_test(
    tested: Tested, asked: Region, *, equal_groups: bool, rows: str, seen: bool
) -> dict[str, Any]:
    """How a test went, on which rows, and whether rows of the training were ``seen`` among them."""
    interval, positives = tested.interval(), int(tested.y.sum())
    return {
        "auc": interval.auc,
        "low": interval.low,
        "high": interval.high,
        "confidence": interval.confidence,
        "positives": positives,
        "negatives": int(tested.y.size) - positives,
        "rows": rows,
        "trained_on": seen,
        **_where_it_counts(tested, asked, equal_groups=equal_groups),
    }


def _where_it_counts(tested: Tested, asked: Region, *, equal_groups: bool) -> dict[str, Any]:
    """How a test went within groups, and in the part of the ROC curve that counts."""
    result: dict[str, Any] = {}
    grouped = tested.grouped()
    if grouped is not None:
        found = grouped.equally() if equal_groups else grouped
        result |= {"within_groups": found.auc, "groups": int(found.aucs.size)}
        if found.aucs.size > 1:
            interval = found.interval()
            result |= {"within_groups_low": interval.low, "within_groups_high": interval.high}
    pairs = None if asked.is_whole else tested.pairs(equal_groups=equal_groups)
    if pairs is not None:
        result["region"] = standardized_area(pairs, tested.s, asked)
    return result
