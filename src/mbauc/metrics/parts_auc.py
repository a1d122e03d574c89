"""Scores that lie in parts, as :class:`RankedScores`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import PartError
from mbauc.metrics.ranked import RankedScores, check_values
from mbauc.rows.part_rows import Layout, PartRows, visit_rows
from mbauc.rows.parts import PartBlock

#: Scores come as the only column of X.
_SCORE = Layout(1, ("score",))


@dataclass(frozen=True)
class ReadScores:
    """Task: the scores of a part, which are the only column of its X."""

    classes: NDArray[Any]

    def __call__(self, number: int, blocks: Iterable[PartBlock]) -> RankedScores:
        """All of them."""
        found = [RankedScores(np.zeros(0, dtype=np.bool_), np.zeros(0))]

        def read(rows: PartRows) -> None:
            # the two zeros are equal, but not to a sort by bits
            values = np.asarray(rows.X, dtype=np.float64)[:, 0] + 0.0
            try:
                check_values(values, first=rows.first)
            except ValueError as error:
                raise PartError(number, str(error)) from None
            found.append(RankedScores(rows.positive(self.classes), values, rows.weight))

        visit_rows(number, blocks, _SCORE, read)
        return RankedScores.concatenate(found)
