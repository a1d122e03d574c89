"""How many rows of which label each part has: what ranks are counted from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.label_meaning import classes_of
from mbauc.rows.labels import _distinct, check_classes, find_classes
from mbauc.rows.part_rows import Layout, PartRows, visit_rows
from mbauc.rows.parts import PartBlock, Parts

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CountLabels:
    """Task: rows of positive weight of each label, and the sums of their weights and squared weights."""

    layout: Layout

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> dict[Any, Array]:
        """Count, weight and squared weight by label."""
        found: dict[Any, Array] = {}

        def count(rows: PartRows) -> None:
            # a label may have weight zero throughout: it is a label all the same
            labels = _distinct(rows.y)
            if labels.size > 2:
                find_classes(rows.y)
            for label in labels.tolist():
                own = rows.y == label
                weight = own.astype(np.float64) if rows.weight is None else rows.weight[own]
                sums = np.array([np.count_nonzero(weight), weight.sum(), weight @ weight])
                found[label] = found.get(label, np.zeros(3)) + sums

        visit_rows(number, blocks, self.layout, count)
        return found


@dataclass(frozen=True)
class Census:
    """Rows of each class in each part.

    Attributes
    ----------
    classes : ndarray of two labels
        Negative first.
    table : ndarray of shape (parts, 2, 3)
        Rows of positive weight, weight and squared weight, positives first.
    frequencies : bool
        As of :class:`mbauc.rows.block.Rows`.
    """

    classes: NDArray[Any]
    table: Array
    frequencies: bool = False

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Rows of each class before each part, shape (parts, 2)."""
        counts = self.table[:, :, 0].astype(np.int64)
        return np.asarray(np.cumsum(counts, axis=0) - counts)

    @property
    def sizes(self) -> tuple[int, int]:
        """Rows of positive weight, (positives, negatives)."""
        plus, minus = self.table[:, :, 0].sum(axis=0)
        return int(plus), int(minus)

    @property
    def weighted(self) -> bool:
        """Whether rows have weights other than 0 and 1."""
        counts = self.table[:, :, :1]
        return bool((self.table[:, :, 1:] != counts).any())

    def class_weight(self, positive: bool, subset: None = None) -> tuple[float, float]:
        """As :meth:`mbauc.rows.block.Rows.class_weight`, of all rows."""
        _, total, squares = self.table[:, 0 if positive else 1].sum(axis=0)
        size = total if self.frequencies or not squares else total**2 / squares
        return float(total), float(size)


def take_census(parts: Parts, layout: Layout, classes: Any = None) -> Census:
    """Count the rows of each label in each part, in one job that needs no features."""
    found = parts.without_features().collected(CountLabels(layout))
    if not found or not any(found):
        raise ValueError("there are no rows; at least one row of each class is needed.")
    labels = {label: None for part in found for label in part}
    known = classes_of(labels) if classes is None else check_classes(classes)
    strange = [label for label in labels if label not in known.tolist()]
    if strange:
        raise ValueError(f"y has label {strange[0]!r}, but the classes are {known.tolist()!r}.")
    nothing = np.zeros(3)
    table = np.array([[part.get(label, nothing) for label in known.tolist()[::-1]] for part in found])
    return Census(known, table)
