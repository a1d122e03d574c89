"""What a model was trained to lower: a loss over all pairs, within groups, or at few false alarms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mbauc.defaults import LOG_LOSS, TABLE_LOSS
from mbauc.losses import Region, Squared, SquaredHinge

#: Settings that the squared loss over the whole ROC curve does not need.
LOSS_SETTINGS = ("loss", "max_fpr", "min_tpr", "min_fpr")


def region_of(settings: Mapping[str, Any]) -> Region:
    """The part of the ROC curve that settings ask for."""
    return Region(**{name: settings[name] for name in LOSS_SETTINGS[1:] if settings.get(name) is not None})


def loss_of(settings: Mapping[str, Any]) -> str:
    """The loss that settings ask for.

    Without a word it is chosen for curves, the squared hinge for a region, and else the squared one.
    """
    if settings.get("features") is not None and not settings.get("loss"):
        return TABLE_LOSS
    return settings.get("loss") or (Squared.name if region_of(settings).is_whole else SquaredHinge.name)


def describe_objective(settings: Mapping[str, Any], group: str | None = None) -> str:
    """What is lowered, in words.

    Examples
    --------
    >>> describe_objective({"loss": "squared_hinge", "max_fpr": 0.05}, "query")
    "squared hinge loss over the pairs within each 'query' up to 5% false alarms"
    >>> describe_objective({})
    'squared loss over all pairs'
    """
    pairs = "all pairs" if group is None else f"the pairs within each {group!r}"
    if loss_of(settings) == LOG_LOSS:
        return "log-loss of the rows"
    words = f"{loss_of(settings).replace('_', ' ')} loss over {pairs}"
    if group is not None and settings.get("equal_groups"):
        words += ", each counting alike,"
    return f"{words} {_describe_region(region_of(settings))}".rstrip(" ,")


def describe_measure(region: Region, group: str | None = None) -> str:
    """What rows held out are judged by if a part of the ROC curve counts, or pairs within groups alone.

    Examples
    --------
    >>> describe_measure(Region(max_fpr=0.05), "query")
    "standardised partial AUC within each 'query' up to 5% false alarms"
    """
    words = "AUC" if region.is_whole else "standardised partial AUC"
    if group is not None:
        words += f" within each {group!r}"
    return f"{words} {_describe_region(region)}".rstrip()


def _describe_region(region: Region) -> str:
    words = []
    if region.min_fpr > 0:
        words.append(f"from {100 * region.min_fpr:g}% to {100 * region.max_fpr:g}% false alarms")
    elif region.max_fpr < 1:
        words.append(f"up to {100 * region.max_fpr:g}% false alarms")
    if region.min_tpr > 0:
        words.append(f"from {100 * region.min_tpr:g}% detections on")
    return " and ".join(words)
