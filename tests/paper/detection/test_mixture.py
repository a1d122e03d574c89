import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from mbauc.paper.detection import GaussianMixture


def _random_mixture(seed, components, d):
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((components, d, d))
    covariances = roots @ roots.transpose(0, 2, 1) + 0.3 * np.eye(d)
    return GaussianMixture(
        rng.standard_normal((components, d)), covariances, rng.dirichlet(np.ones(components))
    )


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4))
def test_density_is_the_weighted_sum_of_normal_densities(seed, components, d):
    mixture = _random_mixture(seed, components, d)
    X = np.random.default_rng(seed + 1).standard_normal((5, d)) * 2
    expected = sum(
        weight * multivariate_normal(mean, covariance).pdf(X).reshape(-1)
        for weight, mean, covariance in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
    )
    np.testing.assert_allclose(np.exp(mixture.log_density(X)), expected, rtol=1e-9, atol=1e-300)


def test_density_far_out_does_not_underflow():
    assert np.isfinite(GaussianMixture(np.zeros(100)).log_density(np.full((1, 100), 1e3)))[0]


def test_draws_have_the_mean_and_covariance_of_the_mixture():
    mixture = _random_mixture(3, 3, 4)
    X = mixture.sample(200_000, random_state=0)
    spread = np.sqrt(np.diag(mixture.covariance))
    assert np.abs((X.mean(axis=0) - mixture.mean) / spread).max() < 5 / np.sqrt(len(X))
    np.testing.assert_allclose(np.cov(X.T), mixture.covariance, atol=0.03 * spread.max() ** 2)


def test_the_same_seed_draws_the_same_rows():
    mixture = _random_mixture(0, 2, 3)
    assert np.array_equal(mixture.sample(50, 7), mixture.sample(50, 7))
    assert mixture.sample(0, 7).shape == (0, 3)


@pytest.mark.parametrize("shared", [2.0, [2.0, 2.0], 2.0 * np.eye(3), [2.0 * np.eye(3)] * 2])
def test_covariances_come_in_several_forms(shared):
    mixture = GaussianMixture([[0.0, 1, 2], [3, 4, 5]], shared)
    assert np.array_equal(mixture.covariances, np.array([2.0 * np.eye(3)] * 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0.0]], -1.0), "component 0 must be symmetric and positive definite"),
        (([[0.0, 0.0]], [[1.0, 0.5], [0.0, 1.0]]), "must be symmetric"),
        (([[0.0, np.nan]],), "means must be finite"),
        (([[0.0], [1.0]], None, [0.5, 0.6]), "sum to one"),
        (([[0.0], [1.0]], None, [1.0]), "one share for each of the 2"),
        (([[0.0], [1.0]], None, [1.5, -0.5]), "at least 0"),
        (([[0.0, 1.0]], np.eye(3)), r"shape \(1,\), \(2, 2\) or \(1, 2, 2\), got \(3, 3\)"),
        ((np.zeros((2, 2, 2)),), r"means must have shape \(K, d\)"),
    ],
)
def test_bad_parameters_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        GaussianMixture(*arguments)


def test_it_keeps_its_own_numbers():
    means = np.zeros((1, 2))
    mixture = GaussianMixture(means)
    means[0, 0] = 5.0
    assert np.array_equal(mixture.mean, [0.0, 0.0])


def test_rows_of_another_width_are_refused():
    with pytest.raises(ValueError, match="X must have 2 columns, got shape"):
        GaussianMixture([0.0, 0.0]).log_density(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="n must be a whole number"):
        GaussianMixture([0.0]).sample(-1)
