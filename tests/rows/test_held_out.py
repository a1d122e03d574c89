"""One pass gives both sides of a split, with the same numbers as one pass for each."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

from mbauc.readers import RawBlock
from mbauc.rows.held_out import SplitSource
from mbauc.rows.source import fingerprint_of
from mbauc.rows.split import GivenSplit, RandomSplit, RowSubset


class Blocks:
    """A source that counts whole passes."""

    classes = (0, 1)

    def __init__(self, blocks):
        self.blocks, self.n_features, self.passes = blocks, blocks[0].X.shape[1], 0

    def __iter__(self):
        yield from self.blocks
        self.passes += 1


def rows(kind="dense", weighted=False, seed=0, columns=5, values=(0.1, -2.5, 3.0)):
    rng = np.random.default_rng(seed)
    blocks = []
    for size in (40, 1, 70):
        X = sp.random(
            size, columns, 3 / (columns + 5), "csr", rng=rng, data_rvs=lambda k: rng.choice(values, k)
        )
        y = rng.integers(0, 2, size).astype(np.int8)
        weight = rng.random(size) if weighted else None
        blocks.append(RawBlock(X.toarray() if kind == "dense" else sp.csr_array(X), y, weight))
    return Blocks(blocks)


def check_same(found, wanted):
    for ours, theirs in zip(found, wanted, strict=True):
        assert sp.issparse(ours.X) == sp.issparse(theirs.X)
        assert ours.X.dtype == np.float64
        assert ours.X.shape == theirs.X.shape
        one, two = sp.csr_array(ours.X), sp.csr_array(theirs.X)
        for a, b in ((one.data, two.data), (one.indices, two.indices), (one.indptr, two.indptr)):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(ours.y, theirs.y)
        np.testing.assert_array_equal(ours.weight, theirs.weight)


#: Numbers of which some need eight bytes, some four, some one; whole ones beyond a byte among them.
VALUES = [(0.1, 1e300, 7), (0.5, -0.25), (1, 0, -127), (128, 1), (1e38, 3), (1e39, 0.5), (-1, 1)]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("weighted", [False, True])
@given(values=st.sampled_from(VALUES), columns=st.sampled_from([1, 5, 70_000]), seed=st.integers(0, 5))
def test_both_sides_come_from_one_pass(kind, weighted, values, columns, seed):
    source = rows(kind, weighted, columns=columns if kind == "sparse" else min(columns, 9), values=values)
    split = SplitSource(source, RandomSplit(0.3, seed), memory=1 << 30)
    check_same(split, RowSubset(source, RandomSplit(0.3, seed), held_out=False))
    before = source.passes
    check_same(split.held_out, RowSubset(source, RandomSplit(0.3, seed), held_out=True))
    assert source.passes == before + 1  # of the other one


def test_a_look_at_the_first_block_is_no_pass():
    source = rows()
    split = SplitSource(source, RandomSplit(0.3, 0), memory=1 << 30)
    next(iter(split))
    check_same(split.held_out, RowSubset(source, RandomSplit(0.3), held_out=True))
    assert source.passes == 2


def test_what_does_not_fit_is_read_again():
    source = rows()
    split = SplitSource(source, RandomSplit(0.3, 0), memory=100)
    check_same(split, RowSubset(source, RandomSplit(0.3), held_out=False))
    before = source.passes
    check_same(split.held_out, RowSubset(source, RandomSplit(0.3), held_out=True))
    assert source.passes == before + 2


def test_few_bytes_are_kept():
    source = rows("sparse", columns=1000, values=(1.0,))
    entries = sum(block.X.nnz for block in RowSubset(source, RandomSplit(0.5), held_out=True))
    size = 3 * entries + 6 * 111  # two bytes for the column, one for the value
    list(fits := SplitSource(source, RandomSplit(0.5, 0), memory=size))
    list(too_little := SplitSource(source, RandomSplit(0.5, 0), memory=3 * entries))
    assert not isinstance(fits.held_out, RowSubset)
    assert isinstance(too_little.held_out, RowSubset)


class Told(Blocks):
    """A source that says what its blocks depend on, and how many rows they have."""

    n_rows = 111

    def fingerprint(self):
        return {"source": "Told"}


def test_what_a_checkpoint_must_not_mix_has_fingerprints_of_its_own():
    """Other sides, shares, seeds, folds and masks are other rows."""
    source, mask = Told(rows().blocks), np.arange(111) < 40

    def splits():
        yield from (RandomSplit(share, seed) for share in (0.2, 0.5) for seed in (0, 1))
        yield from (
            RandomSplit(0.5, seed, fold, folds) for seed in (0, 1) for folds in (2, 3) for fold in (0, 1)
        )
        yield from (GivenSplit(mask), GivenSplit(~mask))

    def told():
        sides = [RowSubset(source, split, held_out=out) for split in splits() for out in (False, True)]
        return [json.dumps(fingerprint_of(side), sort_keys=True) for side in sides]

    assert told() == told()
    assert len(set(told())) == len(told()) == 28


@pytest.mark.parametrize(
    "split", [RandomSplit(0.2), RandomSplit(0.5, 3), RandomSplit(0.9, 0, 1, 4), GivenSplit(np.arange(111) < 30)]
)
def test_sides_know_about_how_many_rows_they_have(split):
    source = Told(rows().blocks)
    train, test = (RowSubset(source, split, held_out=out) for out in (False, True))
    counts = [sum(block.y.size for block in side) for side in (train, test)]
    assert sum(counts) == 111
    assert test.about_rows == round(111 * split.share)
    assert train.about_rows == round(111 * (1 - split.share))
    assert counts[1] == pytest.approx(test.about_rows, abs=20)


def test_rows_are_drawn_by_the_seed_and_each_is_held_out_by_one_fold():
    draws = [RandomSplit(0.5, seed).held_out(0, 1000) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert 400 < (draws[0] != draws[2]).sum() < 600
    folds = np.array([RandomSplit(0.5, 7, fold, 5).held_out(0, 1000) for fold in range(5)])
    assert (folds.sum(axis=0) == 1).all()
    # whatever the blocks
    pieces = [RandomSplit(0.5, 0).held_out(first, 100) for first in range(0, 1000, 100)]
    np.testing.assert_array_equal(np.concatenate(pieces), draws[0])
