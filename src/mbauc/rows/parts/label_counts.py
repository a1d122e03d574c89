"""How many rows of which label each part has: what ranks are counted from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Columns
from mbauc.rows.labels import check_classes, classes_among, distinct_labels, find_classes
from mbauc.rows.parts.protocol import Parts
from mbauc.rows.reading import visit_columns
from mbauc.rows.schema import Schema

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CountLabels:
    """Task: rows of positive weight of each label, and the sums of their weights and squared weights."""

    schema: Schema

    def __call__(self, number: int, blocks: Iterable[Columns]) -> dict[Any, Array]:
        """Count, weight and squared weight by label."""
        counts: dict[Any, Array] = {}

        def count(first: int, columns: Columns) -> None:
            _, y, weight, *_ = columns
            # a label may have weight zero throughout: it is a label all the same
            labels = distinct_labels(y)
            if labels.size > 2:
                find_classes(y)
            for label in labels.tolist():
                own = y == label
                weights = own.astype(np.float64) if weight is None else weight[own]
                sums = np.array([np.count_nonzero(weights), weights.sum(), weights @ weights])
                counts[label] = counts.get(label, np.zeros(3)) + sums

        visit_columns(number, blocks, self.schema, count)
        return counts


@dataclass(frozen=True)
class LabelCounts:
    """Rows of each class in each part."""

    #: negative first
    classes: NDArray[Any]
    #: rows of positive weight, weight and squared weight, positives first, shape (parts, 2, 3)
    table: Array
    #: as of :class:`mbauc.rows.block.Block`
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
        """As :meth:`mbauc.rows.block.Block.class_weight`, of all rows."""
        _, total, squares = self.table[:, 0 if positive else 1].sum(axis=0)
        size = total if self.frequencies or not squares else total**2 / squares
        return float(total), float(size)


def count_labels(parts: Parts, schema: Schema, classes: Any = None) -> LabelCounts:
    """Count the rows of each label in each part, in one job that needs no features."""
    counts = parts.labels_only().collect(CountLabels(schema))
    if not any(counts):
        raise ValueError("there are no rows; at least one row of each class is needed.")
    labels = list({label: None for part in counts for label in part})
    known = classes_among(labels) if classes is None else check_classes(classes)
    strange = [label for label in labels if label not in known.tolist()]
    if strange:
        raise ValueError(f"y has label {strange[0]!r}, but the classes are {known.tolist()!r}.")
    nothing = np.zeros(3)
    table = np.array([[part.get(label, nothing) for label in known.tolist()[::-1]] for part in counts])
    return LabelCounts(known, table)
