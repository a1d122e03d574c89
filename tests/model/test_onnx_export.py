import io
import os

import numpy as np
import pandas as pd
import pytest
from trained_models import plain_model, rows, table_model, table_text

from mbauc.metrics import Calibration
from mbauc.model import LibsvmLayout, RankerModel, Threshold, load_model, save_model
from mbauc.model.export import to_onnx, to_sklearn

onnx = pytest.importorskip("onnx", reason="onnx is not installed")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")


def run(path, feeds):
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == ["score", "probability", "label"]
    return session.run(None, feeds)


def agree(model, found, s):
    score, probability, label = found
    assert score.dtype == probability.dtype == np.float64
    assert score.shape == probability.shape == label.shape == s.shape
    np.testing.assert_allclose(score, s, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(probability, model.probability(s), rtol=1e-9, atol=1e-300)
    assert label.tolist() == model.label(score).tolist()


@pytest.mark.parametrize(
    "classes",
    [
        (0, 1),
        (-1, 1),
        ("no", "yes"),
        ("yes", "no"),
        (False, True),
        (0.5, 1.5),
        ((0, 2), 1),
        (2**70, 1),
        (0, "x"),
    ],
    ids=str,
)
@pytest.mark.parametrize("armed", [False, True])
def test_columns_give_our_scores_probabilities_and_labels(tmp_path, classes, armed):
    X, _ = rows(n=500)
    model = plain_model(classes=classes, threshold=Threshold(0.3, 0.05, 0.95, 100) if armed else None)
    to_onnx(model, tmp_path / "a.onnx")
    found = run(tmp_path / "a.onnx", {"X": X})
    if classes in ((2**70, 1), (0, "x")):  # neither fits a tensor
        assert found[2].tolist() == (found[0] > model.cut).astype(int).tolist()
        found[2] = model.label(found[0])
    agree(model, found, model.score(X))
    assert 0 < (found[0] > model.cut).sum() < 500


def test_extreme_scores_and_no_rows(tmp_path):
    model = RankerModel(LibsvmLayout(1, False), (0, 1), np.array([1.0]), 0.0, 3.0, 0.0, 1.0)
    to_onnx(model, tmp_path / "a.onnx")
    X = np.array([[-1e300], [-500.0], [0.0], [500.0], [1e300]])
    score, probability, label = run(tmp_path / "a.onnx", {"X": X})
    np.testing.assert_array_equal(score, X[:, 0])
    np.testing.assert_allclose(probability, [0.0, 0.0, 0.5, 1.0, 1.0], atol=1e-12)
    assert label.tolist() == [0, 0, 0, 1, 1]
    assert all(part.shape == (0,) for part in run(tmp_path / "a.onnx", {"X": np.empty((0, 1))}))


def test_entries_of_sparse_rows_give_our_scores(tmp_path):
    model = table_model(tmp_path, encode="hash", hash_dim=1200)
    to_onnx(model, tmp_path / "a.onnx", inputs="entries")
    (block,) = model.layout.source(tmp_path / "table.csv", model.classes)
    X = block.X
    width = int(np.diff(X.indptr).max()) + 2
    columns, values = np.zeros((X.shape[0], width), np.int64), np.zeros((X.shape[0], width))
    for row in range(X.shape[0]):
        part = slice(X.indptr[row], X.indptr[row + 1])
        columns[row, : part.stop - part.start] = X.indices[part]
        values[row, : part.stop - part.start] = X.data[part]
    agree(model, run(tmp_path / "a.onnx", {"columns": columns, "values": values}), model.score(X))


@pytest.mark.parametrize(
    "options",
    [
        {"scale": "standard"},
        {"scale": "max-abs", "missing": "mean"},
        {"max_categories": 2},
    ],
    ids=str,
)
def test_raw_tables_give_our_scores(tmp_path, options):
    model = table_model(tmp_path, ignore=["hour"], **options)
    to_onnx(model, tmp_path / "a.onnx", inputs="table")
    frame = pd.read_csv(io.StringIO(table_text(seed=8)), dtype={"site": str})
    frame.loc[::7, "site"] = "never seen"
    frame.loc[1::7, "site"] = None
    frame.loc[2::7, "bid"] = np.nan
    frame.loc[3::7, "age"] = np.nan  # of which none was missing before
    s = model.score(model.layout.encoding.transform(frame))
    feeds = {}
    for column in model.layout.encoding.columns:
        values = frame[column.name]
        if column.kind == "numeric":
            feeds[column.name] = values.to_numpy(np.float64)
        else:
            texts = ["" if pd.isna(value) else str(value) for value in values]
            feeds[column.name] = np.array(texts, dtype=object)
    kinds = {column.name: column.kind for column in model.layout.encoding.columns}
    assert kinds == {"site": "category", "size": "category", "bid": "numeric", "age": "numeric"}
    agree(model, run(tmp_path / "a.onnx", feeds), s)


def test_what_is_not_supported_is_said(tmp_path):
    path = tmp_path / "a.onnx"
    with pytest.raises(ValueError, match="time column 'hour'"):
        to_onnx(table_model(tmp_path), path, inputs="table")
    with pytest.raises(ValueError, match="cannot hash"):
        to_onnx(table_model(tmp_path, ignore=["hour"], encode="hash", hash_dim=20), path, inputs="table")
    with pytest.raises(ValueError, match="cannot encode the columns of a table as codes"):
        to_onnx(table_model(tmp_path, ignore=["hour", "bid", "site"], encode="codes"), path, inputs="table")
    with pytest.raises(ValueError, match="LIBSVM"):
        to_onnx(plain_model(), path, inputs="table")
    with pytest.raises(ValueError, match="inputs must be"):
        to_onnx(plain_model(), path, inputs="rows")
    assert not path.exists()


def test_a_column_with_the_name_of_an_output_is_refused(tmp_path):
    from mbauc import MBAClassifier
    from mbauc.model import TableLayout
    from mbauc.readers import TableSource

    (tmp_path / "t.csv").write_text("y,score\n0,0.5\n1,1.5\n0,0.25\n")
    source = TableSource(tmp_path / "t.csv", label="y")
    ranker = MBAClassifier(l2=1.0).fit_source(source)
    model = RankerModel.of(ranker, TableLayout(source.encoding, "y"), source.classes)
    with pytest.raises(ValueError, match="the column 'score' has the name of an output"):
        to_onnx(model, tmp_path / "a.onnx", inputs="table")


def test_the_same_model_gives_the_same_bytes_and_the_old_file_is_kept(tmp_path, monkeypatch):
    for name in ("a.onnx", "b.onnx"):
        to_onnx(plain_model(), tmp_path / name)
    before = (tmp_path / "a.onnx").read_bytes()
    assert before == (tmp_path / "b.onnx").read_bytes()

    def broken(number):
        raise OSError("broken")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="broken"):
        to_onnx(plain_model(seed=1), tmp_path / "a.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["a.onnx", "b.onnx"]


def test_the_file_names_its_versions(tmp_path):
    to_onnx(plain_model(), tmp_path / "a.onnx")
    made = onnx.load(tmp_path / "a.onnx")
    assert made.producer_name == "mbauc"
    assert {entry.domain: entry.version for entry in made.opset_import} == {"": 13, "ai.onnx.ml": 2}


def test_without_the_package_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'mbauc\[onnx\]'"):
        to_onnx(plain_model(), tmp_path / "a.onnx")


@pytest.mark.parametrize(
    "calibration",
    [
        Calibration("logistic", 2.0, -1.5),
        Calibration("isotonic", 0.01, 0.3, knots=((-1.0, -4.0), (-0.2, -1.0), (0.9, 0.5))),
        Calibration("isotonic", 0.01, knots=((0.1, -1.0),)),
    ],
)
def test_calibrated_probabilities_are_ours(tmp_path, calibration):
    X, _ = rows(n=500)
    model = plain_model().with_calibration(calibration)
    save_model(model, tmp_path / "model.mbauc")
    assert load_model(tmp_path / "model.mbauc").calibration == calibration
    to_onnx(model, tmp_path / "model.onnx")
    agree(model, run(tmp_path / "model.onnx", {"X": X}), model.score(X))
    np.testing.assert_allclose(to_sklearn(model).predict_proba(X)[:, 1], model.probability(model.score(X)))
