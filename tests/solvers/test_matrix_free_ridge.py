"""Ridge from products against ridge from the matrix."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from mbauc.solvers import (
    MatrixOperator,
    Penalty,
    RidgePath,
    choose_l2,
    ridge_path_matrix_free,
    search_l2,
    solve_ridge,
    solve_ridge_auto,
    solve_ridge_matrix_free,
)
from mbauc.solvers.gap import binormal_auc
from mbauc.solvers.matrix_free.subspace import RidgeSubspace


def moments(seed, n=400, d=60, spread=4.0):
    """Rows with columns in very different units, some of them constant."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ np.diag(np.logspace(0, -spread, d)) + rng.standard_normal((n, 1))
    X[:, 5] = 0.0
    y = rng.random(n) < 0.3
    X[y] += 0.2
    X[:, 5] = 0.0
    plus, minus = X[y], X[~y]
    mu = plus.mean(axis=0) - minus.mean(axis=0)
    return np.cov(plus.T, bias=True) + np.cov(minus.T, bias=True) + np.outer(mu, mu), mu


class Counting(MatrixOperator):
    count = 0

    def product(self, v):
        self.count += 1
        return super().product(v)


@pytest.mark.parametrize("l2", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_that_of_the_matrix(l2, seed):
    sigma, mu = moments(seed)
    penalty = Penalty(0.0, l2, np.random.default_rng(seed).uniform(0.5, 2.0, mu.size))
    exact = solve_ridge(sigma, mu, penalty)
    found = solve_ridge_matrix_free(MatrixOperator(sigma, mu), penalty, tol=1e-14)
    np.testing.assert_allclose(found.coef, exact.coef, atol=1e-3 * np.abs(exact.coef).max())
    assert found.objective == pytest.approx(exact.objective, abs=1e-13)
    assert found.optimality < 1e-5


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_the_excess_risk_is_within_reach_of_tol_and_below_its_bound(tol, seed):
    sigma, mu = moments(seed, d=200, n=300)
    penalty = Penalty(0.0, 0.01, np.ones(mu.size))
    found = solve_ridge_matrix_free(MatrixOperator(sigma, mu), penalty, tol=tol)
    excess = 2 * (found.objective - solve_ridge(sigma, mu, penalty).objective)
    assert found.excess_risk <= tol
    assert excess <= 2 * tol
    assert excess <= found.excess_bound * (1 + 1e-6) + 1e-14


def test_unpenalised_features_and_features_that_never_vary():
    sigma, mu = moments(1)
    factors = np.ones(mu.size)
    factors[[0, 3]] = 0.0
    exact = solve_ridge(sigma, mu, Penalty(0.0, 0.1, factors))
    found = solve_ridge_matrix_free(MatrixOperator(sigma, mu), Penalty(0.0, 0.1, factors), tol=1e-14)
    np.testing.assert_allclose(found.coef, exact.coef, atol=1e-6)
    assert found.coef[5] == 0.0
    assert found.excess_bound == np.inf


def test_units_of_the_columns_do_not_matter():
    sigma, mu = moments(2)
    units = np.logspace(-6, 6, mu.size)
    one = solve_ridge_matrix_free(MatrixOperator(sigma, mu), Penalty(0.0, 0.1, np.ones(mu.size)), tol=1e-9)
    scaled = MatrixOperator(sigma * np.outer(units, units), mu * units)
    other = solve_ridge_matrix_free(scaled, Penalty(0.0, 0.1, units**2), tol=1e-9)
    np.testing.assert_allclose(other.coef * units, one.coef, rtol=1e-5, atol=1e-8)
    assert other.iterations == one.iterations


def test_no_penalty_and_a_singular_matrix():
    sigma, mu = moments(0, n=20, d=60)
    found = solve_ridge_matrix_free(MatrixOperator(sigma, mu), Penalty(0.0, 0.0, np.ones(60)), tol=1e-12)
    assert np.abs(sigma @ found.coef - mu).max() < 1e-3 * np.abs(mu).max()


def test_a_collapsed_subspace_loses_nothing_that_conjugate_gradients_would_keep():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((300, 120)) @ np.diag(np.logspace(0, -2, 120))
    sigma, mu = rows.T @ rows / 300, rows[0] / 10
    roomy, tight = (RidgeSubspace(MatrixOperator(sigma, mu), np.ones(mu.size), room=room) for room in (60, 6))
    for _ in range(25):
        if tight.is_full:
            tight.collapse(1e-4)
        roomy.grow(1e-4)
        tight.grow(1e-4)
    assert tight.size <= 6
    assert tight.gains(1e-4)[0] == pytest.approx(roomy.gains(1e-4)[0], rel=1e-6)


def test_what_is_known_within_the_span_is_what_the_solution_has():
    sigma, mu = moments(4)
    subspace = RidgeSubspace(MatrixOperator(sigma, mu), np.ones(mu.size))
    for l2 in (0.1, 0.01, 0.1, 0.001):
        subspace.grow(l2)
    for l2 in (0.3, 0.003):
        w = subspace.solution(l2)
        assert subspace.gains(l2)[0] == pytest.approx(mu @ w)
        solved = subspace.evaluate(np.array([l2]))
        assert solved.risk[0] == pytest.approx(1 - 2 * w @ mu + w @ sigma @ w)
        assert (solved.gain[0], solved.size[0]) == (pytest.approx(w @ mu), pytest.approx(w @ w))
        np.testing.assert_allclose(subspace.differences(l2), (w @ mu, w @ sigma @ w))
        assert 1 - mu @ w == pytest.approx(1 - 2 * w @ mu + w @ sigma @ w + l2 * w @ w)
    assert not RidgeSubspace(MatrixOperator(sigma, np.zeros_like(mu)), np.ones(mu.size)).grow(1.0)


def test_a_path_shares_its_directions():
    sigma, mu = moments(5, d=150, n=3000, spread=3.0)
    values = [float(value) for value in np.logspace(-4, 0, 9)]
    products = Counting(sigma, mu)
    path = ridge_path_matrix_free(products, values, np.ones(mu.size), tol=1e-8)
    shared = products.count
    products.count = 0
    alone = [
        solve_ridge_matrix_free(products, Penalty(0.0, value, np.ones(mu.size)), tol=1e-8) for value in values
    ]
    assert shared < products.count
    exact = RidgePath(sigma, mu, np.ones(mu.size)).coefficients(values)
    for solution, other, w in zip(path, alone, exact, strict=True):
        np.testing.assert_allclose(solution.coef, w, atol=0.03 * np.abs(w).max())
        assert solution.objective == pytest.approx(other.objective, abs=1e-7)


@pytest.mark.parametrize(("n", "d"), [(300, 100), (5000, 60), (200, 400)])
def test_l2_is_close_to_what_the_spectrum_favours(n, d):
    sigma, mu = moments(6, n=n, d=d, spread=1.0)
    sizes = (0.3 * n, 0.7 * n)
    wanted = choose_l2(RidgePath(sigma, mu, np.ones(d)).spectrum, sizes)
    solution = solve_ridge_auto(MatrixOperator(sigma, mu), np.ones(d), sizes, d, tol=1e-8)
    l2 = solution.l2
    assert wanted / 4 <= l2 <= wanted * 4
    exact = solve_ridge(sigma, mu, Penalty(0.0, l2, np.ones(d)))
    assert solution.objective == pytest.approx(exact.objective, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(5000, 60), (200, 400)])
