"""How a sample came about: what its weights mean, which rows belong together, how much a class counts for."""

from __future__ import annotations

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import FewRowsWarning
from mbauc.metrics.placements import Scores

Weights = Literal["frequency", "sampling"]

#: With fewer rows (or clusters) of a class than this an interval tends to be too narrow.
FEW_ROWS = 50


class Design(NamedTuple):
    """What an error bar has to know of the rows beside their scores.

    Attributes
    ----------
    weights : {"frequency", "sampling"} or None
        What the weights mean; None without weights.
    groups : ndarray of shape (n,) or None
        Number of the cluster of each row, from 0; None if each row is its own.
    sizes : tuple of float
        What each class counts for, (positives, negatives): rows, their weight, or clusters.
    """

    weights: Weights | None
    groups: NDArray[np.intp] | None
    sizes: tuple[float, float]


def checked_design(scores: Scores, weights: Any, clusters: Any) -> Design:
    """The design that a caller described, or an error that names what is wrong with it.

    Warns where a class counts for little. To be called by what the user calls, whose line the warning names.
    """
    meaning = _check_meaning(weights, scores)
    groups = _check_clusters(clusters, scores)
    sizes, few = [], []
    for name, mask in (("positive rows", scores.positive), ("negative rows", ~scores.positive)):
        used = mask if scores.weight is None else mask & (scores.weight > 0)
        if groups is not None:
            size, what = float(np.unique(groups[used]).size), f"clusters with {name}"
        elif scores.weight is not None and meaning == "frequency":
            size, what = float(scores.weight[mask].sum()), name
        else:
            size, what = float(np.count_nonzero(used)), name
        if size < 2:
            raise ValueError(f"an interval needs at least 2 {what}, got {size:g}.")
        if size < FEW_ROWS:
            few.append(f"{size:g} {what}")
        sizes.append(size)
    if few:
        warnings.warn(
            f"{', '.join(few)}: with fewer than {FEW_ROWS} the interval tends to be too narrow.",
            FewRowsWarning,
            stacklevel=3,
        )
    return Design(meaning, groups, (sizes[0], sizes[1]))


def check_confidence(confidence: Any) -> None:
    """A coverage between 0 and 1, or an error that says so."""
    if not (isinstance(confidence, int | float | np.number) and 0.0 < confidence < 1.0):
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}.")


def _check_meaning(weights: Any, scores: Scores) -> Weights | None:
    if scores.weight is None:
        if weights is not None:
            raise ValueError(f"weights={weights!r} says what sample_weight means; pass sample_weight as well.")
        return None
    if weights not in ("frequency", "sampling"):
        raise ValueError(
            f"weights must be 'frequency' (a row stands for that many) or 'sampling' (a row was drawn with "
            f"inverse probability) where sample_weight is given, got {weights!r}."
        )
    return weights  # type: ignore[no-any-return]


def _check_clusters(clusters: Any, scores: Scores) -> NDArray[np.intp] | None:
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != scores.values.shape:
        raise ValueError(
            f"clusters must have a label for each of the {scores.values.size:,} rows, got shape {labels.shape}."
        )
    return np.unique(labels, return_inverse=True)[1]
