"""Scores of Dask collections are lazy; accuracy and AUC are those of one machine."""

import pickle

import numpy as np
import pandas as pd
import pytest

from mbauc import metrics

da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
pytest.importorskip("dask.dataframe", reason="needs mbauc[dask]")

import mbauc.dask.parts as parts_module  # noqa: E402
from mbauc.dask import MBAClassifier, roc_auc, roc_auc_interval  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_this_thread")

FEATURES = list("abcdef")


@pytest.mark.parametrize("form", ["array", "dataframe"])
def test_scores_are_lazy(arrays, lazy, form, table):
    ranker = MBAClassifier().fit(*arrays) if form == "array" else MBAClassifier().fit(lazy[FEATURES], lazy["y"])
    computed = []

    def look(block):
        if block.shape[0] and len(block) > 1:
            computed.append(len(block))
        return block

    if form == "array":
        X = arrays[0].map_blocks(look, dtype=float, meta=np.empty((0, 0)))
    else:
        X = lazy[FEATURES].map_partitions(look, meta=lazy[FEATURES]._meta)
    computed.clear()
    wide = {"predict_proba": 2, "predict_log_proba": 2}
    for name in ("decision_function", "predict", "predict_proba", "predict_log_proba"):
        found = getattr(ranker, name)(X)
        assert isinstance(found, da.Array)
        assert found.npartitions == 4
        assert found.shape[1:] == ((wide[name],) if name in wide else ())
        assert computed == []
        values = found.compute()
        assert values.dtype == found.dtype
        given = table[0] if form == "array" else pd.DataFrame(table[0], columns=FEATURES)
        np.testing.assert_allclose(values, getattr(ranker, name)(given), atol=1e-12)
        assert computed == [150] * 4
        computed.clear()


def test_what_goes_to_the_workers_is_small():
    """Scores need the weights, and not the moments."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((500, 300)), np.arange(500) % 2
    ranker = MBAClassifier().fit(da.from_array(X, chunks=(100, 300)), da.from_array(y, chunks=100))
    scores = ranker.decision_function(da.zeros((10, 300), chunks=(5, 300)))
    assert len(pickle.dumps(ranker)) > 8 * 300 * 300
    assert len(pickle.dumps(dict(scores.__dask_graph__()))) < 50_000


# -- accuracy and AUC --------------------------------------------------


def test_accuracy(arrays, lazy, table, frame):
    ranker, weight = MBAClassifier().fit(*arrays), frame["weight"].to_numpy()
    expected, weighted = ranker.score(*table), ranker.score(*table, weight)
    X, y = arrays
    for labels in (y, y[:, None], y.rechunk(77), table[1], lazy["y"]):
        assert ranker.score(X, labels) == pytest.approx(expected, abs=1e-14)
    assert ranker.score(X, y, da.from_array(weight, chunks=99)) == pytest.approx(weighted, abs=1e-14)
    ranker.fit(lazy[FEATURES], lazy["text"])
    assert ranker.score(lazy[FEATURES], lazy["text"], lazy["weight"]) == pytest.approx(weighted, abs=1e-14)
    with pytest.raises(ValueError, match="X has 5 columns"):
        ranker.score(X[:, :5], y)
    with pytest.raises(ValueError, match=r"600 rows and y has 599"):
        ranker.score(X, y[:-1])


def test_auc_of_series_and_columns(lazy, frame):
    y, s = frame["y"], frame["a"]
    expected = metrics.roc_auc(y, s)
    columns = lazy[["a"]].to_dask_array(lengths=True)
    for scores in (lazy["a"], lazy[["a"]], columns, columns[:, 0]):
        assert roc_auc(lazy["y"], scores) == pytest.approx(expected, abs=1e-14)
    assert roc_auc(y.to_numpy(), columns) == pytest.approx(expected, abs=1e-14)
    assert roc_auc(lazy["text"], lazy["a"]) == pytest.approx(expected, abs=1e-14)
    weighted = metrics.roc_auc_interval(
        y, s, sample_weight=frame["weight"], weights="frequency", confidence=0.8, scale="linear"
    )
    ours = roc_auc_interval(lazy["y"], lazy["a"], sample_weight=lazy["weight"], confidence=0.8, scale="linear")
    assert vars(ours) == pytest.approx(vars(weighted), rel=1e-12)


def test_many_partitions_do_not_make_many_tasks(monkeypatch):
    """Each part would be cut into as many pieces as there are parts: a hundred million for ten thousand."""
    made = []
    real = parts_module._compute
    monkeypatch.setattr(parts_module, "_compute", lambda results: made.append(len(results)) or real(results))
    y, s = np.arange(160) % 2, np.random.default_rng(0).standard_normal(160)
    found = roc_auc(da.from_array(y, chunks=2), da.from_array(s, chunks=2))
    assert found == pytest.approx(metrics.roc_auc(y, s), abs=1e-14)
    assert made[-1] == 1
    monkeypatch.setattr(parts_module, "_RANGE_ROWS", 20)
    assert roc_auc(da.from_array(y, chunks=2), da.from_array(s, chunks=2)) == pytest.approx(found, abs=1e-14)
    assert made[-1] == 8
