"""Products with Σ from rows against Σ by its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

import reference
from mbauc.errors import NonFiniteError
from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.from_pairs import build_sample_operator
from mbauc.pairs.operator.from_rows import build_matrix_operator
from mbauc.rows.block import Block
from mbauc.rows.parts.draw import Sample
from strategies import tables

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array}


def groups(y):
    return [np.flatnonzero(y), np.flatnonzero(~np.asarray(y, dtype=bool))]


def full_sigma(rows):
    """Σ over all columns, by its products with unit vectors."""
    d = rows.order.n_features
    sigma = np.zeros((d, d))
    for place, column in enumerate(rows.order.columns):
        unit = np.zeros(rows.mu.size)
        unit[place] = 1.0
        sigma[:, column] = rows.order.restore(rows.product(unit))
    return sigma


def close_to(actual, desired, X):
    scale = max(float(np.abs(X).max(initial=0.0)), 1e-3) ** 2
    np.testing.assert_allclose(actual, desired, rtol=1e-9, atol=1e-10 * scale)


@pytest.mark.parametrize("form", FORMS)
@given(table=tables(), threads=st.integers(1, 3))
def test_products_are_those_of_sigma_by_definition(form, table, threads):
    X, y, weight = table
    rows = build_matrix_operator(FORMS[form](X), groups(y), weight, threads)
    mu, sigma = reference.pair_moments(X, y, weight)
    close_to(full_sigma(rows), sigma, X)
    close_to(rows.order.restore(rows.diagonal), np.diagonal(sigma), X)
    np.testing.assert_allclose(rows.order.restore(rows.mu), mu, atol=1e-9 * max(1, np.abs(X).max()))


@given(table=tables(), seed=st.integers(0, 99))
def test_score_statistics_are_those_of_the_scores(table, seed):
    X, y, weight = table
    rows = build_matrix_operator(sp.csr_array(X), groups(y), weight, 2)
    w = np.random.default_rng(seed).standard_normal(rows.mu.size)
    scores = X @ rows.order.restore(w)
    _, variances = rows.product_and_variances(w)
    for k, own in enumerate((y, ~y)):
        share = None if weight is None else weight[own]
        mean = np.average(scores[own], weights=share)
        scale = max(1.0, np.abs(X).max() ** 2)
        assert rows.score_means(w)[k] == pytest.approx(mean, abs=1e-9 * scale)
        variance = np.average((scores[own] - mean) ** 2, weights=share)
        assert variances[k] == pytest.approx(variance, rel=1e-9, abs=1e-9 * scale)


@given(table=tables(max_rows=14), matched=st.booleans(), sparse=st.booleans())
def test_sampled_pairs(table, matched, sparse):
    X, y, _ = table
    rng = np.random.default_rng(0)
    i, j = rng.choice(np.flatnonzero(y), 9), rng.choice(np.flatnonzero(~y), 9)
    data = Block(sp.csr_array(X) if sparse else X, y, None)
    rows, middle = build_sample_operator(Sample(data, (i, j)), matched, 2)
    if matched:
        mu, sigma = reference.matched_moments(X[i], X[j])
    else:
        mu, sigma = reference.pair_moments(np.r_[X[i], X[j]], np.arange(18) < 9)
    close_to(full_sigma(rows), sigma, X)
    np.testing.assert_allclose(rows.order.restore(rows.mu), mu, atol=1e-9 * max(1, np.abs(X).max()))
    np.testing.assert_allclose(middle, (X[i].mean(axis=0) + X[j].mean(axis=0)) / 2)


@pytest.mark.parametrize("matched", [True, False])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize(("row", "value"), [(3, np.nan), (3, np.inf), (7, -np.inf)])
def test_sampled_pairs_name_the_row_that_is_not_finite(matched, sparse, row, value):
    X = np.arange(40.0).reshape(10, 4)
    X[row, 2] = value
    if not np.isnan(value):
        X[9 - row, 2] = value  # inf - inf is no NaN of the caller's
    drawn = np.array([1, row if row < 5 else 2, 4]), np.array([6, row if row >= 5 else 9 - row, 9])
    data = Block(sp.csr_array(X) if sparse else X, np.arange(10) < 5, None)
    with pytest.raises(NonFiniteError) as caught:
        build_sample_operator(Sample(data, drawn), matched, 1)
    first = next(number for number in np.concatenate(drawn) if not np.isfinite(X[number, 2]))
    assert (caught.value.row, caught.value.column) == (first, 2)
    assert str(caught.value.value) == str(X[first, 2])


@pytest.mark.parametrize("sparse", [True, False])
def test_sampled_pairs_whose_difference_overflows_are_finite_themselves(sparse):
    X = np.array([[1e308, 1.0], [-1e308, 2.0]])
    data = Block(sp.csr_array(X) if sparse else X, np.array([True, False]), None)
    with pytest.raises(ValueError, match="rescale the features") as caught:
        build_sample_operator(Sample(data, (np.array([0]), np.array([1]))), True, 1)
    assert not isinstance(caught.value, NonFiniteError)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_common_shift_costs_no_digits(form, rng):
    X = rng.standard_normal((400, 5))
    y = rng.random(400) < 0.3
    plain = full_sigma(build_matrix_operator(FORMS[form](X), groups(y), None, 2))
    shifted = full_sigma(build_matrix_operator(FORMS[form](X + 1e8), groups(y), None, 2))
    np.testing.assert_allclose(shifted, plain, atol=1e-6)


def test_bits_do_not_depend_on_which_thread_is_faster(rng):
    X = sp.random_array((100_000, 300), density=0.05, rng=rng, format="csr")
    rows = build_matrix_operator(X, groups(rng.random(100_000) < 0.3), None, 3)
    v = rng.standard_normal(rows.mu.size)
    first = rows.product(v)
    assert all(np.array_equal(rows.product(v), first) for _ in range(5))


@pytest.mark.parametrize(
    ("values", "expected"), [("ones", None), ("halves", np.float32), ("thirds", np.float64)]
)
def test_values_take_as_few_bytes_as_lose_nothing(values, expected, rng):
    X = sp.random_array((50, 20), density=0.3, rng=rng, format="csr")
    X.data[:] = {"ones": 1.0, "halves": 0.5, "thirds": 1 / 3}[values]
    rows = build_matrix_operator(X, groups(np.arange(50) < 20), None, 1)
    found = {None if chunk.values is None else chunk.values.dtype.type for chunk in rows.chunks}
    assert found == {expected}
    assert all(chunk.columns.dtype == np.uint16 for chunk in rows.chunks)


def test_a_few_counts_among_ones_do_not_cost_all_rows_their_values(rng):
    X = sp.random_array((200, 20), density=0.3, rng=rng, format="csr")
    X.data[:] = 1.0
    X.data[X.indptr[7]] = 2.0
    y = np.arange(200) % 3 == 0
    rows = build_matrix_operator(X, groups(y), None, 2)
    valued = [chunk for chunk in rows.chunks if chunk.values is not None]
    assert [chunk.n_rows for chunk in valued] == [1]
    close_to(full_sigma(rows), reference.pair_moments(X.toarray(), y)[1], X.toarray())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("values", ["ones", "general"])
def test_the_leading_block_of_few_rows_is_that_of_sigma(rng, weighted, values):
    X = sp.random_array((3000, 40), density=0.02, rng=rng, format="csr")
    X.data = np.ones(X.nnz) if values == "ones" else rng.standard_normal(X.nnz)
    y = rng.random(3000) < 0.3
    weight = rng.uniform(0.5, 2.0, 3000) if weighted else None
    rows = build_matrix_operator(X, groups(y), weight, 2)
    block = rows.leading_block()
    first = rows.order.columns[: len(block)]
    assert len(block) == 40
    np.testing.assert_allclose(block, full_sigma(rows)[np.ix_(first, first)], atol=1e-12)


def test_columns_by_the_thousand_take_four_bytes(rng):
    d = 70_000
    X = sp.csr_array((np.ones(d), (np.arange(d) % 10, np.arange(d))), shape=(10, d))
    rows = build_matrix_operator(X, groups(np.arange(10) < 4), None, 2)
    assert rows.mu.size == d
    assert all(chunk.columns.dtype == np.uint32 for chunk in rows.chunks)
    v = rng.standard_normal(d)
    dense = X.toarray()
    _, full = np.zeros(d), rows.order.restore(rows.product(v[rows.order.columns]))
    plus, minus = dense[:4] - dense[:4].mean(axis=0), dense[4:] - dense[4:].mean(axis=0)
    mu = dense[:4].mean(axis=0) - dense[4:].mean(axis=0)
    np.testing.assert_allclose(
        full, plus.T @ (plus @ v) / 4 + minus.T @ (minus @ v) / 6 + mu * (mu @ v), atol=1e-9
    )


def test_blocks_give_what_all_rows_at_once_give(rng):
    X = sp.random_array((3000, 40), density=0.1, rng=rng, format="csr")
    y = rng.random(3000) < 0.4
    weight = rng.uniform(0.5, 2.0, 3000)
    collector = Collector(40)
    chunks = []
    for start in range(0, 3000, 700):
        part = slice(start, start + 700)
        block = SparseBlock(X[part], groups(y[part]), weight[part], False)
        collector.count(block)
        chunks += collector.compact(block)
    from mbauc.pairs.operator.sparse import SparsePairOperator

    blocks, whole = SparsePairOperator(chunks, collector, 2), build_matrix_operator(X, groups(y), weight, 1)
    np.testing.assert_allclose(full_sigma(blocks), full_sigma(whole), atol=1e-13)
    assert [stratum.count for stratum in blocks.strata] == [int(y.sum()), int((~y).sum())]


def test_frequent_columns_come_first():
    order = ColumnOrder(4)
    order.admit(np.array([3, 0, 100_000, 70_000]))
    assert set(order.columns[:2].tolist()) == {2, 3}
    assert order.columns[2] == 0
    assert order.used == 3


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_are_named(form, bad):
    X = np.ones((5000, 3))
    X[4321, 1] = bad
    with pytest.raises(NonFiniteError, match="row 4,321"):
        build_matrix_operator(FORMS[form](X), groups(np.arange(5000) < 100), None, 2)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_squares_that_overflow_are_refused(form):
    X = np.eye(6) * 1e200
    with pytest.raises(ValueError, match="overflow"):
        build_matrix_operator(FORMS[form](X), groups(np.arange(6) < 3), None, 1)


@pytest.mark.parametrize("shift", [0.0, 1.5, 30.0, 1e5])
def test_many_float32_rows_are_multiplied_in_single_precision(rng, shift):
    """Within 1e-6 of Σv, and all digits where columns are far from zero."""
    X = (shift + rng.standard_normal((26_000, 200))).astype(np.float32)
    strata = [np.flatnonzero(X[:, 0] > shift + 1), np.flatnonzero(X[:, 0] <= shift + 1)]
    v = rng.standard_normal(200)
    single = build_matrix_operator(X, strata, None, 2).product(v)
    double = build_matrix_operator(X.astype(np.float64), strata, None, 2).product(v)
    assert np.abs(single - double).max() < 1e-6 * np.abs(double).max()
    assert np.array_equal(single, double) == (shift > 2)
