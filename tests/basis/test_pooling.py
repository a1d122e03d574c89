"""Categories with fewer levels: what becomes of rows and penalties, and the way back."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mbauc.basis.columns import Levels
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.basis.pooling import PooledLevels, carry_strength, share_evenly
from mbauc.basis.smoothing import smooth_features, with_pairs
from mbauc.estimators.additive.search_rows import weigh_indicators


def make_features(seed=0, n=600):
    """Rows of a number, a category of many levels and one of few, with gaps; their features and weights."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.geometric(0.05, n), rng.integers(0, 3, n)]).astype(float)
    X[rng.random(X.shape) < 0.1] = np.nan
    kinds = [ColumnKind("x"), ColumnKind("many", True), ColumnKind("few", True)]
    features = design_features(X, None, kinds, DesignSettings(min_rows=2))
    codes = features.codes(X)
    return X, features, codes, weigh_indicators(features, codes, rng.random(n))


@settings(max_examples=30)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=8), st.integers(8, 100))
def test_a_shared_limit_is_the_largest_that_fits(sizes, most):
    sizes = np.array(sizes)
    limit = share_evenly(sizes, most)
    assert np.minimum(sizes, limit).sum() <= most
    assert limit >= sizes.max() or np.minimum(sizes, limit + 1).sum() > most


def test_no_more_levels_than_allowed_are_left_as_they_are():
    _, features, _, totals = make_features()
    assert PooledLevels.of(features, totals, 10_000) is None


def test_codes_are_those_of_the_features_with_fewer_levels():
    X, features, codes, totals = make_features()
    pooled = PooledLevels.of(features, totals, 12)
    assert pooled.limit == 9
    assert [one.kept.size for one in pooled.features.columns if isinstance(one, Levels)] == [9, 3]
    np.testing.assert_array_equal(pooled.codes(codes), pooled.features.codes(X))


def test_the_most_frequent_levels_stay_and_keep_their_coarse_groups():
    _, features, _, totals = make_features()
    pooled = PooledLevels.of(features, totals, 12)
    whole, fewer = features.columns[1], pooled.features.columns[1]
    own = np.isin(whole.kept, fewer.kept)
    assert totals[1][:-2][own].min() >= totals[1][:-2][~own].max()
    groups = features.coarse[1]
    before = np.array([*groups[:-2][own], groups[-2], groups[-1]])
    after = pooled.features.coarse[1]
    np.testing.assert_array_equal(before[:, None] == before, after[:, None] == after)
    assert [fewer.names[k] for k in range(9)] == [whole.names[k] for k in np.flatnonzero(own)]


def test_restored_features_are_the_whole_ones_with_the_interactions_found():
    _, features, _, totals = make_features()
    pooled = PooledLevels.of(features, totals, 12)
    found, weights = pooled.restore(with_pairs(pooled.features, [(0, 1)]), totals)
    assert found.columns == features.columns
    assert found.pairs == ((0, 1),)
    for j in range(3):
        np.testing.assert_array_equal(found.coarse[j], features.coarse[j])
        np.testing.assert_array_equal(weights[j], totals[j])


def test_penalties_are_carried_over_term_by_term():
    _, features, _, totals = make_features()
    pooled = PooledLevels.of(features, totals, 12)
    fewer = [np.bincount(table, own) for table, own in zip(pooled.tables, totals, strict=True)]
    before = smooth_features(with_pairs(pooled.features, [(0, 1)]), fewer, functions=16)
    after = smooth_features(with_pairs(features, [(0, 1)]), totals, functions=16)
    by_term = np.array([3.0, 5.0, 7.0, 11.0, 13.0])
    carried = carry_strength(by_term[before.group] * before.roughness, before, after)
    np.testing.assert_allclose(carried, by_term[after.group] * after.roughness, rtol=1e-12)
