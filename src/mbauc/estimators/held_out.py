"""The AUC of held-out rows, and whether their moments tell the same."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import BinormalWarning
from mbauc.metrics.roc_auc import auc_of_classes, weighted_auc_of_classes
from mbauc.rows.block import Block
from mbauc.rows.matrix import is_sparse
from mbauc.rows.scores import scores
from mbauc.runtime.threads import run_threads

Array = NDArray[np.float64]

#: Binormal and true AUC that differ by more than this, and by more than noise explains, are worth a warning.
_DISAGREEMENT = 0.02
#: Block of a class in a split that are looked at for it, if scores come from moments otherwise.
_CHECKED_ROWS = 10_000


class Truth(Protocol):
    """What tells the AUC of the held-out rows of a search."""

    def auc(self, rows: Any, W: Array) -> Array:
        """AUC on the rows of a split for each weight vector."""

    def mean_auc(self, held_out: list[Any], weights: list[Array]) -> float:
        """Mean over the splits of the AUC on held-out rows, or on some of them."""

    def compare(self, actual: float, binormal: float) -> None:
        """Warn if moments and rows disagree about the AUC by more than chance."""


class HeldOut:
    """AUC of held-out rows, by definition."""

    def __init__(self, rows: Block, n_threads: int) -> None:
        self.X, self.positive, self.weight = rows.X, rows.positive, rows.weight
        if is_sparse(self.X):
            self.X = self.X.tocsr()
        self.n_threads = n_threads

    def auc(self, rows: NDArray[np.intp], W: Array) -> Array:
        """AUC on the rows for each weight vector."""
        plus, minus = rows[self.positive[rows]], rows[~self.positive[rows]]
        n_threads = self.n_threads if rows.size > 10_000 else 1
        high, low = scores(self.X, W, plus, n_threads), scores(self.X, W, minus, n_threads)

        def one(k: int) -> float:
            return self._auc(plus, minus, high[k], low[k])

        return np.array(run_threads(one, range(len(W)), n_threads))

    def _auc(self, plus: NDArray[np.intp], minus: NDArray[np.intp], high: Array, low: Array) -> float:
        """AUC of the scores of these positive and negative rows."""
        if self.weight is None:
            return auc_of_classes(np.sort(high), np.sort(low))
        return weighted_auc_of_classes(high, low, self.weight[plus], self.weight[minus])

    def mean_auc(self, held_out: list[NDArray[np.intp]], weights: list[Array]) -> float:
        """Mean over the splits of the AUC on held-out rows, some of them where there are many."""
        values = []
        for rows, w in zip(held_out, weights, strict=True):
            classes = rows[self.positive[rows]], rows[~self.positive[rows]]
            some = np.concatenate([part[:: -(-part.size // _CHECKED_ROWS)] for part in classes])
            values.append(self.auc(some, w[None, :])[0])
        return float(np.mean(values))

    def compare(self, actual: float, binormal: float) -> None:
        """Warn if moments and rows disagree about the AUC by more than chance."""
        compare_binormal(actual, binormal, min(int(self.positive.sum()), int((~self.positive).sum())))


def compare_binormal(actual: float, binormal: float, smaller: int) -> None:
    """Warn if moments and rows, so many in the smaller class, disagree about the AUC by more than chance."""
    smaller = min(smaller, _CHECKED_ROWS)
    # one row more on either side: a few rows that happen to rank perfectly are not without noise
    likely = (actual * smaller + 1) / (smaller + 2)
    noise = 3 * np.sqrt(likely * (1 - likely) / smaller)
    if abs(actual - binormal) > _DISAGREEMENT + noise:
        warnings.warn(
            f"held-out AUC is {actual:.4f}, but {binormal:.4f} by the moments: scores have heavy tails or "
            "several modes. Keep scoring='roc_auc' here, and look for outliers or transform the features.",
            BinormalWarning,
            stacklevel=5,
        )
