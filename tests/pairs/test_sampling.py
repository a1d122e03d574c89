import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

import reference
from mbauc import PairMoments, sample_batches, sample_pairs
from strategies import close, tables


@pytest.fixture
def data(rng):
    X = rng.standard_normal((400, 3)) @ np.array([[1, 0.5, 0], [0, 1, 0.5], [0, 0, 1]])
    y = rng.random(400) < 0.2
    X[y] += [0.5, 0.0, -0.5]
    return X, y


def error(estimate, exact):
    return np.abs(estimate.second_moment - exact.second_moment).max()


@pytest.mark.parametrize("pairing", ["matched", "complete"])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_draw_depends_on_the_seed_alone(data, pairing, sparse):
    X, y = data
    given = sp.csr_matrix(X) if sparse else X
    draws = [
        sample_pairs(given, y, 700, batch_size=size, pairing=pairing, random_state=3) for size in (700, 64, 999)
    ]
    for other in draws[1:]:
        np.testing.assert_allclose(other.second_moment, draws[0].second_moment, rtol=1e-12)
        np.testing.assert_allclose(other.mean_difference, draws[0].mean_difference, rtol=1e-12, atol=1e-14)
    again = sample_pairs(given, y, 700, batch_size=64, pairing=pairing, random_state=3)
    np.testing.assert_array_equal(again.second_moment, draws[1].second_moment)
    changed = sample_pairs(given, y, 700, pairing=pairing, random_state=4)
    assert error(changed, draws[0]) > 1e-6


def test_a_round_is_the_matched_loop_over_rows_of_the_right_class(data):
    X, y = data
    batch = next(sample_batches(X, y, 30, batch_size=30, random_state=0))
    # the rows drawn, found again by their values: the scatter of all of them follows from them
    assert batch.n_pairs == 30
    assert batch.counts == (30, 30)
    streams = np.random.default_rng(0).spawn(2)
    i = np.flatnonzero(y)[streams[0].integers(y.sum(), size=30)]
    j = np.flatnonzero(~y)[streams[1].integers((~y).sum(), size=30)]
    mu, sigma = reference.matched_moments(X[i], X[j])
    np.testing.assert_allclose(batch.mean_difference, mu)
    np.testing.assert_allclose(batch.second_moment, sigma)
    complete = next(sample_batches(X, y, 30, batch_size=30, pairing="complete", random_state=0))
    both = np.r_[X[i], X[j]]
    mu, sigma = reference.pair_moments(both, np.repeat([True, False], 30))
    np.testing.assert_allclose(complete.mean_difference, mu)
    np.testing.assert_allclose(complete.second_moment, sigma)
    assert complete.n_pairs == 900


