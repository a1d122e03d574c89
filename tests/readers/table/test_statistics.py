import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mbauc.readers.table.encoding.statistics import ColumnStatistics
from strategies import close, tables


def statistics(X, cuts=(), form=np.asarray):
    result = ColumnStatistics(X.shape[1])
    for rows in np.split(np.arange(X.shape[0]), sorted(cuts)):
        result.update(form(X[rows]))
    return result


@given(
    tables(weighted=False), st.lists(st.integers(0, 12), max_size=3), st.sampled_from(["dense", "csr", "csc"])
)
def test_blocks_of_any_size_agree_with_scikit_learn(table, cuts, kind):
    X, _, _ = table
    form = {"dense": np.asarray, "csr": sparse.csr_array, "csc": sparse.csc_matrix}[kind]
    found = statistics(X, cuts, form)
    expected = StandardScaler().fit(X)
    np.testing.assert_array_equal(found.max_abs, MaxAbsScaler().fit(X).max_abs_)
    close(found.mean, expected.mean_, X, 1)
    close(found.standard_deviation**2, expected.var_, X, 2)
    assert (found.count == X.shape[0]).all()


@given(tables(weighted=False), st.integers(0, 12), st.data())
def test_missing_values_are_left_out(table, cut, data):
    X = table[0].copy()
    holes = data.draw(st.lists(st.tuples(st.integers(0, X.shape[0] - 1), st.integers(0, X.shape[1] - 1))))
    for row, column in holes:
        X[row, column] = np.nan
    for form in (np.asarray, sparse.csr_array):
        found = statistics(X, [cut], form)
        for column in range(X.shape[1]):
            values = X[~np.isnan(X[:, column]), column]
            assert found.count[column] == values.size
            if values.size:
                close(found.mean[column], values.mean(), values, 1)
                close(found.standard_deviation[column] ** 2, values.var(), values, 2)
                assert found.max_abs[column] == np.abs(values).max()


def test_merging_in_any_order_is_the_whole(rng):
    X = rng.standard_normal((100, 3)) + np.array([0, 1e6, -1e3])
    first, second, third = (statistics(X[rows]) for rows in (slice(0, 10), slice(10, 11), slice(11, None)))
    third.merge(first)
    third.merge(second)
    third.merge(ColumnStatistics(3))
    whole = statistics(X)
    np.testing.assert_allclose(third.mean, whole.mean, rtol=1e-14)
    np.testing.assert_allclose(third.standard_deviation, whole.standard_deviation, rtol=1e-9)


def test_a_large_offset_does_not_drown_the_deviation(rng):
    X = rng.standard_normal((1000, 1)) + 1e9
    np.testing.assert_allclose(statistics(X, range(7, 1000, 7)).standard_deviation, X.std(axis=0), rtol=1e-6)


@pytest.mark.parametrize("value", [0.1, -3.0, 1e12, 0.0])
def test_constant_columns_are_divided_by_one(value):
    found = statistics(np.full((101, 1), value), range(3, 101, 3))
    assert found.scale("standard").tolist() == [1.0]
    assert found.scale("max-abs").tolist() == [abs(value) or 1.0]


def test_what_is_wrong_is_named():
    found = ColumnStatistics(2)
    with pytest.raises(ValueError, match="a block has 3 columns, but earlier ones have 2"):
        found.update(np.ones((1, 3)))
    with pytest.raises(ValueError, match="cannot merge statistics of 3 columns"):
        found.merge(ColumnStatistics(3))
    with pytest.raises(ValueError, match="column 1 has an infinite value"):
        found.update(np.array([[1.0, np.inf]]))
    with pytest.raises(ValueError, match="how must be 'max-abs' or 'standard', got 'minmax'"):
        found.scale("minmax")
    found.update(np.array([[1.0, 1e200], [1.0, -1e200]]))
    assert found.scale("max-abs").tolist() == [1.0, 1e200]
    with pytest.raises(ValueError, match=r"column 1 has values as large as 1e\+200"):
        found.scale("standard")
