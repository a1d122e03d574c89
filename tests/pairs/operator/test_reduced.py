"""Pairs in other coordinates against the dense matrix of these coordinates, and all pairs of its rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from row_sources import Rows

from local_parts import cut, rows_of
from mbauc.basis.columns import Levels, Number, Steps
from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.reduction import Reduction
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.pairs.operator.of_parts import PackedRows
from mbauc.pairs.operator.reduced import ReducedPairOperator
from mbauc.readers import RawBlock
from mbauc.rows.block import Block
from mbauc.rows.parts import mapped
from mbauc.rows.parts.mapped import MappedSource, map_rows
from mbauc.rows.parts.source import rows_in_source

#: Three bins, two levels, the number itself, far from zero, and cells of both columns.
FEATURES = FeatureMap(
    ("x", "c"),
    (Steps(np.array([-0.5, 0.5]), np.array([-1.0, 0.0, 1.0])), Levels(np.array([0.0, 1.0]), ("a", "b"))),
    (Number(0, -1e6, 1e6, -1000.0, 0.5),),
    ((0, 1),),
    (np.array([0, 0, 1, 1], dtype=np.int32), np.array([0, 1, 1, 1], dtype=np.int32)),
)
#: Which coordinate the number is.
NUMBER = 2 + 4


def make_case(seed, weighted, n=30):
    """Rows whose numbers all differ, labels, weights, and a reduction of their features."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.standard_normal(n), rng.integers(0, 3, n)])
    X[rng.random(n) < 0.2, 1] = np.nan
    y = np.arange(n) < 8
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    smooth = Reduction((rng.standard_normal((4, 2)), 4, 1, rng.standard_normal((4, 3))))
    return X, y, weight, smooth, rng


def all_pairs(Z, y, weight):
    """μ and Σ, pair by pair."""
    w = np.ones(len(y)) if weight is None else weight
    share = np.outer(w[y], w[~y]) / (w[y].sum() * w[~y].sum())
    difference = Z[y][:, None, :] - Z[~y][None, :, :]
    mu = np.einsum("ij,ijk->k", share, difference)
    return mu, np.einsum("ij,ijk,ijl->kl", share, difference, difference)


def check_operator(pairs, Z, y, weight, rng):
    """That an operator is that of the rows Z, in all that it is asked."""
    mu, sigma = all_pairs(Z, y, weight)
    size = np.abs(Z).max()
    near = {"rtol": 1e-9, "atol": 1e-10 * size}
    far = {"rtol": 1e-9, "atol": 1e-10 * size**2}
    np.testing.assert_allclose(pairs.mu, mu, **near)
    np.testing.assert_allclose(pairs.diagonal, np.diag(sigma), **far)
    v = rng.standard_normal(mu.size)
    np.testing.assert_allclose(pairs.product(v), sigma @ v, **far)
    # rows by their number, which differs from row to row
    numbers = pairs.scores(np.eye(mu.size)[NUMBER])
    own = np.empty(len(y), dtype=np.intp)
    own[np.argsort(numbers)] = np.argsort(Z[:, NUMBER])
    labels = pairs.row_labels()
    np.testing.assert_array_equal(labels.positive, y[own])
    if weight is not None:
        np.testing.assert_array_equal(labels.weight, weight[own])
    found, expected = pairs.scores(v), Z[own] @ v
    np.testing.assert_allclose(found - found[0], expected - expected[0], **near)
    r, bucket = rng.standard_normal(len(y)), rng.integers(-1, 3, len(y)).astype(np.int32)
    np.testing.assert_allclose(pairs.combine(r), r @ Z[own], **far)
    np.testing.assert_allclose(pairs.combine_squares(r), r @ Z[own] ** 2, **far)
    by_bucket = pairs.combine_by(r, bucket, 3)
    for k in range(3):
        np.testing.assert_allclose(by_bucket[k], np.where(bucket == k, r, 0.0) @ Z[own], **far)
    moments = accumulate_block(Block(Z, y, weight), 1)
    np.testing.assert_allclose(pairs.summarise_scores(v), moments.summarise_scores(v), **far)
    np.testing.assert_allclose(pairs.weights, moments.weights)
    np.testing.assert_allclose(pairs.effective_sizes, moments.effective_sizes)
    columns, wanted = pairs.summarise_columns(), moments.summarise_columns()
    np.testing.assert_allclose(columns.variances, wanted.variances, **far)
    np.testing.assert_allclose(columns.means, wanted.means, **near)


