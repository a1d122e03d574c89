"""The three ways of the logistic loss: each agrees with the double loop wherever it may be used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

import reference
from mbauc.losses import Logistic, PairWeights
from mbauc.losses.class_rows import ClassRows
from mbauc.losses.logistic.direct import DirectSums
from mbauc.losses.logistic.grid import GridSums
from mbauc.losses.logistic.loss import LogisticExpansion, choose_sums
from mbauc.losses.logistic.sweep import SweepSums
from strategies import scored_rows

#: Error relative to the largest number of the kind.
ERROR = {DirectSums: 1e-13, SweepSums: 1e-10, GridSums: 1e-9}
ways = pytest.mark.parametrize("way", list(ERROR))


def expand(way, pairs, scores):
    return LogisticExpansion([way(*ClassRows.split(pairs, scores))], pairs.n_rows)


@ways
@given(rows=scored_rows(), seed=st.integers(0, 9))
def test_each_way_equals_the_double_loop(way, rows, seed):
    positive, scores, weight, groups = rows
    value, gradient, hessian = reference.pair_loss(
        "logistic", reference.weighted_pairs(positive, weight, groups), scores
    )
    found = expand(way, PairWeights.build(positive, weight, groups), scores)
    v = np.random.default_rng(seed).standard_normal(scores.size)
    assert found.value == pytest.approx(value, rel=ERROR[way], abs=1e-16)
    for actual, desired in (
        (found.gradient, gradient),
        (found.diagonal, np.diag(hessian)),
        (found.product(v), hessian @ v),
    ):
        np.testing.assert_allclose(
            actual, desired, rtol=0, atol=10 * ERROR[way] * np.abs(desired).max() + 1e-16
        )


@ways
def test_each_pair_is_right_relative_to_itself(way, rng):
    """Groups of one pair each, up to margins where the loss is a straight line."""
    n = 3000
    m = rng.uniform(-39, 39, n)
    scores = np.column_stack([m, np.zeros(n)]).ravel() + rng.random(n).repeat(2)
    positive, groups = np.tile([True, False], n), np.arange(n).repeat(2)
    m = scores[::2] - scores[1::2]
    pairs = PairWeights.build(positive, None, groups)
    found = expand(way, pairs, scores)
    np.testing.assert_allclose(found.gradient[1::2] * n, expit(-m), rtol=2e-12)
    np.testing.assert_allclose(found.diagonal[::2] * n, expit(-m) * expit(m), rtol=3e-11)
    assert found.value == pytest.approx(np.logaddexp(0, -m).mean(), rel=1e-13, abs=0)


@pytest.mark.parametrize("way", [GridSums, SweepSums])
@pytest.mark.parametrize("spread", [0.0, 0.03, 1.0, 5.0, 30.0, 300.0])
@pytest.mark.parametrize("apart", [0.0, 25.0])
def test_many_scores(way, spread, apart, rng):
    """Also where almost all pairs are won by far: the error is relative to what is left."""
    n = 700
    positive = rng.random(n) < 0.3
    scores = spread * rng.uniform(-1, 1, n) + apart * positive
    pairs, v = PairWeights.build(positive, rng.exponential(size=n)), rng.standard_normal(n)
    found, exact = expand(way, pairs, scores), expand(DirectSums, pairs, scores)
    assert found.value == pytest.approx(exact.value, rel=1e-10)
    for actual, desired in (
        (found.gradient, exact.gradient),
        (found.diagonal, exact.diagonal),
        (found.product(v), exact.product(v)),
    ):
        np.testing.assert_allclose(actual, desired, rtol=0, atol=1e-10 * np.abs(desired).max())


def test_margins_beyond_the_kernel_are_a_straight_line(rng):
    """Scores in two heaps far apart: no pair is near another heap's."""
    positive = rng.random(600) < 0.5
    for sign in (1, -1):
        scores = rng.standard_normal(600) + sign * np.where(positive, 60, -60)
        pairs = PairWeights.build(positive)
        found, exact = expand(GridSums, pairs, scores), expand(DirectSums, pairs, scores)
        assert found.value == pytest.approx(exact.value, rel=1e-12, abs=1e-17)
        np.testing.assert_allclose(found.gradient, exact.gradient, rtol=1e-12, atol=1e-19)


def chosen(positive, scores, groups=None):
    sums = choose_sums(*ClassRows.split(PairWeights.build(positive, None, groups), scores))
    return {type(part): part.plus.rows.size + part.minus.rows.size for part in sums}


def test_the_cheapest_way_is_taken(rng):
    n = 20_000
    positive, scores = rng.random(n) < 0.3, rng.standard_normal(n)
    assert chosen(positive, scores) == {GridSums: n}
    assert chosen(positive, 1e6 * scores) == {SweepSums: n}
    scores[0] = 1e18
    assert chosen(positive, scores) == {SweepSums: n}
    assert set(chosen(positive, scores, rng.integers(0, n // 4, n))) == {DirectSums}


def test_groups_may_take_different_ways(rng):
    n = 6000
    positive, scores = rng.random(n) < 0.3, rng.standard_normal(n)
    groups = np.where(np.arange(n) < 3000, 0, np.where(np.arange(n) < 5000, 1, np.arange(n) // 8))
    scores[groups == 1] *= 1e5
    assert set(chosen(positive, scores, groups)) == {DirectSums, SweepSums, GridSums}
    pairs, v = PairWeights.build(positive, rng.exponential(size=n), groups), rng.standard_normal(n)
    found, exact = Logistic().expand(pairs, scores), expand(DirectSums, pairs, scores)
    assert found.value == pytest.approx(exact.value, rel=1e-10)
    for actual, desired in (
        (found.gradient, exact.gradient),
        (found.diagonal, exact.diagonal),
        (found.product(v), exact.product(v)),
    ):
        np.testing.assert_allclose(actual, desired, rtol=0, atol=1e-10 * np.abs(desired).max())
