"""Rows that settings are chosen or judged on: compact, so that millions of them fit beside all else."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics import roc_auc
from mbauc.paper.studies.clicks.pairs import CompactSums
from mbauc.rows.source import RawBlock

Array = NDArray[np.float64]

#: Of the largest score that are kept.
_BITS = 40


class HeldRows:
    """Validation or test rows; 2 bytes for each entry that is one.

    Attributes
    ----------
    y : ndarray of shape (n,)
        Labels, in the order of the scores, which is not that of the rows.
    """

    def __init__(self, blocks: Iterable[RawBlock], n_features: int) -> None:
        # one shard: scores of several weights are computed side by side
        sums = CompactSums(n_features, 2, 1)
        for block in blocks:
            sums.add(block.X, np.where(block.y == 1, 0, 1))
        self._rows = sums.finish()
        self.y: NDArray[np.int8] = np.concatenate(
            [np.full(chunk.n_rows, chunk.stratum == 0, dtype=np.int8) for chunk in self._rows.chunks]
        )

    def scores(self, w: Array) -> Array:
        """The score x'w of each row, to 12 digits of the largest; w is over all columns.

        Sums in another order are not equal to the last bit: without this, rows that share all columns of
        weight would be in an order by chance instead of tied.
        """
        scores = self._rows.scores(w[self._rows.order.columns])
        largest = float(np.abs(scores).max(initial=0.0))
        if largest == 0.0 or not np.isfinite(largest):
            return scores
        unit = 2.0 ** (np.ceil(np.log2(largest)) - _BITS)
        return np.asarray(np.rint(scores / unit) * unit)

    def auc(self, w: Array | None) -> float:
        """AUC of weights; NaN where a method diverged."""
        return float("nan") if w is None or not np.isfinite(w).all() else roc_auc(self.y, self.scores(w))