def open_pairs(way, X, y, weight, cuts):
    """An operator of the features of some rows."""
    encoded = FEATURES.encode(X)
    if way in ("dense", "sparse"):
        strata = [np.flatnonzero(y), np.flatnonzero(~y)]
        return build_matrix_operator(encoded.toarray() if way == "dense" else encoded, strata, weight, 2)
    if way == "source":
        ends = [0, *sorted(cuts), len(y)]
        blocks = [
            RawBlock(X[a:b], y[a:b].astype(int), None if weight is None else weight[a:b])
            for a, b in pairwise(ends)
        ]
        source = MappedSource(Rows(blocks, X.shape[1]), FEATURES)
        return build_source_operator(source, n_threads=2, memory=1 << 30)
    rows = rows_of(cut(cuts, X, y.astype(int), weight), X, weighted=weight is not None)
    return PackedRows(map_rows(rows, FEATURES)).operator()


@pytest.mark.filterwarnings("ignore::mbauc.errors.CancellationWarning")
@pytest.mark.parametrize("way", ["dense", "sparse", "source", "parts"])
@settings(max_examples=15)
@given(
    seed=st.integers(0, 99),
    weighted=st.booleans(),
    cuts=st.lists(st.integers(0, 30), max_size=3),
)
def test_products_and_sums_are_those_of_the_dense_coordinates(way, seed, weighted, cuts):
    X, y, weight, smooth, rng = make_case(seed, weighted)
    pairs = ReducedPairOperator(open_pairs(way, X, y, weight, cuts), smooth)
    # T, column by column
    T = smooth.expand(np.eye(smooth.n_coordinates)).T
    check_operator(pairs, FEATURES.encode(X).toarray() @ T, y, weight, rng)


@pytest.mark.parametrize("weighted", [False, True])
def test_shifted_numbers_are_among_the_cases(weighted):
    X, y, weight, _, _ = make_case(0, weighted)
    assert open_pairs("sparse", X, y, weight, []).shift.any()
    assert open_pairs("dense", X, y, weight, []).shift.any()


def test_moments_in_coordinates_are_those_of_the_dense_rows():
    X, y, weight, smooth, _ = make_case(5, True)
    T = smooth.expand(np.eye(smooth.n_coordinates)).T
    found = accumulate_block(Block(FEATURES.encode(X), y, weight), 1).reduced(smooth)
    mu, sigma = all_pairs(FEATURES.encode(X).toarray() @ T, y, weight)
    np.testing.assert_allclose(found.mean_difference, mu, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(found.second_moment, sigma, rtol=1e-9, atol=1e-6)


def test_sums_by_bucket_keep_to_the_memory_of_the_features():
    X, y, weight, smooth, _ = make_case(1, False)
    rows = open_pairs("parts", X, y, weight, [10])
    pairs = ReducedPairOperator(rows, smooth)
    assert pairs.bucket_sweeps == rows.bucket_sweeps
    # the same number of buckets as the features would have
    assert pairs.bucket_bytes // pairs.mu.size <= rows.bucket_bytes // rows.mu.size


@pytest.mark.parametrize("weighted", [False, True])
def test_small_blocks_are_joined_where_features_are_many(monkeypatch, weighted):
    X, y, weight, _, _ = make_case(0, weighted, n=100)
    cut_at = list(pairwise([0, 3, 3, 10, 40, 41, 100]))
    blocks = [RawBlock(X[a:b], y[a:b].astype(int), None if weight is None else weight[a:b]) for a, b in cut_at]
    source = MappedSource(Rows(blocks, 2), FEATURES)
    monkeypatch.setattr(mapped, "_MANY_FEATURES", FEATURES.n_features)
    monkeypatch.setattr(mapped, "_JOINED_ENTRIES", 45 * FEATURES.n_entries)
    found = list(source)
    assert [len(block.y) for block in found] == [41, 45, 14]
    encoded = np.concatenate([block.X.toarray() for block in found])
    np.testing.assert_array_equal(encoded, FEATURES.encode(X).toarray())
    np.testing.assert_array_equal(np.concatenate([block.y for block in found]), y)
    if weighted:
        np.testing.assert_array_equal(np.concatenate([block.weight for block in found]), weight)


def test_blocks_that_differ_or_are_wrong_are_not_joined(monkeypatch):
    X, y, _, _, _ = make_case(0, False)
    labels = y.astype(int)
    blocks = [
        RawBlock(X[:5], labels[:5]),
        RawBlock(X[5:9].astype(np.float32), labels[5:9]),
        RawBlock(X[9:12], labels[9:12], np.ones(3)),
        RawBlock(X[12:20], labels[12:20], np.ones(8)),
        RawBlock(X[20:25], labels[20:24]),
        RawBlock(X[25:], labels[25:]),
    ]
    monkeypatch.setattr(mapped, "_MANY_FEATURES", 1)
    assert [block.X.shape[0] for block in MappedSource(Rows(blocks, 2), FEATURES)][:3] == [5, 4, 11]
    with pytest.raises(ValueError, match=r"from row 20 on\): X has 5 rows and y has shape"):
        list(rows_in_source(MappedSource(Rows(blocks, 2), FEATURES)).parts.collect(_Count()))


class _Count:
    """A task that counts rows."""

    def __call__(self, number, items):
        return sum(block.n_rows for block in items)
