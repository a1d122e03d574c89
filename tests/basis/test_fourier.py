"""Random Fourier features against their definition, to the bit where rows are cut."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp

from mbauc.basis.fourier import FourierMap, draw_frequencies


def make_map(n_columns=3, n_components=64, seed=0, gamma=0.3, **changed):
    values = {"center": np.zeros(n_columns), "unit": np.ones(n_columns)} | changed
    return FourierMap(n_components, seed, gamma, **values)


def encode_slowly(waves, X):
    """z(x) from the definition, without rounding."""
    U = np.where(np.isnan(X), 0.0, (X - waves.center) / waves.unit)
    W = np.sqrt(2 * waves.gamma) * draw_frequencies(waves.n_columns, waves.n_components // 2, waves.seed)
    Z = np.empty((len(X), waves.n_components))
    Z[:, 0::2], Z[:, 1::2] = np.cos(U @ W), np.sin(U @ W)
    return np.sqrt(2 / waves.n_components) * Z


@settings(max_examples=20, deadline=None)
@given(d=st.integers(1, 40), half=st.integers(1, 40), seed=st.integers(0, 2**40), gamma=st.floats(1e-3, 2.0))
def test_features_are_the_definition(d, half, seed, gamma):
    random = np.random.default_rng(seed)
    center, unit = random.normal(size=d), random.uniform(0.1, 10, size=d)
    X = center + unit * random.normal(size=(7, d))
    X[0, 0] = np.nan
    waves = FourierMap(2 * half, seed, gamma, center, unit)
    Z = waves.encode(X)
    np.testing.assert_allclose(Z, encode_slowly(waves, X), rtol=0, atol=1e-4 / np.sqrt(half))
    np.testing.assert_allclose((Z**2).sum(axis=1), 1.0)


@pytest.mark.parametrize("d", [1, 2, 30])
def test_inner_products_are_the_gaussian_kernel_within_monte_carlo_error(d):
    random = np.random.default_rng(1)
    X, gamma, half = random.normal(size=(30, d)), 0.5 / d, 1024
    kernel = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    products = np.mean([(Z := make_map(d, 2 * half, seed, gamma).encode(X)) @ Z.T for seed in range(4)], axis=0)
    # var cos(ω'δ) = (1 - k²)²/2, with independent frequencies; orthogonal ones are nearer
    error = (1 - kernel**2) / np.sqrt(2 * 4 * half)
    assert (np.abs(products - kernel) <= 5 * error + 1e-4).all()


def test_orthogonal_frequencies_are_nearer_to_the_kernel_than_independent_ones():
    random = np.random.default_rng(2)
    d, half, gamma = 20, 40, 0.02
    X = random.normal(size=(20, d))
    kernel = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))

    def error(W):
        P = np.sqrt(2 * gamma) * X @ W
        return np.mean((np.cos(P[:, None] - P).mean(axis=2) - kernel) ** 2)

    ours = np.mean([error(draw_frequencies(d, half, seed)) for seed in range(20)])
    independent = np.mean([error(random.normal(size=(d, half))) for _ in range(20)])
    assert ours < 0.8 * independent


def test_frequencies_are_normal_and_orthogonal_within_blocks():
    W = draw_frequencies(50, 120, seed=3)
    for block in (W[:, :50], W[:, 50:100], W[:, 100:]):
        np.testing.assert_allclose(block.T @ block, np.diag((block**2).sum(axis=0)), atol=1e-10)
    assert abs(W.mean()) < 5 / np.sqrt(W.size)
    assert abs((W**2).mean() - 1) < 5 * np.sqrt(2 / W.size)


def test_frequencies_of_a_seed_never_change():
    expected = [[1.3766, 0.1848, 1.5636], [0.7887, -0.3225, -0.9547]]
    np.testing.assert_allclose(draw_frequencies(2, 3, seed=0), expected, atol=1e-4)


@settings(max_examples=15, deadline=None)
@given(d=st.sampled_from([1, 7, 300]), cuts=st.lists(st.integers(0, 700), max_size=4), seed=st.integers(0, 99))
def test_blocks_have_the_bits_of_the_whole(d, cuts, seed):
    X = np.random.default_rng(seed).normal(size=(700, d)) * 10.0
    waves = make_map(d, 2 * 37, seed, gamma=1.0 / d)
    whole = waves.encode(X)
    edges = sorted({0, 700, *cuts})
    parts = [waves.encode(X[a:b]) for a, b in pairwise(edges)]
    assert np.array_equal(np.concatenate(parts), whole)
    shuffled = np.random.default_rng(seed).permutation(700)[:50]
    assert np.array_equal(waves.encode(X[shuffled]), whole[shuffled])


def test_sparse_rows_float32_and_fortran_order_give_the_bits_of_dense_rows():
    X = np.random.default_rng(0).integers(-2, 3, size=(50, 6)) * 0.5
    waves = make_map(6, center=np.full(6, 0.1), unit=np.full(6, 0.7))
    expected = waves.encode(X)
    for other in (sp.csr_array(X), sp.csc_matrix(X), X.astype(np.float32), np.asfortranarray(X), X.tolist()):
        assert np.array_equal(waves.encode(other), expected)
    assert waves.encode(X[:0]).shape == (0, 64)


def test_the_seed_decides():
    X = np.random.default_rng(0).normal(size=(5, 3))
    first = make_map(seed=1).encode(X)
    assert np.array_equal(make_map(seed=1).encode(X), first)
    assert not np.allclose(make_map(seed=2).encode(X), first)


def test_maps_survive_json_and_pickle_without_their_frequencies():
    random = np.random.default_rng(0)
    X = random.normal(size=(9, 5))
    waves = FourierMap(512, np.int64(7), np.float32(0.1), random.normal(size=5), random.uniform(1, 2, size=5))
    expected = waves.encode(X)
    again = FourierMap.from_dict(json.loads(json.dumps(waves.to_dict())))
    assert np.array_equal(again.encode(X), expected)
    stored = pickle.dumps(waves)
    assert len(stored) < 1000
    assert np.array_equal(pickle.loads(stored).encode(X), expected)


def test_missing_is_the_centre_far_is_32_units_and_unit_0_leaves_a_column_out():
    waves = make_map(2, center=np.array([1.0, 2.0]), unit=np.array([0.5, 0.0]))
    odd = waves.encode([[np.nan, 5.0], [1e300, np.inf], [-np.inf, np.nan]])
    plain = waves.encode([[1.0, 2.0], [1.0 + 16.0, 2.0], [1.0 - 16.0, 2.0]])
    assert np.array_equal(odd, plain)


def test_names():
    assert make_map(n_components=4).names == ["cos0", "sin0", "cos1", "sin1"]
    assert make_map(n_columns=5).n_columns == 5


def test_an_odd_number_of_components_has_a_cosine_more_than_sines():
    X = np.random.default_rng(0).normal(size=(4, 3))
    odd, even = make_map(n_components=5), make_map(n_components=6)
    assert odd.names == even.names[:5]
    assert np.array_equal(odd.encode(X), even.encode(X)[:, :5])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_components": 0}, "n_components must be a whole number of at least 1"),
        ({"seed": -1}, "seed must be"),
        ({"gamma": 0.0}, "gamma must be"),
        ({"gamma": "fast"}, "gamma must be"),
        ({"center": np.zeros(2)}, "one number for each column, got 2 and 3"),
        ({"center": np.array([0.0, np.nan, 1.0])}, "center must hold one finite number"),
        ({"center": ["a", "b", "c"]}, "center must hold numbers"),
        ({"unit": -np.ones(3)}, "unit must not be negative"),
        ({"n_components": 2**30}, "more than 2 GB"),
    ],
)
def test_bad_arguments_are_named(changed, message):
    with pytest.raises(ValueError, match=message):
        make_map(**changed)


def test_bad_rows_and_texts_are_named():
    with pytest.raises(ValueError, match="X must have 3 columns, got 2"):
        make_map().encode(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="values must have center, gamma"):
        FourierMap.from_dict({"seed": 1})
