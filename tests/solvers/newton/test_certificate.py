"""The bound on the excess against minima that are known better."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.losses import LOSSES, PairWeights, Region, get_loss
from mbauc.losses.objective import PairObjective
from mbauc.solvers.newton.certificate import excess_bound
from mbauc.solvers.penalty import Penalty
from strategies import tables


def state_at(objective, X, w):
    expansion = objective.expand(X @ w)
    return expansion.value, X.T @ expansion.gradient


@given(
    table=tables(),
    name=st.sampled_from(sorted(LOSSES)),
    region=st.sampled_from(
        [Region(), Region(max_fpr=0.3), Region(min_tpr=0.5), Region(max_fpr=0.5, min_tpr=0.4)]
    ),
    l1=st.sampled_from([0.0, 0.05, 0.5]),
    l2=st.sampled_from([0.0, 0.1, 2.0]),
    seed=st.integers(0, 999),
)
def test_no_point_is_lower_by_more_than_the_bound(table, name, region, l1, l2, seed):
    X, y, weight = table
    X = X / max(np.abs(X).max(), 1e-3)
    objective = PairObjective(get_loss(name), PairWeights.build(y, weight), region)
    penalty = Penalty(l1, l2, np.linspace(0.5, 2.0, X.shape[1]))
    rng = np.random.default_rng(seed)
    w = rng.standard_normal(X.shape[1])
    loss, gradient = state_at(objective, X, w)
    bound = excess_bound(penalty, w, gradient, loss)
    here = loss + penalty.value(w)
    others = [
        np.zeros_like(w),
        -w,
        *(rng.standard_normal((5, w.size)) * 3),
        *(w + 0.1 * rng.standard_normal((5, w.size))),
    ]
    lowest = min(state_at(objective, X, v)[0] + penalty.value(v) for v in others)
    assert bound >= here - lowest - 1e-9 * max(1.0, abs(here))
    assert bound <= here + 1e-12 or bound == np.inf  # the loss is not below zero, nor is the penalty


@pytest.mark.parametrize(("l1", "l2"), [(0.0, 0.5), (0.1, 0.5), (0.1, 0.0)])
def test_it_is_zero_at_the_minimum(l1, l2):
    target, factors = np.array([0.9, 0.05, -0.6]), np.array([1.0, 2.0, 0.5])
    shrunk = np.sign(target) * np.maximum(np.abs(target) - l1 * factors, 0.0) / (1.0 + l2 * factors)
    loss, gradient = 0.5 * float((shrunk - target) @ (shrunk - target)), shrunk - target
    assert excess_bound(Penalty(l1, l2, factors), shrunk, gradient, loss) == pytest.approx(0.0, abs=1e-15)


def test_an_unpenalised_feature_has_no_bound_unless_it_is_flat():
    penalty = Penalty(0.0, 1.0, np.array([0.0, 1.0]))
    w, flat = np.zeros(2), np.array([0.0, 0.1])
    assert excess_bound(penalty, w, np.array([1e-9, 0.1]), 1.0) == np.inf
    assert excess_bound(penalty, w, flat, 1.0) == pytest.approx(0.005)
