"""The logistic loss log(1 + exp(-m))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mbauc.losses.pair_loss import Expansion, PairLoss
from mbauc.losses.pair_weights import PairWeights
from mbauc.losses.pairwise import PairByPair

Array = NDArray[np.float64]


class Logistic(PairLoss):
    """``log(1 + exp(-m))``, as in RankNet."""

    name = "logistic"

    def of_margins(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(np.logaddexp(0.0, -m))

    def slopes(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(-expit(-m))

    def curvatures(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(expit(m) * expit(-m))

    def expand(self, pairs: PairWeights, scores: Array) -> Expansion:
        """The loss around scores."""
        return PairByPair(self, pairs, scores)
