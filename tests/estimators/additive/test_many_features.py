"""Interactions of many columns, and many interactions: what is left out, and what stays as it is."""

from functools import partial

import numpy as np
import pytest
from additive_rows import make_rows
from scipy.stats import spearmanr

from mbauc import AdditiveAUCClassifier
from mbauc.basis.columns import Levels
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.estimators.additive import choice, classifier, search
from mbauc.estimators.additive.crossed import keep_columns
from mbauc.estimators.additive.search import FeatureSearch, SearchSettings
from mbauc.estimators.additive.search_rows import SearchRows
from mbauc.metrics import roc_auc


def fit(X, y, features="interactions", **settings):
    return AdditiveAUCClassifier(features, random_state=0, n_jobs=1, **settings).fit(X, y)


def make_search(X, y, kinds=None, **settings):
    kinds = kinds or [ColumnKind(f"x{j}") for j in range(X.shape[1])]
    features = design_features(X, None, kinds, DesignSettings())
    rows = SearchRows(
        features.codes(X),
        features.number_values(X),
        y == 1,
        None,
        np.ones(len(y)),
        (np.arange(len(y)) % 3).astype(np.int32),
        n_jobs=1,
        widths=tuple(column.width for column in features.columns),
    )
    return FeatureSearch(rows, features, SearchSettings(**settings))


def test_collapsed_codes_are_those_of_the_columns_that_are_kept():
    X, _ = make_rows("both", 200, d=5)
    X[::7, 1] = np.nan
    X[:, 4] = np.round(2 * X[:, 4])
    X[::9, 4] = np.nan
    found = make_search(
        X, np.arange(200) % 2, [*(ColumnKind(f"x{j}") for j in range(4)), ColumnKind("c", True)]
    )
    narrow, totals = keep_columns(found.features, found.rows.totals(found.features), {0, 2})
    codes = found.rows.collapse(narrow, {0, 2})
    np.testing.assert_array_equal(codes, narrow.codes(X))
    assert [column.width for column in narrow.columns] == [
        found.features.columns[j].width if j in (0, 2) else 2 for j in range(5)
    ]
    assert isinstance(narrow.columns[4], Levels)
    assert [number.column for number in narrow.numbers] == [0, 2]
    for j, own in enumerate(totals):
        np.testing.assert_array_equal(own, np.bincount(codes[:, j], minlength=narrow.columns[j].width))


def test_the_strongest_columns_are_those_of_the_truth(monkeypatch):
    X, y = make_rows("curves", 600, d=12)
    monkeypatch.setattr(search, "_STRONGEST", 2)
    assert make_search(X, y)._strongest(0) == {0, 1}


@pytest.mark.parametrize("most_wide", [10, 10_000])
def test_interactions_of_many_columns_come_with_few_curves(monkeypatch, most_wide):
    X, y = make_rows("both", 1200, d=10)
    wide = fit(X[:800], y[:800], interactions=[(1, 3)])
    monkeypatch.setattr(search, "_MANY_COLUMNS", 9)
    monkeypatch.setattr(search, "_STRONGEST", 3)
    monkeypatch.setattr(search, "_MOST_WIDE", most_wide)
    narrow = fit(X[:800], y[:800], interactions=[(1, 3)])
    kept = [j for j, column in enumerate(narrow.feature_map_.columns) if column.width > 2]
    assert narrow.interactions_ == [("x1", "x3")]
    aucs = [roc_auc(y[800:], one.decision_function(X[800:])) for one in (narrow, wide)]
    assert aucs[0] > aucs[1] - 0.02
    if most_wide == 10:
        assert {0, 1, 2, 3} <= set(kept)
        assert len(kept) <= 5
    # the columns that are left out add nothing
    assert ("curves of a subset of the columns" in narrow.choice_) == (len(kept) < 10)
    left = [curve.importance for curve in narrow.terms().curves if curve.name not in {f"x{j}" for j in kept}]
    assert left == [0.0] * (10 - len(kept))


