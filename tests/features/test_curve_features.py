"""The transformer of curves: pipelines, tables, blocks that come one by one."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from curve_reference import encode
from mbauc import MBAClassifier
from mbauc.errors import DataWarning
from mbauc.features import CurveFeatures
from mbauc.metrics import roc_auc


def make_rows(n=300, seed=0):
    """A column that works as a curve, codes of a category, and noise."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 4, n), rng.normal(size=n).round(1)])
    X[rng.random(n) < 0.1, 2] = np.nan
    return X, np.abs(X[:, 0]) + (X[:, 1] == 2) + 0.3 * rng.normal(size=n) > 1.2


@parametrize_with_checks([CurveFeatures(), CurveFeatures(4, sparse_output=False, sample_rows=20)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_features_are_those_of_the_map():
    X, _ = make_rows()
    features = CurveFeatures(8, interactions=[(0, "x1")], categories=["x1"], coarse_bins=3).fit(X)
    found = features.transform(X)
    assert sp.issparse(found)
    np.testing.assert_array_equal(found.toarray(), encode(features.feature_map_, X))
    names = features.get_feature_names_out()
    assert len(set(names)) == len(names) == found.shape[1]
    assert "x1=#2" in names
    assert features.feature_map_.pairs == ((0, 1),)


def test_a_ranker_behind_it_follows_curves():
    X, y = make_rows(1200)
    pipeline = make_pipeline(CurveFeatures(16, categories=[1]), MBAClassifier())
    curves = clone(pipeline).fit(X[:600], y[:600]).decision_function(X[600:])
    straight = MBAClassifier().fit(np.nan_to_num(X[:600]), y[:600]).decision_function(np.nan_to_num(X[600:]))
    assert roc_auc(y[600:], curves) > roc_auc(y[600:], straight) + 0.2


def test_tables_with_texts_are_taken_as_they_are():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, _ = make_rows()
    sites = np.array(["a", "b", None, "c"], dtype=object)[X[:, 1].astype(int)]
    table = pd.DataFrame({"bid": X[:, 0], "site": sites, "age": X[:, 2]})
    features = CurveFeatures(4, interactions=[("site", "bid")]).fit(table)
    names = features.get_feature_names_out().tolist()
    assert {"site=a", "site=(missing)", "age"} < set(names)
    expected = features.transform(table).toarray()
    np.testing.assert_array_equal(features.transform(pl.from_pandas(table)).toarray(), expected)
    with pytest.warns(DataWarning, match="'site': none of its 300 values was seen in training"):
        new = features.transform(table.assign(site="new")).toarray()
    assert new[:, names.index("site=(other)")].all()


def test_data_frames_come_out_where_the_result_is_dense():
    pd = pytest.importorskip("pandas")
    X, _ = make_rows(50)
    table = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 150))
    dense = CurveFeatures(4, sparse_output=False).set_output(transform="pandas").fit_transform(table)
    assert isinstance(dense, pd.DataFrame)
    assert dense.index.equals(table.index)
    assert dense.columns[0].startswith("a=≤")
    with pytest.raises(ValueError, match=r"(?i)sparse"):
        CurveFeatures(4).set_output(transform="pandas").fit_transform(table)


def test_it_is_a_part_of_a_column_transformer():
    pd = pytest.importorskip("pandas")
    X, _ = make_rows(50)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    both = make_column_transformer(
        (CurveFeatures(4), ["a", "c"]), (CurveFeatures(categories=["b"], min_rows=1), ["b"])
    )
    found = both.fit_transform(table)
    assert found.shape == (50, len(both.get_feature_names_out()))
    assert "curvefeatures-2__b=#0" in both.get_feature_names_out()


@settings(max_examples=15)
@given(st.lists(st.integers(0, 60), max_size=3), st.sampled_from([20, 1000]), st.booleans())
def test_blocks_give_the_features_of_the_whole(cuts, sample_rows, with_ids):
    X, _ = make_rows(60)
    settings = {"bins": 6, "sample_rows": sample_rows, "random_state": 3, "interactions": [(0, 2)]}
    ids = np.arange(60) * 7 if with_ids else None
    whole = CurveFeatures(**settings).partial_fit(X, ids=ids)
    blocks = CurveFeatures(**settings)
    for rows in np.split(np.arange(60), sorted(cuts)):
        if rows.size:
            blocks.partial_fit(X[rows], ids=None if ids is None else ids[rows])
    assert blocks.n_rows_seen_ == 60
    assert blocks.feature_map_.to_dict() == whole.feature_map_.to_dict()


@pytest.mark.parametrize(("sample_rows", "with_ids"), [(1000, False), (20, True)])
def test_parts_merge_to_the_whole(sample_rows, with_ids):
    X, _ = make_rows(60)
    ids = np.arange(60) if with_ids else None
    parts = [
        CurveFeatures(6, sample_rows=sample_rows).partial_fit(X[rows], ids=None if ids is None else ids[rows])
        for rows in (slice(40, 60), slice(0, 40))
    ]
    untouched = parts[1].feature_map_.to_dict()
    whole = CurveFeatures(6, sample_rows=sample_rows).partial_fit(X, ids=ids)
    merged = parts[0].merge(parts[1])
    assert merged.feature_map_.to_dict() == whole.feature_map_.to_dict()
    assert merged.n_rows_seen_ == 60
    assert parts[1].feature_map_.to_dict() == untouched


def test_merged_parts_must_be_alike():
    X, _ = make_rows(60)
    with pytest.raises(ValueError, match="bins is 6 and 7"):
        CurveFeatures(6).fit(X).merge(CurveFeatures(7).fit(X))
    with pytest.raises(ValueError, match="the same columns"):
        CurveFeatures(6).fit(X).merge(CurveFeatures(6).fit(X[:, :2]))
    with pytest.raises(TypeError, match="other must be CurveFeatures, got ndarray"):
        CurveFeatures(6).fit(X).merge(X)


def test_pickles_and_clones():
    X, _ = make_rows(60)
    features = CurveFeatures(6, interactions=[(0, 1)]).fit(X)
    again = pickle.loads(pickle.dumps(features))
    np.testing.assert_array_equal(again.transform(X).toarray(), features.transform(X).toarray())
    assert not hasattr(clone(features), "feature_map_")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"bins": 1}, "bins must be a whole number of at least 2, got 1"),
        ({"min_rows": 0}, "min_rows must be"),
        ({"coarse_bins": "few"}, "coarse_bins must be"),
        ({"numbers": 1}, "numbers must be True or False"),
        ({"sample_rows": 0}, "sample_rows must be"),
        ({"categories": ["z"]}, "categories: there is no column 'z'"),
        ({"categories": "x0"}, "categories must be a list of columns"),
        ({"interactions": [(0, 3)]}, "interactions: there is no column 3"),
        ({"interactions": [(1, 1)]}, "two different columns"),
        ({"interactions": 3}, "interactions must be pairs of columns"),
        ({"random_state": -1}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
    ],
)
def test_settings_that_do_not_fit_are_named(wrong, said):
    with pytest.raises(ValueError, match=said):
        CurveFeatures(**wrong).fit(make_rows(30)[0])


def test_ids_must_be_one_for_each_row():
    with pytest.raises(ValueError, match="X has 30 rows and ids has 3"):
        CurveFeatures().partial_fit(make_rows(30)[0], ids=[1, 2, 3])
    with pytest.raises(ValueError, match="2,001 columns; curves are for 2,000 at most"):
        CurveFeatures().fit(np.zeros((2, 2001)))
