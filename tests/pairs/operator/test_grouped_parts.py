"""Pairs within groups of rows in files and on clusters: the same as in memory."""

import numpy as np
import pytest
from row_sources import Rows
from scipy import sparse as sp

from local_parts import cut, rows_of
from mbauc.errors import CheckpointError
from mbauc.pairs.compact.rows import StoredRows
from mbauc.pairs.grouped import grouped_moments
from mbauc.pairs.operator.build import open_operator
from mbauc.pairs.operator.from_source import build_source_operator
from mbauc.readers import RawBlock
from mbauc.rows.block import Block
from mbauc.rows.groups import group_codes
from mbauc.rows.parts.source import rows_in_source
from mbauc.rows.source import GroupedBlock

PLENTY, LITTLE = 1 << 30, 90 * 300


@pytest.fixture
def table(rng):
    n, d = 300, 8
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.4)
    return X, rng.random(n) < 0.4, rng.random(n) + 0.1, np.array([f"q{k}" for k in rng.integers(0, 30, n)])


def in_blocks(table, groups=True):
    X, y, weight, own = table
    cuts = [slice(0, 120), slice(120, 130), slice(130, 300)]
    blocks = [GroupedBlock(sp.csr_array(X[c]), y[c].astype(int), weight[c], own[c]) for c in cuts]
    source = Rows(blocks if groups else [RawBlock(*block[:3]) for block in blocks], X.shape[1])
    source.has_groups = groups
    return source


def check(pairs, table, equal=False):
    X, y, weight, groups = table
    block = Block(X, y, weight, groups=group_codes(groups, len(y)))
    moments = grouped_moments(block, equal_groups=equal).moments
    np.testing.assert_allclose(pairs.order.restore(pairs.mu), moments.mean_difference, atol=1e-12)
    diagonal = np.diagonal(moments.second_moment)
    np.testing.assert_allclose(pairs.order.restore(pairs.diagonal), diagonal, atol=1e-12)
    v = np.random.default_rng(1).standard_normal(X.shape[1])
    product = pairs.order.restore(pairs.product(v[pairs.columns]))
    np.testing.assert_allclose(product, moments.second_moment @ v, atol=1e-11)
    np.testing.assert_allclose(pairs.effective_sizes, moments.effective_sizes, rtol=1e-9)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("equal", [False, True])
def test_a_source(table, memory, equal):
    with open_operator(rows_in_source(in_blocks(table)), 2, memory, equal_groups=equal) as (pairs, _):
        check(pairs, table, equal)


def test_groups_are_in_the_cache_file(table, tmp_path):
    for memory in (PLENTY, LITTLE, LITTLE):
        operator = build_source_operator(in_blocks(table), n_threads=1, memory=memory, folder=tmp_path)
        labels = operator.row_labels()
        assert labels.groups.size == 300
        assert isinstance(operator.chunks[0], StoredRows) == (memory == LITTLE)
    assert labels.groups.size == np.unique(labels.groups, return_inverse=True)[1].size


def test_a_cache_without_groups_is_not_taken_for_one_with(table, tmp_path):
    build_source_operator(in_blocks(table, groups=False), n_threads=1, memory=PLENTY, folder=tmp_path)
    with pytest.raises(CheckpointError, match=r"block 1 .* has changed"):
        build_source_operator(in_blocks(table), n_threads=1, memory=PLENTY, folder=tmp_path)


@pytest.mark.parametrize("equal", [False, True])
def test_parts_of_a_cluster(table, equal):
    X, y, weight, groups = table
    parts = cut([50, 50, 200], sp.csr_array(X), y.astype(int), weight, groups=groups, blocks=2)
    rows = rows_of(parts, X, weighted=True, grouped=True)
    with open_operator(rows, 1, PLENTY, equal_groups=equal) as (pairs, classes):
        check(pairs, table, equal)
        jobs = len(parts.jobs)
        pairs.product(np.arange(float(pairs.mu.size)))
        assert parts.jobs[jobs:] == ["ScoreRows", "CombineRows"]
    np.testing.assert_array_equal(classes, [0, 1])


def test_numbers_of_the_rows_must_fit(table):
    with (
        pytest.raises(ValueError, match=r"pairs within groups of 300 rows need 0.0 GB .* Allow more memory"),
        open_operator(rows_in_source(in_blocks(table)), 1, 90 * 300 - 1),
    ):
        pass


def test_numbers_of_the_rows_of_another_loss_must_fit_and_are_refused_before_reading(table):
    rows = in_blocks(table, groups=False)
    with (
        pytest.raises(
            ValueError, match=r"losses other .* 300 rows need 0.0 GB .* Allow more memory, or take loss"
        ),
        open_operator(rows_in_source(rows), 1, 140 * 300 - 1, other_loss=True),
    ):
        pass
    rows.n_rows = 10**9
    with (
        pytest.raises(ValueError, match=r"1,000,000,000 rows need 140\.0 GB"),
        open_operator(rows_in_source(rows), 1, PLENTY, other_loss=True),
    ):
        pass


def test_rows_leave_room_for_numbers_of_the_rows(table, tmp_path):
    rows, bits = in_blocks(table, groups=False), []
    for row_bytes in (0, 10**7):
        for folder in (None, tmp_path):
            operator = build_source_operator(
                rows, n_threads=1, memory=10**8, row_bytes=row_bytes, folder=folder
            )
            assert isinstance(operator.chunks[0], StoredRows) == (row_bytes > 0)
            bits.append(operator.product(np.arange(float(operator.mu.size))).tobytes())
    assert len(set(bits)) == 1
