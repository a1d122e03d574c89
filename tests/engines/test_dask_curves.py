"""Curves on Dask are those of one machine: the same features, and weights but for rounding."""

import numpy as np
import pytest

from mbauc import AdditiveAUCClassifier as LocalClassifier
from mbauc.errors import PartError
from mbauc.metrics import roc_auc as local_auc

pytest.importorskip("dask", reason="needs mbauc[dask]")
pd = pytest.importorskip("pandas", reason="needs mbauc[dask]")
da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs mbauc[dask]")

from mbauc.dask import AdditiveAUCClassifier, roc_auc  # noqa: E402

NAMES = list("abcd")
SETTINGS = {"features": "curves", "search_rows": 300, "cv": 2, "random_state": 4}


@pytest.fixture(scope="module")
def rows():
    """Heavy tails, few values, missing values; weights, some of which are zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 4))
    X[:, 1], X[:, 2] = np.exp(2 * X[:, 1]), rng.integers(0, 3, 900)
    y = (X[:, 0] ** 2 + X[:, 3] + rng.standard_normal(900) > 2).astype(int)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.choice([0.0, 0.3, 1.7], 900)


def chunked(values, chunks):
    return da.from_array(values, chunks=(chunks, -1) if values.ndim == 2 else (chunks,))


def same_fit(found, expected, tol=1e-9):
    assert found.feature_map_.to_dict() == expected.feature_map_.to_dict()
    assert found.choice_ == expected.choice_
    np.testing.assert_array_equal(found.penalty_factors_, expected.penalty_factors_)
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=tol * np.abs(expected.coef_).max())
    np.testing.assert_allclose(found.intercept_, expected.intercept_, atol=1e-6)
    np.testing.assert_array_equal(found.classes_, expected.classes_)


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize("chunks", [250, (0, 1, 500, 0, 399)], ids=str)
@pytest.mark.parametrize(("loss", "tol"), [("squared", 1e-9), ("squared_hinge", 1e-5)])
def test_arrays_in_any_chunks(rows, chunks, loss, tol):
    X, y, weight = rows
    settings = SETTINGS | {"loss": loss, "categories": [2]}
    local = LocalClassifier(**settings).fit(X, y, weight)
    lazy = chunked(X, chunks)
    ours = AdditiveAUCClassifier(**settings).fit(lazy, chunked(y, chunks), chunked(weight, chunks))
    same_fit(ours, local, tol)
    scores = ours.decision_function(lazy)
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), local.decision_function(X), atol=tol)
    np.testing.assert_allclose(ours.predict_proba(lazy).compute(), local.predict_proba(X), atol=tol)
    assert roc_auc(chunked(y, chunks), scores) == pytest.approx(local_auc(y, local.decision_function(X)))


@pytest.mark.usefixtures("in_this_thread")
def test_frames_with_names_and_labels_in_words(rows):
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=NAMES).assign(y=np.where(y == 1, "yes", "no"))
    frame["c"] = frame["c"].astype("Int64")
    settings = SETTINGS | {"features": "interactions", "interactions": [("a", "d")]}
    local = LocalClassifier(**settings).fit(frame[NAMES].astype(float), frame["y"])
    lazy = dd.from_pandas(frame, npartitions=4)
    ours = AdditiveAUCClassifier(**settings).fit(lazy[NAMES], lazy["y"])
    same_fit(ours, local)
    assert ours.interactions_ == [("a", "d")]
    assert ours.feature_names_in_.tolist() == NAMES
    assert ours.score(lazy[NAMES], lazy["y"]) == pytest.approx(local.score(frame[NAMES], frame["y"]))
    np.testing.assert_array_equal(ours.predict(lazy[NAMES]).compute(), local.predict(frame[NAMES]))


@pytest.mark.usefixtures("in_this_thread")
def test_with_ids_the_order_does_not_matter(rows, rng):
    X, y, weight = rows
    ids, order = np.arange(900), rng.permutation(900)
    one, other = (
        AdditiveAUCClassifier(**SETTINGS).fit(
            *(chunked(values[own], chunks) for values in (X, y, weight)), id=chunked(ids[own], chunks)
        )
        for own, chunks in ((ids, 300), (order, 170))
    )
    same_fit(other, one)


@pytest.mark.slow
@pytest.mark.usefixtures("client")
def test_on_a_cluster_of_processes(rows):
    X, y, weight = rows
    local = LocalClassifier(**SETTINGS).fit(X, y, weight)
    ours = AdditiveAUCClassifier(**SETTINGS).fit(chunked(X, 250), chunked(y, 250), chunked(weight, 250))
    same_fit(ours, local)


@pytest.mark.usefixtures("in_this_thread")
def test_what_cannot_be_fitted_is_said(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="groups cannot be combined with curves"):
        AdditiveAUCClassifier().fit(chunked(X, 300), chunked(y, 300), groups=chunked(y, 300))
    X = X.copy()
    X[500, 3] = np.inf
    ours = AdditiveAUCClassifier(**SETTINGS)
    with pytest.raises(PartError, match=r"partition 1 .* inf at row 200, column 3"):
        ours.fit(chunked(X, 300), chunked(y, 300))
    assert not hasattr(ours, "classes_")
    text = dd.from_pandas(pd.DataFrame({"a": ["x", "y"] * 20, "y": [0, 1] * 20}), npartitions=2)
    with pytest.raises(ValueError, match="encode text columns first"):
        ours.fit(text[["a"]], text["y"])
