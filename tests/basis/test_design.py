"""How bins and levels are taken from rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from mbauc.basis.columns import Levels, Steps
from mbauc.basis.design import ColumnKind, DesignSettings, design_features

FEW = settings(max_examples=30)
NUMBER, CATEGORY = ColumnKind("number"), ColumnKind("category", categorical=True)
#: general numbers, ties, and neighbours without a number between them
elements = st.sampled_from(
    [
        st.floats(-100, 100, width=32),
        st.integers(-3, 3).map(float),
        st.integers(0, 9).map(lambda k: 1.0 + k * 2.0**-52),
        st.integers(-4, 4).map(lambda k: k * 5e-324),
        st.sampled_from([1e308, -1e308, 1.7e308, 0.0]),
    ]
)


@st.composite
def columns(draw, max_rows=60):
    kind = draw(elements)
    return draw(hnp.arrays(np.float64, st.integers(1, max_rows), elements=st.one_of(kind, st.just(np.nan))))


def design(*x, kinds=None, weight=None, **settings):
    X = np.column_stack(x)
    return design_features(X, weight, kinds or [NUMBER] * X.shape[1], DesignSettings(**settings))


@FEW
@given(columns(), st.integers(2, 8))
def test_a_bin_weighs_its_share_and_its_largest_value_at_most(x, bins):
    [steps] = design(x, bins=bins).columns
    known = x[~np.isnan(x)]
    distinct = np.unique(known)
    assert steps.edges.size < bins
    if distinct.size <= bins:
        assert steps.codes(distinct).tolist() == list(range(distinct.size))
        return
    code = steps.codes(known)
    for k in range(steps.width - 1):
        own = known[code == k]
        assert own.size
        assert own.size <= known.size / bins * (1 + 1e-9) + (own == own.max()).sum()


@FEW
@given(st.integers(2, 64), st.integers(2, 9), st.sampled_from([1.0, 0.1, 1 / 3]))
def test_bins_of_distinct_values_that_can_be_shared_out_have_as_many_each(bins, size, weight):
    """Whatever the unit of the weights, whose sums are rounded."""
    x = np.arange(bins * size) / 7.0
    [steps] = design(x, bins=bins, weight=np.full(x.size, weight)).columns
    assert np.bincount(steps.codes(x)).tolist() == [size] * bins


@FEW
@given(columns(), st.integers(2, 8))
def test_centers_are_values_of_their_bins(x, bins):
    [steps] = design(x, bins=bins).columns
    known = x[~np.isnan(x)]
    assert steps.codes(steps.centers).tolist() == list(range(steps.width - 1))
    if known.size:
        assert np.isin(steps.centers, known).all()


@FEW
@given(st.data(), st.integers(1, 40), st.integers(2, 6))
def test_order_does_not_matter_and_a_weight_is_a_repeated_row(data, n, bins):
    values = st.one_of(data.draw(elements), st.just(np.nan))
    numbers = data.draw(hnp.arrays(np.float64, n, elements=values))
    codes = data.draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 2.0, 7.0, np.nan])))
    count = data.draw(hnp.arrays(np.int64, n, elements=st.integers(1, 3)))
    order = data.draw(st.permutations(range(n)))
    kinds, settings = [NUMBER, CATEGORY], {"bins": bins, "min_rows": 1, "coarse_bins": 3}
    weighted = design(numbers, codes, kinds=kinds, weight=count.astype(float), **settings)
    repeated = design(*(np.repeat(x[order], count[order]) for x in (numbers, codes)), kinds=kinds, **settings)
    assert weighted.to_dict() == repeated.to_dict()


@pytest.mark.parametrize("x", [[np.nan] * 4, [2.5] * 4, [2.5, np.nan, 2.5, np.nan], []])
def test_columns_that_say_nothing_have_one_bin(x):
    features = design(np.array(x, dtype=float))
    [steps] = features.columns
    assert steps.edges.size == 0
    assert steps.labels() == ["any", "(missing)"]
    assert features.numbers == ()
    assert features.encode(np.array([[1.0], [np.nan]])).toarray().tolist() == [[1, 0], [0, 1]]


def test_numbers_are_standardised_and_cut_off_where_rows_end():
    x = np.append(np.random.default_rng(0).normal(5.0, 2.0, 5000), [1e9, -1e9, np.nan])
    features = design(x, np.tile([0.0, 1.0], x.size)[: x.size])
    [number] = features.numbers  # the bins of two values say all that the number does
    z = number.values(x)
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1) < 0.01
    assert np.abs(z).max() < 4
    assert design(x, numbers=False).numbers == ()


def test_a_number_that_is_nearly_always_the_same_is_not_cut_off():
    x = np.append(np.zeros(1000), [1.0, 2.0, 3.0])
    [number] = design(x).numbers
    assert (number.low, number.high) == (0.0, 3.0)
    assert number.values(x).std() == pytest.approx(1.0)


@pytest.mark.parametrize("x", [[1e308, -1e308, 0.0], [5e-324, 0.0, 1e-323], [1e16, 1e16 + 2, 1e16 + 4]])
def test_numbers_that_cannot_be_standardised_are_bins_only(x):
    assert design(np.array(x)).numbers == ()


def test_rare_levels_share_an_indicator_and_the_most_frequent_stay():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0, np.nan], [5, 1, 3, 3, 2])
    named = ColumnKind("site", True, ("a", "b", "c"))
    [levels] = design(codes, kinds=[named], min_rows=3).columns
    # 3 is "other" already
    assert levels.labels() == ["a", "c", "(other)", "(missing)"]
    [levels] = design(codes, kinds=[CATEGORY], min_rows=1, max_levels=2).columns
    assert levels.labels() == ["#0", "#2", "(other)", "(missing)"]


def test_codes_without_names_are_told_apart():
    [levels] = design(np.array([1.25, 1.75, -3.0, 1e300]), kinds=[CATEGORY], min_rows=1).columns
    assert levels.names == ("#-3", "#1.25", "#1.75", "#1e+300")


@FEW
@given(columns(), columns(), st.integers(2, 5))
def test_coarse_groups_are_few_contiguous_and_leave_missing_values_apart(x, codes, coarse_bins):
    n = min(x.size, codes.size)
    features = design(x[:n], codes[:n], kinds=[NUMBER, CATEGORY], min_rows=1, coarse_bins=coarse_bins)
    for column, groups in zip(features.columns, features.coarse, strict=True):
        apart = 1 if isinstance(column, Steps) else 2
        assert isinstance(column, Steps | Levels)
        assert set(groups.tolist()) == set(range(groups.max() + 1))
        assert groups.max() + 1 <= coarse_bins + apart
        assert (groups == groups[-1]).sum() == 1
        if apart == 1:
            assert (np.diff(groups) >= 0).all()


def test_levels_of_two_percent_have_coarse_groups_of_their_own():
    codes = np.repeat([0.0, 1.0, 2.0, 3.0, np.nan], [500, 460, 20, 19, 7])
    features = design(codes, kinds=[CATEGORY], min_rows=1)
    [groups] = features.coarse
    # the last level shares that of all others; missing values have one
    assert groups.tolist() == [0, 1, 2, 3, 3, 4]


@pytest.mark.parametrize("coarse_bins", [2, 3, 4, 6])
def test_bins_of_equal_weight_are_shared_out_evenly_over_coarse_groups(coarse_bins):
    features = design(np.arange(24.0), bins=24, coarse_bins=coarse_bins)
    [groups] = features.coarse
    assert np.bincount(groups[:-1]).tolist() == [24 // coarse_bins] * coarse_bins
