"""Whoever holds a fitted ranker gives the same scores, probabilities and labels to the same rows.

Spark is swept in test_spark_cluster.py, where a session is.
"""

import pickle

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.model import LibsvmLayout, RankerModel, TableLayout, load_model, save_model
from mbauc.model.export import to_onnx, to_sklearn
from mbauc.readers import TableSource

pytestmark = pytest.mark.slow

FORMS = {
    "dense": np.ascontiguousarray,
    "by columns": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}
KINDS = {
    "moments": lambda: MBAClassifier(l2=0.1),
    "products": lambda: MBAClassifier(l2=0.1, solver="matrix-free"),
    "lasso": lambda: MBAClassifier(l1=0.2, l2=0.1),
    "cross-validated": lambda: MBAClassifierCV(cv=3, random_state=0),
}
WEIGHTS = {"equal": lambda n: None, "weighted": lambda n: np.random.default_rng(1).choice([0.0, 0.5, 3.0], n)}


@pytest.fixture(
    params=[(form, kind, weight) for form in FORMS for kind in KINDS for weight in WEIGHTS], ids=str
)
def fit(request, table):
    """A fitted ranker and rows of one form, about half of whose entries are zero."""
    form, kind, weight = request.param
    X = np.where(np.random.default_rng(0).random(table[0].shape) < 0.5, 0.0, table[0])
    given = FORMS[form](X)
    return KINDS[kind]().fit(given, table[1], WEIGHTS[weight](600)), given


def outputs(scorer, s):
    return s, scorer.probabilities(s), scorer.predict(s)


def assert_same(found, ranker, X):
    s, probabilities, labels = found
    np.testing.assert_array_equal(s, ranker.decision_function(X))
    np.testing.assert_array_equal(probabilities, ranker.predict_proba(X))
    np.testing.assert_array_equal(labels, ranker.predict(X))


def all_of(estimator, X):
    return estimator.decision_function(X), estimator.predict_proba(X), estimator.predict(X)


def test_scorer_estimator_model_file_and_pipeline(fit, tmp_path):
    ranker, X = fit
    scorer = pickle.loads(pickle.dumps(ranker.scorer()))
    assert_same(outputs(scorer, scorer.scores(X)), ranker, X)
    assert_same(all_of(type(ranker).restore(scorer), X), ranker, X)
    model = RankerModel.of(ranker, LibsvmLayout(6, False), (0, 1))
    save_model(model, tmp_path / "a.mbauc")
    for one in (model, load_model(tmp_path / "a.mbauc"), load_model(tmp_path / "a.mbauc", moments=False)):
        s = one.score(X)
        assert_same((s, one.scorer.probabilities(s), one.label(s)), ranker, X)
        np.testing.assert_array_equal(one.probability(s), ranker.predict_proba(X)[:, 1])
        assert_same(all_of(one.estimator(), X), ranker, X)
        assert_same(all_of(pickle.loads(pickle.dumps(to_sklearn(one))), X), ranker, X)


def test_dask(fit):
    da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
    from mbauc import dask as on_dask

    ranker, X = fit
    if sp.issparse(X):
        X = X.tocsr()
    kind = getattr(on_dask, type(ranker).__name__)
    lazy = kind.restore(ranker.scorer(), ranker.get_params())
    rows = da.from_array(X, chunks=(170, 6 if sp.issparse(X) else 4))
    # the same to the bit on the very same blocks: sums of others may run in another order
    whole = rows.rechunk({1: -1})
    blocks = [whole.blocks[k].compute(scheduler="synchronous") for k in range(4)]
    for name in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
        found = getattr(lazy, name)(rows).compute(scheduler="synchronous")
        expected = [getattr(ranker, name)(block) for block in blocks]
        np.testing.assert_array_equal(found, np.concatenate(expected))
        np.testing.assert_allclose(found, getattr(ranker, name)(X), rtol=1e-9, atol=1e-12)
    y = ranker.predict(X)
    y[::7] = 1 - y[::7]
    assert lazy.score(rows, da.from_array(y, chunks=99)) == pytest.approx(ranker.score(X, y), abs=1e-14)


def test_onnx(fit, tmp_path):
    pytest.importorskip("onnx", reason="needs mbauc[onnx]")
    onnxruntime = pytest.importorskip("onnxruntime", reason="runs ONNX files")
    ranker, X = fit
    model = RankerModel.of(ranker, LibsvmLayout(6, False), (0, 1))
    dense = np.asarray(X.todense() if sp.issparse(X) else X, dtype=np.float64)
    every = np.broadcast_to(np.arange(6), dense.shape).copy()
    for inputs, feeds in (("columns", {"X": dense}), ("entries", {"columns": every, "values": dense})):
        to_onnx(model, tmp_path / "a.onnx", inputs=inputs)
        session = onnxruntime.InferenceSession(tmp_path / "a.onnx", providers=["CPUExecutionProvider"])
        s, probability, label = session.run(["score", "probability", "label"], feeds)
        tolerance = {"rtol": 1e-12, "atol": 1e-12 * np.abs(ranker.coef_).sum() * np.abs(dense).max()}
        np.testing.assert_allclose(s, ranker.decision_function(X), **tolerance)
        np.testing.assert_allclose(probability, ranker.predict_proba(X)[:, 1], rtol=1e-9, atol=1e-12)
        clear = np.abs(s) > 1e-9
        assert clear.any()
        np.testing.assert_array_equal(label[clear], ranker.predict(X)[clear])


def test_a_table_through_its_pipeline(tmp_path):
    pandas = pytest.importorskip("pandas", reason="needs mbauc[dataframes]")
    pytest.importorskip("pyarrow", reason="needs mbauc[dataframes]")
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame({"site": rng.choice(list("abc"), 300), "bid": rng.normal(size=300).round(3)})
    frame["click"] = (frame["bid"] + (frame["site"] == "b") + rng.normal(size=300) > 1).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = TableSource(tmp_path / "t.csv", label="click", encode="onehot")
    ranker = MBAClassifier(l2=0.1).fit_source(source)
    model = RankerModel.of(ranker, TableLayout(source.encoding, "click"), source.classes)
    X = source.encoding.transform(frame)
    assert_same(all_of(to_sklearn(model), frame[["site", "bid"]]), ranker, X)
    [(y, s, weight)] = model.score_blocks(source)
    np.testing.assert_allclose(s, ranker.decision_function(X), rtol=1e-12, atol=1e-12)
    assert weight is None
    np.testing.assert_array_equal(y, frame["click"])
