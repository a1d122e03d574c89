"""What is chosen, and whether it is what the rows are made of."""

from dataclasses import replace

import numpy as np
import pytest
from additive_rows import make_rows

from mbauc import AdditiveAUCClassifier, MBAClassifier
from mbauc.estimators.additive import classifier as classifier_module
from mbauc.estimators.additive import fit as fitting
from mbauc.estimators.additive.coordinates import FoldedRows
from mbauc.estimators.additive.search import SearchSettings
from mbauc.metrics import roc_auc


def fit(X, y, features="auto", loss="squared", **settings):
    return AdditiveAUCClassifier(features, loss, random_state=0, n_jobs=1, **settings).fit(X, y)


def test_straight_lines_are_taken_where_there_are_some():
    X, y = make_rows("lines", 2000)
    ranker = fit(X[:1000], y[:1000])
    assert ranker.features_ == "linear"
    assert ranker.choice_.startswith("linear terms: held-out AUC 0.")
    assert {"linear", "curves"} <= set(ranker.search_)
    plain = MBAClassifier().fit(X[:1000], y[:1000])
    ours, theirs = (roc_auc(y[1000:], one.decision_function(X[1000:])) for one in (ranker, plain))
    assert ours > theirs - 0.005


def test_curves_are_taken_where_truth_is_additive():
    X, y = make_rows("curves", 2000)
    ranker = fit(X[:1000], y[:1000])
    assert ranker.features_ == "curves"
    assert "curves: held-out AUC" in ranker.choice_
    straight = fit(X[:1000], y[:1000], "linear")
    curves, lines = (roc_auc(y[1000:], one.decision_function(X[1000:])) for one in (ranker, straight))
    assert curves > lines + 0.1
    # a curve and the number itself make one curve: |x0| is high at both ends
    steps = ranker.feature_map_.columns[0]
    heights = ranker.scorer().contributions(np.column_stack([steps.centers, np.zeros((steps.centers.size, 3))]))
    own = [k for k, one in enumerate(ranker.feature_map_.terms()) if one.columns == (0,)]
    curve = heights[:, own].sum(axis=1)
    middle = np.abs(steps.centers) < 0.3
    assert curve[0] > curve[middle].max()
    assert curve[-1] > curve[middle].max()


def test_interactions_are_taken_where_truth_is_a_product():
    X, y = make_rows("product")
    ranker = fit(X, y)
    assert ranker.features_ == "interactions"
    assert ("x0", "x1") in ranker.interactions_
    assert "interactions" in ranker.choice_
    assert fit(X, y, "interactions", interactions=1).interactions_ == [("x0", "x1")]
    # these need no screening
    asked = fit(X, y, "interactions", interactions=[("x1", 0), ("x2", "x3")])
    assert asked.interactions_ == [("x0", "x1"), ("x2", "x3")]


def test_the_pair_that_gains_most_is_screened_first():
    """The screened order against what each pair gains when it is fitted alone."""
    X, y = make_rows("both", 1600)
    first = fit(X[:800], y[:800], "interactions", interactions=1).interactions_[0]
    gain = {}
    for pair in [(a, b) for b in range(4) for a in range(b)]:
        alone = fit(X[:800], y[:800], "interactions", interactions=[pair])
        gain[alone.interactions_[0]] = roc_auc(y[800:], alone.decision_function(X[800:]))
    assert first == max(gain, key=gain.get) == ("x1", "x3")


def test_one_interaction_is_told_in_the_singular():
    taken = fit(*make_rows("product", 300), "interactions", interactions=1)
    assert taken.choice_.startswith("1 interaction: it changes the held-out AUC by")
    left = fit(*make_rows("lines", 300), interactions=1)
    assert left.interactions_ == []
    assert "; 1 interaction changes the held-out AUC by" in left.choice_


@pytest.mark.parametrize("features", ["auto", "interactions"])
@pytest.mark.parametrize("none", [0, []])
def test_where_no_interactions_are_wanted_none_are_looked_for(features, none):
    ranker = fit(*make_rows("product", 300), features, interactions=none)
    assert ranker.interactions_ == []
    assert "no interactions, as requested" in ranker.choice_
    assert "interactions detected" not in ranker.choice_


def few_are_tried(monkeypatch, limit):
    settings = replace(SearchSettings(), most_crossed=limit * SearchSettings().coarse ** 2)
    monkeypatch.setattr(classifier_module, "SearchSettings", lambda: settings)


def test_more_interactions_than_can_be_tried_are_asked_for_by_number(monkeypatch):
    few_are_tried(monkeypatch, 2)
    X, y = make_rows("product", 600)
    ranker = fit(X, y, "interactions", interactions=1_000)
    assert len(ranker.interactions_) == 2
    assert (
        "2 interactions (the most that can be compared on held-out rows; up to 1,000 requested):"
        in ranker.choice_
    )
    assert "requested" not in fit(X, y, "interactions", interactions=2).choice_


def test_pairs_that_cannot_be_tried_are_taken_only_where_interactions_are_asked_for(monkeypatch):
    few_are_tried(monkeypatch, 2)
    X, y = make_rows("product", 300)
    pairs = [(0, 1), (0, 2), (0, 3)]
    assert len(fit(X, y, "interactions", interactions=pairs).interactions_) == 3
    ranker = fit(X, y, "auto", interactions=pairs)
    assert ranker.interactions_ == []
    assert ranker.features_ == fit(X, y, "auto", interactions=0).features_
    assert (
        "none of the 3 requested interactions is used, because at most 2 can be compared on held-out rows"
        in ranker.choice_
    )


