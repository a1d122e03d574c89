"""AUC and its interval over all rows of a cluster."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import PartError
from mbauc.metrics.delong import AucInterval
from mbauc.metrics.design import check_confidence, warn_of_few_rows
from mbauc.metrics.rank_sums import RankedScores, RankSums
from mbauc.metrics.variance import check_scale, interval_ends
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
        positive: list[NDArray[np.bool_]] = [np.zeros(0, dtype=np.bool_)]
        values: list[NDArray[np.float64]] = [np.zeros(0)]
        weights: list[NDArray[np.float64]] = [np.zeros(0)]
        weighted = False

        def read(block: Block) -> None:
            nonlocal weighted
            found = np.asarray(block.X, dtype=np.float64)[:, 0]
            if np.isnan(found).any():
                row = block.first + int(np.flatnonzero(np.isnan(found))[0])
                raise PartError(number, f"the score of row {row:,} is NaN; drop the row or give it a score.")
            positive.append(block.positive)
            # the two zeros are equal, but not to a sort by bits
            values.append(found + 0.0)
            weights.append(np.ones(found.size) if block.weight is None else block.weight)
            weighted = weighted or block.weight is not None

        visit_blocks(number, blocks, _SCORE, Labels(self.classes), read)
        weight = np.concatenate(weights) if weighted else None
        return RankedScores(np.concatenate(positive), np.concatenate(values), weight)


def interval_of(sums: RankSums, confidence: float, scale: Literal["logit", "linear"]) -> AucInterval:
    """AUC with DeLong's interval, as :func:`mbauc.metrics.roc_auc_interval` gives it.

    Weights are frequencies.
    """
    check_confidence(confidence)
    check_scale(scale)
    auc, stderr = sums.auc, float(np.sqrt(sums.variance))
    warn_of_few_rows((sums.plus, sums.minus), auc, stacklevel=4)
    low, high = interval_ends(auc, stderr, min(sums.plus, sums.minus), confidence, scale)
    return AucInterval(auc, low, high, stderr, confidence)
