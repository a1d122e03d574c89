"""Tasks that add up the rows of a part, fold by fold, and how the sums of parts become those of all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Block, Columns
from mbauc.rows.folds import FoldRule
from mbauc.rows.labels import Labels, run_with_classes
from mbauc.rows.parts import Parts
from mbauc.rows.reading import visit_blocks
from mbauc.rows.schema import Schema


class Accumulator(Protocol):
    """Something that rows are added to."""

    def add(self, block: Any, subset: NDArray[np.intp] | None = None) -> Any:
        """Add the rows of a block, all or some of them."""

    def merge(self, other: Self) -> Self:
        """Add the rows of another one, which stood behind these; either may be used up."""


@dataclass(frozen=True)
class Accumulated:
    """What a part's rows add up to, one accumulator for each fold, and which labels were taken for positive."""

    labels: Labels
    folds: list[Any]

    def merge(self, other: Accumulated) -> Accumulated:
        """Over the rows of both; of no use if these took a label for different things."""
        labels = self.labels.merge(other.labels)
        if not labels.is_clear:
            return Accumulated(labels, [])
        return Accumulated(labels, [a.merge(b) for a, b in zip(self.folds, other.folds, strict=True)])


@dataclass(frozen=True)
class AccumulateTask(ABC):
    """Task: add up the rows of a part, those of each fold on their own.

    Without classes the labels of each part tell which rows are positive, or that this cannot be told.
    """

    schema: Schema
    classes: NDArray[Any] | None = None
    folds: FoldRule | None = None

    @abstractmethod
    def start(self, fold: int) -> Any:
        """An accumulator for the rows of a fold."""

    def prepare(self, block: Block) -> Any:
        """A block in the form that accumulators take."""
        return block

    def finish(self, accumulator: Any) -> Any:
        """What is sent of an accumulator once a part is done."""
        return accumulator

    def __call__(self, number: int, blocks: Iterable[Columns]) -> Accumulated:
        """Accumulators of all folds."""
        labels = Labels(self.classes)
        found = [self.start(fold) for fold in range(1 if self.folds is None else self.folds.n_folds)]
        places = None if self.folds is None else self.folds.of_part(number)

        def add(block: Block) -> None:
            prepared = self.prepare(block)
            if places is None:
                found[0].add(prepared)
                return
            fold = places.of(block)
            for k, one in enumerate(found):
                own = np.flatnonzero(fold == k)
                if own.size:
                    one.add(prepared, own)

        visit_blocks(number, blocks, self.schema, labels, add)
        return Accumulated(labels, [self.finish(one) for one in found] if labels.is_clear else [])


def accumulate(parts: Parts, task: AccumulateTask, classes: Any) -> tuple[list[Any], NDArray[Any]]:
    """Accumulators of all rows, one for each fold, and both classes.

    One job, or two where the first could not tell which label is positive.
    """

    def run(known: Any) -> tuple[Labels, list[Any]]:
        found: Accumulated = parts.reduce(replace(task, classes=known), Accumulated.merge)
        return found.labels, found.folds

    return run_with_classes(run, classes)
