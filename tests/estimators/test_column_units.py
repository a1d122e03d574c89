"""Columns in different units: the penalties that nobody sets must not ruin a fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp
from sklearn.preprocessing import StandardScaler

from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.errors import PenaltyWarning
from mbauc.estimators.cross_validation.grids import default_l2_grid
from mbauc.metrics import roc_auc
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.solvers.column_scales import column_scales, scale_columns


def table(rng, n, units):
    """Six columns that matter and one of noise in other units."""
    y = rng.random(n) < 0.1
    return np.c_[rng.standard_normal((n, 6)) + 0.8 * y[:, None], units * rng.standard_normal(n)], y


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
@pytest.mark.parametrize("units", [1e-8, 1e3, 1e5, 1e8])
def test_a_noise_column_in_other_units_costs_nothing(rng, units, solver):
    (X, y), (X_test, y_test) = table(rng, 3000, units), table(rng, 5000, units)
    found = MBAClassifier(solver=solver).fit(X, y)
    peer = MBAClassifier(scale=True).fit(X, y)
    aucs = [roc_auc(y_test, ranker.decision_function(X_test)) for ranker in (found, peer)]
    assert aucs[0] > aucs[1] - 0.003


@pytest.mark.parametrize("kind", ["dense", "sparse", "moments", "blocks"])
def test_whatever_the_rows_come_as(rng, kind):
    (X, y), (X_test, y_test) = table(rng, 2000, 1e6), table(rng, 4000, 1e6)
    ranker = MBAClassifier()
    if kind == "moments":
        ranker.fit_moments(PairMoments.from_arrays(X, y))
    elif kind == "blocks":
        for part in np.array_split(np.arange(2000), 4):
            ranker.partial_fit(X[part], y[part])
    else:
        ranker.fit(sp.csr_array(X) if kind == "sparse" else X, y)
    w = ranker.coef_[0]
    assert roc_auc(y_test, X_test @ w) > 0.88
    np.testing.assert_allclose(ranker.scale_, X.std(axis=0), rtol=1e-6)


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_cross_validation_is_not_led_astray(rng, solver):
    (X, y), (X_test, y_test) = table(rng, 1500, 1e6), table(rng, 4000, 1e6)
    ranker = MBAClassifierCV(random_state=0, solver=solver).fit(X, y)
    assert roc_auc(y_test, ranker.decision_function(X_test)) > 0.88
    np.testing.assert_allclose(ranker.scale_, X.std(axis=0), rtol=1e-6)


def test_the_ranking_does_not_depend_on_units_once_they_differ(rng):
    X, y = table(rng, 500, 1.0)
    units = 10.0 ** rng.uniform(-6, 6, 7)
    units[[0, 1]] = 1e-6, 1e6
    one = MBAClassifier().fit(X * units, y)
    other = MBAClassifier().fit(X * units[::-1], y)
    np.testing.assert_allclose(one.coef_ * units, other.coef_ * units[::-1], rtol=1e-6)
    assert one.l2_ == pytest.approx(other.l2_)


def test_columns_of_zeros_and_ones_stay_as_they_are(rng):
    n = 1000
    y = rng.random(n) < 0.2
    flags = (rng.random((n, 4)) < [0.5, 0.1, 0.01, 0.9]).astype(float)
    X = np.c_[flags, 1e7 * rng.standard_normal(n), 1.7e9 + 1e7 * rng.random(n)]
    weight = rng.random(n) + 0.5
    for moments in (PairMoments.from_arrays(X, y), PairMoments.from_arrays(X, y, sample_weight=weight)):
        scales = scale_columns(moments, "auto")
        np.testing.assert_array_equal(scales[:4], 1.0)
        np.testing.assert_allclose(scales[4:], np.sqrt(moments.column_variances)[4:])
    rows = build_matrix_operator(sp.csr_array(X), [np.flatnonzero(y), np.flatnonzero(~y)], None, 1)
    scales = np.ones(6)
    scales[rows.order.columns] = scale_columns(rows, "auto")
    np.testing.assert_allclose(scales, scale_columns(PairMoments.from_arrays(X, y), "auto"), rtol=1e-6)


def test_rare_levels_are_not_taken_for_other_units(rng):
    n = 2000
    X = sp.random_array((n, 50), density=0.02, rng=rng, data_sampler=lambda size: np.ones(size), format="csr")
    y = rng.random(n) < 0.3
    np.testing.assert_array_equal(MBAClassifier().fit(X, y).scale_, 1.0)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(-12, 12), min_size=2, max_size=8),
    st.lists(st.floats(0.0, 1e6), min_size=8, max_size=8),
    st.integers(2, 10**9),
)
def test_auto_is_one_or_the_standard_deviation(exponents, means, n_rows):
    variances = 10.0 ** np.array(exponents)
    by_class = [np.array(means[: variances.size]), np.array(means[: variances.size][::-1])]
    scales = column_scales("auto", variances, by_class, [1.0, 2.0], n_rows)
    assert ((scales == 1.0) | np.isclose(scales, np.sqrt(variances))).all()
    if max(exponents) - min(exponents) < 3:
        np.testing.assert_array_equal(scales, 1.0)


def test_penalties_that_are_given_mean_the_columns_as_they_are(rng):
    X, y = table(rng, 300, 1e6)
    for settings_ in ({"l2": 0.5}, {"l1": 0.01}, {"l1": 0.01, "l2": 0.5}):
        given_, plain = (MBAClassifier(**settings_, scale=scale).fit(X, y) for scale in ("auto", False))
        np.testing.assert_array_equal(given_.coef_, plain.coef_)
        np.testing.assert_array_equal(given_.scale_, 1.0)
    cv = MBAClassifierCV(l2_grid=[0.1, 1.0, 10.0], random_state=0).fit(X, y)
    np.testing.assert_array_equal(cv.scale_, 1.0)


def test_scale_true_is_still_a_standard_scaler_in_front(rng):
    X, y = table(rng, 400, 1e6)
    inside = MBAClassifier(scale=True).fit(X, y)
    before = MBAClassifier(scale=False).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(inside.coef_ * X.std(axis=0), before.coef_, rtol=1e-8)


def test_l2_reaches_far_enough_down_without_scaling(rng):
    (X, y), (X_test, y_test) = table(rng, 3000, 1e5), table(rng, 5000, 1e5)
    ranker = MBAClassifier(scale=False).fit(X, y)
    assert roc_auc(y_test, ranker.decision_function(X_test)) > 0.88
    grid = default_l2_grid(np.array([1.0] * 6 + [1e10]))
    assert grid[0] <= 0.02
    assert grid.size > 20
    np.testing.assert_allclose(default_l2_grid(np.ones(3)), np.logspace(-6, 3, 20))


def test_units_that_no_l2_can_bridge_are_warned_of(rng):
    X, y = table(rng, 300, 1e8)
    with pytest.warns(PenaltyWarning, match="lost to rounding errors"):
        MBAClassifier(scale=False).fit(X, y)


def test_a_choice_at_the_edge_is_warned_of(rng):
    X, y = table(rng, 400, 1.0)
    with pytest.warns(PenaltyWarning, match="the best l2 is the smallest of the grid"):
        MBAClassifierCV(l2_grid=[1e2, 1e4, 1e6], random_state=0).fit(X * [1, 1, 1, 1, 1, 1, 50], y)


@pytest.mark.parametrize("scale", ["yes", 1, None])
def test_what_scale_may_be(rng, scale):
    X, y = table(rng, 50, 1.0)
    with pytest.raises(ValueError, match="scale must be True, False or 'auto'"):
        MBAClassifier(scale=scale).fit(X, y)
