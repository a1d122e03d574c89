"""What comes in: arrays, frames with texts, missing values, weights, and settings that do not fit."""

import pickle

import numpy as np
import pytest
from additive_rows import make_rows
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mbauc import AdditiveAUCClassifier
from mbauc.errors import DataWarning
from mbauc.metrics import roc_auc

FEW_ROWS = pytest.mark.filterwarnings("ignore:The smaller class has")


def ranker(features="curves", **settings):
    return AdditiveAUCClassifier(features, **{"random_state": 0, "n_jobs": 1, "cv": 2} | settings)


def _expected_failures(estimator):
    why = "cv is a number, and folds are drawn row by row, so that a weight is not a repeated row"
    return {f"check_sample_weight_equivalence_on_{kind}_data": why for kind in ("dense", "sparse")}


@FEW_ROWS
@pytest.mark.slow
@parametrize_with_checks(
    [ranker(), ranker("linear", loss="squared_hinge", weights="frequency")],
    expected_failed_checks=_expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def make_holes(n=300):
    X, y = make_rows("curves", n)
    X = X.round(1)
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    return X, y


def test_arrays_frames_and_sparse_rows_give_the_dense_answer():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    X, y = make_holes()
    expected = ranker().fit(X, y).decision_function(X)
    names = list("abcd")
    forms = {
        "fortran": np.asfortranarray(X),
        "list": X.tolist(),
        "csr": sp.csr_array(X),
        "csc": sp.csc_matrix(X),
        "pandas": pd.DataFrame(X, columns=names),
        "nullable": pd.DataFrame(X, columns=names).convert_dtypes(),
        "polars": pl.DataFrame(X, schema=names).fill_nan(None),
        "arrow": pa.table({name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate(names)}),
    }
    for name, form in forms.items():
        np.testing.assert_array_equal(ranker().fit(form, y).decision_function(form), expected, name)


def make_table(n=400):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    site = rng.choice(np.array(["a", "b", "c", None], dtype=object), n)
    table = pd.DataFrame({"bid": rng.normal(size=n), "site": site, "new": rng.random(n) < 0.5})
    score = table["site"].map({"a": 2.0, "b": -1.0}).fillna(0.0) + np.abs(table["bid"])
    return table, (score + 0.3 * rng.normal(size=n) > 1).astype(int).to_numpy()


def test_tables_with_texts_need_no_encoding():
    pl = pytest.importorskip("polars")
    table, y = make_table()
    fitted = ranker("auto").fit(table[:200], y[:200])
    scores = fitted.decision_function(table[200:])
    assert roc_auc(y[200:], scores) > 0.9
    np.testing.assert_array_equal(fitted.decision_function(pl.from_pandas(table[200:])), scores)
    assert fitted.feature_names_in_.tolist() == ["bid", "site", "new"]
    assert "site=a" in fitted.feature_map_.feature_names()
    crossed = ranker("interactions", interactions=[("site", "bid")]).fit(table, y)
    assert crossed.interactions_ == [("bid", "site")]


def test_a_level_that_was_never_seen_adds_nothing_where_none_was_rare():
    table, y = make_table()
    fitted = ranker().fit(table, y)
    names = fitted.feature_map_.feature_names()
    assert fitted.coef_[0, names.index("site=(other)")] == 0.0
    known = fitted.decision_function(table.assign(site="a"))
    with pytest.warns(DataWarning, match="'site': none of its 400 values was seen in training"):
        new = fitted.decision_function(table.assign(site="never"))
    np.testing.assert_allclose(known - new, fitted.coef_[0, names.index("site=a")])


def test_codes_of_categories_are_levels():
    X, y = make_rows("curves", 300)
    X[:, 1] = np.random.default_rng(0).integers(0, 3, 300)
    fitted = ranker(categories=[1]).fit(X, y)
    assert "x1=#2" in fitted.feature_map_.feature_names()
    assert np.isfinite(fitted.decision_function([[0.0, 77.0, np.nan, 0.0]])).all()


def test_values_beyond_training_count_as_the_most_extreme():
    X, y = make_rows("curves", 300)
    fitted = ranker().fit(X, y)
    for near, far in ((X[:, 0].max(), 1e300), (X[:, 0].min(), -1e300)):
        rows = np.tile(X[0], (2, 1))
        rows[:, 0] = near, far
        scores = fitted.decision_function(rows)
        assert scores[0] == scores[1]


def test_columns_that_say_nothing_change_nothing():
    X, y = make_rows("curves", 300)
    both = np.column_stack([X, np.full(300, 7.0), np.full(300, np.nan)])
    expected = ranker().fit(X, y).decision_function(X)
    np.testing.assert_allclose(ranker().fit(both, y).decision_function(both), expected, atol=1e-6)


@FEW_ROWS
@pytest.mark.parametrize("features", ["auto", "linear", "curves", "interactions"])
def test_two_rows_of_each_class_are_enough(features):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])
    assert np.isfinite(ranker(features).fit(X, [0, 0, 1, 1]).decision_function(X)).all()


def test_weights_have_no_unit_and_rows_of_weight_0_are_not_there():
    X, y = make_rows("curves", 300)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 300)
    once, again = (ranker().fit(X, y, sample_weight=one) for one in (weight, 4 * weight))
    np.testing.assert_allclose(once.coef_, again.coef_, atol=1e-8)
    weight[::3] = 0.0
    kept = weight > 0
    without = ranker().fit(X[kept], y[kept], sample_weight=weight[kept])
    np.testing.assert_allclose(ranker().fit(X, y, weight).coef_, without.coef_, atol=1e-8)
    assert not np.allclose(once.coef_, ranker().fit(X, y).coef_, atol=1e-3)


