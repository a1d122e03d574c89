"""Folds that share one set of compact rows against folds built from copied rows."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse as sp

import reference
from mbauc.pairs.operator.folded import FoldedRows
from mbauc.pairs.operator.from_rows import build_matrix_operator
from strategies import tables


def strata_of(y, among):
    return [np.flatnonzero(y & among), np.flatnonzero(~y & among)]


@st.composite
def folded_tables(draw):
    """(X, y, weight or None, fold of each row): each fold leaves both classes; -1 is held out by none."""
    X, y, weight = draw(tables(max_rows=16, max_columns=5))
    fold = np.array(draw(st.lists(st.integers(-1, 3), min_size=len(y), max_size=len(y))))
    assume(fold.max() >= 0)
    assume(all((y & (fold != k)).any() and (~y & (fold != k)).any() for k in range(fold.max() + 1)))
    return X, y, weight, fold


def close_to(actual, desired, X, power):
    scale = max(float(np.abs(X).max(initial=0.0)), 1e-3) ** power
    np.testing.assert_allclose(actual, desired, rtol=1e-9, atol=1e-10 * scale)


@given(table=folded_tables(), threads=st.integers(1, 3), seed=st.integers(0, 99))
def test_products_are_those_of_sigma_by_definition(table, threads, seed):
    X, y, weight, fold = table
    rows = FoldedRows(sp.csr_array(X), strata_of(y, fold >= -1), weight, fold, threads)
    left_out = list(range(fold.max() + 1))
    pairs = [rows.whole, *(rows.training(k) for k in left_out)]
    vectors = list(np.random.default_rng(seed).standard_normal((len(pairs), rows.order.used)))
    for k, one, v in zip([None, *left_out], pairs, vectors, strict=True):
        kept = fold != k
        own = None if weight is None else weight[kept]
        mu, sigma = reference.pair_moments(X[kept], y[kept], own)
        close_to(rows.order.restore(one.product(v)), sigma @ rows.order.restore(v), X, 2)
        close_to(rows.order.restore(one.mu), mu, X, 1)
        close_to(rows.order.restore(one.diagonal), np.diagonal(sigma), X, 2)


@given(table=folded_tables(), threads=st.integers(1, 3))
def test_a_fold_left_out_is_a_fold_built_from_copied_rows(table, threads):
    X, y, weight, fold = table
    every = np.ones(len(y), dtype=bool)
    rows = FoldedRows(sp.csr_array(X), strata_of(y, every), weight, fold, threads)
    for k in [None, *range(fold.max() + 1)]:
        masked = rows.whole if k is None else rows.training(k)
        kept = fold != k
        copied = build_matrix_operator(sp.csr_array(X), strata_of(y, kept), weight, 1)
        assert [one.count for one in masked.strata] == [one.count for one in copied.strata]
        np.testing.assert_allclose(masked.weights, copied.weights, rtol=1e-12)
        np.testing.assert_allclose(masked.effective_sizes, copied.effective_sizes, rtol=1e-12)
        for mine, theirs in zip(masked.summarise_columns()[1], copied.summarise_columns()[1], strict=True):
            close_to(masked.order.restore(mine), copied.order.restore(theirs), X, 1)
        # columns that the training rows lack are in use here, and of no use
        unseen = np.setdiff1d(masked.columns, copied.columns)
        assert not masked.order.restore(masked.diagonal)[unseen].any()
        assert masked.n_rows == copied.n_rows == int(sum(one.count for one in masked.strata))
        assert sum(chunk.n_rows for chunk in masked.chunks) == masked.n_rows


def clicks(rng, n=3_000, d=400):
    X = sp.random_array((n, d), density=0.05, format="csr", rng=rng)
    X.data[:] = 1.0
    return X, rng.random(n) < 0.3, rng.integers(0, 5, n)


def test_the_leading_block_is_from_the_rows_as_they_stand_in_the_data(rng):
    """It does not depend on how rows are cut into folds, so that fits to all rows do not either."""
    X, y, fold = clicks(rng, n=4_000)
    every = strata_of(y, fold >= 0)
    whole = FoldedRows(X, every, None, fold, 2).whole
    np.testing.assert_allclose(
        whole.leading_block(), build_matrix_operator(X, every, None, 1).leading_block(), atol=1e-14
    )


def test_no_fold_copies_rows(rng):
    X, y, fold = clicks(rng)
    rows = FoldedRows(X, strata_of(y, fold >= 0), None, fold, 1)
    chunks = {id(chunk) for chunk in rows.chunks}
    assert sum(chunk.n_rows for chunk in rows.chunks) == y.size
    assert all(id(chunk) in chunks for k in range(5) for chunk in rows.training(k).chunks)
