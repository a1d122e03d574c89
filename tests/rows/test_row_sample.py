"""The sample of rows is the same however they are cut, and has the sizes and weights that it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp

from local_parts import cut, rows_of
from mbauc.errors import CheckpointError, NonFiniteError
from mbauc.rows.block import Block
from mbauc.rows.parts.keys import row_keys
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.row_sample import sample_rows
from mbauc.rows.parts.saved_sample import sample_once
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import RawBlock
from mbauc.store.checkpoint import Checkpoint


class Blocks(list):
    """Rows in memory as a source that counts how often it is read."""

    n_features, classes, stamp, reads = 2, (0, 1), 1, 0

    def __init__(self, X, y, weight=None, step=7):
        rows = [slice(start, start + step) for start in range(0, len(y), step)]
        super().__init__(RawBlock(X[own], y[own], None if weight is None else weight[own]) for own in rows)

    def __iter__(self):
        self.reads += 1
        return super().__iter__()

    def fingerprint(self):
        return {"stamp": self.stamp}


def make_rows(seed, n=60, weighted=False):
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.arange(n) + 0.5, rng.standard_normal(n)])
    X[rng.random(n) < 0.2, 1] = np.nan
    y = (rng.random(n) < 0.3).astype(int)
    y[:2] = 0, 1
    weight = rng.choice([0.0, 0.1, 1.7], n) if weighted else None
    if weighted:
        weight[:2] = 1.0
    return X, y, weight


def in_memory(X, y, weight=None, ids=None):
    return rows_in_memory(Block(X, y == 1, weight, ids))


def same(found, expected):
    """To the bit."""
    assert found.sizes == expected.sizes
    for name in ("X", "positive", "weight"):
        np.testing.assert_array_equal(getattr(found.block, name), getattr(expected.block, name))
    np.testing.assert_array_equal(found.share, expected.share)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 50),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    blocks=st.integers(1, 3),
    most=st.sampled_from([4, 20, 45, 100]),
    weighted=st.booleans(),
)
def test_any_cut_into_parts_gives_the_same_sample(seed, cuts, blocks, most, weighted):
    X, y, weight = make_rows(seed, weighted=weighted)
    whole = sample_rows(in_memory(X, y, weight), most, seed)
    parts = cut(cuts, X, y, weight, blocks=blocks)
    same(sample_rows(rows_of(parts, X), most, seed), whole)
    same(sample_rows(rows_in_source(Blocks(X, y, weight, step=1 + seed % 13)), most, seed), whole)


@settings(max_examples=25)
@given(seed=st.integers(0, 50), most=st.sampled_from([4, 20, 45, 100]), weighted=st.booleans())
def test_the_sample_are_the_rows_with_the_smallest_keys(seed, most, weighted):
    X, y, weight = make_rows(seed, weighted=weighted)
    sample = sample_rows(in_memory(X, y, weight), most, seed)
    used = np.ones(y.size, dtype=bool) if weight is None else weight > 0
    sides = [np.flatnonzero(used & (y == 1)), np.flatnonzero(used & (y == 0))]
    assert sample.sizes == (sides[0].size, sides[1].size)
    # half of each class where there are enough, and what the other leaves
    room = [max(most // 2, most - sides[1].size), max(most // 2, most - sides[0].size)]
    expected = [
        own[np.argsort(row_keys(np.arange(own.size), seed + side), kind="stable")][:count]
        for side, (own, count) in enumerate(zip(sides, room, strict=True))
    ]
    np.testing.assert_array_equal(sample.block.X[:, 0] - 0.5, np.concatenate(expected))
    assert sample.block.n_rows <= most
    assert sample.is_whole == (sample.block.n_rows == sum(sample.sizes))
    for side, own in zip((sample.block.positive, ~sample.block.positive), sides, strict=True):
        total = own.size if weight is None else weight[own].sum()
        assert sample.share[side].sum() == pytest.approx(total, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_with_ids_may_come_in_any_order(rng, weighted):
    X, y, weight = make_rows(3, weighted=weighted)
    ids = np.array([f"row {k}" for k in range(y.size)])

    def sampled(order, cuts):
        given = [None if one is None else one[order] for one in (X, y, weight, ids)]
        return sample_rows(rows_of(cut(cuts, *given), X, with_ids=True), 20, 7)

    whole = sampled(np.arange(y.size), [])
    for _ in range(3):
        same(sampled(rng.permutation(y.size), sorted(rng.integers(0, 61, 3))), whole)


def test_sparse_and_small_numbers_are_sampled_as_they_are():
    X, y, _ = make_rows(1)
    dense = sample_rows(in_memory(np.nan_to_num(X), y), 20, 0).block.X
    sparse = sample_rows(in_memory(sp.csr_array(np.nan_to_num(X)), y), 20, 0).block.X
    np.testing.assert_array_equal(sparse.toarray(), dense)
    single = sample_rows(rows_of(cut([20], X.astype(np.float32), y), X), 20, 0).block.X
    assert single.dtype == np.float32


def test_one_class_and_infinite_values_are_refused():
    X, y, _ = make_rows(1)
    with pytest.raises(ValueError, match="no positive rows"):
        sample_rows(in_memory(X, np.zeros_like(y)), 20, 0)
    X[33, 1] = -np.inf
    for form in (np.asarray, lambda X: sp.csr_array(np.nan_to_num(X, neginf=-np.inf))):
        with pytest.raises(NonFiniteError, match="row 33, column 1"):
            sample_rows(rows_in_source(Blocks(form(X), y)), 20, 0)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_checkpoint_keeps_the_sample_as_long_as_the_rows_stay(tmp_path, weighted):
    source = Blocks(*make_rows(2, weighted=weighted))
    plain = sample_rows(rows_in_source(source), 20, 0)
    with Checkpoint(tmp_path, {"what": "test"}) as checkpoint:
        rows = rows_in_source(source, checkpoint=checkpoint)
        for reads in (2, 2):
            same(sample_once(rows, 20, 0), plain)
            assert source.reads == reads
        source.stamp = 2
        same(sample_once(rows, 20, 0), plain)
        assert source.reads == 3
        source.fingerprint = lambda: None
        same(sample_once(rows, 20, 0), plain)
        assert source.reads == 4
        del source.fingerprint
        path = tmp_path / "sample.state"
        path.write_bytes(path.read_bytes()[:-9])
        with pytest.raises(CheckpointError):
            sample_once(rows, 20, 0)
