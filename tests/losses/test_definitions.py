"""Each loss equals the double loop over pairs, and its derivatives those of its value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc import PairwiseAUCClassifier
from mbauc.losses import LOSSES, PairWeights, SmoothHinge, get_loss
from strategies import scored_rows

names = pytest.mark.parametrize("name", list(LOSSES))
#: exp(100) and the like: what is compared is relative to the largest number
RTOL = {"logistic": 1e-9}


def agree(actual, desired, name, scale=0.0):
    desired = np.asarray(desired)
    largest = max(np.abs(desired).max(initial=0.0), scale)
    np.testing.assert_allclose(actual, desired, rtol=1e-9, atol=RTOL.get(name, 1e-11) * largest)


def expand(name, rows, **settings):
    positive, scores, weight, groups = rows
    return get_loss(name).expand(PairWeights.build(positive, weight, groups, **settings), scores)


@names
@given(rows=scored_rows(), equal_groups=st.booleans(), seed=st.integers(0, 9))
def test_value_gradient_and_hessian_equal_the_double_loop(name, rows, equal_groups, seed):
    positive, scores, weight, groups = rows
    pairs = reference.weighted_pairs(positive, weight, groups, equal_groups)
    value, gradient, hessian = reference.pair_loss(name, pairs, scores)
    found = expand(name, rows, equal_groups=equal_groups)
    v = np.random.default_rng(seed).standard_normal(scores.size)
    steepest = sum(u * abs(reference.PAIR_LOSSES[name][1](scores[i] - scores[j])) for i, j, u in pairs)
    agree(found.value, value, name)
    agree(found.gradient, gradient, name, steepest)
    agree(found.diagonal, np.diag(hessian), name)
    agree(found.product(v), hessian @ v, name, np.abs(hessian).max())


@names
@pytest.mark.parametrize(("n_plus", "n_minus"), [(1, 1), (1, 400), (400, 1), (150, 170)])
@pytest.mark.parametrize("spread", [0.1, 3.0, 1e3])
def test_many_rows_and_unequal_classes(name, n_plus, n_minus, spread, rng):
    if name == "exponential":
        spread = min(spread, 50.0)
    positive = rng.permutation(np.arange(n_plus + n_minus) < n_plus)
    scores = spread * rng.standard_normal(positive.size)
    weight = rng.exponential(size=positive.size)
    a, b = weight[positive] / weight[positive].sum(), weight[~positive] / weight[~positive].sum()
    m = scores[positive][:, None] - scores[~positive][None, :]
    ell, slope, curvature = (np.vectorize(f, otypes=[float]) for f in reference.PAIR_LOSSES[name])
    found = expand(name, (positive, scores, weight, None))
    agree(found.value, a @ ell(m) @ b, name)
    agree(found.gradient[positive], a * (slope(m) @ b), name)
    agree(found.gradient[~positive], -b * (a @ slope(m)), name)
    k = curvature(m)
    agree(found.diagonal[positive], a * (k @ b), name)
    agree(found.diagonal[~positive], b * (a @ k), name)
    v = rng.standard_normal(positive.size)
    lifted = v[positive][:, None] - v[~positive][None, :]
    agree(found.product(v)[positive], a * ((k * lifted) @ b), name, np.abs(a).max() * np.abs(k).max())
    agree(found.product(v)[~positive], -b * (a @ (k * lifted)), name, np.abs(b).max() * np.abs(k).max())


@names
@given(rows=scored_rows(), seed=st.integers(0, 9))
def test_the_gradient_is_the_derivative_of_the_value(name, rows, seed):
    positive, scores, weight, groups = rows
    rng = np.random.default_rng(seed)
    scores = np.clip(scores, -4, 4) + rng.uniform(0, 1, scores.size)
    v, h = rng.standard_normal(scores.size), 1e-5
    up, down = (expand(name, (positive, scores + t * v, weight, groups)).value for t in (h, -h))
    at = expand(name, (positive, scores, weight, groups))
    # the second derivative of a value with a kink in its slope changes within the step
    assert (up - down) / (2 * h) == pytest.approx(at.gradient @ v, rel=1e-5, abs=1e-4 * max(at.value, 1e-2))


@pytest.mark.parametrize("name", ["squared", "logistic", "exponential"])
@given(rows=scored_rows(), seed=st.integers(0, 9))
def test_the_product_is_the_derivative_of_the_gradient(name, rows, seed):
    positive, scores, weight, groups = rows
    scores = np.clip(scores, -4, 4)
    v, h = np.random.default_rng(seed).standard_normal(scores.size), 1e-5
    up, down = (expand(name, (positive, scores + t * v, weight, groups)).gradient for t in (h, -h))
    at = expand(name, (positive, scores, weight, groups))
    np.testing.assert_allclose(at.product(v), (up - down) / (2 * h), atol=1e-5 * max(at.value, 1e-1))


@names
@given(rows=scored_rows())
def test_of_margins_slopes_and_curvatures_are_the_definitions(name, rows):
    m, loss = rows[1], get_loss(name)
    for vector, scalar in zip(
        (loss.of_margins, loss.slopes, loss.curvatures), reference.PAIR_LOSSES[name], strict=True
    ):
        np.testing.assert_allclose(vector(m), [scalar(x) for x in m], rtol=1e-12, atol=1e-300)


@names
@given(rows=scored_rows(), seed=st.integers(0, 99))
def test_rows_may_come_in_any_order(name, rows, seed):
    order = np.random.default_rng(seed).permutation(rows[1].size)
    shuffled = [None if part is None else part[order] for part in rows]
    one, other = expand(name, rows), expand(name, shuffled)
    agree(other.value, one.value, name)
    agree(other.gradient, one.gradient[order], name, np.abs(one.gradient).sum())
    agree(other.diagonal, one.diagonal[order], name)


@names
@given(rows=scored_rows())
def test_a_weight_of_two_is_a_row_twice(name, rows):
    positive, scores, weight, groups = rows
    weight = np.ones(scores.size) if weight is None else np.ceil(weight)
    times = weight.astype(int)
    twice = [None if part is None else part.repeat(times) for part in (positive, scores, groups)]
    agree(
        expand(name, (positive, scores, weight, groups)).value,
        expand(name, (twice[0], twice[1], None, twice[2])).value,
        name,
    )


@names
def test_the_same_call_gives_the_same_bits(name, rng):
    positive, scores = rng.random(3000) < 0.3, rng.standard_normal(3000)
    rows = positive, scores, rng.exponential(size=3000), rng.integers(0, 40, 3000)
    one, other = expand(name, rows), expand(name, rows)
    assert one.value == other.value
    np.testing.assert_array_equal(one.gradient, other.gradient)
    np.testing.assert_array_equal(one.product(scores), other.product(scores))


@names
def test_scores_are_left_as_they_are(name, rng):
    positive, scores = rng.random(300) < 0.3, rng.standard_normal(300)
    before = scores.copy()
    scores.flags.writeable = False
    found = expand(name, (positive, scores, None, None))
    found.product(scores)
    assert found.value > 0
    assert found.gradient.size == found.diagonal.size == 300
    np.testing.assert_array_equal(scores, before)


def test_a_loss_is_shown_as_it_is_made():
    assert repr(SmoothHinge(0.2)) == "SmoothHinge(width=0.2)"
    assert repr(get_loss("squared_hinge")) == "SquaredHinge()"
    assert "object at" not in repr(PairwiseAUCClassifier(SmoothHinge(0.2)))


def test_all_but_the_squared_loss_fall():
    assert [name for name in LOSSES if not get_loss(name).falls] == ["squared"]
