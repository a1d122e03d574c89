"""More columns on a cluster than a matrix could have: products instead."""

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier as LocalClassifier
from mbauc import MBAClassifierCV as LocalClassifierCV
from mbauc import metrics

da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
pytest.importorskip("distributed", reason="needs mbauc[dask]")
from dask import delayed  # noqa: E402

from mbauc.dask import MBAClassifier, MBAClassifierCV, roc_auc  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("client")]

D = 2**17


@pytest.fixture(scope="module")
def log():
    """Clicks: ten columns a row, of which a few are in most rows and most in none."""
    rng = np.random.default_rng(0)
    n = 1500
    columns = np.minimum((rng.pareto(0.4, (n, 10)) * 20).astype(np.int64) * 101 + np.arange(10), D - 1)
    X = sp.csr_array((np.ones(10 * n), columns.ravel(), np.arange(0, 10 * n + 1, 10)), shape=(n, D))
    X.sum_duplicates()
    X.data[:] = 1.0
    X.data[::97] = 2.0
    y = (rng.random(n) < 1 / (1 + np.exp(1.5 - 2.0 * (columns[:, :4] % 3 == 0).sum(axis=1)))).astype(int)
    return X, y


def blocks(X, y, step=500):
    chunks = [
        da.from_delayed(delayed(X[a : a + step]), (step, D), np.float64, meta=sp.csr_array((0, D)))
        for a in range(0, len(y), step)
    ]
    return da.concatenate(chunks), da.from_array(y, chunks=step)


@pytest.mark.parametrize(
    "settings",
    [{"l2": 0.01}, {"l1": 0.003, "l2": 0.0}, {"l1": 0.005, "l2": 0.01}],
    ids=["ridge", "lasso", "elastic net"],
)
def test_a_fit_without_a_matrix_is_that_of_one_machine(log, settings):
    X, y = log
    ours = MBAClassifier(tol=1e-8, **settings).fit(*blocks(X, y))
    assert ours.solver_.name == "matrix-free"
    local = LocalClassifier(solver="matrix-free", tol=1e-8, **settings).fit(X, y)
    scale = np.abs(local.coef_).max()
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=5e-4 * scale)
    assert ours.solution_.objective == pytest.approx(local.solution_.objective, rel=1e-6)
    assert ours.intercept_[0] == pytest.approx(local.intercept_[0], abs=1e-3 * scale)
    unseen = np.setdiff1d(np.arange(D), X.indices)
    assert (ours.coef_[0, unseen] == 0).all()
    if "l1" in settings:
        support = ours.coef_[0] != 0
        assert 0 < support.sum() < np.unique(X.indices).size / 2
        np.testing.assert_array_equal(support, local.coef_[0] != 0)


def test_sparse_chunks_are_scored_as_they_are(log):
    X, y = log
    rows, labels = blocks(X, y)
    ours = MBAClassifier(l2=0.01).fit(rows, labels)
    scores = ours.decision_function(rows)
    expected = X @ ours.coef_[0] + ours.intercept_[0]
    np.testing.assert_allclose(scores.compute(), expected, atol=1e-12)
    assert roc_auc(labels, scores) == pytest.approx(metrics.roc_auc(y, expected), abs=1e-12)


def test_cross_validation_without_a_matrix(log):
    X, y = log
    grid = {"l2_grid": [0.003, 0.1], "cv": 2, "random_state": 0, "tol": 1e-6}
    ours = MBAClassifierCV(**grid).fit(*blocks(X, y))
    local = LocalClassifierCV(solver="matrix-free", **grid).fit(X, y)
    for name in (f"split{k}_test_score" for k in range(2)):
        np.testing.assert_allclose(ours.cv_results_[name], local.cv_results_[name], atol=1e-3)
    assert ours.best_index_ == local.best_index_