@pytest.mark.parametrize("pairing", ["matched", "complete"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
class TestInvariancesUnderOneSeed:
    """The rows drawn depend on the labels and the seed alone, so the moments must move with the data."""

    @staticmethod
    def of(form, pairing, X, y, w=None):
        return sample_pairs(form(X), y, 40, batch_size=16, pairing=pairing, sample_weight=w, random_state=5)

    @given(table=tables())
    def test_equals_the_loop_over_the_rows_drawn(self, form, pairing, table):
        X, y, w = table
        streams = np.random.default_rng(5).spawn(2)
        drawn = []
        for rows, stream in zip((np.flatnonzero(y), np.flatnonzero(~y)), streams, strict=True):
            if w is None:
                drawn.append(X[rows[stream.integers(rows.size, size=40)]])
            else:
                upper = np.cumsum(w[rows])
                drawn.append(X[rows[[int((upper <= u * upper[-1]).sum()) for u in stream.random(40)]]])
        if pairing == "matched":
            mu, sigma = reference.matched_moments(*drawn)
        else:
            mu, sigma = reference.pair_moments(np.vstack(drawn), np.repeat([True, False], 40))
        moments = self.of(form, pairing, X, y, w)
        close(moments.mean_difference, mu, X, 1)
        close(moments.second_moment, sigma, X, 2)

    @given(table=tables(), shift=st.floats(-50, 50), factor=st.floats(1e-3, 1e3))
    def test_shift_and_scale(self, form, pairing, table, shift, factor):
        X, y, w = table
        plain, moved = self.of(form, pairing, X, y, w), self.of(form, pairing, factor * (X + shift), y, w)
        size = np.append(X, [shift, 1.0])
        close(moved.mean_difference / factor, plain.mean_difference, size, 1)
        close(moved.second_moment / factor**2, plain.second_moment, size, 2)

    @given(table=tables(max_columns=3), seed=st.integers(0, 1000))
    def test_linear_map(self, form, pairing, table, seed):
        X, y, w = table
        A = np.random.default_rng(seed).integers(-2, 3, size=(X.shape[1], 2))
        plain, mapped = self.of(form, pairing, X, y, w), self.of(form, pairing, X @ A, y, w)
        size = np.append(X, 1) * 6
        close(mapped.mean_difference, plain.mean_difference @ A, size, 1)
        close(mapped.second_moment, A.T @ plain.second_moment @ A, size, 2)


def test_rounds_add_up(data):
    X, y = data
    batches = list(sample_batches(X, y, 500, batch_size=128, pairing="complete", random_state=1))
    assert [b.counts for b in batches] == [(128, 128)] * 3 + [(116, 116)]
    pooled = sample_pairs(X, y, 500, pairing="complete", random_state=1)
    np.testing.assert_allclose(sum(batches).second_moment, pooled.second_moment)
    # closed batches keep each U-statistic to itself
    averaged = sum(b.closed() for b in batches)
    n = np.array([b.n_pairs for b in batches])
    want = sum(k * b.second_moment for k, b in zip(n, batches, strict=True)) / n.sum()
    np.testing.assert_allclose(averaged.second_moment, want)


@pytest.mark.parametrize("pairing", ["matched", "complete"])
def test_converges_to_the_exact_moments_like_one_over_root_s(data, pairing):
    X, y = data
    exact = PairMoments.from_arrays(X, y)

    def mean_error(pairs):
        return np.mean(
            [error(sample_pairs(X, y, pairs, pairing=pairing, random_state=k), exact) for k in range(12)]
        )

    few, many = mean_error(250), mean_error(16_000)
    # 64 times the pairs: an eighth of the error
    assert 8 / 2 < few / many < 8 * 2


def test_complete_pairing_gives_sigma_a_smaller_variance(data):
    X, y = data
    draws = {
        pairing: np.array(
            [sample_pairs(X, y, 100, pairing=pairing, random_state=k).second_moment for k in range(300)]
        )
        for pairing in ("matched", "complete")
    }
    ratio = draws["complete"].var(axis=0) / draws["matched"].var(axis=0)
    assert ratio.max() < 1.05
    assert ratio.mean() < 0.9


def test_weights_are_sampling_probabilities(data, rng):
    X, y = data
    w = rng.random(len(y)) ** 3
    w[::7] = 0.0
    exact = PairMoments.from_arrays(X, y, w)
    for pairing in ("matched", "complete"):
        sample = sample_pairs(X, y, 40_000, pairing=pairing, sample_weight=w, random_state=0)
        assert error(sample, exact) < 0.1
        np.testing.assert_allclose(sample.weights, exact.weights)
    assert error(PairMoments.from_arrays(X, y), exact) > 0.1


def test_class_weights_are_those_of_the_data(data):
    X, y = data
    sample = sample_pairs(X, y, 1000, random_state=0)
    assert sample.weights == (y.sum(), (~y).sum())
    sizes = np.array([y.sum(), (~y).sum()])
    np.testing.assert_allclose(sample.effective_sizes, 1 / (1 / sizes + 1 / 1000))
    assert sample.is_sampled


def test_proposition_2_population_moments(rng):
    # x⁺ ~ N(m, A A'), x⁻ ~ N(0, I): μ = m, Σ = A A' + I + m m'
    A, m = np.array([[1.0, 0.0], [0.8, 0.6]]), np.array([0.5, -0.25])
    n = 100_000
    X = rng.standard_normal((2 * n, 2))
    X[:n] = X[:n] @ A.T + m
    y = np.arange(2 * n) < n
    sigma = A @ A.T + np.eye(2) + np.outer(m, m)
    for pairing in ("matched", "complete"):
        moments = sample_pairs(X, y, n, pairing=pairing, random_state=0)
        np.testing.assert_allclose(moments.mean_difference, m, atol=0.03)
        np.testing.assert_allclose(moments.second_moment, sigma, atol=0.06)


def test_generators_and_old_random_states(data):
    X, y = data
    for make in (np.random.default_rng, np.random.RandomState):
        one, two = (sample_pairs(X, y, 50, random_state=make(5)) for _ in range(2))
        np.testing.assert_array_equal(one.second_moment, two.second_moment)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pairs": 0}, "pairs must be"),
        ({"pairs": 2.5}, "pairs must be"),
        ({"pairs": True}, "pairs must be"),
        ({"pairs": 10, "batch_size": 0}, "batch_size must be"),
        ({"pairs": 10, "pairing": "all"}, "pairing must be"),
    ],
)
def test_bad_settings_are_named_before_any_work(data, settings, message):
    for sample in (sample_pairs, sample_batches):
        with pytest.raises(ValueError, match=message):
            sample(*data, **settings)


def test_one_class_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="no negative rows"):
        sample_pairs(X[y], y[y], 10)
    with pytest.raises(ValueError, match="400 rows and y has 10"):
        sample_pairs(X, y[:10], 10)
