import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mbauc.readers.hashing import hash_keys
from mbauc.readers.table.encoding.sparse_rows import CodedEntries, gather_keys, key_type, sparse_rows
from reference import slow_hash


def slow_rows(keys, numbers, number_columns, n_features):
    """The definition: all entries of a row, sorted and added up by scipy."""
    rows, columns, values = [], [], []
    for row in range(keys.shape[1]):
        for key in keys[:, row].tolist():
            if key >= 0:
                rows.append(row)
                columns.append(key // 2)
                values.append(-1.0 if key % 2 else 1.0)
        for column, value in zip(number_columns.tolist(), numbers[:, row].tolist(), strict=True):
            if value != 0.0:
                rows.append(row)
                columns.append(column)
                values.append(value)
    ends = np.searchsorted(rows, np.arange(keys.shape[1] + 1))
    X = sparse.csr_array((values, np.array(columns, dtype=int), ends), shape=(keys.shape[1], n_features))
    X.sum_duplicates()
    return X


def assert_same(X, expected):
    assert X.shape == expected.shape
    assert X.has_canonical_format
    np.testing.assert_array_equal(X.indptr, expected.indptr)
    np.testing.assert_array_equal(X.indices, expected.indices)
    np.testing.assert_array_equal(X.data, expected.data)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("width", [3, 1000])
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(0, 20), st.integers(0, 4))
def test_rows_are_sorted_and_added_up_as_by_scipy(kind, width, seed, n, m, k):
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2 * width, size=(m, n)) + 2 * k
    keys[rng.random((m, n)) < 0.3] = -1
    numbers = rng.integers(-2, 3, size=(k, n)) / 2
    places = np.arange(k)
    X = sparse_rows(keys.astype(kind), numbers, places, width + k, sort=True)
    assert_same(X, slow_rows(keys, numbers, places, width + k))


@pytest.mark.parametrize("m", [127, 128, 129, 300])
def test_rows_of_many_features(m, rng):
    keys = rng.integers(-1, 400, size=(m, 37)).astype(np.int32)
    keys[:, 5] = -1
    nothing = np.empty((0, 37)), np.empty(0, dtype=np.int64)
    assert_same(sparse_rows(keys, *nothing, 200, sort=True), slow_rows(keys, *nothing, 200))


def test_numbers_stand_among_sorted_keys(rng):
    keys = 2 * np.array([1, 2, 5, 8], dtype=np.int32)[:, None] + np.zeros((4, 50), dtype=np.int32)
    keys[rng.random(keys.shape) < 0.5] = -1
    numbers = rng.integers(-1, 2, size=(3, 50)).astype(float)
    places = np.array([0, 4, 9])
    assert_same(sparse_rows(keys, numbers, places, 10, sort=False), slow_rows(keys, numbers, places, 10))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_leave_no_gaps(n_jobs, monkeypatch, rng):
    monkeypatch.setattr("mbauc.readers.table.encoding.sparse_rows.thread_count", lambda _: n_jobs)
    keys = rng.integers(-10, 20, size=(4, 13_001)).astype(np.int32)
    numbers = rng.integers(0, 2, size=(1, 13_001)).astype(float)
    X = sparse_rows(keys, numbers, np.array([11]), 12, sort=True)
    assert_same(X, slow_rows(keys, numbers, np.array([11]), 12))


def test_codes_stand_for_keys():
    tables = np.array([10, 20, -1], dtype=np.int32), np.array([4], dtype=np.int32)
    codes = np.array([1, -1, 0], dtype=np.int32), np.array([-1, 0, -1], dtype=np.int32)
    keys = gather_keys([CodedEntries("x", *pair) for pair in zip(codes, tables, strict=True)], 3, np.int32)
    assert keys.tolist() == [[20, -1, 10], [4, 4, 4]]


def test_keys_fit_into_their_type():
    assert key_type(2**30 - 1) is np.int32
    assert np.iinfo(np.int32).max >= 2 * (2**30 - 2) + 1
    assert key_type(2**30) is np.int64


@pytest.mark.parametrize("signed", [False, True])
@given(st.text(max_size=5), st.lists(st.text(max_size=20), max_size=6), st.integers(2, 2**40))
def test_hash_keys_are_slots_and_signs(signed, column, values, width):
    hashes = [slow_hash(column, value) for value in [*values, ""]]
    expected = [2 * ((h >> 1) % width + 7) + (h & 1 if signed else 0) for h in hashes]
    assert hash_keys(column, values, width, first=7, signed=signed).tolist() == expected
