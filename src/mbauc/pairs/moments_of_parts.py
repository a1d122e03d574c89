"""Moments of the rows of a part: the local code, one block after the other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Rows
from mbauc.rows.folds import FoldRule
from mbauc.rows.label_meaning import Labelled, Labels
from mbauc.rows.part_rows import Layout, PartRows, visit_rows
from mbauc.rows.parts import PartBlock
from mbauc.runtime.threads import single_threaded_blas


@dataclass(frozen=True)
class SumMoments:
    """Task: moments of all pairs of the rows of a part, one for each fold.

    Memory: one d×d matrix for each fold, and one more.
    """

    layout: Layout
    classes: NDArray[Any] | None = None
    folds: FoldRule | None = None
    n_threads: int = 1

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> Labelled[list[PairMoments]]:
        """The moments, and which labels were taken for positive."""
        with single_threaded_blas():
            part = _Part(self, number)
            visit_rows(number, blocks, self.layout, part.add)
        return Labelled(part.moments if part.labels.clear else None, part.labels.meaning)


@dataclass
class _Part:
    task: SumMoments
    number: int
    moments: list[PairMoments] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.labels = Labels(self.task.classes)
        count = 1 if self.task.folds is None else self.task.folds.n_folds
        self.moments = [PairMoments(self.task.layout.n_features) for _ in range(count)]
        self.places = None if self.task.folds is None else self.task.folds.of_part(self.number)

    def add(self, rows: PartRows) -> None:
        positive = self.labels.positive(rows.y)
        if positive is None:
            return
        checked = Rows(rows.X, positive, rows.weight)
        if self.places is None:
            self.moments[0]._absorb(PairMoments._of_rows(checked, self.task.n_threads))
            return
        fold = self.places.of(rows, positive)
        for k, total in enumerate(self.moments):
            own = np.flatnonzero(fold == k)
            if own.size:
                total._absorb(PairMoments._of_rows(checked, self.task.n_threads, subset=own))


def merge_moments(
    first: Labelled[list[PairMoments]], second: Labelled[list[PairMoments]]
) -> Labelled[list[PairMoments]]:
    """Moments of the rows of both."""
    return first.merged(second, _absorbed)


def _absorbed(mine: list[PairMoments], theirs: list[PairMoments]) -> list[PairMoments]:
    for total, part in zip(mine, theirs, strict=True):
        total._absorb(part)
    return mine
