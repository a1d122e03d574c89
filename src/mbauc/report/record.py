"""What a model was trained on, in words; a record may hold anything, and odd entries are shown as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mbauc.report.text import count

#: Entries that have places of their own in a report, or mean nothing to people.
_ELSEWHERE = ("columns", "hashed_columns")


def training_facts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values, for people.

    Examples
    --------
    >>> from mbauc.report.record import training_facts
    >>> tested = {"auc": 0.92833, "low": 0.92, "high": 0.9357, "confidence": 0.95}
    >>> dict(training_facts({"files": [{"name": "a.csv", "bytes": 9}], "tested": tested}))
    {'Trained on': 'a.csv', 'Tested': 'AUC 0.9283 (95% interval 0.9200 to 0.9357)'}
    """
    for key, value in record.items():
        if key in _ELSEWHERE or value is None or value == [] or value == "":
            continue
        match key, value:
            case "files", [*files]:
                names = [
                    str(file.get("name", file)) if isinstance(file, Mapping) else str(file) for file in files
                ]
                more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
                yield "Trained on", ", ".join(names[:10]) + more
            case (("positives" | "negatives"), int() | float()):
                yield f"Training {key}", count(value)
            case "seconds", int() | float():
                yield "Training took", f"{value:,.1f} s"
            case "tested", {"auc": float(auc), "low": float(low), "high": float(high), **rest}:
                share = rest.get("confidence")
                kind = f"{100 * share:g}% interval " if isinstance(share, float) else ""
                where = f", on {rest['rows']}" if isinstance(rest.get("rows"), str) else ""
                yield "Tested", f"AUC {auc:.4f} ({kind}{low:.4f} to {high:.4f}){where}"
            case (("updates" | "merged"), [*steps]):
                yield f"Training: {key}", f"{len(steps):,}"
            case _, [*items]:
                yield f"Training: {key}", ", ".join(map(str, items))
            case _, Mapping():
                yield f"Training: {key}", ", ".join(f"{name} {one}" for name, one in value.items())
            case _, int() if not isinstance(value, bool):
                yield f"Training: {key}", f"{value:,}"
            case _:
                yield f"Training: {key}", str(value)
