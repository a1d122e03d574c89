"""Pairs within groups."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import mbauc.pairs.scatter.grouped as scatter_module
import reference
from mbauc import PairMoments
from mbauc.pairs.accumulator import accumulate_block
from mbauc.pairs.grouped import grouped_moments
from mbauc.rows.block import Block
from strategies import close, grouped_tables

FORMS = {"C": np.ascontiguousarray, "F": np.asfortranarray, "float32": np.float32, "csr": sparse.csr_matrix}


def blocks(table, form="C"):
    X, y, weight, groups = table
    return Block(FORMS[form](X), y, weight, groups=groups)


@given(grouped_tables(), st.booleans(), st.sampled_from(list(FORMS)))
def test_moments_are_those_of_the_pairs_within_groups(table, equal, form):
    X, y, weight, groups = table
    mu, sigma, rows, total = reference.grouped_moments(X, y, groups, weight, equal_groups=equal)
    found = grouped_moments(blocks(table, form), equal_groups=equal)
    moments = found.moments
    close(moments.mean_difference, mu, X, 1)
    close(moments.second_moment, sigma, X, 2)
    assert moments.sums.pairs.differences.weight == pytest.approx(total)
    assert moments.n_pairs == sum(
        int(y[groups == g].sum()) * int((~y[groups == g]).sum()) for g in np.unique(groups)
    )
    np.testing.assert_allclose(
        moments.effective_sizes, [total**2 / (rows[side] ** 2).sum() for side in (y, ~y)], rtol=1e-9
    )
    alone = [g for g in np.unique(groups) if np.unique(y[groups == g]).size == 1]
    assert found.one_class_groups == len(alone)
    assert found.n_groups == np.unique(groups).size - len(alone)
    assert found.one_class_rows == np.isin(groups, alone, kind="sort").sum()


@given(grouped_tables(), st.booleans())
def test_class_sums_are_over_all_rows(table, equal):
    moments = grouped_moments(blocks(table), equal_groups=equal).moments
    plain = accumulate_block(replace(blocks(table), groups=None), 1)
    np.testing.assert_array_equal(moments.sums.classes.packed.buffer, plain.sums.classes.packed.buffer)
    assert moments.weights == plain.weights


@given(grouped_tables(), st.sampled_from(list(FORMS)))
def test_a_shift_of_each_group_changes_nothing(table, form):
    X, y, weight, groups = table
    shift = 1000.0 * np.arange(5)[(groups // np.uint64(2**61)).astype(int), None]
    X = np.round(X * 8) / 8  # so that adding the shift is exact
    plain = grouped_moments(blocks((X, y, weight, groups), form)).moments
    moved = grouped_moments(blocks((X + shift, y, weight, groups), form)).moments
    tolerance = 1e-6 if form == "csr" else 1e-12
    scale = max(np.abs(X).max() ** 2, 1.0)
    np.testing.assert_allclose(moved.second_moment, plain.second_moment, rtol=1e-9, atol=tolerance * scale)


@given(grouped_tables(max_rows=16), st.booleans(), st.data())
def test_disjoint_groups_merge_subtract_and_fold(table, equal, data):
    X, _, _, groups = table
    whole = grouped_moments(blocks(table), equal_groups=equal).moments
    first = groups < np.uint64(data.draw(st.integers(0, 4))) * np.uint64(2**61)
    parts = [
        grouped_moments(blocks(table), subset=np.flatnonzero(rows), equal_groups=equal).moments
        for rows in (first, ~first)
    ]
    both = parts[0] + parts[1]
    close(both.second_moment, whole.second_moment, X, 2)
    np.testing.assert_allclose(both.effective_sizes, whole.effective_sizes, rtol=1e-9)
    if parts[1].has_pairs and (~first).any() and first.any():
        rest = whole - parts[0]
        np.testing.assert_allclose(rest.mean_difference, parts[1].mean_difference, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(rest.effective_sizes, parts[1].effective_sizes, rtol=1e-6)
        decayed = (parts[0].decayed(0.5) + parts[1]).mean_difference
        a, b = (part.sums.pairs.differences for part in parts)
        close(decayed, (0.5 * a.weight * a.mean + b.weight * b.mean) / (0.5 * a.weight + b.weight), X, 1)


def big(n=3000, d=7, n_groups=200, seed=0, density=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < density)
    y = rng.random(n) < 0.4
    return X, y, rng.random(n) + 0.1, rng.integers(0, n_groups, n).astype(np.uint64)


def by_group(table, **settings):
    """Sum of the closed moments of each group that has pairs."""
    X, y, weight, groups = table
    total = 0
    for g in np.unique(groups):
        rows = groups == g
        if np.unique(y[rows]).size == 2:
            total = total + PairMoments.from_arrays(X[rows], y[rows], weight[rows]).closed()
    return total


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("limit", [1 << 26, 4000])
def test_ranges_of_groups_and_threads(form, limit, monkeypatch):
    monkeypatch.setattr(scatter_module, "GROUP_BYTES", limit)
    table = big()
    found = grouped_moments(blocks(table, form), 3).moments
    expected = by_group(table)
    tolerance = 1e-5 if form == "float32" else 1e-11
    np.testing.assert_allclose(found.second_moment, expected.second_moment, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found.mean_difference, expected.mean_difference, rtol=tolerance, atol=tolerance)


def test_many_columns_take_the_other_road(monkeypatch):
    table = big(n=300, d=40, n_groups=20)
    expected = grouped_moments(blocks(table)).moments
    monkeypatch.setattr(scatter_module, "OWN_SCATTER_COLUMNS", 10)
    found = grouped_moments(blocks(table), 2).moments
    np.testing.assert_allclose(found.second_moment, expected.second_moment, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("entries", [4_000_000, 50])
def test_wide_sparse_rows(entries, monkeypatch):
    monkeypatch.setattr(scatter_module, "_ENTRIES", entries)
    table = big(n=400, d=300, n_groups=60, density=0.01)
    dense, thin = (grouped_moments(blocks(table, form)).moments for form in ("C", "csr"))
    np.testing.assert_allclose(thin.second_moment, dense.second_moment, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(thin.mean_difference, dense.mean_difference, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_a_column_that_does_not_vary_within_groups_is_exactly_nothing(form):
    X, y, weight, groups = big(n=500, n_groups=30)
    X[:, 2] = np.sqrt(groups + 0.1)
    moments = grouped_moments(blocks((X, y, weight, groups), form)).moments
    assert moments.mean_difference[2] == 0.0
    assert not moments.second_moment[2].any()


@given(grouped_tables(max_rows=8))
def test_frequencies_are_equal_rows(table):
    X, y, _, groups = table
    k = np.arange(len(y)) % 3 + 1
    block = Block(X, y, k.astype(float), groups=groups, frequencies=True)
    found = grouped_moments(block).moments
    rows = np.repeat(np.arange(len(y)), k)
    repeated = grouped_moments(Block(X[rows], y[rows], groups=groups[rows])).moments
    close(found.second_moment, repeated.second_moment, X, 2)
    np.testing.assert_allclose(found.effective_sizes, repeated.effective_sizes, rtol=1e-9)


def test_no_group_with_both_classes():
    X, y, weight, groups = big(n=50)
    found = grouped_moments(Block(X, y, groups=y.astype(np.uint64)))
    assert not found.moments.has_pairs
    assert (found.one_class_groups, found.one_class_rows) == (2, 50)
    more = grouped_moments(blocks((X, y, weight, groups % np.uint64(5)))).moments
    np.testing.assert_array_equal((found.moments + more).second_moment, more.second_moment)


def test_moments_of_groups_and_of_other_pairs_do_not_mix():
    X, y, weight, groups = big(n=50)
    grouped = grouped_moments(blocks((X, y, weight, groups % np.uint64(5)))).moments
    with pytest.raises(ValueError, match="within groups and moments of other pairs"):
        grouped + PairMoments.from_arrays(X, y).closed()


def test_grouped_moments_in_a_file(tmp_path):
    X, y, weight, groups = big(n=50)
    moments = grouped_moments(blocks((X, y, weight, groups % np.uint64(5)))).moments
    moments.save(tmp_path / "moments")
    again = PairMoments.load(tmp_path / "moments")
    assert again.is_grouped
    assert again.effective_sizes == moments.effective_sizes
    np.testing.assert_array_equal(again.second_moment, moments.second_moment)


@pytest.mark.parametrize("unit", [1e-99, 1e-85, 1e80, 1e99])
def test_the_unit_of_the_weights_does_not_matter(unit):
    X, y, weight, groups = big(n=200)
    groups = groups % np.uint64(8)
    plain, other = (blocks((X, y, weight * each, groups)) for each in (1.0, unit))
    first = groups < 4
    expected, found = (grouped_moments(block).moments for block in (plain, other))
    parts = [grouped_moments(other, subset=np.flatnonzero(own)).moments for own in (first, ~first)]
    for one in (found, parts[0] + parts[1], (found - parts[0]) + parts[0]):
        np.testing.assert_allclose(one.effective_sizes, expected.effective_sizes, rtol=1e-9)
        np.testing.assert_allclose(one.second_moment, expected.second_moment, rtol=1e-9, atol=1e-9)
    rest = grouped_moments(plain, subset=np.flatnonzero(~first)).moments
    np.testing.assert_allclose((found - parts[0]).effective_sizes, rest.effective_sizes, rtol=1e-9)
    np.testing.assert_allclose(found.decayed(0.5).effective_sizes, expected.effective_sizes, rtol=1e-9)
