"""However the rows are given, a rival learns the same: to the same bits, since zeros add nothing."""

import numpy as np
import pytest
from contenders import EVERY, assert_agree, fresh
from scipy import sparse as sp

pytestmark = pytest.mark.slow


def assert_same(name, one, two):
    assert np.abs(one.coef_).max() > 1e-3
    if name == "oam sequential":
        # distances add up the entries of two rows in an order that depends on which are zero
        assert_agree(one.coef_, two.coef_)
    else:
        np.testing.assert_array_equal(one.coef_, two.coef_)
        np.testing.assert_array_equal(one.intercept_, two.intercept_)
        assert one.loss_curve_ == two.loss_curve_


def unsorted(X):
    """CSR with the entries of each row in reverse."""
    S = sp.csr_array(X)
    for row in range(S.shape[0]):
        part = slice(S.indptr[row], S.indptr[row + 1])
        S.indices[part], S.data[part] = S.indices[part][::-1].copy(), S.data[part][::-1].copy()
    S.has_sorted_indices = False
    return S


def twice(X):
    """CSR with each entry as two halves."""
    S = sp.csr_array(X)
    return sp.csr_array((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), shape=S.shape)


def with_zeros(X):
    """CSR that stores every zero."""
    n, d = X.shape
    return sp.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, n * d + 1, d)), shape=X.shape)


def wide(X):
    S = sp.csr_array(X)
    S.indices, S.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    return S


def read_only(X):
    S = sp.csr_array(X)
    for array in (S.data, S.indices, S.indptr):
        array.setflags(write=False)
    return S


FORMS = {
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csc": sp.csc_array,
    "int64 indices": wide,
    "unsorted": unsorted,
    "duplicates": twice,
    "stored zeros": with_zeros,
    "read-only": read_only,
    "big-endian": lambda X: X.astype(">f8"),
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": lambda X: X.tolist(),
}


@pytest.mark.parametrize("name", EVERY)
def test_every_form_gives_the_bits_of_dense_rows(holes, name):
    X, y = holes
    dense = fresh(name, max_iter=2).fit(X, y)
    for form, convert in FORMS.items():
        given = convert(X)
        before = None if form in ("list", "read-only") else given.copy()
        assert_same(name, fresh(name, max_iter=2).fit(given, y), dense)
        if sp.issparse(before):
            np.testing.assert_array_equal(given.data, before.data)
            np.testing.assert_array_equal(given.indices, before.indices)
        elif before is not None:
            np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("dtype", ["float32", "int8", "int64", "uint16", "bool"])
def test_every_dtype_gives_the_bits_of_float64(rng, name, dtype):
    X = (rng.integers(1, 4, (200, 5)) * (rng.random((200, 5)) < 0.4)).astype(dtype)
    if dtype == "float32":
        X = X + rng.standard_normal((200, 5)).astype(dtype) * (X > 0)
    y = (X.sum(axis=1) + 2 * rng.standard_normal(200) > np.median(X.sum(axis=1))).astype(int)
    want = fresh(name, max_iter=2).fit(X.astype(np.float64), y)
    assert_same(name, fresh(name, max_iter=2).fit(X, y), want)
    assert_same(name, fresh(name, max_iter=2).fit(sp.csr_array(X), y), want)


@pytest.mark.parametrize("name", EVERY)
def test_ones_take_a_path_of_their_own(holes, name):
    X, y = holes
    X = (X != 0).astype(float)
    dense = fresh(name, max_iter=2).fit(X, y)
    for dtype in (np.float64, np.float32, np.int32, bool):
        assert_same(name, fresh(name, max_iter=2).fit(sp.csr_array(X.astype(dtype)), y), dense)
    assert_same(name, fresh(name, max_iter=2).fit(twice(X), y), dense)


@pytest.mark.parametrize("name", EVERY)
def test_the_size_of_blocks_does_not_matter(holes, name, monkeypatch):
    X, y = holes
    whole = [fresh(name, max_iter=2).fit(given, y) for given in (X, sp.csr_array(X))]
    monkeypatch.setattr("mbauc.paper.rivals.blocks._ROWS", 33)
    monkeypatch.setattr("mbauc.paper.rivals.blocks._NUMBERS", 100)
    for given, want in zip((X, sp.csr_array(X)), whole, strict=True):
        fitted = fresh(name, max_iter=2).fit(given, y)
        np.testing.assert_array_equal(fitted.coef_, want.coef_)
        np.testing.assert_allclose(fitted.loss_curve_, want.loss_curve_, rtol=1e-12)


@pytest.mark.parametrize("name", EVERY)
def test_tables_with_column_names(holes, name):
    pd = pytest.importorskip("pandas")
    X, y = holes
    names = [f"c{i}" for i in range(8)]
    want = fresh(name).fit(X, y)
    frame = pd.DataFrame(X, columns=names)
    fitted = fresh(name).fit(frame, pd.Series(y))
    np.testing.assert_array_equal(fitted.coef_, want.coef_)
    assert fitted.feature_names_in_.tolist() == names
    np.testing.assert_allclose(fitted.decision_function(frame), want.decision_function(X), rtol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        fitted.partial_fit(frame[names[::-1]], y)
    np.testing.assert_array_equal(fitted.coef_, want.coef_)


@pytest.mark.parametrize("package", ["polars", "pyarrow"])
@pytest.mark.parametrize("name", ["ftrl", "opauc", "hinge"])
def test_tables_of_other_packages(holes, name, package):
    module = pytest.importorskip(package)
    X, y = holes
    columns = {f"c{i}": X[:, i] for i in range(8)}
    given = module.DataFrame(columns) if package == "polars" else module.table(columns)
    np.testing.assert_array_equal(fresh(name).fit(given, y.tolist()).coef_, fresh(name).fit(X, y).coef_)


@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (-1, 1), (3, 7), (0.0, 1.0)])
@pytest.mark.parametrize("name", ["logistic", "oam gradient", "ada", "squared"])
def test_any_two_labels(holes, name, labels):
    X, y = holes
    named = np.array(labels)[y]
    fitted = fresh(name).fit(X, named)
    assert fitted.classes_.tolist() == sorted(labels)
    np.testing.assert_array_equal(fitted.coef_, fresh(name).fit(X, y).coef_)
    assert fitted.predict(X).dtype == named.dtype
    np.testing.assert_array_equal(fitted.predict(X) == labels[1], fitted.decision_function(X) > 0)
