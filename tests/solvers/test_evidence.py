"""Strengths that make the mean difference most likely, against its density."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from curve_reference import log_evidence
from mbauc.solvers.evidence import maximise_evidence, solve_given

GROUP = np.array([0, 0, 1, 1, 1, 2])


def problem(seed, noise=0.01):
    """A mean difference of groups whose weights have known variances."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(40, 6))
    C, factors = rows.T @ rows / 40 + 0.1 * np.eye(6), rng.uniform(0.5, 4.0, 6)
    w = rng.normal(size=6) / np.sqrt(np.array([0.3, 3.0, 1.0])[GROUP] * factors)
    return C, C @ w + np.sqrt(noise) * np.linalg.cholesky(C) @ rng.normal(size=6), noise, factors


def converge(C, mu, noise, factors, group=GROUP):
    found = maximise_evidence(C, mu, noise, factors, group)
    for _ in range(60):
        found = maximise_evidence(C, mu, noise, factors, group, start=found.strength)
    return found


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_strengths_maximise_the_density_of_the_mean_difference(seed):
    C, mu, noise, factors = problem(seed)
    found = converge(C, mu, noise, factors)
    inside = (found.strength > 2e-3) & (found.strength < 1e4)
    # λ_g = γ_g / Σ fⱼ wⱼ²
    size = np.bincount(GROUP, factors * found.log_odds**2)
    np.testing.assert_allclose(found.strength[inside], (found.used / size)[inside], rtol=1e-3)
    value = log_evidence(C, mu, noise, found.strength[GROUP] * factors)
    for g in np.flatnonzero(inside):
        high, low = (
            log_evidence(C, mu, noise, (found.strength * np.exp(step * (np.arange(3) == g)))[GROUP] * factors)
            for step in (1e-3, -1e-3)
        )
        assert abs(high - low) / 2e-3 < 1e-2
        # a maximum, and not just any place without a slope
        assert max(high, low) <= value + 1e-5


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_steps_never_leave_the_density_worse_than_the_start(seed):
    C, mu, noise, factors = problem(seed)
    before = log_evidence(C, mu, noise, np.ones(3)[GROUP] * factors)
    found = maximise_evidence(C, mu, noise, factors, GROUP)
    assert log_evidence(C, mu, noise, found.strength[GROUP] * factors) >= before - 1e-6


def test_solutions_are_those_of_the_penalised_covariance():
    C, mu, _, factors = problem(0)
    w, inverse = solve_given(C, mu, factors)
    expected = np.linalg.inv(C + np.diag(factors))
    np.testing.assert_allclose(w, expected @ mu)
    np.testing.assert_allclose(inverse, np.diagonal(expected))


def test_a_group_without_signal_gets_a_large_strength():
    C, mu = np.eye(4), np.array([1.0, -0.8, 1e-6, -1e-6])
    found = maximise_evidence(C, mu, 0.01, np.ones(4), np.array([0, 0, 1, 1]))
    assert found.strength[0] < 10
    assert found.strength[1] > 1e3
    assert found.used[1] < 0.5


@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_steps_end_where_one_more_changes_scores_by_less_than_a_hundredth(seed):
    C, mu, noise, factors = problem(seed)
    found = maximise_evidence(C, mu, noise, factors, GROUP, max_iter=40)
    again = maximise_evidence(C, mu, noise, factors, GROUP, start=found.strength, max_iter=1)
    apart = again.log_odds - found.log_odds
    assert apart @ C @ apart <= 0.01**2 * (found.log_odds @ C @ found.log_odds)


@pytest.mark.parametrize("precision", [1e-5, 0.01, 1.0, 1e4, 1e7, 1e10])
def test_strengths_between_the_bounds_are_the_precision_of_the_weights(precision):
    w = np.array([1.0, -1.0]) / np.sqrt(precision)
    found = maximise_evidence(np.eye(2), w, 1e-14, np.ones(2), np.zeros(2, dtype=int))
    assert found.strength[0] == pytest.approx(min(max(precision, 1e-3), 1e8), rel=1e-3)


def test_groups_without_any_difference_reach_the_largest_strength():
    C, mu = np.eye(4), np.array([1.0, -0.8, 0.0, 0.0])
    found = maximise_evidence(C, mu, 0.01, np.ones(4), np.array([0, 0, 1, 1]), max_iter=1)
    assert found.strength[1] == 1e8


def test_a_covariance_that_is_none_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        solve_given(-np.eye(2), np.ones(2), np.ones(2) * 0.1)
