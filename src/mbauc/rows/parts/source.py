"""A source of blocks as the one part of a data set, read anew for every job."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np

from mbauc.rows.block import Block
from mbauc.rows.parts.accumulate import AccumulateTask
from mbauc.rows.parts.memory import MemoryParts, run_here
from mbauc.rows.parts.protocol import Kind, Merge, PartedRows, Preview, Task
from mbauc.rows.parts.resume import ResumablePass
from mbauc.rows.reading import read_blocks
from mbauc.rows.schema import Schema
from mbauc.rows.source import Observe, Source, about_rows, count_rows, has_groups, ignore, known_moments
from mbauc.runtime.ahead import one_ahead
from mbauc.runtime.progress import progress
from mbauc.store.checkpoint import Checkpoint

_NO_ROWS = "the source has no rows; at least one block of rows is needed."


class SourceParts:
    """A source, whose rows have their numbers as ids; blocks are read and checked one ahead.

    Parameters
    ----------
    source : Source
        The rows.
    title : str, default="reading rows"
        Of the progress bar of each pass.
    show : bool, default=False
        Show that on a terminal.
    observe : callable
        Looks on while blocks are read.
    checkpoint : Checkpoint, optional
        Where a pass that adds rows up is saved from time to time. The next one resumes it, to the same bits.
        Its identity must include all that bits depend on; its ``interval`` says how often to save.
    """

    kind: Kind = "source"
    largest_result = float("inf")

    def __init__(
        self,
        source: Source,
        *,
        title: str = "reading rows",
        show: bool = False,
        observe: Observe = ignore,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.source, self.checkpoint = source, checkpoint
        self.show, self.observe = show, observe
        self._title = title

    def over(self, source: Source, *, title: str | None = None, observe: Observe = ignore) -> SourceParts:
        """The same over another source: what its rows are made of is this one."""
        return SourceParts(
            source, title=title or self._title, show=self.show, observe=observe, checkpoint=self.checkpoint
        )

    def reduce(self, task: Task, merge: Merge) -> Any:
        """The result of the one part there is; a pass that was interrupted is resumed."""
        if self.checkpoint is None or not isinstance(task, AccumulateTask):
            return self._run(task)
        resumed = ResumablePass(task, self.source, self.checkpoint)
        return resumed.result() if resumed.is_up_to_date else self._run(resumed.run)

    def collect(self, task: Task) -> list[Any]:
        """The result of the one part there is."""
        return [self._run(task)]

    def persist(self, task: Task) -> MemoryParts:
        """What a task makes of the rows, in memory."""
        with closing(self._blocks()) as blocks:
            return MemoryParts(run_here(task, blocks))

    def fix_order(self) -> SourceParts:
        """Itself: a source gives the same rows each time."""
        return self

    def labels_only(self) -> SourceParts:
        """Itself: what reads labels reads rows."""
        return self

    def rank(self, task: Task, summarise: Callable[[Any], Any]) -> Any:
        """Sums of the scores of the one part there is."""
        return summarise(self._run(task))

    def preview(self) -> Preview:
        """The first block with rows in it, and how many rows the source says it has."""
        for block in read_blocks(self.source):
            if block.n_rows:
                return Preview(block.X, count_rows(self.source), in_blocks=True)
        raise ValueError(_NO_ROWS)

    def known_moments(self) -> Any:
        """What the source knows its rows to add up to; None if it does not, or if a pass may be resumed."""
        return None if self.checkpoint is not None else known_moments(self.source)

    def release(self) -> None:
        """Nothing is held."""

    def _run(self, task: Task) -> Any:
        """The result of a task; the pass is closed at once, also by an error."""
        with closing(self._blocks()) as blocks:
            return run_here(task, blocks)

    def _blocks(self) -> Generator[Block, None, None]:
        n_rows = 0
        with (
            progress(about_rows(self.source), self._title, show=self.show) as advance,
            closing(one_ahead(_number_rows(self.source))) as blocks,
        ):
            look = self.observe(advance)
            for block in blocks:
                look(block.X, block.positive)
                yield block
                n_rows += block.n_rows
                advance(block.n_rows)
        if not n_rows:
            raise ValueError(_NO_ROWS)


def _number_rows(source: Source) -> Generator[Block, None, None]:
    for block in read_blocks(source):
        yield replace(block, ids=np.arange(block.first, block.first + block.n_rows))


def rows_in_source(source: Source, *, with_ids: bool = False, **options: Any) -> PartedRows:
    """The rows of a source as a data set, known by their order or by their numbers; options of SourceParts."""
    schema = Schema(int(source.n_features))
    return PartedRows(
        SourceParts(source, **options),
        schema,
        (0, 1),
        weighted=True,
        with_ids=with_ids,
        grouped=has_groups(source),
    )
