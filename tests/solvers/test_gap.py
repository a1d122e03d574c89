import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import norm

import reference
from mbauc.solvers import Penalty, solve_elastic_net, solve_ridge
from mbauc.solvers.gap import auc_loss, binormal_auc, excess_risk_bound, unpenalised_curvature
from mbauc.solvers.operator import MatrixOperator
from strategies import tables


def risk(sigma, mu, w, l1, l2, factors):
    """R of the docstring, from Eq. (14)."""
    return 1 + 2 * reference.objective(sigma, mu, w, l1, l2, factors)


def bound(sigma, mu, w, penalty):
    pairs = MatrixOperator(sigma, mu)
    curvature, _ = unpenalised_curvature(pairs, penalty)
    return excess_risk_bound(pairs, penalty, w, sigma @ w, curvature=curvature)


@given(
    table=tables(max_rows=8, max_columns=4),
    share=st.sampled_from([0.0, 1e-3, 0.1, 0.9, 1.5]),
    l2=st.sampled_from([0.0, 1e-4, 0.1, 10.0]),
    data=st.data(),
)
def test_is_never_below_the_true_excess(table, share, l2, data):
    X, y, weight = table
    X = X / max(np.abs(X).max(), 1.0)
    mu, sigma = reference.pair_moments(X, y, weight)
    d = len(mu)
    factors = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=d, max_size=d)))
    l1 = share * np.abs(mu).max()
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    best = reference.coordinate_descent(sigma, mu, l1, l2, factors)
    start = best * data.draw(st.sampled_from([0.0, 1.0]))
    noise = rng.standard_normal(d) * 10.0 ** data.draw(st.integers(-6, 1))
    w = np.where(np.diagonal(sigma) > 0, start + noise, 0.0)
    excess = risk(sigma, mu, w, l1, l2, factors) - risk(sigma, mu, best, l1, l2, factors)
    scale = 1 + np.abs(w).max() ** 2
    assert bound(sigma, mu, w, Penalty(l1, l2, factors)) >= excess * (1 - 1e-6) - 1e-11 * scale


