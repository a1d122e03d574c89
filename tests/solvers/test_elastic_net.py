import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

import reference
from mbauc import PairMoments
from mbauc.solvers import Penalty, elastic_net_path, solve_elastic_net


@given(
    seed=st.integers(0, 10**6),
    d=st.integers(1, 7),
    share=st.floats(1e-3, 1.5),
    l2=st.sampled_from([0.0, 0.01, 1.0]),
    data=st.data(),
)
def test_equals_textbook_coordinate_descent(seed, d, share, l2, data):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((3 * d, d))
    sigma, mu = A.T @ A / (3 * d), A.T @ rng.standard_normal(3 * d) / (3 * d)
    factors = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=d, max_size=d)))
    l1 = share * np.abs(mu).max()
    solution = solve_elastic_net(sigma, mu, Penalty(l1, l2, factors))
    slow = reference.coordinate_descent(sigma, mu, l1, l2, factors)
    best = reference.objective(sigma, mu, slow, l1, l2, factors)
    assert solution.objective <= best + 1e-8 * (1 + abs(best))
    assert solution.optimality <= 1e-6
    np.testing.assert_allclose(
        solution.objective,
        reference.objective(sigma, mu, solution.coef, l1, l2, factors),
        rtol=1e-9,
        atol=1e-12,
    )


def test_the_certificate_is_zero_only_at_the_optimum(table):
    m = PairMoments.from_arrays(*table)
    penalty = Penalty(0.05, 0.1, np.ones(6))
    solution = solve_elastic_net(m.second_moment, m.mean_difference, penalty)
    gradient = m.second_moment @ solution.coef - m.mean_difference
    assert penalty.distance_to_stationarity(gradient, solution.coef) < 1e-10
    moved = solution.coef + 1e-3
    gradient = m.second_moment @ moved - m.mean_difference
    assert penalty.distance_to_stationarity(gradient, moved) > 1e-4


def test_matches_independent_solvers_in_objective(rng):
    X = rng.standard_normal((400, 12)) @ rng.standard_normal((12, 12))
    y = (X[:, 0] + X[:, 3] + 6 * rng.standard_normal(400)) > 2
    m = PairMoments.from_arrays(X, y)
    sigma, mu = m.second_moment, m.mean_difference
    l1, l2 = 0.05 * np.abs(mu).max(), 0.2
    value = solve_elastic_net(sigma, mu, Penalty(l1, l2, np.ones(12))).objective

    # smooth form of the same problem: w = a - b with a, b >= 0
    def smooth(ab):
        w = ab[:12] - ab[12:]
        gradient = sigma @ w - mu + l2 * w
        return 0.5 * w @ sigma @ w - w @ mu + l2 / 2 * w @ w + l1 * ab.sum(), np.r_[
            gradient + l1, -gradient + l1
        ]

    bounded = minimize(
        smooth, np.zeros(24), jac=True, bounds=[(0, None)] * 24, options={"maxiter": 10_000, "ftol": 1e-15}
    )
    assert value == pytest.approx(bounded.fun, abs=1e-6)

    # weighted least squares with n + 1 rows has the same normal equations
    middle = (X[y].mean(0) + X[~y].mean(0)) / 2
    root = np.sqrt(np.where(y, 1 / y.sum(), 1 / (~y).sum()))
    rows = np.vstack([(X - middle) * root[:, None], mu / np.sqrt(2)])
    target = np.r_[np.where(y, 0.5, -0.5) * root, 1 / np.sqrt(2)]
    np.testing.assert_allclose(rows.T @ rows, sigma, atol=1e-10)
    np.testing.assert_allclose(rows.T @ target, mu, atol=1e-12)
    n = len(target)
    net = ElasticNet(
        alpha=(l1 + l2) / n, l1_ratio=l1 / (l1 + l2), fit_intercept=False, tol=1e-12, max_iter=100_000
    )
    assert value == pytest.approx(reference.objective(sigma, mu, net.fit(rows, target).coef_, l1, l2), abs=1e-6)


def test_the_path_starts_at_zero_and_grows(table):
    m = PairMoments.from_arrays(*table)
    sigma, mu = m.second_moment, m.mean_difference
    top = np.abs(mu).max()
    shares = np.r_[0.0, np.geomspace(1e-4, 1.0, 20)]
    path = elastic_net_path(sigma, mu, list(top * shares), 0.0, np.ones(6))
    assert not path[-1].coef.any()
    assert path[-2].coef.any()
    np.testing.assert_allclose(path[0].coef, np.linalg.solve(sigma, mu), rtol=1e-6)
    assert all(step.optimality <= 1e-6 for step in path)
    values = [step.objective for step in path]
    assert values == sorted(values)
    for share, step in zip(shares[1:], path[1:], strict=True):
        alone = solve_elastic_net(sigma, mu, Penalty(top * share, 0.0, np.ones(6)))
        assert step.objective == pytest.approx(alone.objective, abs=1e-10)


def test_semidefinite_sigma(table):
    m = PairMoments.from_arrays(*table)
    sigma, mu = m.second_moment, m.mean_difference
    twice, mu2 = np.block([[sigma, sigma], [sigma, sigma]]), np.r_[mu, mu]
    l1 = 0.01 * np.abs(mu).max()
    single = solve_elastic_net(sigma, mu, Penalty(l1, 0.0, np.ones(6)))
    double = solve_elastic_net(twice, mu2, Penalty(l1, 0.0, np.ones(12)))
    assert double.objective == pytest.approx(single.objective, abs=1e-8)
    np.testing.assert_allclose(double.coef[:6] + double.coef[6:], single.coef, atol=1e-6)


def test_stopping_early_warns_and_says_how_far_off(rng, monkeypatch):
    monkeypatch.setattr("mbauc.solvers.gram.elastic_net._POLISH_STEPS", 0)
    A = rng.standard_normal((60, 50))
    A[:, 1:] = A[:, :1] + 1e-2 * A[:, 1:]
    sigma, mu = A.T @ A / 60, A.T @ rng.standard_normal(60) / 60
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        solution = solve_elastic_net(sigma, mu, Penalty(1e-4 * np.abs(mu).max(), 0.0, np.ones(50)), max_iter=1)
    assert solution.optimality > 1e-6
