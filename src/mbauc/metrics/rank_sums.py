"""AUC and DeLong's variance from sums over ranges of scores that follow one another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_share
from mbauc.metrics.intervals.delong import AucInterval, Scale, check_scale, interval_ends
from mbauc.metrics.intervals.sample_design import warn_of_few_rows
from mbauc.metrics.ranked import RankedScores

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RankSums:
    """Sums over the rows of a range of scores, of how much of the other class lies below each within the range.

    For a positive row with score s let b be the weight of the negatives below s, ties counting one half; for a
    negative row let a be that of the positives. Ranges that follow one another merge exactly: the rows of the
    upper one have all rows of the lower one below them. Means and centred squares are kept instead of sums, so
    that a variance near zero, where almost all pairs are won, keeps its digits.

    Attributes
    ----------
    counts : (int, int)
        Rows of positive weight, (positives, negatives).
    plus, minus : float
        Weight of the positives and of the negatives.
    below, below_spread : float
        Mean of b over the positives, and sum of w (b - mean)².
    under, under_spread : float
        Mean of a over the negatives, and sum of w (a - mean)².

    Examples
    --------
    >>> import numpy as np
    >>> low = RankSums.of(RankedScores(np.array([True, False]), np.array([0.2, 0.1])))
    >>> high = RankSums.of(RankedScores(np.array([True, False]), np.array([0.8, 0.9])))
    >>> (low + high).auc
    0.5
    """

    counts: tuple[int, int] = (0, 0)
    plus: float = 0.0
    minus: float = 0.0
    below: float = 0.0
    below_spread: float = 0.0
    under: float = 0.0
    under_spread: float = 0.0

    @classmethod
    def of(cls, ranked: RankedScores) -> RankSums:
        """Of the scores of one range. ``O(n log n)``."""
        if not ranked.values.size:
            return cls()
        positive, weight = ranked.positive, ranked.weights
        distinct, place = np.unique(ranked.values, return_inverse=True)
        plus = np.bincount(place[positive], weight[positive], distinct.size)
        minus = np.bincount(place[~positive], weight[~positive], distinct.size)
        up_to_plus, up_to_minus = np.cumsum(plus), np.cumsum(minus)
        used = weight > 0
        return cls(
            (int(np.count_nonzero(positive & used)), int(np.count_nonzero(~positive & used))),
            float(up_to_plus[-1]),
            float(up_to_minus[-1]),
            *_mean_and_spread(plus, up_to_minus - minus / 2),
            *_mean_and_spread(minus, up_to_plus - plus / 2),
        )

    def __add__(self, upper: RankSums) -> RankSums:
        """Sums over this range and the one above it."""
        return RankSums(
            (self.counts[0] + upper.counts[0], self.counts[1] + upper.counts[1]),
            self.plus + upper.plus,
            self.minus + upper.minus,
            *_merge(
                (self.plus, self.below, self.below_spread),
                (upper.plus, upper.below + self.minus, upper.below_spread),
            ),
            *_merge(
                (self.minus, self.under, self.under_spread),
                (upper.minus, upper.under + self.plus, upper.under_spread),
            ),
        )

    @property
    def auc(self) -> float:
        """Share of the pairs in which the positive row has the higher score, ties counting one half."""
        self._require_pairs()
        return self.below / self.minus

    @property
    def variance(self) -> float:
        """DeLong's variance of the AUC; weights are frequencies."""
        self._require_pairs()
        if min(self.plus, self.minus) < 2:
            raise ValueError(
                f"an interval needs at least 2 rows of each class, got {self.plus:g} positives and "
                f"{self.minus:g} negatives."
            )
        plus = self.below_spread / self.minus**2 / (self.plus - 1)
        minus = self.under_spread / self.plus**2 / (self.minus - 1)
        return plus / self.plus + minus / self.minus

    def interval(self, confidence: float, scale: Scale) -> AucInterval:
        """As :func:`mbauc.metrics.roc_auc_interval` of all scores gives it; weights are frequencies."""
        check_share("confidence", confidence)
        check_scale(scale)
        auc, stderr = self.auc, float(np.sqrt(self.variance))
        warn_of_few_rows((self.plus, self.minus), auc)
        low, high = interval_ends(auc, stderr, min(self.plus, self.minus), confidence, scale)
        return AucInterval(auc, low, high, stderr, confidence)

    def _require_pairs(self) -> None:
        if not (self.plus > 0 and self.minus > 0):
            raise ValueError(
                f"there are {self.counts[0]:,} positives and {self.counts[1]:,} negatives of positive weight; "
                "AUC needs both classes."
            )


def _mean_and_spread(weight: NDArray[Any], values: NDArray[Any]) -> tuple[float, float]:
    """Weighted mean of some values, and sum of their weighted squares about it; exact where all are equal."""
    used = weight > 0
    if not used.any():
        return 0.0, 0.0
    weight, values = weight[used], values[used]
    apart = values - values[0]
    centre = float(weight @ apart) / float(weight.sum())
    return float(values[0]) + centre, float(weight @ (apart - centre) ** 2)


def _merge(low: tuple[float, float, float], high: tuple[float, float, float]) -> tuple[float, float]:
    _, mean, spread = merge_spreads(np.array(low), np.array(high))
    return float(mean), float(spread)


def merge_spreads(first: Array, second: Array) -> Array:
    """Weight, mean and sum of squares about the mean of two sets of values together (Chan et al. 1983)."""
    weight = first[0] + second[0]
    share, apart = second[0] / np.where(weight > 0, weight, 1.0), second[1] - first[1]
    mean = np.where(first[0] > 0, first[1] + apart * share, second[1])
    return np.stack([weight, mean, first[2] + second[2] + first[0] * share * apart**2])
