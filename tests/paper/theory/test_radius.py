import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

from mbauc.paper.theory import radius
from mbauc.paper.theory.radius import squared_radius
from strategies import tables

FORMS = [np.asarray, np.asfortranarray, sp.csr_matrix, sp.csc_matrix, sp.csr_array]


def definition(X, centre):
    return max(float(((np.asarray(x, dtype=float) - centre) ** 2).sum()) for x in X)


@pytest.mark.parametrize("form", FORMS)
@given(table=tables(weighted=False), centre=st.sampled_from(["mean", "zero", "elsewhere"]))
def test_equals_the_definition(form, table, centre):
    X, _, _ = table
    c = {"mean": X.mean(axis=0), "zero": np.zeros(X.shape[1]), "elsewhere": np.full(X.shape[1], 7.5)}[centre]
    np.testing.assert_allclose(squared_radius(form(X), c), definition(X, c), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, bool])
def test_blocks_threads_subsets_and_types(form, dtype, rng, monkeypatch):
    X = (rng.standard_normal((500, 7)) * (rng.random((500, 7)) < 0.4) * 3).astype(dtype)
    c = X.mean(axis=0, dtype=float)
    whole = squared_radius(form(X), c)
    assert whole == pytest.approx(definition(X, c), rel=1e-12)
    rows = np.flatnonzero(rng.random(500) < 0.3)
    monkeypatch.setattr(radius, "_BLOCK", 64)
    assert squared_radius(form(X), c, n_threads=2) == pytest.approx(whole, rel=1e-14)
    assert squared_radius(form(X), c, rows) == pytest.approx(definition(X[rows], c), rel=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_a_common_shift_loses_no_digits(form, rng):
    X = rng.integers(-50, 50, size=(300, 4)) / 8
    moved = X + 2.0**30
    # one column keeps its zeros, so that sparse rows are sparse
    moved[:, 3] = np.where(rng.random(300) < 0.5, 0.0, X[:, 3])
    plain = moved - np.array([2.0**30] * 3 + [0.0])
    want = definition(plain, plain.mean(axis=0))
    assert squared_radius(form(moved), moved.mean(axis=0)) == pytest.approx(want, rel=1e-6)


def test_sparse_rows_without_entries_and_stored_zeros():
    X = sp.csr_matrix(
        (np.array([0.0, 2.0, 1.0, 1.0]), np.array([0, 1, 1, 1]), np.array([0, 2, 2, 4])), shape=(3, 2)
    )
    c = np.array([0.5, -1.0])
    assert squared_radius(X, c) == definition(X.toarray(), c)
    assert squared_radius(sp.csr_matrix((3, 2)), c) == 1.25
