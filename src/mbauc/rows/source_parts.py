"""A source of blocks as the one part of a data set: what clusters do, in this process, file by file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import Any

import numpy as np

from mbauc.rows.block import Columns
from mbauc.rows.parts import Merge, Task
from mbauc.rows.source import Source, about_rows, unpack_block
from mbauc.runtime.ahead import one_ahead
from mbauc.runtime.progress import progress


class SourceParts:
    """A source, read anew for every job; rows have their numbers as ids.

    Parameters
    ----------
    source : Source
        The rows.
    show : bool
        Show a progress bar on a terminal for each pass.
    """

    largest_result = float("inf")

    def __init__(self, source: Source, show: bool = False) -> None:
        self._source, self._show = source, show

    def reduce(self, task: Task, merge: Merge) -> Any:
        """The result of the one part there is."""
        return task(0, self._blocks())

    def collect(self, task: Task) -> list[Any]:
        """The result of the one part there is."""
        return [task(0, self._blocks())]

    def persist(self, task: Task) -> HeldParts:
        """What a task makes of the rows, in memory."""
        return HeldParts(list(task(0, self._blocks())))

    def fix_order(self) -> SourceParts:
        """Itself: a source gives the same rows each time."""
        return self

    def labels_only(self) -> SourceParts:
        """Itself: what reads labels reads rows."""
        return self

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sums of the scores of the one part there is."""
        return summarise(task(0, self._blocks()))

    def release(self) -> None:
        """Nothing is held."""

    def _blocks(self) -> Iterator[Any]:
        first = 0
        with progress(about_rows(self._source), "cross-validation", show=self._show) as advance:
            for X, y, weight, _ in one_ahead(_each(self._source)):
                count = len(y)
                yield X, y, weight, np.arange(first, first + count)
                first += count
                advance(count)


def _each(source: Source) -> Generator[Columns, None, None]:
    for number, block in enumerate(source, start=1):
        yield (*unpack_block(block, f"block {number:,} of the source"), None)


class HeldParts(SourceParts):
    """What a task made, in memory."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def _blocks(self) -> Iterator[Any]:
        return iter(self._items)

    def release(self) -> None:
        """Give back the memory."""
        self._items = []
