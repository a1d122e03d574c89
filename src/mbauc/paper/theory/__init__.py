"""How many sampled pairs are enough: Section IV of the paper, as printed and as it can be proved."""

from mbauc.paper.theory.bounds import linear_tail, mean_tail, residual_tail, second_moment_tail, weight_bound
from mbauc.paper.theory.measured import Measured
from mbauc.paper.theory.pair_plan import PairPlan
from mbauc.paper.theory.pairs_needed import (
    PairsNeeded,
    Quantities,
    Route,
    guaranteed_distance,
    guaranteed_gap,
    pairs_needed,
)
from mbauc.paper.theory.plan import plan_pairs

__all__ = [
    "Measured",
    "PairPlan",
    "PairsNeeded",
    "Quantities",
    "Route",
    "guaranteed_distance",
    "guaranteed_gap",
    "linear_tail",
    "mean_tail",
    "pairs_needed",
    "plan_pairs",
    "residual_tail",
    "second_moment_tail",
    "weight_bound",
]
