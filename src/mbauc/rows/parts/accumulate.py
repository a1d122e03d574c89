"""Tasks that add up the rows of a part, fold by fold, and how the sums of parts become the sums of all rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.block import Block
from mbauc.rows.labels import Labels, run_with_classes
from mbauc.rows.parts.folds import FoldRule
from mbauc.rows.parts.protocol import Parts
from mbauc.rows.reading import Item, PartReader
from mbauc.rows.schema import Schema
from mbauc.store.array_schema import Arrays


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
    """Task: accumulate the rows of a part, each fold on its own.

    Without classes the labels of each part decide which rows are positive, if they can.
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

    @property
    def result_bytes(self) -> int:
        """About how large the result of a part is; 0 where it does not matter."""
        return 0

    # -- for passes that can be resumed ------------------------------------------------------------------

    #: Name of the state of a pass over all rows, and the arrays that an accumulator is saved as.
    state_name: ClassVar[str] = ""
    state_schema: ClassVar[Arrays] = Arrays({})

    def encode(self, accumulator: Any) -> dict[str, Any]:
        """An accumulator as named arrays, to be saved at once."""
        raise NotImplementedError(f"{type(self).__name__} cannot be resumed")

    def decode(self, state: dict[str, NDArray[Any]]) -> Any:
        """An accumulator from these; ValueError says what is wrong with them."""
        raise NotImplementedError(f"{type(self).__name__} cannot be resumed")

    def begin(self, number: int) -> PartRun:
        """A run over the blocks of a part."""
        return PartRun(self, number)

    def __call__(self, number: int, blocks: Iterable[Item]) -> Accumulated:
        """Accumulators of all folds."""
        run = self.begin(number)
        for block in blocks:
            run.add(block)
        return run.finish()


class PartRun:
    """A task on its way over the blocks of a part."""

    def __init__(self, task: AccumulateTask, number: int) -> None:
        self._task, self._labels = task, Labels(task.classes)
        self._reader = PartReader(number, task.schema)
        self._places = None if task.folds is None else task.folds.for_part(number)
        self.folds = [task.start(fold) for fold in range(1 if task.folds is None else task.folds.n_folds)]

    def add(self, item: Item) -> None:
        """Add the rows of a block, each fold on its own."""
        self._reader.visit_block(item, self._labels, self._add)

    def _add(self, block: Block) -> None:
        prepared = self._task.prepare(block)
        if self._places is None:
            self.folds[0].add(prepared)
            return
        fold = self._places.assign(block)
        for k, accumulator in enumerate(self.folds):
            own = np.flatnonzero(fold == k)
            if own.size:
                accumulator.add(prepared, own)

    def finish(self) -> Accumulated:
        """What the rows add up to."""
        if not self._labels.is_clear:
            return Accumulated(self._labels, [])
        return Accumulated(self._labels, [self._task.finish(one) for one in self.folds])


def accumulate(parts: Parts, task: AccumulateTask, classes: Any) -> tuple[list[Any], NDArray[Any]]:
    """Accumulators of all rows, one for each fold, and both classes.

    One job, or two where the first could not decide which label is positive.
    """

    def run(known: Any) -> tuple[Labels, list[Any]]:
        found: Accumulated = parts.reduce(replace(task, classes=known), Accumulated.merge)
        return found.labels, found.folds

    return run_with_classes(run, classes)
