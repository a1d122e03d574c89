"""Folds are those of one machine, or a hash of the ids; cross-validation on parts is cross-validation."""

import functools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

from local_parts import RankerCV, cut, rows_of
from mbauc import MBAClassifierCV, metrics
from mbauc.errors import BinormalWarning
from mbauc.estimators.cross_validation.fold_scores import FoldScores
from mbauc.estimators.cross_validation.splits import draw_stratified_splits
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels
from mbauc.rows.parts import folds
from mbauc.rows.parts.folds import FoldsById, fold_rules
from mbauc.rows.parts.label_counts import count_labels
from mbauc.rows.reading import visit_blocks
from mbauc.rows.schema import Schema


def fold_of_each_row(parts, rule, classes=(0, 1)):
    """What the tasks are told, in the order of the rows."""
    found = []
    for number, part in enumerate(parts._parts):
        places = rule.for_part(number)

        def note(rows, places=places):
            found.append(places.assign(rows))

        visit_blocks(number, part, Schema(1), Labels(classes), note)
    return np.concatenate(found)


@given(
    st.lists(st.booleans(), min_size=1, max_size=40),
    st.lists(st.integers(0, 44), max_size=6),
    st.integers(2, 4),
    st.integers(1, 3),
    st.booleans(),
    st.integers(0, 5),
)
def test_folds_by_rank_are_those_of_one_machine(labels, cuts, n_folds, blocks, weighted, seed):
    y = np.array([*labels, *([True] * n_folds), *([False] * n_folds)]).astype(int)
    weight = np.random.default_rng(seed).choice([0.0, 1.0, 2.5], y.size) if weighted else None
    if weighted:
        weight[-2 * n_folds :] = 1.0
    parts = cut([min(c, y.size) for c in cuts], np.ones((y.size, 1)), y, weight, blocks=blocks)
    census = count_labels(parts, Schema(1))
    rules = fold_rules(census, n_folds, 2, np.random.default_rng(seed))
    used = np.ones(y.size, dtype=bool) if weight is None else weight > 0
    block = Block(np.ones((y.size, 1)), y == 1, weight)
    rounds = draw_stratified_splits(block, n_folds, 2, np.random.default_rng(seed))
    rng = np.random.default_rng(seed)
    for rule, splits in zip(rules, rounds, strict=True):
        expected = np.full(y.size, -1)
        for label in (1, 0):
            own = np.flatnonzero(used & (y == label))
            expected[own] = rng.permutation(np.arange(own.size) % n_folds)
        np.testing.assert_array_equal(fold_of_each_row(parts, rule), expected)
        for k, split in enumerate(splits):
            np.testing.assert_array_equal(split.test, np.flatnonzero(expected == k))


@pytest.mark.parametrize("n_folds", [2, 255, 256, 257, 300])
def test_as_many_folds_as_one_likes(n_folds):
    y = np.arange(700) % 2
    parts = cut([100, 400], np.ones((700, 1)), y)
    [rule] = fold_rules(count_labels(parts, Schema(1)), n_folds, 1, np.random.default_rng(0))
    fold = fold_of_each_row(parts, rule)
    for side in (0, 1):
        assert np.bincount(fold[y == side], minlength=n_folds).min() >= 350 // n_folds
    assert fold.max() == n_folds - 1


@given(st.integers(0, 2**31), st.permutations(range(40)), st.lists(st.integers(0, 40), max_size=4))
def test_folds_by_id_stay_with_the_rows(seed, order, cuts):
    y, ids, X = np.arange(40) % 2, np.arange(40) * 31 - 200, np.ones((40, 1))
    rule = FoldsById(3, seed)
    fold = fold_of_each_row(cut([], X, y, None, ids), rule)
    moved = fold_of_each_row(cut(cuts, X, y[order], None, ids[order]), rule)
    np.testing.assert_array_equal(moved, fold[order])


