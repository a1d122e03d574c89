import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from mbauc.readers import fold_columns
from mbauc.readers.hashing import hash_columns, hash_features, hash_signs, hash_slots
from reference import fmix64, fnv1a, slow_hash

pa = pytest.importorskip("pyarrow", reason="pyarrow is an optional dependency")

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=20)


def slow_fold(X, width, signed):
    folded = np.zeros((X.shape[0], width))
    for row in range(X.shape[0]):
        for column in range(X.shape[1]):
            h = fmix64(column + 1)
            folded[row, (h >> 1) % width] += X[row, column] * (-1 if signed and h & 1 else 1)
    return folded


def test_the_slow_twin_has_the_published_values():
    assert fnv1a(b"") == 0xCBF29CE484222325
    assert fnv1a(b"a") == 0xAF63DC4C8601EC8C
    assert fnv1a(b"foobar") == 0x85944171F73967E8
    assert fmix64(0) == 0
    assert fmix64(1) == 0xB456BCFC34C2CB2C


@pytest.mark.parametrize(
    ("column", "value", "hashed"),
    [
        ("site_id", "1fbe01fe", 0xCFCC8F48CFDAAA86),
        ("site_id", "", 0x9EC594FC54DA9054),
        ("site_id", "é", 0x37CA884996EF26E9),
        ("", "", 0x7D4847D6948D751B),
    ],
)
def test_hashes_never_change(column, value, hashed):
    """Models in files depend on them."""
    assert hash_features(column, [value]).tolist() == [hashed]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), TEXTS)
def test_features_hash_as_by_definition(column, values):
    assert hash_features(column, values).tolist() == [slow_hash(column, value) for value in values]


@given(TEXTS, st.integers(0, 5), st.sampled_from([pa.string(), pa.large_string()]))
def test_arrow_arrays_hash_as_lists_do(values, start, kind):
    array = pa.array(values, kind).slice(start)
    assert hash_features("c", array).tolist() == hash_features("c", values[start:]).tolist()


def test_one_long_value_among_short_ones():
    values = ["a", "b" * 10_000, ""]
    assert hash_features("c", values).tolist() == [slow_hash("c", value) for value in values]


@pytest.mark.parametrize("width", [2, 10_000, 2**20, 999_983])
def test_slots_are_even_and_independent_of_signs(width):
    n = 200_000
    hashes = hash_features("device", [f"{k:08x}" for k in range(n)])
    slots, signs = hash_slots(hashes, width), hash_signs(hashes)
    assert slots.min() >= 0
    assert slots.max() < width
    occupied = np.unique(slots).size
    expected = width * -np.expm1(n * np.log1p(-1 / width))
    assert abs(occupied - expected) <= 6 * np.sqrt(width)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.sum()) < 6 * np.sqrt(n)
    assert abs((signs * (slots % 2 - 0.5)).sum()) < 6 * np.sqrt(n)


def test_slots_and_signs_come_from_different_bits():
    hashes = np.array([0, 1, 2, 3, (2**64 - 1)], dtype=np.uint64)
    assert hash_slots(hashes, 7).tolist() == [0, 0, 1, 1, ((2**64 - 1) >> 1) % 7]
    assert hash_signs(hashes).tolist() == [1, -1, 1, -1, -1]


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 12)), elements=st.integers(-3, 3)),
    st.integers(2, 9),
    st.booleans(),
)
def test_folding_is_its_definition(X, width, signed):
    expected = slow_fold(X, width, signed)
    for matrix in (X, sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)):
        folded = fold_columns(matrix, width, signed=signed)
        assert folded.format == "csr"
        assert folded.has_canonical_format
        np.testing.assert_array_equal(folded.toarray(), expected)


def test_folding_blocks_is_folding_the_whole(rng):
    X = sparse.random_array((50, 1_000_000), density=2e-5, rng=rng, format="csr")
    whole = fold_columns(X, 10_000, signed=True)
    parts = sparse.vstack(
        [fold_columns(X[:20], 10_000, signed=True), fold_columns(X[20:], 10_000, signed=True)]
    )
    assert (whole != parts).nnz == 0
    # a matrix that ends earlier folds alike: its width does not matter
    narrow = fold_columns(X[:, :500_000], 10_000, signed=True)
    wide = X.copy()
    wide.data[wide.indices >= 500_000] = 0
    assert abs(narrow - fold_columns(wide, 10_000, signed=True)).max() == 0


def test_folding_takes_unsorted_rows_with_duplicates_and_leaves_them_alone():
    X = sparse.csr_array((np.array([1.0, 2.0, 4.0]), np.array([5, 1, 5]), np.array([0, 3])), shape=(1, 6))
    before = X.indices.copy(), X.data.copy()
    np.testing.assert_array_equal(fold_columns(X, 3).toarray(), slow_fold(X.toarray(), 3, False))
    np.testing.assert_array_equal(X.indices, before[0])
    np.testing.assert_array_equal(X.data, before[1])


@pytest.mark.parametrize("width", [1, 0, 2.5, True, "10"])
def test_a_width_that_makes_no_sense_is_named(width):
    with pytest.raises(ValueError, match="width must be a whole number of at least 2"):
        fold_columns(np.eye(2), width)


def test_column_numbers_are_those_of_the_file():
    assert hash_columns(np.array([0])).tolist() == [fmix64(1)]
    assert hash_columns(np.array([999_999], dtype=np.int32)).tolist() == [fmix64(1_000_000)]
