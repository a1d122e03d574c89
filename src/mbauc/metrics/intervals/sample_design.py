"""How a sample came about: what its weights mean, which rows belong together, how much a class counts for."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import FewRowsWarning
from mbauc.metrics.ranked import RankedScores
from mbauc.runtime.warn import warn

Weights = Literal["frequency", "sampling"]

#: With fewer rows (or clusters) of a class than this an interval tends to be too narrow.
FEW_ROWS = 100
#: So does that of an AUC near 1 (or 0) where a class has fewer rows than this over the distance from it.
FEW_MISRANKED = 2.0


class Design(NamedTuple):
    """What an error bar has to know of the rows beside their scores.

    Attributes
    ----------
    weights : {"frequency", "sampling"} or None
        What the weights mean; None without weights.
    groups : ndarray of shape (n,) or None
        Number of the cluster of each row, from 0; None if each row is its own.
    sizes : tuple of float
        Observations of each class, (positives, negatives): rows, the sum of their frequencies, or clusters.
    effective_sizes : tuple of float
        How many equal ones say as much (Kish): fewer where sampling weights or sizes of clusters differ.
    kinds : tuple of str
        What the effective sizes count, in words.
    """

    weights: Weights | None
    groups: NDArray[np.intp] | None
    sizes: tuple[float, float]
    effective_sizes: tuple[float, float]
    kinds: tuple[str, str]


def validate_design(ranked: RankedScores, weights: Any, clusters: Any) -> Design:
    """The design that a caller described, or an error that names what is wrong with it."""
    meaning = _check_meaning(weights, ranked)
    groups = _check_clusters(clusters, ranked)
    sizes, effective_sizes, kinds = [], [], []
    for name, mask in (("positive rows", ranked.positive), ("negative rows", ~ranked.positive)):
        if groups is None and meaning != "sampling":
            count = np.count_nonzero(mask) if ranked.weight is None else ranked.weight[mask].sum()
            size = effective = float(count)
        else:
            mass = np.ones(np.count_nonzero(mask)) if ranked.weight is None else ranked.weight[mask]
            if groups is not None:
                mass, name = np.bincount(groups[mask], mass).astype(np.float64), f"clusters with {name}"
            size, effective = float(np.count_nonzero(mass)), effective_size(mass)
        if size < 2:
            raise ValueError(f"an interval needs at least 2 {name}, got {size:g}.")
        sizes.append(size)
        effective_sizes.append(effective)
        kinds.append(name if effective == size else f"effective {name}")
    return Design(
        meaning, groups, (sizes[0], sizes[1]), (effective_sizes[0], effective_sizes[1]), (kinds[0], kinds[1])
    )


def frequency_design(ranked: RankedScores) -> Design:
    """Independent rows, each of which stands for as many equal ones as its weight says."""
    return validate_design(ranked, None if ranked.weight is None else "frequency", None)


def effective_size(mass: NDArray[np.float64]) -> float:
    """Kish's (Σw)²/Σw²; the very number of those with mass where all have the same."""
    used = mass[mass > 0] / mass.max()
    return float(used.size if (used == 1.0).all() else used.sum() ** 2 / (used @ used))


def warn_of_few_rows(
    sizes: tuple[float, float],
    auc: float,
    kinds: tuple[str, str] = ("positive rows", "negative rows"),
    *,
    what: str = "AUC",
) -> None:
    """Warn where an interval tends to be too narrow: few rows of a class, or few for an AUC so near to 1."""
    few = [f"{size:.4g} {kind}" for size, kind in zip(sizes, kinds, strict=True) if size < FEW_ROWS]
    smallest, missed = int(np.argmin(sizes)), min(auc, 1.0 - auc)
    if few:
        message = (
            f"{', '.join(few)}: with fewer than {FEW_ROWS} the confidence interval tends to be too narrow."
        )
    elif missed > 0.0 and sizes[smallest] < enough_rows(auc):
        message = (
            f"{what} {auc:.4f} of {sizes[smallest]:,.0f} {kinds[smallest]}: this near to {round(auc)} the "
            f"confidence interval tends to be too narrow with fewer than {enough_rows(auc):,} of a class."
        )
    else:
        return
    warn(message, FewRowsWarning)


def enough_rows(auc: float, least: int = FEW_ROWS) -> int:
    """Rows of each class, at least some, from which on an interval of an AUC is about as wide as it should be.

    Where the classes do not overlap it is wide enough whatever their size, see ``interval_ends``.
    """
    missed = min(auc, 1.0 - auc)
    return least if missed == 0.0 else max(least, int(np.ceil(round(FEW_MISRANKED / missed, 6))))


def _check_meaning(weights: Any, ranked: RankedScores) -> Weights | None:
    if ranked.weight is None:
        if weights is not None:
            raise ValueError(f"weights={weights!r} says what sample_weight means; pass sample_weight as well.")
        return None
    if weights not in ("frequency", "sampling"):
        raise ValueError(
            f"weights must be 'frequency' (a row stands for that many) or 'sampling' (a row was drawn with "
            f"inverse probability) where sample_weight is given, got {weights!r}."
        )
    return weights  # type: ignore[no-any-return]


def _check_clusters(clusters: Any, ranked: RankedScores) -> NDArray[np.intp] | None:
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    if labels.shape != ranked.values.shape:
        raise ValueError(
            f"clusters must have a label for each of the {ranked.values.size:,} rows, got shape {labels.shape}."
        )
    return np.unique(labels, return_inverse=True)[1]
