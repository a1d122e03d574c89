"""Partial AUC as an objective: which part of the ROC curve counts, as weights of the rows by their ranks.

Only the negatives with the highest scores are false alarms at a low rate, and only the positives with the
lowest scores are missed at a high detection rate. A loss that falls with the margin is largest for just these
rows, so that the loss over them is the largest over all choices of so many rows: convex, as a maximum of convex
functions, as long as the region begins at a false-alarm rate of 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Region:
    """Region of the ROC curve for partial AUC, by false-positive and true-positive rates.

    Parameters
    ----------
    max_fpr : float, default=1.0
        Upper limit of the false-positive rate: only this share of the negatives, with the highest scores,
        counts.
    min_tpr : float, default=0.0
        Lower limit of the true-positive rate: only the share ``1 - min_tpr`` of the positives, with the lowest
        scores, counts.
    min_fpr : float, default=0.0
        Lower limit of the false-positive rate: this share of the negatives, with the highest scores, is
        excluded. The objective is not convex unless it is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.losses import PairWeights
    >>> positive, scores = np.array([True, False, False, False, False]), np.array([1.0, 0.3, 2.0, 0.1, 0.2])
    >>> Region(max_fpr=0.5).select(PairWeights.build(positive), scores).minus.tolist()
    [1, 2]
    """

    max_fpr: float = 1.0
    min_tpr: float = 0.0
    min_fpr: float = 0.0

    def __post_init__(self) -> None:
        check_number("max_fpr", self.max_fpr, low=0.0, high=1.0, open_low=True)
        check_number("min_tpr", self.min_tpr, low=0.0, high=1.0, open_high=True)
        check_number("min_fpr", self.min_fpr, low=0.0, high=1.0)
        if self.min_fpr >= self.max_fpr:
            raise ValueError(
                "the region is empty: min_fpr must be below max_fpr, got "
                f"min_fpr={self.min_fpr:g} and max_fpr={self.max_fpr:g}."
            )

    @property
    def is_whole(self) -> bool:
        """Whether the region is the whole ROC curve."""
        return self.max_fpr == 1.0 and self.min_fpr == 0.0 and self.min_tpr == 0.0

    def select(self, pairs: PairWeights, scores: Array) -> PairWeights:
        """Select the pairs in the region; groups keep their weights, and ties at a limit are shared equally."""
        if self.is_whole:
            return pairs
        from mbauc.losses.region_kernels import keep

        a, b = pairs.plus_weight, pairs.minus_weight
        high, low = pairs.take(scores)
        if self.max_fpr < 1.0 or self.min_fpr > 0.0:
            b = keep(low, b, pairs.minus_starts, self.min_fpr, self.max_fpr)
        if self.min_tpr > 0.0:
            a = keep(-high, a, pairs.plus_starts, 0.0, 1.0 - self.min_tpr)
        kept = pairs.reweigh(a, b)
        share = pairs.group_shares / kept.group_shares
        return kept.reweigh(a * pairs.per_plus(share), b).without_zeros()