@given(seed=st.integers(0, 10**6), d=st.integers(1, 6), l2=st.sampled_from([0.0, 0.1]), data=st.data())
def test_is_zero_at_the_minimum_and_shrinks_on_the_way(seed, d, l2, data):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, d))
    mu, sigma = reference.pair_moments(X, rng.random(30) < 0.5)
    factors = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0, 3.0]), min_size=d, max_size=d)))
    penalty = Penalty(0.2 * np.abs(mu).max(), l2, factors)
    best = solve_elastic_net(sigma, mu, penalty).coef
    away = rng.standard_normal(d)
    bounds = [bound(sigma, mu, best + size * away, penalty) for size in (1e-2, 1e-4, 1e-6, 0.0)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 1e-9


@pytest.mark.parametrize(
    ("variance", "cross", "mu", "w", "l1", "l2"),
    [
        # the bound falls below the excess without what weights move along with it …
        (14.8996, -3.67, (-0.311, 0.0169), (1.1, 0.272), 0.0, 7.39),
        (0.524176, 0.687, (-0.365, -0.0403), (0.295, -0.464), 0.0, 0.722),
        (0.062001, 0.237, (-0.228, 0.0197), (-1.98, 5.94), 0.298, 1.23e-4),
        # … and without the longer pull on each of them
        (0.755161, 0.826, (0.31, 0.00196), (0.00262, 1.7e-6), 0.0, 6.17e-4),
        (1.0201, 0.958, (-0.102, 0.217), (0.186, -3.49e-5), 0.0372, 0.00459),
        (2.0164, -1.35, (-0.25, -0.0837), (-0.00618, 3.17e-6), 0.0907, 0.0),
    ],
)
def test_what_an_unpenalised_feature_would_change_in_others_is_counted(variance, cross, mu, w, l1, l2):
    """The first feature is unpenalised, is still pulled a little, and overlaps with the second one."""
    mu, w, factors = np.array(mu), np.array(w), np.array([0.0, 1.0])
    sigma = np.array([[1.0, cross], [cross, variance]])
    # as it is for any pairs
    assert mu @ np.linalg.solve(sigma, mu) < 1.0
    # the first weight follows from the second, which is then alone
    rest, curvature = mu[1] - cross * mu[0], variance - cross**2
    second = np.sign(rest) * max(abs(rest) - l1, 0.0) / (curvature + l2)
    best = np.array([mu[0] - cross * second, second])
    excess = risk(sigma, mu, w, l1, l2, factors) - risk(sigma, mu, best, l1, l2, factors)
    assert excess > 1e-3
    assert bound(sigma, mu, w, Penalty(l1, l2, factors)) >= excess


def test_with_l2_alone_it_is_the_gradient_over_the_strong_convexity(table):
    X, y = table
    mu, sigma = reference.pair_moments(X[:60], y[:60] > 0)
    w, factors = np.array([0.3, -0.2, 0.1, 0.0, 0.2, -0.1]), np.arange(1.0, 7.0)
    gradient = sigma @ w - mu + 0.5 * factors * w
    at_most = (gradient**2 / (0.5 * factors)).sum()
    got = bound(sigma, mu, w, Penalty(0.0, 0.5, factors))
    best = solve_ridge(sigma, mu, Penalty(0.0, 0.5, factors)).coef
    excess = risk(sigma, mu, w, 0.0, 0.5, factors) - risk(sigma, mu, best, 0.0, 0.5, factors)
    assert excess < got <= at_most * (1 + 1e-12)


def test_without_any_penalty_it_is_the_excess_itself_if_features_do_not_overlap():
    sigma, mu, w = np.diag([0.5, 2.0, 1.0]), np.array([0.2, -0.3, 0.1]), np.array([0.1, 0.4, -1.0])
    got = bound(sigma, mu, w, Penalty(0.0, 0.0, np.ones(3)))
    free = np.zeros(3)
    best = mu / np.diagonal(sigma)
    assert got == pytest.approx(risk(sigma, mu, w, 0, 0, free) - risk(sigma, mu, best, 0, 0, free))


def test_both_ways_to_treat_l2_are_used(table):
    # a tiny l2 helps nothing at a crude point, and a large one where single features exceed l1 a little
    X, y = table
    mu, sigma = reference.pair_moments(X[:60], y[:60] > 0)
    l1 = 0.1 * np.abs(mu).max()
    crude = bound(sigma, mu, np.zeros(6), Penalty(l1, 1e-9, np.ones(6)))
    assert crude == pytest.approx(bound(sigma, mu, np.zeros(6), Penalty(l1, 0.0, np.ones(6))), rel=1e-6)
    penalty = Penalty(l1, 10.0, np.ones(6))
    w = solve_elastic_net(sigma, mu, penalty).coef * (1 + 1e-5)
    assert 0.0 < bound(sigma, mu, w, penalty) < 1e-9


def test_features_that_never_occur_change_nothing(table):
    X, y = table
    mu, sigma = reference.pair_moments(X[:60], y[:60] > 0)
    wide, wide_mu = np.zeros((8, 8)), np.r_[mu, 0.0, 0.0]
    wide[:6, :6] = sigma
    w = np.linspace(-0.1, 0.2, 6)
    for l1, l2 in ((0.01, 0.0), (0.01, 0.1), (0.0, 0.1), (0.0, 0.0)):
        narrow = bound(sigma, mu, w, Penalty(l1, l2, np.ones(6)))
        factors = np.r_[np.ones(6), 0.0, 1.0]
        assert bound(wide, wide_mu, np.r_[w, 0.0, 0.0], Penalty(l1, l2, factors)) == pytest.approx(narrow)


@pytest.mark.parametrize("free", [0, 1, 2, 5, 12])
def test_curvature_among_unpenalised_features(rng, free):
    A = rng.standard_normal((40, 15)) * np.geomspace(1e-2, 10, 15)
    sigma = A.T @ A / 40
    chosen = rng.permutation(15)[:free]
    factors = np.ones(15)
    factors[chosen] = 0.0
    curvature, taken = unpenalised_curvature(MatrixOperator(sigma, np.zeros(15)), Penalty(0.1, 0.0, factors))
    root = np.sqrt(np.diagonal(sigma)[chosen])
    block = sigma[np.ix_(chosen, chosen)] / root[:, None] / root
    assert curvature == pytest.approx(np.linalg.eigvalsh(block)[0] if free > 1 else 1.0)
    assert taken == (free if free > 1 else 0)


def test_curvature_of_unpenalised_features_that_depend_on_each_other(rng):
    A = rng.standard_normal((40, 3))
    A = np.c_[A, A[:, 0] + A[:, 1]]
    sigma = A.T @ A / 40
    root = np.sqrt(np.diagonal(sigma))
    values = np.linalg.eigvalsh(sigma / root[:, None] / root)
    curvature, _ = unpenalised_curvature(MatrixOperator(sigma, np.zeros(4)), Penalty(0.1, 0.0, np.zeros(4)))
    assert curvature == pytest.approx(values[1], rel=1e-6)


@given(separation=st.floats(0.05, 4.0), size=st.floats(0.1, 10.0))
def test_auc_loss_is_the_slope_of_auc_in_risk(separation, size):
    # w'μ and w'Σw of any multiple of weights with this separation
    mu_w = size * separation**2 / (1 + separation**2)
    w_sigma_w = mu_w**2 * (1 + 1 / separation**2)
    assert binormal_auc(mu_w, w_sigma_w) == pytest.approx(ndtr(separation))
    slope = norm.pdf(separation) * (1 + separation**2) ** 2 / (2 * separation)
    step = 1e-5 * min(1.0, separation**2) / (1 + separation**2)
    assert auc_loss(step, mu_w, w_sigma_w) / step == pytest.approx(slope, rel=1e-3)

    def auc_at(risk):
        return ndtr(np.sqrt(1 / risk - 1))

    now = 1 / (1 + separation**2)
    assert now == pytest.approx(1 - mu_w**2 / w_sigma_w)
    difference = (auc_at(now - step) - auc_at(now + step)) / (2 * step)
    assert difference == pytest.approx(slope, rel=1e-3)


def test_auc_loss_at_the_ends():
    assert auc_loss(0.0, 0.5, 0.5) == 0.0
    assert auc_loss(2.0, 0.5, 0.5) == pytest.approx(1 - ndtr(1.0))
    assert auc_loss(1e-3, 1.0, 1.0) == 0.0
    assert auc_loss(0.2, 0.0, 0.0) == pytest.approx(ndtr(0.5) - 0.5)
    assert auc_loss(0.0, -0.5, 0.5) == pytest.approx(0.5 - ndtr(-1.0))
