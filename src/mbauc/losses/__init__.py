"""Losses over all pairs of a positive and a negative row, computed from the scores without forming pairs.

:class:`~mbauc.losses.pair_loss.PairLoss` is the base class; derive from it to define a loss.
"""

from mbauc.losses.exponential import Exponential
from mbauc.losses.logistic import Logistic
from mbauc.losses.objective import PairObjective
from mbauc.losses.pair_loss import Expansion, PairLoss
from mbauc.losses.pair_weights import PairWeights
from mbauc.losses.region import Region
from mbauc.losses.registry import LOSSES, get_loss
from mbauc.losses.squared import Squared
from mbauc.losses.truncated_squares import SmoothHinge, SquaredHinge, TruncatedSquares

__all__ = [
    "LOSSES",
    "Expansion",
    "Exponential",
    "Logistic",
    "PairLoss",
    "PairObjective",
    "PairWeights",
    "Region",
    "SmoothHinge",
    "Squared",
    "SquaredHinge",
    "TruncatedSquares",
    "get_loss",
]