def test_many_columns_are_fitted_as_they_are():
    """More than a hundred, without a constant changed."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (400, 105)).astype(float)
    y = ((X[:, 0] - 1) * (X[:, 1] - 1) + 0.5 * rng.normal(size=400) > 0.2).astype(int)
    found = make_search(X, y)
    assert found._widths() == (False, True)
    crossed = found.cross([(0, 1)], 0, narrow=True)
    assert crossed.narrow
    assert sum(column.width > 2 for column in crossed.features.columns) <= 18
    assert crossed.rows.Z.shape == (400, crossed.basis.roughness.size)


def test_interactions_are_tried_in_the_coordinates_of_curves():
    X, y = make_rows("both", 300)
    found = make_search(X, y)
    crossed = found.cross([(1, 3)], 0, narrow=False)
    own = ~crossed.basis.is_interaction
    np.testing.assert_array_equal(crossed.rows.Z[:, own], found.folded.Z)
    np.testing.assert_array_equal(crossed.basis.roughness[own], found.basis.roughness)
    np.testing.assert_array_equal(crossed.rows.fold == 0, found.rows.fold == 0)


def test_interactions_that_are_too_many_to_be_tried_are_fitted(monkeypatch):
    X, y = make_rows("both", 1200)
    pairs = [(1, 3), (0, 2)]
    tried = fit(X[:800], y[:800], interactions=pairs)
    monkeypatch.setattr(classifier, "SearchSettings", partial(SearchSettings, most_crossed=10))
    found = fit(X[:800], y[:800], interactions=pairs)
    assert found.choice_.startswith(
        "2 interactions, as requested (too many to compare on held-out rows); curves"
    )
    assert found.interactions_ == tried.interactions_ == [("x0", "x2"), ("x1", "x3")]
    scores = [one.decision_function(X[800:]) for one in (found, tried)]
    assert spearmanr(*scores)[0] > 0.97
    alone = fit(X[:800], y[:800], "curves").decision_function(X[800:])
    assert roc_auc(y[800:], scores[0]) > roc_auc(y[800:], alone) + 0.02
    # as if coordinates were uncorrelated, but in the same unit
    errors = [np.median(one.slope_ * one.coef_error_[one.coef_error_ > 0]) for one in (found, tried)]
    assert 0.4 < errors[0] / errors[1] < 2.5
    # no loss can be tried either
    assert "too many features to compare losses" in fit(X, y, interactions=pairs, loss="auto").choice_


def test_eighty_one_pairs_are_too_many_to_be_tried():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 14)).astype(float)
    y = ((X[:, 0] == X[:, 1]) + rng.normal(size=300) > 0.5).astype(int)
    pairs = [(a, b) for b in range(14) for a in range(b)]
    assert "too many to compare" not in fit(X, y, interactions=pairs[:80]).choice_
    assert "too many to compare" in fit(X, y, interactions=pairs[:81]).choice_


def make_levels(n=3000, seed=0):
    """Rows of two numbers and a category of 40 levels whose heights are drawn."""
    rng = np.random.default_rng(seed)
    level = np.minimum(rng.geometric(0.06, n), 40)
    X = np.column_stack([rng.normal(size=(n, 2)), level.astype(float)])
    score = np.abs(X[:, 0]) + rng.normal(size=41)[level] + X[:, 0] * X[:, 1]
    return X, (score + rng.logistic(size=n) > 1).astype(int)


@pytest.mark.parametrize("features", ["linear", "curves", "interactions"])
def test_many_levels_are_tried_pooled_and_fitted_whole(monkeypatch, features):
    X, y = make_levels()
    settings = {"categories": [2], "search_rows": 1500, "loss": "squared"}
    whole = fit(X, y, features, **settings)
    monkeypatch.setattr(choice, "_MOST_LEVELS", 10)
    pooled = fit(X, y, features, **settings)
    assert "Compared with the 10 most frequent levels of each category" in pooled.choice_
    assert "most frequent levels" not in whole.choice_
    assert pooled.feature_map_.feature_names() == whole.feature_map_.feature_names()
    if pooled.l2_ == whole.l2_ and np.allclose(pooled.penalty_factors_, whole.penalty_factors_):
        np.testing.assert_allclose(pooled.coef_, whole.coef_, atol=1e-8)
    gap = roc_auc(y, pooled.decision_function(X)) - roc_auc(y, whole.decision_function(X))
    assert abs(gap) < 0.01
    assert np.isfinite(pooled.coef_error_).all()


def test_levels_of_tables_whose_rows_are_all_in_the_search_are_never_pooled(monkeypatch):
    X, y = make_levels(600)
    before = fit(X, y, "curves", categories=[2])
    monkeypatch.setattr(choice, "_MOST_LEVELS", 3)
    after = fit(X, y, "curves", categories=[2])
    np.testing.assert_array_equal(before.coef_, after.coef_)
