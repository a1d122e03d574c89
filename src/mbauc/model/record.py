"""What a model's record says of a fit. Records are for people: malformed entries are ignored."""

from __future__ import annotations

import time
from importlib.metadata import version
from typing import Any


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
