"""Partial AUC: the rows that count, against all choices of rows."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from mbauc.losses import LOSSES, PairObjective, PairWeights, Region, get_loss
from strategies import scored_rows

shares = st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.8])


def expand(name, rows, region, **settings):
    positive, scores, weight, groups = rows
    pairs = PairWeights.build(positive, weight, groups, **settings)
    return PairObjective(get_loss(name), pairs, region).expand(scores)


@pytest.mark.parametrize("name", list(LOSSES))
@given(rows=scored_rows(), region=st.tuples(shares, shares, shares), equal_groups=st.booleans())
def test_value_and_gradient_equal_the_double_loop(name, rows, region, equal_groups):
    min_fpr, width, min_tpr = region
    max_fpr = min(1.0, min_fpr + width)
    assume(max_fpr > min_fpr)
    positive, scores, weight, groups = rows
    pairs = reference.weighted_pairs(positive, weight, groups, equal_groups)
    kept = reference.region_pairs(pairs, scores, max_fpr, min_tpr, min_fpr, groups)
    value, gradient, hessian = reference.pair_loss(name, kept, scores)
    found = expand(name, rows, Region(max_fpr, min_tpr, min_fpr), equal_groups=equal_groups)
    assert sum(u for _, _, u in kept) == pytest.approx(1.0)
    assert found.value == pytest.approx(value, rel=1e-8)
    scale = max(np.abs(gradient).max(), 1e-3 * value)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-8, atol=1e-9 * scale + 1e-14)
    v = np.arange(scores.size, dtype=float)
    np.testing.assert_allclose(
        found.product(v), hessian @ v, rtol=1e-8, atol=1e-8 * np.abs(hessian).max() + 1e-14
    )


@pytest.mark.parametrize("name", ["squared_hinge", "hinge", "logistic", "exponential"])
@given(
    high=st.lists(st.integers(-8, 8), min_size=4, max_size=4),
    low=st.lists(st.integers(-8, 8), min_size=4, max_size=4),
    n_high=st.integers(1, 4),
    n_low=st.integers(1, 4),
)
def test_the_region_is_the_worst_choice_of_so_many_rows(name, high, low, n_high, n_low):
    scores = np.array(high + low) / 4
    ell = reference.PAIR_LOSSES[name][0]
    worst = max(
        np.mean([ell(scores[i] - scores[j]) for i in plus for j in minus])
        for plus in combinations(range(4), n_high)
        for minus in combinations(range(4, 8), n_low)
    )
    region = Region(max_fpr=n_low / 4, min_tpr=1 - n_high / 4)
    found = expand(name, (np.arange(8) < 4, scores, None, None), region)
    assert found.value == pytest.approx(worst, rel=1e-9)


@pytest.mark.parametrize("name", ["squared_hinge", "hinge", "logistic", "exponential"])
@given(rows=scored_rows(), max_fpr=st.sampled_from([0.1, 0.3, 0.5]), min_tpr=shares, seed=st.integers(0, 99))
def test_the_region_from_zero_is_convex(name, rows, max_fpr, min_tpr, seed):
    positive, scores, weight, groups = rows
    scores = np.clip(scores, -4, 4)
    other = np.random.default_rng(seed).uniform(-4, 4, scores.size)
    region = Region(max_fpr, min_tpr)
    at = expand(name, (positive, scores, weight, groups), region)
    there = expand(name, (positive, other, weight, groups), region)
    middle = expand(name, (positive, (scores + other) / 2, weight, groups), region)
    assert middle.value <= (at.value + there.value) / 2 * (1 + 1e-9)
    # the frozen rows give a subgradient
    assert there.value >= at.value + at.gradient @ (other - scores) - 1e-8 * (1 + at.value)


@given(rows=scored_rows(), max_fpr=st.sampled_from([0.1, 0.3, 0.5]), min_fpr=st.sampled_from([0.0, 0.05]))
def test_rows_may_come_in_any_order(rows, max_fpr, min_fpr):
    region = Region(max_fpr, 0.3, min_fpr)
    backwards = [None if part is None else part[::-1] for part in rows]
    one, other = expand("squared_hinge", rows, region), expand("squared_hinge", backwards, region)
    assert other.value == pytest.approx(one.value, rel=1e-9)
    scale = np.abs(one.gradient).max()
    np.testing.assert_allclose(other.gradient[::-1], one.gradient, rtol=1e-9, atol=1e-12 * scale)


def test_many_rows_and_groups(rng):
    positive, scores = rng.random(2000) < 0.3, np.round(rng.standard_normal(2000), 1)
    weight, groups = rng.exponential(size=2000), rng.integers(0, 30, 2000)
    region = Region(0.2, 0.4, 0.05)
    for g in (None, groups):
        kept = region.select(PairWeights.build(positive, weight, g), scores)
        own = np.zeros(2000) if g is None else g
        found = np.zeros(2000)
        found[kept.minus] = kept.minus_weight
        for group in np.unique(own):
            rows = np.flatnonzero((own == group) & ~positive)
            expected = reference.kept_share(weight[rows], scores[rows], 0.05, 0.2)
            np.testing.assert_allclose(
                found[rows] / found[rows].sum(), expected / expected.sum(), rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("digits", [1, 15])
@pytest.mark.parametrize("outlier", [0.0, 1e9])
def test_limits_among_very_many_rows_are_their_definition(digits, outlier, rng):
    """Rows beyond some thousands are searched by buckets first; here each score by those above it and at it."""
    positive, scores = np.arange(12_000) < 5000, np.round(rng.standard_normal(12_000), digits)
    scores[-1] += outlier
    weight = rng.exponential(size=12_000)
    kept = Region(0.2, 0.4, 0.05).select(PairWeights.build(positive, weight), scores)
    for rows, found, low, high, sign in (
        (kept.minus, kept.minus_weight, 0.05, 0.2, 1.0),
        (kept.plus, kept.plus_weight, 0.0, 0.6, -1.0),
    ):
        own = np.flatnonzero(positive == (sign < 0))
        _, place = np.unique(sign * scores[own], return_inverse=True)
        tied = np.bincount(place, weight[own]) / weight[own].sum()
        above = 1.0 - np.cumsum(tied)
        part = np.clip(np.minimum(above + tied, high) - np.maximum(above, low), 0.0, None) / tied
        expected = weight[own] * part[place]
        whole = np.zeros(scores.size)
        whole[rows] = found
        np.testing.assert_allclose(whole[own] / found.sum(), expected / expected.sum(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", list(LOSSES))
def test_rows_outside_the_region_leave_no_trace_however_far_out(name, rng):
    positive, scores = np.arange(30) < 10, rng.standard_normal(30)
    found = []
    for far in (5.0, 1e5):
        scores[[0, 29]] = far  # the best positive, and the worst negative
        found.append(expand(name, (positive, scores, None, None), Region(1.0, 0.1, 0.05)))
    assert np.isfinite(found[0].value)
    assert found[1].value == pytest.approx(found[0].value, rel=1e-9)
    np.testing.assert_allclose(found[1].gradient, found[0].gradient, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found[1].diagonal, found[0].diagonal, rtol=1e-8, atol=1e-12)


def test_an_empty_region_is_an_error():
    for settings, message in (
        ({"max_fpr": 0.0}, "^max_fpr must be a finite number greater than 0 and at most 1, got 0.0"),
        ({"max_fpr": 1.5}, "^max_fpr must be a finite number greater than 0 and at most 1, got 1.5"),
        ({"min_tpr": 1.0}, "^min_tpr must be a finite number at least 0 and less than 1, got 1.0"),
        (
            {"min_fpr": 0.5, "max_fpr": 0.5},
            "^the region is empty: min_fpr must be below max_fpr",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            Region(**settings)


def test_the_whole_curve_leaves_the_pairs_alone():
    pairs = PairWeights.build(np.array([True, False]))
    assert Region().select(pairs, np.zeros(2)) is pairs
