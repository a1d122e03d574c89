"""Rounding, offsets, outliers and wild scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mbauc.losses import LOSSES, PairWeights, Region, get_loss
from strategies import scored_rows

names = pytest.mark.parametrize("name", list(LOSSES))
truncated = pytest.mark.parametrize("name", ["squared_hinge", "hinge"])


def expand(name, positive, scores, groups=None):
    return get_loss(name).expand(PairWeights.build(positive, None, groups), scores)


@truncated
@given(
    at=st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=6),
    nudges=st.lists(st.sampled_from([-1, 0, 1]), min_size=6, max_size=6),
    knot=st.sampled_from([1.0, 0.5]),
)
def test_both_rows_of_a_pair_agree_whether_it_is_active(name, at, nudges, knot):
    low = np.array(at)
    high = low + knot
    for i, nudge in zip(range(low.size), nudges, strict=False):
        high[i] = np.nextafter(high[i], nudge * np.inf) if nudge else high[i]
    scores = np.concatenate([high, low])
    found = expand(name, np.arange(scores.size) < low.size, scores)
    hessian = np.column_stack([found.product(e) for e in np.eye(scores.size)])
    np.testing.assert_array_equal(np.abs(hessian) > 1e-9, np.abs(hessian.T) > 1e-9)
    np.testing.assert_allclose(hessian, hessian.T, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(np.diag(hessian), found.diagonal, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(hessian.sum(axis=0), 0, atol=1e-15)
    assert np.linalg.eigvalsh((hessian + hessian.T) / 2).min() >= -1e-15


@names
@given(rows=scored_rows())
def test_the_gradient_sums_to_zero_in_each_group(name, rows):
    positive, scores, weight, groups = rows
    found = get_loss(name).expand(PairWeights.build(positive, weight, groups), scores)
    groups = np.zeros(scores.size, dtype=int) if groups is None else groups
    size = np.abs(found.gradient).sum()
    np.testing.assert_allclose(np.bincount(groups, found.gradient), 0, atol=1e-13 * size)
    product = found.product(scores - 3.0)
    np.testing.assert_allclose(np.bincount(groups, product), 0, atol=1e-12 * np.abs(product).sum())


@names
@pytest.mark.parametrize("n", [60, 5000])
def test_a_common_offset_changes_nothing(name, n, rng):
    positive = rng.random(n) < 0.4
    scores = np.round(rng.standard_normal(n) * 3, 4)
    groups = rng.integers(0, 3, n)
    offset = np.array([1e8, -1e9, 3e7])[groups]
    scores = (scores + offset) - offset  # what the offset leaves of them
    plain, moved = expand(name, positive, scores, groups), expand(name, positive, scores + offset, groups)
    assert moved.value == pytest.approx(plain.value, rel=1e-11)
    for one, other in (
        (moved.gradient, plain.gradient),
        (moved.diagonal, plain.diagonal),
        (moved.product(scores + offset), plain.product(scores)),
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9 * np.abs(other).max())


@names
@pytest.mark.parametrize("n", [40, 1300])
@pytest.mark.parametrize("outlier", [500.0, 1e9, -1e9])
@pytest.mark.parametrize("positive_one", [True, False])
def test_one_score_far_out_leaves_the_others_alone(name, n, outlier, positive_one, rng):
    """The loss of the pairs without it, and of those with it, are what they are on their own."""
    positive, scores = rng.random(n) < 0.5, rng.standard_normal(n)
    positive[0], scores[0] = positive_one, outlier
    if name == "hinge":  # a difference of squares: what it loses grows with the range
        scores[0] = np.clip(outlier, -1e5, 1e5)
    with np.errstate(over="ignore"):
        found = expand(name, positive, scores)
        m = scores[positive][:, None] - scores[~positive][None, :]
        loss = get_loss(name)
        value, slopes = loss.of_margins(m).mean(), loss.slopes(m)
        if not value < 1e300:
            assert found.value == np.inf or found.value > 1e200
            return
        gradient = np.zeros(n)
        gradient[positive] = slopes.sum(axis=1) / slopes.size
        gradient[~positive] = -slopes.sum(axis=0) / slopes.size
        assert found.value == pytest.approx(float(value), rel=1e-9)
        np.testing.assert_allclose(
            found.gradient[1:], gradient[1:], rtol=1e-7, atol=1e-9 * np.abs(gradient[1:]).max()
        )


@names
@given(
    scores=st.lists(st.sampled_from([0.0, 1.0, -1e4, 1e4, 1e9, -1e9, 1e150, -1e150]), min_size=2, max_size=8),
    groups=st.booleans(),
)
def test_wild_scores_never_give_nan(name, scores, groups):
    """A line search may try them: the value is finite or infinite, and so is everything else."""
    scores = np.array(scores)
    positive = np.arange(scores.size) % 2 == 0
    with np.errstate(over="ignore"):
        found = expand(
            name, positive, scores, np.arange(scores.size) // 4 if groups and scores.size % 4 != 1 else None
        )
        assert found.value >= 0
        for part in (found.gradient, found.diagonal, found.product(scores / 1e150), found.product(scores)):
            assert not np.isnan(part).any()


def test_the_exponential_loss_is_infinite_from_a_margin_of_minus_600_on():
    """Below it the slopes are those at its edge: numbers, so that a search can step back."""
    positive = np.array([True, False])
    for margin in (-1.0, -599.0, -601.0, -1100.0):
        found = expand("exponential", positive, np.array([margin, 0.0]))
        slope = np.exp(min(-margin, 600.0))
        assert found.value == (pytest.approx(np.exp(-margin), rel=1e-12) if margin > -600 else np.inf)
        np.testing.assert_allclose(found.gradient, [-slope, slope], rtol=1e-12)


@names
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_scores_that_are_not_finite_are_refused(name, bad):
    positive, scores = np.array([True, False, True]), np.array([1.0, 2.0, bad])
    said = r"scores must be finite, got (nan|inf) for row 2"
    with pytest.raises(ValueError, match=said):
        _ = expand(name, positive, scores).value
    with pytest.raises(ValueError, match=said):
        Region(max_fpr=0.5).select(PairWeights.build(positive), scores)


@names
def test_single_precision_is_taken_as_the_double_that_it_is(name, rng):
    positive, scores = rng.random(50) < 0.5, rng.standard_normal(50).astype(np.float32)
    single, double = expand(name, positive, scores), expand(name, positive, scores.astype(np.float64))
    assert single.value == double.value
    np.testing.assert_array_equal(single.gradient, double.gradient)
    np.testing.assert_array_equal(single.product(scores), double.product(scores.astype(np.float64)))


@names
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: np.round(8 * rng.standard_normal(n)) / 8,
        lambda rng, n: np.where(rng.random(n) < 0.7, 0.25, rng.standard_normal(n)),
        lambda rng, n: np.where(rng.random(n) < 0.5, 1e-7, 20.0) * rng.standard_normal(n),
        lambda rng, n: np.where(rng.random(n) < 0.01, 1e3, 1.0) * rng.standard_normal(n),
        lambda rng, n: np.sort(rng.standard_normal(n)),
        lambda rng, n: np.full(n, 5e-324) * rng.integers(0, 3, n),
    ],
    ids=["ties", "many at one", "two scales", "heavy tails", "sorted", "subnormal"],
)
def test_any_distribution_of_scores(name, draw, rng):
    n = 3000
    positive, scores = rng.random(n) < 0.3, draw(rng, n)
    if name == "exponential":
        scores = np.clip(scores, -100, 100)
    m = scores[positive][:, None] - scores[~positive][None, :]
    loss, found = get_loss(name), expand(name, positive, scores)
    assert found.value == pytest.approx(loss.of_margins(m).mean(), rel=1e-9)
    slopes, k = loss.slopes(m), loss.curvatures(m)
    gradient, product = np.empty(n), np.empty(n)
    gradient[positive], gradient[~positive] = slopes.sum(axis=1), -slopes.sum(axis=0)
    np.testing.assert_allclose(found.gradient * m.size, gradient, rtol=1e-8, atol=1e-8 * np.abs(gradient).max())
    v = rng.standard_normal(n)
    lifted = k * (v[positive][:, None] - v[~positive][None, :])
    product[positive], product[~positive] = lifted.sum(axis=1), -lifted.sum(axis=0)
    np.testing.assert_allclose(found.product(v) * m.size, product, rtol=1e-8, atol=1e-8 * np.abs(product).max())


def test_truncated_squares_scale(rng):
    """ℓ of knot c at c times the scores is c² times ℓ: checked with the squared hinge's own knot."""
    positive, scores = rng.random(500) < 0.3, rng.standard_normal(500)

    class Wide(type(get_loss("squared_hinge"))):
        terms = ((8.0, 1.0),)

    pairs = PairWeights.build(positive)
    plain, wide = get_loss("squared_hinge").expand(pairs, scores), Wide().expand(pairs, 8.0 * scores)
    assert wide.value == pytest.approx(64 * plain.value)
    np.testing.assert_allclose(wide.gradient, 8 * plain.gradient, rtol=1e-12, atol=1e-16)


