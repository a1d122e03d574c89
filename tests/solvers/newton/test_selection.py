"""The curvature of a selection against differences of the gradient, for scores with a density."""

import numpy as np
import pytest

from mbauc.losses import PairObjective, PairWeights, Region, get_loss
from mbauc.solvers.newton.selection import expand


@pytest.mark.parametrize("region", [Region(max_fpr=0.3), Region(min_tpr=0.4), Region(max_fpr=0.4, min_tpr=0.3)])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_it_is_how_the_gradient_changes(rng, region, loss):
    n = 4000
    positive = rng.random(n) < 0.4
    features = rng.standard_normal((n, 3))
    features[:, 0] += positive
    objective = PairObjective(get_loss(loss), PairWeights.build(positive), region)
    w, v = np.array([0.8, 0.3, -0.2]), np.array([0.1, -0.4, 0.5])
    step = 0.1
    slopes = [features.T @ objective.expand(features @ (w + t * v)).gradient for t in (-step, step)]
    change = (slopes[1] - slopes[0]) / (2 * step)
    frozen = features.T @ objective.expand(features @ w).product(features @ v)
    found = features.T @ expand(objective, features @ w).product(features @ v)
    # selections make up for much of it, and a window tells them to some percent
    assert np.linalg.norm(frozen - change) > 3 * np.linalg.norm(found - change)
    np.testing.assert_allclose(found, change, atol=0.15 * np.abs(change).max())


def test_it_is_positive_and_blind_to_a_common_shift(rng):
    positive, scores = rng.random(300) < 0.5, rng.standard_normal(300)
    objective = PairObjective(get_loss("squared_hinge"), PairWeights.build(positive), Region(max_fpr=0.2))
    expansion = expand(objective, scores)
    np.testing.assert_allclose(expansion.product(np.ones(300)), 0.0, atol=1e-12)
    for _ in range(5):
        v = rng.standard_normal(300)
        assert v @ expansion.product(v) >= v @ objective.expand(scores).product(v) - 1e-12
    hessian = np.column_stack([expansion.product(unit) for unit in np.eye(300)])
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)
    assert (expansion.diagonal >= np.diagonal(hessian) - 1e-12).all()


def test_scores_that_tie_have_no_density():
    positive = np.arange(40) < 20
    objective = PairObjective(get_loss("logistic"), PairWeights.build(positive), Region(max_fpr=0.5))
    expansion, scores = expand(objective, np.zeros(40)), np.linspace(-1, 1, 40)
    np.testing.assert_array_equal(expansion.product(scores), objective.expand(np.zeros(40)).product(scores))
