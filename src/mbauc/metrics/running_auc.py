"""A first word on the AUC while files are still being read."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.roc_auc import roc_auc
from mbauc.runtime.progress import Progress

#: Seconds between looks; the sums behind them cost about as much as the block's own.
_PAUSE = 2.0


class RunningAuc:
    """AUC on each block of weights from the blocks before it: mean difference over variance, column by column.

    A simple ranker, judged on rows it has not seen; the fit that follows will do better. Does nothing where
    nobody looks. ``O(entries)`` a block and a few vectors over the columns.

    Parameters
    ----------
    progress : Progress
        Receives the AUC in a note.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.runtime.progress import silent
    >>> RunningAuc(silent).see(np.eye(2), np.array([True, False]))
    """

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._looked = time.monotonic()
        self._rows = np.zeros(2)
        self._sums: NDArray[np.float64] | None = None
        self._squares: NDArray[np.float64] | None = None

    def see(self, X: Any, positive: NDArray[np.bool_]) -> None:
        """Judge the weights so far on a block, if it is time to, and learn from it."""
        if not self._progress.visible:
            return
        if time.monotonic() - self._looked >= _PAUSE and 0 < positive.sum() < positive.size:
            weights = self.weights()
            if weights is not None:
                self._progress.note(f"AUC ≈ {roc_auc(positive, np.asarray(X @ weights)):.3f} so far")
                self._looked = time.monotonic()
        if self._sums is None or self._squares is None:
            self._sums, self._squares = np.zeros((2, X.shape[1])), np.zeros(X.shape[1])
        for group, own in enumerate((positive, ~positive)):
            self._rows[group] += np.count_nonzero(own)
            self._sums[group] += X.T @ own.astype(np.float64)
        self._squares += np.asarray((X * X if isinstance(X, np.ndarray) else X.power(2)).sum(axis=0)).ravel()

    def weights(self) -> NDArray[np.float64] | None:
        """The weights so far; None until both classes were seen."""
        if self._sums is None or self._squares is None or not self._rows.all():
            return None
        means = self._sums / self._rows[:, None]
        spread = self._squares / self._rows.sum() - (self._sums.sum(axis=0) / self._rows.sum()) ** 2
        # columns that hardly ever occur say little
        spread += spread.mean() + np.finfo(np.float64).tiny
        return np.asarray((means[0] - means[1]) / spread)
