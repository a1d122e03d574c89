"""One pass gives both sides of a split, with the same numbers as one pass for each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

from mbauc.readers import RawBlock
from mbauc.rows.held_out import SplitSource
from mbauc.rows.split import RandomSplit, RowSubset


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
