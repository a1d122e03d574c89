"""What a model was trained on, in words; a record may hold anything, and odd entries are shown as they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from mbauc.checks import list_some
from mbauc.report.text import count

if TYPE_CHECKING:
    from mbauc.model import RankerModel

#: Entries that have places of their own in a report, or mean nothing to people.
_ELSEWHERE = ("asked", "columns", "hashed_columns", "held_out", "kinds", "threshold_files")


def training_facts(record: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Names and values, for people.

    Examples
    --------
    >>> from mbauc.report.training_facts import training_facts
    >>> tested = {"auc": 0.92833, "low": 0.92, "high": 0.9357, "confidence": 0.95}
    >>> dict(training_facts({"files": [{"name": "a.csv", "bytes": 9}], "tested": tested}))
    {'Trained on': 'a.csv', 'Tested': 'AUC 0.9283 (95% interval 0.9200 to 0.9357)'}
    >>> dict(training_facts({"baseline": {"auc": 0.72531, "rows": 9601, "tested": 2399}}))
    {'Baseline': 'AUC 0.7253, logistic regression trained on 9,601 rows'}
    """
    for key, value in record.items():
        if key in _ELSEWHERE or value is None or value == [] or value == "":
            continue
        match key, value:
            case "files", [*files]:
                names = [
                    str(file.get("name", file)) if isinstance(file, Mapping) else str(file) for file in files
                ]
                yield "Trained on", list_some(names, 10)
            case (("positives" | "negatives"), int() | float()):
                yield f"Training {key}", count(value)
            case "choice", str():
                yield "Features", value
            case "finished", str():
                yield "Training finished", value
            case "seconds", int() | float():
                yield "Training took", f"{value:,.1f} s"
            case "tested", {"auc": float(auc), "low": float(low), "high": float(high), **rest}:
                share = rest.get("confidence")
                kind = f"{100 * share:g}% interval " if isinstance(share, float) else ""
                where = f", on {rest['rows']}" if isinstance(rest.get("rows"), str) else ""
                yield "Tested", f"AUC {auc:.4f} ({kind}{low:.4f} to {high:.4f}){where}"
            case "baseline", {"auc": float(auc), "rows": int(rows)}:
                yield "Baseline", f"AUC {auc:.4f}, logistic regression trained on {rows:,} rows"
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


def weight_meaning(model: RankerModel) -> str:
    """What a weight says, which depends on how numbers were scaled before the training."""
    if model.terms is not None:
        return "A weight is the contribution of a bin, level or cell to the score"
    scales, standardised = model.scales()
    if not (scales != 1).any():
        return "A weight is the change of the score per unit of its column"
    unit = "one standard deviation" if standardised else "a step from 0 to the largest value"
    return (
        f"The weight of a number is the change of the score for {unit} of its column, and that of a category "
        "for rows with its value"
    )
