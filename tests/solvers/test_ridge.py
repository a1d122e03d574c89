import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from mbauc import PairMoments
from mbauc.errors import SingularWarning
from mbauc.solvers import Penalty, RidgePath, condition_estimate, solve_ridge


@pytest.fixture
def moments(table):
    m = PairMoments.from_arrays(*table)
    return m.second_moment, m.mean_difference


@given(seed=st.integers(0, 10**6), d=st.integers(1, 8), l2=st.floats(1e-3, 1e3), data=st.data())
def test_minimises_the_objective_with_any_penalty_factors(seed, d, l2, data):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d + 2, d))
    sigma, mu = A.T @ A, rng.standard_normal(d)
    factors = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=d, max_size=d)))
    penalty = Penalty(0.0, l2, factors)
    solution = solve_ridge(sigma, mu, penalty)
    np.testing.assert_allclose(
        solution.objective,
        reference.objective(sigma, mu, solution.coef, 0.0, l2, factors),
        rtol=1e-9,
        atol=1e-12,
    )
    gradient = sigma @ solution.coef - mu + l2 * factors * solution.coef
    assert np.abs(gradient).max() < 1e-7 * (1 + np.abs(mu).max())
    assert solution.optimality < 1e-7
    path = RidgePath(sigma, mu, factors)
    np.testing.assert_allclose(path.coefficients([l2])[0], solution.coef, rtol=1e-5, atol=1e-7)
    for step in rng.standard_normal((5, d)):
        moved = reference.objective(sigma, mu, solution.coef + 0.01 * step, 0.0, l2, factors)
        assert moved >= solution.objective - 1e-12


def test_a_path_equals_single_solutions(moments):
    sigma, mu = moments
    l2 = np.logspace(-6, 4, 50) * sigma.trace()
    path = RidgePath(sigma, mu, np.ones(6))
    single = [solve_ridge(sigma, mu, Penalty(0.0, value, np.ones(6))).coef for value in l2]
    np.testing.assert_allclose(path.coefficients(l2), single, rtol=1e-8, atol=1e-14)
    assert path.solve(float(l2[3])).optimality < 1e-12


def test_singular_sigma_gives_the_minimum_norm_solution_and_a_warning(moments):
    sigma, mu = moments
    twice, mu2 = np.block([[sigma, sigma], [sigma, sigma]]), np.r_[mu, mu]
    with pytest.warns(SingularWarning, match="smallest norm"):
        solution = solve_ridge(twice, mu2, Penalty(0.0, 0.0, np.ones(12)))
    want = np.linalg.pinv(twice, rcond=1e-12) @ mu2
    np.testing.assert_allclose(solution.coef, want, atol=1e-10)
    np.testing.assert_allclose(RidgePath(twice, mu2, np.ones(12)).coefficients(0.0)[0], want, atol=1e-10)
    assert solution.optimality < 1e-10


def test_zero_sigma():
    with pytest.warns(SingularWarning):
        solution = solve_ridge(np.zeros((2, 2)), np.zeros(2), Penalty(0.0, 0.0, np.ones(2)))
    np.testing.assert_array_equal(solution.coef, [0.0, 0.0])


def test_condition_estimate():
    assert condition_estimate(np.diag([1.0, 1e6])) == pytest.approx(1e6)
    assert condition_estimate(np.diag([1.0, 0.0])) == np.inf
    assert condition_estimate(np.zeros((2, 2))) == np.inf