def test_resumed_anywhere_to_the_same_bits(n, d):
    sigma, mu = moments(7, n=n, d=d, spread=2.0)
    states = []

    def keep(state, iteration, excess, auc):
        states.append({name: np.array(value) for name, value in state.items()})
        assert 0.5 <= auc <= 1.0

    def solve(**options):
        return solve_ridge_auto(
            MatrixOperator(sigma, mu), np.ones(d), (0.3 * n, 0.7 * n), d, tol=1e-13, **options
        )

    whole = solve(watch=keep)
    assert len(states) >= 5
    for state in states[:: max(1, len(states) // 30)]:  # each solves all of the problem that is left
        again = solve(resume=state)
        assert again.l2 == whole.l2
        assert np.array_equal(again.coef, whole.coef)
        assert again.iterations == whole.iterations


def test_too_few_products_are_said():
    sigma, mu = moments(8, d=200)
    with pytest.warns(ConvergenceWarning, match="after 5 products"):
        solve_ridge_matrix_free(MatrixOperator(sigma, mu), Penalty(0.0, 1e-6, np.ones(200)), max_iter=5)


def test_the_target_zero_is_solved_by_nothing():
    found = solve_ridge_matrix_free(MatrixOperator(np.eye(3), np.zeros(3)), Penalty(0.0, 1.0, np.ones(3)))
    np.testing.assert_array_equal(found.coef, np.zeros(3))


def near_duplicates(n, k, seed, eps=0.05, shift=0.25):
    """Columns in pairs that differ by little, and only the difference tells the classes apart."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    z = 3 * rng.standard_normal((n, k))
    X = np.hstack([z, z + eps * (rng.standard_normal((n, k)) + shift * y[:, None])])
    plus, minus = X[y], X[~y]
    mu = plus.mean(axis=0) - minus.mean(axis=0)
    return np.cov(plus.T, bias=True) + np.cov(minus.T, bias=True) + np.outer(mu, mu), mu


@pytest.mark.parametrize(("n", "k", "shift"), [(1000, 3, 1.0), (4000, 30, 0.25)])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_by_small_differences_is_not_taken_for_noise(n, k, shift, seed):
    sigma, mu = near_duplicates(n, k, seed, shift=shift)
    sizes = (0.3 * n, 0.7 * n)
    wanted = choose_l2(RidgePath(sigma, mu, np.ones(2 * k)).spectrum, sizes)
    best = solve_ridge(sigma, mu, Penalty(0.0, wanted, np.ones(2 * k)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = solve_ridge_auto(MatrixOperator(sigma, mu), np.ones(2 * k), sizes, 2 * k)
    assert found.l2 < 100 * wanted
    aucs = [binormal_auc(w @ mu, w @ sigma @ w) for w in (found.coef, best.coef)]
    assert aucs[0] > aucs[1] - 0.02


def test_doubts_are_said():
    sigma, mu = near_duplicates(4000, 30, 0)
    with pytest.warns(ConvergenceWarning, match="convergence is uncertain: .* nearly collinear"):
        solve_ridge_matrix_free(MatrixOperator(sigma, mu), Penalty(0.0, 1e-6, np.ones(60)))


@pytest.mark.parametrize("l2", [1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("eps", [0.05, 0.01, 0.003, 0.001])
def test_the_excess_risk_is_never_more_than_a_hundred_times_what_is_said(l2, eps):
    sigma, mu = near_duplicates(4000, 30, 0, eps=eps)
    penalty = Penalty(0.0, l2, np.ones(60))
    found = solve_ridge_matrix_free(MatrixOperator(sigma, mu), penalty)
    truth = 2 * (found.objective - solve_ridge(sigma, mu, penalty).objective)
    assert truth <= 100 * found.excess_risk
    assert truth <= found.excess_bound <= 100 * found.excess_risk * (1 + 1e-9)
    assert found.excess_bound <= 1e-2  # 100 times the tolerance


def factors(n, d, k, share, seed=0):
    """Σ and μ of rows with k common factors that say nothing, and a signal in what is left of 50 columns."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    loadings = rng.standard_normal((k, d)) * np.sqrt(share / (1 - share) / k)
    X = rng.standard_normal((n, k)) @ loadings + rng.standard_normal((n, d))
    X[:, :50] += 0.25 * y[:, None]
    plus, minus = X[y], X[~y]
    mu = plus.mean(axis=0) - minus.mean(axis=0)
    return np.cov(plus.T, bias=True) + np.cov(minus.T, bias=True) + np.outer(mu, mu), mu


@pytest.mark.parametrize(
    ("n", "k", "share"), [(700, 20, 0.17), (700, 20, 0.83), (700, 10, 0.91), (8000, 20, 0.9)]
)
def test_common_factors_do_not_hide_what_a_smaller_l2_would_find(n, k, share):
    d = 400
    sigma, mu = factors(n, d, k, share)
    sizes = (0.2 * n, 0.8 * n)
    wanted = choose_l2(RidgePath(sigma, mu, np.ones(d)).spectrum, sizes)
    l2 = solve_ridge_auto(MatrixOperator(sigma, mu), np.ones(d), sizes, d).l2
    # the same to within two steps of the grid where columns are many; where they are few it matters less
    assert wanted / (2 if n < 1000 else 20) < l2 < 2 * wanted
    assert wanted / 2 < search_l2(MatrixOperator(sigma, mu), np.ones(d), sizes, d) < 2 * wanted


@pytest.mark.parametrize("exponent", [1.0, 2.0])
def test_a_spectrum_that_falls_slowly_is_followed_down(exponent):
    rng = np.random.default_rng(1)
    n, d = 600, 300
    y = rng.random(n) < 0.2
    X = rng.standard_normal((n, d)) + 0.1 * y[:, None] * rng.standard_normal(d)
    X = (X * np.arange(1, d + 1) ** (-exponent / 2)) @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    mu = X[y].mean(axis=0) - X[~y].mean(axis=0)
    sigma = np.cov(X[y].T, bias=True) + np.cov(X[~y].T, bias=True) + np.outer(mu, mu)
    wanted = choose_l2(RidgePath(sigma, mu, np.ones(d)).spectrum, (120.0, 480.0))
    l2 = solve_ridge_auto(MatrixOperator(sigma, mu), np.ones(d), (120.0, 480.0), d).l2
    assert wanted / 2 < l2 < 2 * wanted


def test_a_choice_that_is_not_certain_is_said(monkeypatch):
    sigma, mu = factors(700, 400, 20, 0.83)
    monkeypatch.setattr("mbauc.solvers.matrix_free.l2_search.MOST_STEPS", 6)
    with pytest.warns(ConvergenceWarning, match="the search for l2='auto' did not converge in"):
        solve_ridge_auto(MatrixOperator(sigma, mu), np.ones(400), (140.0, 560.0), 400)


def test_products_are_counted_and_few_of_them_leave_a_choice():
    sigma, mu = factors(700, 400, 20, 0.83)
    products = Counting(sigma, mu)
    found = solve_ridge_auto(products, np.ones(400), (140.0, 560.0), 400)
    assert found.iterations == products.count - 1  # one more is for the certificate
    with pytest.warns(ConvergenceWarning, match="no convergence after"):
        few = solve_ridge_auto(MatrixOperator(sigma, mu), np.ones(400), (140.0, 560.0), 400, max_iter=3)
    assert few.l2 == found.l2
    assert few.coef.any()


def test_without_any_penalty_there_is_no_l2_to_choose():
    sigma, mu = moments(9)
    found = solve_ridge_auto(MatrixOperator(sigma, mu), np.zeros(mu.size), (100.0, 300.0), mu.size)
    assert np.isfinite(found.coef).all()


def test_a_system_that_has_no_finite_numbers_ends_in_an_error():
    products = MatrixOperator(np.eye(3), np.ones(3))
    subspace = RidgeSubspace(products, np.ones(3))
    assert subspace.grow(1.0)
    subspace._penalty[0, 0] = 1e308
    with np.errstate(over="ignore"), pytest.raises(FloatingPointError, match="too large to solve with"):
        subspace.solution(100.0)