def test_the_choice_counts_the_interactions_that_are_fitted():
    """Folds and all rows may find different numbers of them."""
    X, y = make_rows("curves", 300)
    for seed in range(2):
        ranker = AdditiveAUCClassifier("interactions", random_state=seed, n_jobs=1).fit(X, y)
        count = len(ranker.interactions_)
        assert ranker.choice_.startswith(f"{count} interaction{'s' if count != 1 else ''}:")


@pytest.mark.parametrize("kind", ["linear", "curves", "interactions", "fourier"])
def test_a_kind_that_is_asked_for_is_taken(kind):
    X, y = make_rows("product", 300)
    ranker = fit(X, y, kind)
    assert ranker.features_ == kind
    assert ranker.coef_.shape == (1, ranker.feature_map_.n_features)
    assert ranker.coef_error_.shape == ranker.feature_shares_.shape == ranker.coef_.shape[1:]
    n_terms = len(list(ranker.feature_map_.terms()))
    assert ranker.term_means_.shape == ranker.term_deviations_.shape == (n_terms,)
    added = ranker.scorer().contributions(X)
    np.testing.assert_allclose(added.sum(axis=1) + ranker.intercept_, ranker.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(added.mean(axis=0), ranker.term_means_, atol=1e-9)
    np.testing.assert_allclose(added.std(axis=0), ranker.term_deviations_, atol=1e-9)


@pytest.mark.parametrize("search_rows", [1000, 150])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic", "auto"])
def test_other_losses_rank_about_as_well(loss, search_rows):
    X, y = make_rows("curves", 800)
    ranker = fit(X[:400], y[:400], "curves", loss, search_rows=search_rows)
    squared = fit(X[:400], y[:400], "curves", search_rows=search_rows)
    assert ranker.loss_ in ("squared", "log_loss") if loss == "auto" else ranker.loss_ == loss
    assert ("Loss:" in ranker.choice_) == (loss == "auto")
    ours, theirs = (roc_auc(y[400:], one.decision_function(X[400:])) for one in (ranker, squared))
    assert ours > theirs - 0.02


def test_a_sample_is_enough_to_choose_on():
    X, y = make_rows("curves", 4000)
    few, all_rows = (fit(X[:2000], y[:2000], search_rows=rows) for rows in (500, 50_000))
    assert few.features_ == all_rows.features_ == "curves"
    assert few.effective_sample_size_ == all_rows.effective_sample_size_
    aucs = [roc_auc(y[2000:], one.decision_function(X[2000:])) for one in (few, all_rows)]
    assert aucs[0] == pytest.approx(aucs[1], abs=0.01)


def test_the_same_seed_gives_the_same_bits():
    X, y = make_rows("both", 400)
    first, second = (fit(X, y, "interactions", search_rows=200) for _ in range(2))
    np.testing.assert_array_equal(first.coef_, second.coef_)
    assert first.choice_ == second.choice_
    threads = AdditiveAUCClassifier("interactions", search_rows=200, random_state=0, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(threads.coef_, first.coef_, atol=1e-8)


@pytest.mark.parametrize("kind", ["linear", "auto"])
def test_columns_without_a_straight_line_keep_their_bins(kind):
    """A spread of next to nothing beside the mean: there is no line, and yet the values tell labels apart."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 5, (400, 1))
    X = 1e15 + np.hstack([code, rng.integers(0, 5, (400, 1))]).astype(float)
    y = (code[:, 0] + rng.normal(size=400) > 2).astype(int)
    ranker = fit(X, y, kind)
    assert not ranker.feature_map_.numbers
    assert roc_auc(y, ranker.decision_function(X)) == pytest.approx(ranker.search_["linear"], abs=0.02)
    assert ranker.search_["linear"] > 0.85
    # beside a column that has a line
    both = fit(np.column_stack([X[:, 0], rng.normal(size=400)]), y, "linear")
    assert [column.width for column in both.feature_map_.columns] == [6, 2]
    assert both.search_["linear"] > 0.85


def test_a_weight_of_a_frequency_is_as_many_rows_for_the_choice_of_a_loss(monkeypatch):
    X, y = make_rows("curves", 200)
    kept = []
    choose = fitting.choose_loss
    monkeypatch.setattr(
        fitting, "choose_loss", lambda *args, **more: kept.append(args) or choose(*args, **more)
    )
    ranker = AdditiveAUCClassifier("curves", "auto", weights="frequency", random_state=0, n_jobs=1)
    ranker.fit(X, y, sample_weight=np.full(200, 5.0))
    [(chosen, loss)] = kept
    rows = chosen.rows
    often = FoldedRows(
        *(np.repeat(one, 5, axis=0) for one in (rows.Z, rows.positive)), None, rows.fold.repeat(5)
    )
    once, repeated = (choose(one, loss, whole=True) for one in (chosen, replace(chosen, rows=often)))
    assert (once.loss, once.note) == (repeated.loss, repeated.note)


def test_a_category_that_no_row_lacks_has_no_height_of_missing_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 8, 900), rng.normal(size=900)]).astype(float)
    y = ((X[:, 0] - 3.5) * X[:, 1] + rng.normal(size=900) > 0).astype(int)
    ranker = fit(X, y, "interactions", interactions=[(0, 1)], categories=[0])
    [place] = [k for k, term in enumerate(ranker.feature_map_.terms()) if term.kind == "cells"]
    added = ranker.scorer().contributions(np.array([[np.nan, 0.5], [99.0, 0.5], [0.0, 0.5]]))[:, place]
    assert added[:2].tolist() == [0.0, 0.0]
    assert added[2] != 0.0