def test_many_threads_and_one_give_the_same_bits(rng, monkeypatch):
    n = 1 << 18
    positive, scores = rng.random(n) < 0.3, rng.standard_normal(n)
    pairs = Region(0.5).select(PairWeights.build(positive, rng.exponential(size=n)), scores)
    results = []
    for count in (1, 2):
        monkeypatch.setattr("mbauc.losses.class_rows.thread_count", lambda _, count=count: count)
        found = [get_loss(name).expand(pairs, scores) for name in ("squared_hinge", "logistic")]
        results.append([(e.value, e.gradient.tobytes(), e.product(scores).tobytes()) for e in found])
    assert results[0] == results[1]


@pytest.mark.parametrize("name", ["squared_hinge", "hinge"])
def test_rounding_of_many_equal_weights_does_not_add_up(name, rng):
    n = 200_000
    positive, scores = rng.random(n) < 0.3, rng.standard_normal(n)
    loss, found = get_loss(name), expand(name, positive, scores)
    low = scores[~positive]
    for row in np.flatnonzero(positive)[:10]:
        m = scores[row] - low
        size = float(positive.sum()) * low.size
        assert found.gradient[row] == pytest.approx(loss.slopes(m).sum() / size, rel=1e-12, abs=0)
        assert found.diagonal[row] == pytest.approx(loss.curvatures(m).sum() / size, rel=1e-13, abs=0)
