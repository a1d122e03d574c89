import io

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from trained_models import plain_model, rows, table_model, table_text

from mbauc.model import LibsvmLayout, RankerModel, Threshold
from mbauc.model.export import TableEncoder, to_sklearn

ENCODINGS = [
    {"encode": "onehot", "scale": "standard"},
    {"encode": "hash", "hash_dim": 40, "signed": True},
    {"encode": "hash", "hash_dim": 1200},  # sparse
]


@pytest.fixture
def frame():
    return pd.read_csv(io.StringIO(table_text()), dtype={"site": str})


@pytest.mark.parametrize("options", ENCODINGS, ids=str)
def test_scores_of_raw_tables_are_the_same(tmp_path, frame, options):
    model = table_model(tmp_path, **options)
    pipeline = to_sklearn(model)
    assert isinstance(pipeline, Pipeline)
    s = model.score(model.layout.encoding.transform(frame))
    from_file = np.concatenate(
        [s for _, s, _ in model.score_blocks(model.layout.source(tmp_path / "table.csv", (0, 1)))]
    )
    np.testing.assert_allclose(from_file, s, rtol=0, atol=1e-14 * np.abs(model.coef).sum())
    for table in (frame, frame.drop(columns=["click", "view"]), pa.Table.from_pandas(frame)):
        np.testing.assert_array_equal(pipeline.decision_function(table), s)
    np.testing.assert_array_equal(pipeline.predict_proba(frame)[:, 1], model.probability(s))
    np.testing.assert_array_equal(pipeline.predict(frame), model.label(s))
    assert pipeline[:-1].get_feature_names_out().tolist() == model.layout.feature_names()


def test_polars_frames_are_taken(tmp_path, frame):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    model = table_model(tmp_path)
    np.testing.assert_array_equal(
        to_sklearn(model).decision_function(polars.from_pandas(frame)),
        model.score(model.layout.encoding.transform(frame)),
    )


def test_a_pickled_pipeline_gives_the_same_scores(tmp_path, frame):
    pipeline = to_sklearn(table_model(tmp_path, threshold=Threshold(0.2, 0.05, 0.95, 100)))
    joblib.dump(pipeline, tmp_path / "pipeline.joblib")
    loaded = joblib.load(tmp_path / "pipeline.joblib")
    np.testing.assert_array_equal(loaded.decision_function(frame), pipeline.decision_function(frame))
    np.testing.assert_array_equal(loaded.predict(frame), pipeline.predict(frame))


@pytest.mark.parametrize("armed", [False, True])
def test_clones_can_be_fitted_anew(tmp_path, frame, armed):
    model = table_model(tmp_path, threshold=Threshold(0.2, 0.05, 0.95, 100) if armed else None)
    fresh = clone(to_sklearn(model))
    assert not hasattr(fresh[-1], "coef_")
    assert not hasattr(fresh[-1], "estimator_")
    fresh.fit(frame, frame["click"])
    np.testing.assert_allclose(
        fresh.decision_function(frame), to_sklearn(model).decision_function(frame), rtol=1e-9, atol=1e-9
    )
    scores = cross_val_score(fresh, frame, frame["click"], scoring="roc_auc", cv=3)
    assert (scores > 0.5).all()


def test_predictions_cut_at_the_threshold(tmp_path, frame):
    model = table_model(tmp_path)
    s = model.score(model.layout.encoding.transform(frame))
    cut = float(np.sort(s)[-20])  # the score of a row, which must not raise the alarm
    armed = model.with_threshold(Threshold(cut, 0.05, 0.95, 100))
    pipeline = to_sklearn(armed)
    assert pipeline.predict(frame).sum() == 19
    np.testing.assert_array_equal(pipeline.predict(frame), armed.label(s))
    np.testing.assert_array_equal(pipeline.decision_function(frame), s)


@pytest.mark.parametrize(
    "classes", [("no", "yes"), ("yes", "no"), (-1, 1), (True, False), (0, "x"), ((0, 2), 1)]
)
@pytest.mark.parametrize("armed", [False, True])
def test_labels_are_those_of_the_data(classes, armed):
    X, _ = rows()
    model = plain_model(classes=classes, threshold=Threshold(0.1, 0.05, 0.95, 100) if armed else None)
    ranker = to_sklearn(model)
    assert ranker.predict(X).tolist() == model.label(model.score(X)).tolist()
    np.testing.assert_array_equal(ranker.decision_function(X), model.score(X))


def test_of_libsvm_rows_only_the_ranker_is_exported():
    model = RankerModel(LibsvmLayout(2, False), (0, 1), np.array([1.0, -1.0]), 0.5, 1.0, 0.0, 1.0)
    ranker = to_sklearn(model)
    assert not isinstance(ranker, Pipeline)
    assert ranker.decision_function(np.array([[2.0, 1.0]])).tolist() == [1.5]


def test_columns_that_are_missing_or_new_are_named(tmp_path, frame):
    pipeline = to_sklearn(table_model(tmp_path))
    with pytest.raises(ValueError, match="bid"):
        pipeline.predict(frame.drop(columns="bid"))
    with pytest.raises(ValueError, match="surprise"):
        pipeline.predict(frame.assign(surprise=1))


def test_an_encoder_is_fitted_from_the_start(tmp_path, frame):
    encoder = TableEncoder(encoding=table_model(tmp_path).layout.encoding)
    before = encoder.transform(frame).toarray()
    assert before.any()
    np.testing.assert_array_equal(encoder.fit(frame).transform(frame).toarray(), before)