def test_clones_pickles_pipelines_and_grids():
    X, y = make_holes()
    fitted = ranker().fit(X, np.where(y, "yes", "no"))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert not hasattr(clone(fitted), "coef_")
    assert set(fitted.predict(X)) == {"no", "yes"}
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(fitted.predict_log_proba(X)), fitted.predict_proba(X))
    pipeline = make_pipeline(StandardScaler(), ranker())
    grid = {"additiveaucclassifier__features": ["linear", "curves"]}
    search = GridSearchCV(pipeline, grid, scoring="roc_auc", cv=2).fit(X, y)
    assert search.best_params_ == {"additiveaucclassifier__features": "curves"}


def test_a_scorer_makes_a_ranker_again():
    X, y = make_holes()
    fitted = ranker().fit(X, y)
    again = AdditiveAUCClassifier.restore(fitted.scorer())
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"features": "splines"}, "features must be 'auto', 'linear'"),
        ({"loss": "cubic"}, "loss must be one of"),
        ({"bins": 1}, "bins must be a whole number of at least 2"),
        ({"search_rows": 5}, "search_rows must be a whole number of at least 100"),
        ({"cv": 1}, "cv must be a whole number of at least 2"),
        ({"negative_rate": 0}, "negative_rate must be a finite number greater than 0"),
        ({"weights": "other"}, "weights must be 'sampling' or 'frequency'"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must not be 0"),
        ({"categories": [9]}, "categories: there is no column 9; columns are 'x0', 'x1'"),
        ({"categories": "x0"}, "categories must be a list of columns, got 'x0'"),
        ({"interactions": -1}, "interactions must be a whole number of at least 0"),
        ({"interactions": 2.5}, "interactions must be pairs of columns, got 2.5"),
        ({"interactions": ["ab"]}, "interactions must be pairs of columns, got 'ab'"),
        ({"interactions": [(0, "z")]}, "interactions: there is no column 'z'"),
        ({"interactions": [(1, "x1")]}, "a pair needs two different columns"),
        ({"interactions": 3, "features": "curves"}, "asks for interactions, features='curves' for none; leave"),
        ({"interactions": [(0, 1)], "features": "linear"}, "or pass features='interactions'"),
        ({"interactions": np.array([[0, 1]]), "features": "fourier"}, "features='fourier' for none"),
    ],
)
def test_settings_that_do_not_fit_are_named(wrong, said):
    X, y = make_rows("lines", 40)
    with pytest.raises(ValueError, match=said):
        ranker(**{"features": "interactions"} | wrong).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "weight", "said"),
    [
        (np.zeros((4, 2001)), [0, 1, 0, 1], None, "2,001 columns; curves are for 2,000 at most. Use Pairwise"),
        (np.zeros((4, 2)), [1, 1, 1, 1], None, "y has one class only"),
        (np.zeros((6, 2)), [0, 1, 2] * 2, None, "3 classes"),
        (np.zeros((4, 2)), [0, 1], None, "X has 4 rows and y has 2 labels"),
        (np.zeros((4, 2)), None, None, "requires y to be passed"),
        (np.full((4, 2), np.inf), [0, 1, 0, 1], None, "X contains inf at row 0, column 0"),
        (np.zeros((4, 2)), [0, 1, 0, 1], [0, 1, 0, 1], "sample_weight is zero for all rows of class 0;"),
        (np.zeros((3, 2)), [0, 1, 0], None, "at least 2 rows of each class"),
    ],
)
def test_rows_that_do_not_fit_are_named(X, y, weight, said):
    with pytest.raises(ValueError, match=said):
        ranker().fit(X, y, weight)


def test_wide_tables_with_texts_are_refused_too():
    pd = pytest.importorskip("pandas")
    wide = pd.DataFrame({f"c{j}": ["a", "b"] * 2 for j in range(2001)})
    with pytest.raises(ValueError, match="2,001 columns; curves are for 2,000 at most"):
        ranker().fit(wide, [0, 1, 0, 1])


def test_waves_of_values_that_are_too_large_name_the_column():
    X, y = make_rows("curves", 300)
    X[:, 0], X[:, 2] = X[:, 0].round(), 1e200 * X[:, 2]
    with pytest.raises(ValueError, match="column 'x2' whose squares overflow"):
        ranker("fourier", categories=[0]).fit(X, y)


@pytest.mark.parametrize("weights", ["sampling", "frequency"])
@pytest.mark.parametrize(("features", "loss"), [("auto", "squared"), ("curves", "auto")])
def test_choices_on_held_out_rows_take_weights(features, loss, weights):
    X, y = make_rows("product", 300)
    weight = np.random.default_rng(0).integers(1, 4, 300)
    fitted = ranker(features, loss=loss, weights=weights).fit(X, y, sample_weight=weight)
    assert np.isfinite(fitted.decision_function(X)).all()


@FEW_ROWS
@pytest.mark.parametrize("features", ["auto", "linear", "curves", "interactions"])
def test_nothing_that_varies_and_few_rows_give_finite_scores(features):
    assert not np.ptp(ranker(features).fit(np.ones((20, 2)), [0, 1] * 10).decision_function(np.ones((3, 2))))
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0]])
    assert np.isfinite(ranker(features, loss="auto").fit(X, [0, 0, 1, 1]).decision_function(X)).all()
