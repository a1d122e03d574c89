"""A source of blocks as the one part of a data set: what clusters do, in this process, file by file."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

import numpy as np

from mbauc.metrics.rank_sums import RankSums
from mbauc.rows.parts import Merge, PartBlock, Task
from mbauc.rows.source import Source
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

    def merged(self, task: Task, merge: Merge) -> Any:
        """The result of the one part there is."""
        return task(0, self._blocks())

    def collected(self, task: Task) -> list[Any]:
        """The result of the one part there is."""
        return [task(0, self._blocks())]

    def kept(self, task: Task) -> HeldParts:
        """What a task makes of the rows, in memory."""
        return HeldParts(list(task(0, self._blocks())))

    def steady(self) -> SourceParts:
        """Itself: a source gives the same rows each time."""
        return self

    def without_features(self) -> SourceParts:
        """Itself: what reads labels reads rows."""
        return self

    def ranked(self, task: Task) -> RankSums:
        """Of the scores of the one part there is."""
        return RankSums.of(task(0, self._blocks()))

    def release(self) -> None:
        """Nothing is held."""

    def _blocks(self) -> Iterator[PartBlock]:
        from mbauc.rows.source import about_rows
        from mbauc.runtime.ahead import one_ahead

        first = 0
        with progress(about_rows(self._source), "cross-validation", show=self._show) as advance:
            for block in one_ahead(_each(self._source)):
                count = len(block.y)
                yield block._replace(ids=np.arange(first, first + count))
                first += count
                advance(count)


def _each(source: Source) -> Generator[PartBlock, None, None]:
    for X, y, *rest in source:
        yield PartBlock(X, y, rest[0] if rest else None)


class HeldParts(SourceParts):
    """What a task made, in memory."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def _blocks(self) -> Iterator[Any]:
        return iter(self._items)

    def release(self) -> None:
        """Give back the memory."""
        self._items = []
