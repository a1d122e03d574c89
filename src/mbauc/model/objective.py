"""What a model was trained to lower: a loss over all pairs, within groups, or at few false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbauc.losses import Region, Squared

#: Settings that the squared loss over the whole ROC curve does not need.
LOSS_SETTINGS = ("loss", "max_fpr", "min_tpr", "min_fpr")


def region_of(settings: Mapping[str, Any]) -> Region:
    """The part of the ROC curve that settings ask for."""
    return Region(**{name: settings[name] for name in LOSS_SETTINGS[1:] if settings.get(name) is not None})


def describe_objective(settings: Mapping[str, Any], group: str | None = None) -> str:
    """What is lowered, in words.

    Examples
    --------
    >>> describe_objective({"loss": "squared_hinge", "max_fpr": 0.05}, "query")
    "squared hinge loss over the pairs within each 'query' up to 5% false alarms"
    >>> describe_objective({})
    'squared loss over all pairs'
    """
    region = region_of(settings)
    loss = settings.get("loss") or (Squared.name if region.is_whole else "squared_hinge")
    pairs = "all pairs" if group is None else f"the pairs within each {group!r}"
    words = f"{loss.replace('_', ' ')} loss over {pairs}"
    if group is not None and settings.get("equal_groups"):
        words += ", each counting alike,"
    if region.min_fpr > 0:
        words += f" from {100 * region.min_fpr:g}% to {100 * region.max_fpr:g}% false alarms"
    elif region.max_fpr < 1:
        words += f" up to {100 * region.max_fpr:g}% false alarms"
    if region.min_tpr > 0:
        words += f"{' and' if region.max_fpr < 1 else ''} from {100 * region.min_tpr:g}% detections on"
    return words.removesuffix(",")