@pytest.mark.parametrize("text", [False, True])
def test_folds_by_id_are_of_equal_size_in_expectation_and_keep_groups(text):
    n, n_folds, groups = 40_000, 5, np.arange(40_000) // 2
    ids = np.char.add("user-", groups.astype(str)) if text else groups
    parts = cut([n // 3], np.ones((n, 1)), np.arange(n) % 2, None, ids)
    first, second = (fold_of_each_row(parts, FoldsById(n_folds, seed)) for seed in (1, 2))
    np.testing.assert_array_equal(first[0::2], first[1::2])
    counts = np.bincount(first[::2], minlength=n_folds)
    expected = n / 2 / n_folds
    # χ² with 4 degrees of freedom is above 23.5 once in ten thousand times
    assert ((counts - expected) ** 2 / expected).sum() < 23.5
    table = np.zeros((n_folds, n_folds))
    np.add.at(table, (first[::2], second[::2]), 1)
    # another seed gives other folds, independent of these: 24 degrees of freedom
    assert ((table - expected / n_folds) ** 2 / (expected / n_folds)).sum() < 59


def test_rows_without_weight_are_in_no_fold():
    y, weight = np.arange(20) % 2, np.r_[np.zeros(5), np.ones(15)]
    parts = cut([3], np.ones((20, 1)), y, weight, np.arange(20))
    fold = fold_of_each_row(parts, FoldsById(4, 1))
    np.testing.assert_array_equal(fold == -1, weight == 0)


# -- cross-validation --------------------------------------------------


def clicks(n=500, d=40, seed=0):
    """One-hot rows; the last ten columns occur in one row each, and so in one fold only."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.08, rng=rng, format="lil")
    X[:, -10:] = 0
    for k in range(10):
        X[17 * k, d - 10 + k] = 1.0
    X = sp.csr_array(X)
    X.data[:] = 1.0
    y = (rng.random(n) < 1 / (1 + np.exp(1 - X @ rng.standard_normal(d)))).astype(int)
    return X, y


GRIDS = [
    {},
    {"l2_grid": [0.01, 1.0], "repeats": 2},
    {"l1_grid": [0.0, 0.01], "l2_grid": [0.01, 0.1], "scale": True},
    {"scoring": "binormal_auc", "weights": "frequency"},
    {"scoring": "risk", "one_standard_error": True},
]
FREE = {"solver": "matrix-free", "tol": 1e-13}


@pytest.mark.parametrize(
    ("form", "grid"),
    [
        *((form, grid) for form in ("dense", "sparse") for grid in GRIDS),
        *(("sparse", grid | FREE | {"l2_grid": [0.01, 0.1]}) for grid in GRIDS[1:]),
        # columns of one fold alone have no share in the training rows, and no penalty to hold them
        ("sparse", FREE | {"l2_grid": [0.0, 0.1]}),
        ("dense", FREE | {"l2_grid": [0.0, 0.1]}),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_cross_validation_is_that_of_one_machine(table, form, grid, weighted):
    X, y = table if form == "dense" else clicks()
    weight = np.random.default_rng(3).choice([0.0, 0.5, 2.0], y.size) if weighted else None
    parts = cut([0, 30, 30, 299, 440], X, y, weight, blocks=2)
    ours = RankerCV(random_state=5, **grid).fit_parts(parts, X, weighted=weighted)
    local = MBAClassifierCV(random_state=5, **grid).fit(X, y, weight)
    for name, values in local.cv_results_.items():
        if name != "params":
            np.testing.assert_allclose(ours.cv_results_[name], values, rtol=1e-6, atol=1e-7)
    assert ours.best_index_ == local.best_index_
    assert ours.best_score_ == pytest.approx(local.best_score_, abs=1e-7)
    assert ours.n_splits_ == local.n_splits_
    scale = np.abs(local.coef_).max()
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=(1e-6 if "solver" in grid else 1e-9) * scale)
    assert ours.slope_ == pytest.approx(local.slope_, rel=1e-5)
    assert ours.effective_sample_size_ == pytest.approx(local.effective_sample_size_)


def test_training_and_scoring_take_one_pass_each(table):
    X, y = table
    parts = cut([100, 300], X, y)
    RankerCV(random_state=0).fit_parts(parts, X)
    assert parts.jobs == ["CountLabels", "SumMoments", "ScoreBlocks"]
    parts = cut([100, 300], X, y)
    RankerCV(random_state=0, scoring="risk").fit_parts(parts, X)
    assert parts.jobs == ["CountLabels", "SumMoments"]
    parts = cut([100, 300], X, y, None, np.arange(600))
    RankerCV(random_state=0).fit_parts(parts, X, with_ids=True)
    assert parts.jobs == ["SumMoments", "ScoreBlocks"]


def test_cross_validation_by_id_does_not_depend_on_the_order_of_the_rows(table):
    X, y = table
    ids, order = np.arange(600) * 7, np.random.default_rng(0).permutation(600)
    first = RankerCV(random_state=2).fit_parts(cut([10], X, y, None, ids), X, with_ids=True)
    second = RankerCV(random_state=2).fit_parts(
        cut([50, 50, 220], X[order], y[order], None, ids[order]), X, with_ids=True
    )
    np.testing.assert_allclose(
        first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"], rtol=1e-12
    )
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-9)
    other = RankerCV(random_state=3).fit_parts(cut([10], X, y, None, ids), X, with_ids=True)
    assert (other.cv_results_["split0_test_score"] != first.cv_results_["split0_test_score"]).any()


def test_scores_of_a_fold_by_definition(table):
    """Moments of all rows less those of a fold give the weights; the fold's own rows are what they rank."""
    X, y = table
    ids = np.arange(600)
    parts = cut([200, 350], X, y, None, ids)
    ours = RankerCV(l2_grid=[0.3], cv=3, random_state=1).fit_parts(parts, X, with_ids=True)
    [rule] = fold_rules(None, 3, 1, np.random.default_rng(1))
    fold = fold_of_each_row(cut([200, 350], np.ones((600, 1)), y, None, ids), rule)
    for k in range(3):
        train = np.flatnonzero(fold != k)
        [moments], _ = sum_moments(rows_of(cut([], X[train], y[train]), X), 1)
        w = np.linalg.solve(moments.second_moment + 0.3 * np.eye(6), moments.mean_difference)
        expected = metrics.roc_auc(y[fold == k], X[fold == k] @ w)
        assert ours.cv_results_[f"split{k}_test_score"][0] == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.integers(0, 60), max_size=4), st.booleans(), st.sampled_from([0.0, 1e8]))
