"""Rows of ones are counted: the same bits in whatever blocks, order and tree they come."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

import reference
from mbauc import PairMoments
from mbauc.pairs.accumulator import MomentsAccumulator
from mbauc.pairs.scatter import counted
from mbauc.rows.block import Block


@st.composite
def cut_ones(draw):
    """A table of zeros and ones, its classes, and where it is cut into blocks."""
    n, d = draw(st.integers(2, 40)), draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = (rng.random((n, d)) < draw(st.sampled_from([0.1, 0.5, 0.9, 1.0]))).astype(float)
    y = rng.random(n) < 0.4
    y[:2] = True, False
    cuts = sorted(draw(st.lists(st.integers(0, n), max_size=5)))
    return X, y, [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]


def blocks_of(X, y, parts):
    return [Block(sp.csr_array(X[part]), y[part]) for part in parts]


def accumulated(blocks, n_threads=1):
    total = MomentsAccumulator(blocks[0].n_features, n_threads)
    for block in blocks:
        total.add(block)
    return total


def assert_same_bits(found, wanted):
    assert found.counts == wanted.counts
    assert found.weights == wanted.weights
    assert found.effective_sizes == wanted.effective_sizes
    np.testing.assert_array_equal(found.class_means, wanted.class_means)
    np.testing.assert_array_equal(found.sums.classes.packed.buffer, wanted.sums.classes.packed.buffer)


@pytest.fixture(params=[3, 20, counted._MOST])
def few_wait(request, monkeypatch):
    """Entries that may wait: so few that a row may have more, or all."""
    monkeypatch.setattr(counted, "_FEWEST", request.param)
    monkeypatch.setattr(counted, "_MOST", request.param)


@pytest.mark.usefixtures("few_wait")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_blocks_give_the_bits_of_one_block(n_threads):
    @given(cut_ones())
    def run(case):
        X, y, parts = case
        whole = PairMoments.from_arrays(sp.csr_array(X), y)
        assert_same_bits(accumulated(blocks_of(X, y, parts), n_threads).finish(), whole)
        mu, sigma = reference.pair_moments(X, y, None)
        np.testing.assert_allclose(whole.mean_difference, mu, atol=1e-14)
        np.testing.assert_allclose(whole.second_moment, sigma, atol=1e-14)

    run()


@given(cut_ones(), st.randoms(use_true_random=False), st.integers(2, 4))
def test_a_tree_of_any_shape_gives_the_same_bits(case, random, fan_in):
    X, y, parts = case
    blocks = blocks_of(X, y, parts)
    random.shuffle(blocks)
    level = [pickle.loads(pickle.dumps(accumulated([block]))) for block in blocks]
    while len(level) > 1:
        merged = []
        for start in range(0, len(level), fan_in):
            first, *rest = level[start : start + fan_in]
            for other in rest:
                first = first.merge(other)
            merged.append(first)
        level = merged
    assert_same_bits(level[0].finish(), PairMoments.from_arrays(sp.csr_array(X), y))


@given(cut_ones(), st.sampled_from(["weighted", "valued", "dense"]), st.integers(0, 5), st.booleans())
def test_from_other_rows_on_blocks_are_merged(case, kind, place, in_parts):
    X, y, parts = case
    X, weight = X.copy(), np.ones(len(y))
    odd = parts[min(place, len(parts) - 1)]
    blocks = blocks_of(X, y, parts)
    if kind == "weighted":
        weight[odd] = 2.5
        other = Block(sp.csr_array(X[odd]), y[odd], weight[odd])
    else:
        X[odd] *= 3.0
        other = Block(X[odd] if kind == "dense" else sp.csr_array(X[odd]), y[odd])
    blocks[min(place, len(parts) - 1)] = other
    if in_parts:
        total = MomentsAccumulator(X.shape[1])
        for block in blocks:
            total = total.merge(accumulated([block]))
    else:
        total = accumulated(blocks)
    found = total.finish()
    mu, sigma = reference.pair_moments(X, y, weight)
    np.testing.assert_allclose(found.mean_difference, mu, atol=1e-12)
    np.testing.assert_allclose(found.second_moment, sigma, atol=1e-12)


def test_counts_stay_exact_far_beyond_a_billion_rows(rng):
    X, y = sp.csr_array(rng.random((200, 6)) < 0.3).astype(float), rng.random(200) < 0.3
    once = PairMoments.from_arrays(X, y)
    many = accumulated([Block(X, y)])
    for _ in range(34):
        many.merge(pickle.loads(pickle.dumps(many)))
    found = many.finish()
    assert found.counts == tuple(n << 34 for n in once.counts)
    np.testing.assert_array_equal(found.mean_difference, once.mean_difference)
    np.testing.assert_array_equal(found.second_moment, once.second_moment)


def test_what_was_finished_does_not_change(rng):
    X, y = sp.csr_array(rng.random((50, 4)) < 0.5).astype(float), np.arange(50) % 2 == 0
    total = accumulated([Block(X[:20], y[:20])])
    first = total.finish()
    before = first.second_moment
    both = total.add(Block(X[20:], y[20:])).finish()
    np.testing.assert_array_equal(first.second_moment, before)
    np.testing.assert_allclose(both.second_moment, PairMoments.from_arrays(X, y).second_moment, rtol=1e-12)


def test_nothing_is_lost_by_merging_with_no_rows(rng):
    X, y = sp.csr_array(rng.random((50, 4)) < 0.5).astype(float), np.arange(50) % 2 == 0
    whole = PairMoments.from_arrays(X, y)
    for order in (0, 1):
        pair = [accumulated([Block(X, y)]), MomentsAccumulator(4)]
        assert_same_bits(pair[order].merge(pair[1 - order]).finish(), whole)
