"""Scores that lie in parts, as :class:`RankedScores`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import PartError
from mbauc.metrics.ranked import RankedScores, check_values
from mbauc.rows.block import Block, Columns
from mbauc.rows.labels import Labels
from mbauc.rows.reading import visit_blocks
from mbauc.rows.schema import Schema

#: Scores come as the only column of X.
_SCORE = Schema(1, ("score",))


@dataclass(frozen=True)
class ReadScores:
    """Task: the scores of a part, which are the only column of its X."""

    classes: NDArray[Any]

    def __call__(self, number: int, blocks: Iterable[Columns]) -> RankedScores:
        """All of them."""
        found = [RankedScores(np.zeros(0, dtype=np.bool_), np.zeros(0))]

        def read(block: Block) -> None:
            # the two zeros are equal, but not to a sort by bits
            values = np.asarray(block.X, dtype=np.float64)[:, 0] + 0.0
            try:
                check_values(values, first=block.first)
            except ValueError as error:
                raise PartError(number, str(error)) from None
            found.append(RankedScores(block.positive, values, block.weight))

        visit_blocks(number, blocks, _SCORE, Labels(self.classes), read)
        return RankedScores.concatenate(found)