def test_statistics_of_held_out_scores_by_definition(cuts, weighted, offset):
    """Difference of means and sum of variances, digits and all, of scores far from zero too."""
    rng = np.random.default_rng(len(cuts))
    values, positive = rng.standard_normal((2, 60)) + offset, np.arange(60) % 3 == 0
    weight = rng.choice([0.0, 0.5, 2.0], 60) if weighted else None
    found = [FoldScores.empty(2, with_auc=True) for _ in range(len(cuts) + 1)]
    for own, one in zip(np.split(np.arange(60), sorted(cuts)), found, strict=True):
        for half in np.array_split(own, 2):
            one.add(values[:, half], positive[half], None if weight is None else weight[half])
    both = functools.reduce(FoldScores.merge, found)
    gap, spread = both.class_statistics()
    shares = [np.where(mask, 1.0 if weight is None else weight, 0.0) for mask in (positive, ~positive)]
    means = [np.average(values, axis=1, weights=share) for share in shares]
    variances = [
        np.average((values - mean[:, None]) ** 2, axis=1, weights=share)
        for mean, share in zip(means, shares, strict=True)
    ]
    np.testing.assert_allclose(gap, means[0] - means[1], atol=1e-15 * offset + 1e-14)
    np.testing.assert_allclose(spread, variances[0] + variances[1], rtol=1e-6 if offset else 1e-13)
    np.testing.assert_allclose(
        both.auc, [metrics.roc_auc(positive, row, sample_weight=weight) for row in values], atol=1e-14
    )


def test_heavy_tails_are_warned_of():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2000, 2))
    y = (X[:, 0] + rng.standard_normal(2000) > 1.5).astype(int)
    X[rng.integers(0, 2000, 10), 0] *= 1000.0
    with pytest.warns(BinormalWarning, match="held-out AUC"):
        RankerCV(random_state=0).fit_parts(cut([500], X, y), X)


# -- what cannot be done --------------------------------------------------


def test_a_class_smaller_than_the_folds_has_fewer_folds_as_in_memory(table):
    X, _ = table
    y = (np.arange(600) < 3).astype(int)
    for fit in (lambda ranker: ranker.fit_parts(cut([2, 300], X, y), X), lambda ranker: ranker.fit(X, y)):
        with pytest.warns(UserWarning, match="smaller class has 3 rows, fewer than cv=5; using 3 folds"):
            assert fit(RankerCV(random_state=0)).n_splits_ == 3
    with pytest.raises(ValueError, match=r"needs at least 2 rows of each class.*n_samples=1 of 598"):
        RankerCV().fit_parts(cut([300], X[2:], y[2:]), X)
    for solver in ("gram", "matrix-free"):
        parts = cut([100], X, y, None, np.arange(600))
        with pytest.raises(ValueError, match="a fold is left with one class"):
            RankerCV(solver=solver, random_state=0).fit_parts(parts, X, with_ids=True)


def test_more_rows_than_a_list_of_folds_may_have(table, monkeypatch):
    X, y = table
    monkeypatch.setattr(folds, "MOST_RANKED_ROWS", 599)
    with pytest.raises(ValueError, match=r"600 rows .* id column"):
        RankerCV().fit_parts(cut([100], X, y), X)
    parts = cut([100], X, y, None, np.arange(600))
    assert RankerCV(random_state=0).fit_parts(parts, X, with_ids=True).best_score_ > 0.5


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"pairs": 100}, "all pairs"), ({"cv": [([0], [1])]}, "number of folds"), ({"cv": 1}, "at least 2 folds")],
)
def test_settings_that_parts_cannot_do(table, settings, words):
    X, y = table
    parts = cut([100], X, y)
    with pytest.raises(ValueError, match=words):
        RankerCV(**settings).fit_parts(parts, X)
    assert parts.jobs == []
