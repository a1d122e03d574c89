"""Few entries are added up without compiled loops, to the same bits."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc.pairs.scatter import class_scatters, few_entries, sparse
from mbauc.rows.finite import NonFiniteError


def rows_of(rng, n=300, d=9, dtype=np.float64, ones=False):
    X = sp.random_array((n, d), density=0.3, format="csr", rng=rng)
    X.data = np.ones_like(X.data) if ones else 20 * rng.standard_normal(X.data.size)
    X = sp.hstack([X, np.full((n, 1), 1.0 if ones else 7.5)]).tocsr().astype(dtype)  # one in every row
    X.data[X.indptr[n // 2] : X.indptr[n // 2 + 1]] = 0  # and a row without entries
    X.eliminate_zeros()
    return X


def scatters(monkeypatch, X, weight, strata, loops):
    monkeypatch.setattr(few_entries, "_used", 0)
    monkeypatch.setattr(sparse, "loops_are_dear", (lambda *_: False) if loops else few_entries.loops_are_dear)
    monkeypatch.setattr(sparse, "MOST_ENTRIES", 0 if loops else few_entries.MOST_ENTRIES)
    with monkeypatch.context() as here:
        if not loops:
            here.delitem(sys.modules, "mbauc.pairs.scatter.kernels", raising=False)
        sums, packed = class_scatters(X, strata, weight, 2)
        assert loops == (few_entries._used == 0)
    return [one.mean for one in sums], packed.buffer


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int8])
def test_the_bits_are_those_of_the_loops(rng, monkeypatch, ones, weighted, dtype):
    X = rows_of(rng, dtype=dtype, ones=ones)
    weight = rng.random(300) if weighted else None
    strata = np.arange(0, 300, 3), rng.integers(0, 300, 500)  # rows may come again
    few = scatters(monkeypatch, X, weight, strata, loops=False)
    many = scatters(monkeypatch, X, weight, strata, loops=True)
    np.testing.assert_array_equal(few[0], many[0])
    np.testing.assert_array_equal(few[1], many[1])


def test_what_is_not_finite_is_found(rng):
    X = rows_of(rng)
    X.data[5] = np.nan
    with pytest.raises(NonFiniteError, match="NaN at row"):
        class_scatters(X, (np.arange(100), np.arange(100, 300)), None, 1)


def test_loops_are_loaded_where_they_pay(monkeypatch):
    monkeypatch.delitem(sys.modules, "mbauc.pairs.scatter.kernels", raising=False)
    monkeypatch.setattr(few_entries, "_used", 0)
    lengths = np.full(1000, 19)  # 190,000 products
    assert not few_entries.loops_are_dear(20_000, lengths)
    assert not few_entries.loops_are_dear(1000, np.array([1000]))
    for _ in range(21):
        assert few_entries.loops_are_dear(19_000, lengths)
    assert not few_entries.loops_are_dear(19_000, lengths)  # a process that fits again and again
    monkeypatch.setattr(few_entries, "_used", 0)
    monkeypatch.setitem(sys.modules, "mbauc.pairs.scatter.kernels", few_entries)
    assert not few_entries.loops_are_dear(19_000, lengths)


def test_a_small_sparse_fit_needs_no_compiler():
    code = (
        "import sys; import numpy as np; from scipy import sparse as sp; from mbauc import MBAClassifier;"
        "X = np.random.default_rng(0).standard_normal((500, 8)); y = X[:, 0] > 0;"
        "MBAClassifier().fit(sp.csr_array(X * (X > 0)), y).predict_proba(sp.csr_array(X));"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
