"""Rows in this process as the one part of a data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mbauc.errors import PartError
from mbauc.rows.block import Block
from mbauc.rows.parts.protocol import Kind, Merge, PartedRows, Preview, Task
from mbauc.rows.schema import Schema


class MemoryParts:
    """Items in memory: one block of checked rows, or what a task made of others."""

    kind: Kind = "memory"
    largest_result = float("inf")

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = list(items)

    def reduce(self, task: Task, merge: Merge) -> Any:
        """The result of the one part there is."""
        return run_here(task, self.items)

    def collect(self, task: Task) -> list[Any]:
        """The result of the one part there is."""
        return [run_here(task, self.items)]

    def persist(self, task: Task) -> MemoryParts:
        """What a task makes of the items."""
        return MemoryParts(run_here(task, self.items))

    def fix_order(self) -> MemoryParts:
        """The same items; rows in memory do not move."""
        return MemoryParts(self.items)

    def labels_only(self) -> MemoryParts:
        """Itself: nothing is read."""
        return self

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sums of the scores of the one part there is."""
        return summarise(run_here(task, self.items))

    def preview(self) -> Preview:
        """All rows."""
        return Preview(self.items[0].X, self.items[0].n_rows, in_blocks=False)

    def release(self) -> None:
        """Give back the memory."""
        self.items = []


def run_here(task: Task, items: Iterable[Any]) -> Any:
    """The result of a task in this process; errors are about rows of the data, not of a part."""
    try:
        return task(0, items)
    except PartError as error:
        raise (error.__cause__ or error) from None


def rows_in_memory(block: Block) -> PartedRows:
    """A block of checked rows as a data set."""
    return PartedRows(
        MemoryParts([block]),
        Schema(block.n_features),
        (0, 1),
        weighted=block.weight is not None,
        grouped=block.groups is not None,
    )
