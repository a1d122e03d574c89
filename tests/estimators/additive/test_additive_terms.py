"""Curves and heat maps as numbers, scores as sums, and what terms are worth: against plain definitions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy.special import expit

from mbauc import AdditiveAUCClassifier, MBAClassifier, auc_without, explain
from mbauc.basis.columns import Levels, Number, Steps
from mbauc.basis.design import ColumnKind, DesignSettings, design_features
from mbauc.basis.feature_map import FeatureMap
from mbauc.estimators import LinearScorer
from mbauc.estimators.additive.labels import group_labels, short_number, step_labels
from mbauc.estimators.additive.scorer import AdditiveScorer
from mbauc.estimators.additive.terms import describe_terms
from mbauc.estimators.additive.value_axis import round_values, squeeze_width

FEATURES = FeatureMap(
    ("age", "site", "rooms"),
    (
        Steps(np.array([20.0, 40.0]), np.array([10.0, 30.0, 55.0])),
        Levels(np.array([0.0, 2.0]), ("a", "c")),
        Steps(np.array([1.5]), np.array([1.0, 2.0])),
    ),
    (Number(0, 5.0, 60.0, 30.0, 10.0),),
    ((0, 1), (1, 2)),
    tuple(np.array(groups, dtype=np.int32) for groups in ([0, 0, 1, 2], [0, 1, 2, 3], [0, 1, 2])),
)
weights = st.lists(st.integers(-4, 4), min_size=FEATURES.n_features, max_size=FEATURES.n_features)


def make_rows(n, seed, *, at_centers=False):
    rng = np.random.default_rng(seed)
    age = rng.choice([10.0, 30.0, 55.0, np.nan] if at_centers else [0.0, 12.5, 20.0, 33.0, 70.0, np.nan], n)
    return np.column_stack([age, rng.choice([0, 1, 2, 9, np.nan], n), rng.choice([1.0, 2.0, 5.0], n)])


def told(X, coef):
    """Shares of features, and means and deviations of terms, over some rows."""
    shares = (FEATURES.encode(X).toarray() != 0).mean(axis=0)
    added = FEATURES.contributions(X, coef)
    return shares, added.mean(axis=0), added.std(axis=0)


@settings(max_examples=10, deadline=None)
@given(weights, st.integers(0, 99))
def test_curves_and_heat_maps_add_up_to_log_odds(coef, seed):
    coef, X, slope = np.array(coef, dtype=float), make_rows(60, seed, at_centers=True), 0.5
    shares, means, deviations = told(X, coef)
    terms = describe_terms(FEATURES, coef, slope, shares=shares, means=means, deviations=deviations)
    scores = slope * FEATURES.scores(X, coef)
    for row, score in zip(X, scores, strict=True):
        total = slope * means.sum()
        for j, curve in enumerate(terms.curves):
            code = int(FEATURES.columns[j].codes(row[j : j + 1])[0])
            if code < curve.values.size:
                total += curve.values[code]
            else:
                total += (curve.missing if np.isnan(row[j]) else curve.other).value
        codes = FEATURES.codes(row[None])
        for one, (a, b) in zip(terms.heat_maps, FEATURES.pairs, strict=True):
            names = [group_labels(FEATURES, j)[FEATURES.coarse[j][codes[0, j]]] for j in (a, b)]
            total += one.values[one.labels[0].index(names[0]), one.labels[1].index(names[1])]
        assert total == pytest.approx(score, abs=1e-9)
    # a column's bins and its number are one term
    added = slope * FEATURES.contributions(X, coef)
    columns = [added[:, 0] + added[:, 3], added[:, 1], added[:, 2]]
    for curve, own in zip(terms.curves, columns, strict=True):
        mean = sum(level.value * level.share for _, level in curve.levels())
        assert mean == pytest.approx(0.0, abs=1e-9)
        if curve.name != "age":
            assert curve.importance == pytest.approx(own.std(), abs=1e-9)
    for one, place in zip(terms.heat_maps, (4, 5), strict=True):
        assert (one.values * one.shares).sum() == pytest.approx(0.0, abs=1e-9)
        assert one.importance == pytest.approx(added[:, place].std(), abs=1e-9)


@settings(max_examples=10, deadline=None)
@given(weights, st.integers(0, 99))
def test_auc_without_a_term_is_that_of_the_other_terms(coef, seed):
    coef, X = np.array(coef, dtype=float), make_rows(24, seed)
    y = np.random.default_rng(seed).permutation(np.arange(24) % 3 == 0)
    scorer = AdditiveScorer(coef, 0.25, 1.0, features=FEATURES)
    added = FEATURES.contributions(X, coef)
    parts = {"age": [0, 3], "site": [1], "rooms": [2], "age × site": [4], "site × rooms": [5]}

    def auc(left_out):
        s = np.round(added[:, [k for k in range(6) if k not in left_out]].sum(axis=1), 9)
        pairs = [(a > b) + (a == b) / 2 for a in s[y] for b in s[~y]]
        return float(np.mean(pairs))

    found = auc_without(scorer, X, y)
    assert found.names == tuple(parts)
    assert found.auc == pytest.approx(auc([]))
    assert dict(zip(found.names, found.without, strict=True)) == pytest.approx(
        {name: auc(own) for name, own in parts.items()}
    )
    by_column = auc_without(scorer, X, y, by="column")
    expected = {"age": [0, 3, 4], "site": [1, 4, 5], "rooms": [2, 5]}
    assert by_column.names == tuple(expected)
    assert by_column.without == pytest.approx([auc(own) for own in expected.values()])
    assert by_column.lost == pytest.approx(by_column.auc - by_column.without)
    # equal weights change nothing, and a row of weight 2 is two rows
    weight = 1.0 + y
    twice = np.concatenate([X, X[y]]), np.concatenate([y, y[y]])
    assert auc_without(scorer, X, y, sample_weight=weight).without == pytest.approx(
        auc_without(scorer, *twice).without
    )


def test_an_explanation_adds_up_and_is_in_order():
    coef = np.random.default_rng(0).integers(-4, 5, FEATURES.n_features).astype(float)
    X = make_rows(50, 1)
    scorer = AdditiveScorer(coef, 0.5, 0.7, features=FEATURES)
    means = FEATURES.contributions(X, coef).mean(axis=0)
    for one, row in zip(explain(scorer, X, 3, means=means), X, strict=True):
        [score] = scorer.scores(row[None])
        assert one.score == score
        assert one.probability == pytest.approx(expit(0.7 * score))
        total = one.base + sum(part.log_odds for part in one.contributions) + one.rest
        assert total == pytest.approx(one.log_odds) == pytest.approx(0.7 * score)
        sizes = [abs(part.log_odds) for part in one.contributions]
        assert sizes == sorted(sizes, reverse=True)
        assert len(sizes) == 3
        assert one.n_rest <= 2
    assert explain(scorer, X, 3) == explain(scorer, X, 3)
    # one row is explained as it is among others, and equal sizes stand in the order of the columns
    assert explain(scorer, X[7:8], 3, means=means) == explain(scorer, X, 3, means=means)[7:8]
    level = LinearScorer([1.0, -1.0, 0.0, 1.0], slope=1.0)
    [tied] = explain(level, np.ones((1, 4)))
    assert [part.name for part in tied.contributions] == ["x0", "x1", "x3"]
    assert (tied.rest, tied.n_rest) == (0.0, 0)


def test_values_stand_as_people_wrote_them():
    coef = np.arange(1.0, FEATURES.n_features + 1)
    scorer = AdditiveScorer(coef, 0.0, 1.0, features=FEATURES)
    [one] = explain(scorer, np.array([[np.nan, 9.0, 1e6]]), 9, texts=pa.table({"site": ["mars"]}))
    values = {part.name: part.value for part in one.contributions}
    assert values == {
        "age": "missing",
        "site": "mars (other)",
        "rooms": "1000000",
        "age × site": "missing × mars (other)",
        "site × rooms": "mars (other) × 1000000",
    }
    [one] = explain(scorer, np.array([[61.5, 2.0, 2.0]]), 9)
    assert {part.name: part.value for part in one.contributions}["age × site"] == "61.5 × c"
    assert str(one).splitlines()[1] == "   +0.00  baseline"


def test_linear_rankers_are_explained_by_their_columns(table):
    X, y = table
    ranker = MBAClassifier().fit(X, y)
    for rows in (X[:5], sp.csr_array(X[:5]), pd.DataFrame(X[:5])):
        found = explain(ranker, rows, 2)
        assert [one.score for one in found] == pytest.approx(list(ranker.decision_function(X[:5])))
        assert [one.probability for one in found] == pytest.approx(list(ranker.predict_proba(X[:5])[:, 1]))
    [first] = explain(ranker, X[:1], 99, means=X.mean(axis=0))
    centred = ranker.slope_ * ranker.coef_[0] * (X[0] - X.mean(axis=0))
    assert sorted(part.log_odds for part in first.contributions) == pytest.approx(sorted(centred))
    found = auc_without(ranker, X, y)
    left = np.delete(X, 0, axis=1) @ np.delete(ranker.coef_[0], 0)
    scorer = LinearScorer(np.ones(1))
    assert found.without[0] == pytest.approx(auc_without(scorer, left[:, None], y).auc)


def test_a_fitted_ranker_tells_its_terms(rng):
    n = 600
    frame = pd.DataFrame({"x": rng.standard_normal(n), "kind": rng.choice(["a", "b", "c"], n)})
    y = (frame["x"] ** 2 + (frame["kind"] == "b") + 0.3 * rng.standard_normal(n) > 1.2).to_numpy()
    frame.loc[:20, "x"] = np.nan
    ranker = AdditiveAUCClassifier("curves", random_state=0).fit(frame, y)
    terms = ranker.terms()
    x, kind = terms.curve("x"), terms.curve("kind")
    assert (x.kind, kind.kind) == ("numeric", "category")
    assert x.missing.share == pytest.approx(21 / n)
    assert kind.missing is None
    assert kind.values[kind.labels.index("b")] == kind.values.max()
    assert x.values[0] > x.values[x.values.size // 2] < x.values[-1]
    assert terms.ranked()[0] is x
    assert list(terms.column_importance()) == ["x", "kind"]
    one = ranker.explain(frame.iloc[30:31], n=1)[0]
    assert one.contributions[0].name in ("x", "kind")
    unseen = frame.iloc[:1].assign(kind="new")
    assert "new (other)" in {part.value for part in ranker.explain(unseen)[0].contributions}
    with pytest.raises(ValueError, match="no column 'z'; columns are 'x', 'kind'"):
        terms.curve("z")
    with pytest.raises(ValueError, match="no interaction of 'x' and 'kind'; interactions: there are none"):
        terms.heat_map("x", "kind")
    with pytest.raises(ValueError, match="restored from its weights alone"):
        AdditiveAUCClassifier.restore(ranker.scorer()).terms()


def test_straight_lines_are_lines(rng):
    X = rng.standard_normal((400, 2))
    y = X[:, 0] + 0.5 * rng.standard_normal(400) > 0.5
    terms = AdditiveAUCClassifier("linear", random_state=0).fit(X, y).terms()
    first = terms.curves[0]
    assert first.straight
    assert first.values.size == 2
    assert first.values[0] < 0 < first.values[1]
    assert first.importance > 5 * terms.curves[1].importance


def test_wrong_arguments_are_named(table):
    X, y = table
    ranker = MBAClassifier().fit(X, y)
    with pytest.raises(ValueError, match="n must be a whole number of at least 0"):
        explain(ranker, X, -1)
    with pytest.raises(ValueError, match="means must have"):
        explain(ranker, X, means=[1.0])
    with pytest.raises(
        ValueError, match="estimator must be a fitted ranker of mbauc or its scorer, got object"
    ):
        explain(object(), X)
    with pytest.raises(ValueError, match="by must be"):
        auc_without(ranker, X, y, by="row")
    with pytest.raises(ValueError, match="shares must have"):
        describe_terms(FEATURES, np.zeros(FEATURES.n_features), 1.0, shares=[1.0])
    with pytest.raises(ValueError, match=r"5,000 terms; auc_without is for 4,000 at most"):
        auc_without(LinearScorer(np.ones(5000)), np.zeros((2, 5000)), [0, 1])


@pytest.mark.parametrize("start", [1e4, 1e8, 1e15, -3e12])
@pytest.mark.parametrize("step", [1.0, 2.5])
def test_labels_of_close_values_are_told_apart(start, step):
    values = start + step * np.arange(20.0)
    few, many = (values[:6, None].repeat(9, 0), values[:, None].repeat(9, 0))
    for X, bins in ((few, 64), (many, 7)):
        settings = DesignSettings(bins=bins, coarse_bins=4)
        features = design_features(X, None, [ColumnKind("a")], settings)
        column = features.columns[0]
        for labels in (step_labels(column), group_labels(features, 0), column.labels()):
            assert len(set(labels)) == len(labels)
        two = FeatureMap(("a", "b"), (column, column), (), ((0, 1),), features.coarse * 2)
        names = two.feature_names()
        assert len(set(names)) == len(names)


def test_ranges_and_numbers_read_well():
    assert step_labels(FEATURES.columns[2]) == ["1", "2"]
    assert step_labels(Steps(np.array([20.5, 40.5]), np.array([10.0, 30.0, 55.0]))) == [
        "≤ 20",
        "21 to 40",
        "> 40",
    ]
    assert step_labels(Steps(np.array([0.25, 0.5]), np.array([0.1, 0.3, 0.9]))) == [
        "≤ 0.25",
        "0.25 to 0.5",
        "> 0.5",
    ]
    assert step_labels(Steps(np.array([10_010.5, 10_020.5]), np.array([10_000.0, 10_020.0, 10_030.0]))) == [
        "≤ 10.01k",
        "10.01k to 10.02k",
        "> 10.02k",
    ]
    assert group_labels(FEATURES, 0) == ["≤ 40", "> 40", "missing"]
    assert group_labels(FEATURES, 1) == ["a", "c", "other", "missing"]
    assert short_number(2934.0, 3) == "2934"
    assert squeeze_width(np.linspace(0, 1, 64)) is None
    heavy = np.geomspace(1, 1e6, 64)
    ticks = round_values(heavy, squeeze_width(heavy))
    assert ticks == sorted(ticks)
    assert 1e6 in ticks
