import numpy as np
import pytest

from mbauc.solvers import RidgePath, choose_l2, estimated_spectrum


@pytest.fixture
def problem(rng):
    d = 300
    A = rng.standard_normal((2 * d, d)) * np.geomspace(1, 0.01, d)
    target = np.sign(A[:, :5].sum(axis=1) + rng.standard_normal(2 * d))
    return A.T @ A / (2 * d), A.T @ target / (2 * d)


def test_risk_and_degrees_of_freedom_by_definition(problem):
    sigma, mu = problem
    factors = np.ones(300)
    factors[:3] = 0.0
    path = RidgePath(sigma, mu, factors)
    for l2 in (1e-4, 0.1, 10.0):
        w = path.coefficients(l2)[0]
        risk = path.spectrum.risk(np.array([l2]))[0]
        assert risk == pytest.approx(1 - 2 * w @ mu + w @ sigma @ w, rel=1e-9)
        hat = np.linalg.solve(sigma + l2 * np.diag(factors), sigma)
        assert path.spectrum.degrees_of_freedom(np.array([l2]))[0] == pytest.approx(np.trace(hat), rel=1e-8)


def test_the_estimated_spectrum_is_close_and_always_the_same(problem):
    sigma, mu = problem
    exact, rough = RidgePath(sigma, mu, np.ones(300)).spectrum, estimated_spectrum(sigma, mu, np.ones(300))
    l2 = np.logspace(-2, 2, 9) * sigma.trace() / 300
    np.testing.assert_allclose(rough.degrees_of_freedom(l2), exact.degrees_of_freedom(l2), rtol=0.15)
    np.testing.assert_allclose(rough.risk(l2), exact.risk(l2), rtol=1e-2)
    np.testing.assert_array_equal(estimated_spectrum(sigma, mu, np.ones(300)).nodes, rough.nodes)
    sizes = (200.0, 400.0)
    assert 0.2 < choose_l2(rough, sizes) / choose_l2(exact, sizes) < 5


def test_the_estimate_heeds_penalty_factors(problem):
    sigma, mu = problem
    factors = np.repeat([0.0, 0.01, 100.0], [10, 140, 150])
    exact, rough = RidgePath(sigma, mu, factors).spectrum, estimated_spectrum(sigma, mu, factors)
    assert (rough.free, rough.gain) == (exact.free, pytest.approx(exact.gain))
    assert 0.2 < choose_l2(rough, (200.0, 400.0)) / choose_l2(exact, (200.0, 400.0)) < 5


def test_more_rows_ask_for_less_penalty_and_units_cancel(problem):
    sigma, mu = problem
    spectrum = RidgePath(sigma, mu, np.ones(300)).spectrum
    chosen = [choose_l2(spectrum, (n, n)) for n in (60, 600, 60_000)]
    assert chosen[0] > chosen[1] > chosen[2]
    scaled = RidgePath(sigma * 1e6, mu * 1e3, np.ones(300)).spectrum
    assert choose_l2(scaled, (600, 600)) == pytest.approx(chosen[1] * 1e6, rel=1e-6)


def test_nothing_to_learn_and_nothing_to_choose_from():
    zero = RidgePath(np.zeros((2, 2)), np.zeros(2), np.ones(2)).spectrum
    assert choose_l2(zero, (10, 10)) == 1.0
    spectrum = RidgePath(np.eye(2), np.ones(2), np.zeros(2)).spectrum
    assert choose_l2(spectrum, (10, 10)) == 1.0
    crowded = RidgePath(np.eye(5), np.ones(5), np.array([0, 0, 0, 0, 1.0])).spectrum
    assert choose_l2(crowded, (1, 1)) > 1.0
