"""Curves over the pairs within groups: weights, folds, samples and gains."""

import numpy as np
import pytest

import reference
from curve_reference import encode
from mbauc import AdditiveAUCClassifier
from mbauc.basis.design import ColumnKind, DesignSettings
from mbauc.errors import NoPairsError, OneClassGroupsWarning
from mbauc.estimators.additive.choice import choose_features
from mbauc.estimators.additive.coordinates import FoldedRows
from mbauc.estimators.additive.gain import paired_gain, residuals
from mbauc.estimators.additive.search import SearchSettings
from mbauc.metrics import compare_grouped_roc_auc, compare_roc_auc, grouped_roc_auc
from mbauc.readers import GroupedBlock
from mbauc.rows.block import Block
from mbauc.rows.groups import group_keys
from mbauc.rows.parts.memory import rows_in_memory
from mbauc.rows.parts.row_sample import sample_rows

pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.OneClassGroupsWarning")


def make_rows(n=240, n_groups=30, seed=0):
    """(X, y, groups): a number, one with a curve, and one that is small where groups have many positives."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=n)
    level = 2 * rng.standard_normal(n_groups)[groups]
    X = rng.standard_normal((n, 3))
    y = X[:, 0] + 2 * np.abs(X[:, 1]) + 2 * level + rng.standard_normal(n) > 1.5
    X[:, 0] -= 2 * level
    return X, y.astype(int), groups


class Blocks:
    """Rows with groups as a source; rows of a group are in several blocks."""

    classes, has_groups = (0, 1), True

    def __init__(self, X, y, groups, weight=None, step=70):
        self.rows, self.step, self.n_features, self.passes = (X, y, weight, groups), step, X.shape[1], 0

    def __iter__(self):
        self.passes += 1
        for start in range(0, len(self.rows[1]), self.step):
            own = slice(start, start + self.step)
            yield GroupedBlock(*(None if one is None else one[own] for one in self.rows))

    def fingerprint(self):
        return {"rows": float(np.nansum(self.rows[0]))}


def twin_weights(ranker, X, y, groups, weight=None):
    """Eq. (14) over the pairs within groups, in the coordinates of a fit and under its penalties."""
    T = ranker.basis_.reduction.expand(np.eye(ranker.basis_.reduction.n_coordinates)).T
    Z = encode(ranker.feature_map_, X) @ T
    mu, sigma, rows, total = reference.grouped_moments(Z, y, groups, weight)
    share = rows / total
    noise = sum((share[y == side] ** 2).sum() for side in (0, 1))
    return T @ np.linalg.solve(sigma + 2 * noise * np.diag(ranker.penalty_factors_), mu)


# -- weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("features", ["linear", "curves", "interactions"])
def test_weights_are_those_of_the_pairs_within_groups(features, weighted):
    X, y, groups = make_rows()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, y.size) if weighted else None
    ranker = AdditiveAUCClassifier(features, random_state=0).fit(X, y, weight, groups=groups)
    assert ranker.features_ == features
    np.testing.assert_allclose(ranker.coef_[0], twin_weights(ranker, X, y, groups, weight), atol=1e-7)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["memory", "source"])
def test_so_are_those_of_more_rows_than_are_searched(kind, weighted):
    X, y, groups = make_rows(400, 40, seed=2)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, y.size) if weighted else None
    ranker = AdditiveAUCClassifier("curves", search_rows=200, random_state=0)
    if kind == "memory":
        ranker.fit(X, y, weight, groups=groups)
    else:
        ranker.fit_source(Blocks(X, y, groups, weight))
    expected = twin_weights(ranker, X, y, groups, weight)
    assert np.abs(ranker.coef_[0] - expected).max() < 0.02 * np.abs(expected).max()
    scores = encode(ranker.feature_map_, X) @ np.column_stack([ranker.coef_[0], expected])
    assert np.corrcoef(scores.T)[0, 1] > 0.9999


@pytest.mark.parametrize("search_rows", [200, 50_000])
def test_a_source_gives_what_memory_gives(search_rows):
    X, y, groups = make_rows(400, 40)
    settings = {"features": "curves", "search_rows": search_rows, "random_state": 0}
    expected = AdditiveAUCClassifier(**settings).fit(X, y, groups=groups)
    # a group is known by its text: 7 and "7" are one
    found = AdditiveAUCClassifier(**settings).fit(Blocks(X, y, groups.astype(str)))
    assert found.search_ == expected.search_
    np.testing.assert_allclose(found.coef_, expected.coef_, atol=1e-6)


def test_a_checkpoint_keeps_the_groups_of_its_sample(tmp_path):
    X, y, groups = make_rows(400, 40)
    source = Blocks(X, y, groups)
    found, passes = [], []
    for _ in range(2):
        before = source.passes
        ranker = AdditiveAUCClassifier("curves", search_rows=200, random_state=0, n_jobs=1)
        found.append(ranker.fit_source(source, checkpoint=tmp_path))
        passes.append(source.passes - before)
    assert passes[1] < passes[0]
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)


@pytest.mark.parametrize("search_rows", [500, 50_000])
def test_frequencies_are_equal_rows(search_rows):
    X, y, groups = make_rows(600, 60)
    times = np.random.default_rng(0).integers(1, 4, y.size)
    settings = {"features": "linear", "weights": "frequency", "random_state": 0, "search_rows": search_rows}
    weighted = AdditiveAUCClassifier(**settings).fit(X, y, times.astype(float), groups=groups)
    repeated = [np.repeat(one, times, axis=0) for one in (X, y, groups)]
    expected = AdditiveAUCClassifier(**settings).fit(*repeated[:2], groups=repeated[2])
    assert weighted.effective_sample_size_ == pytest.approx(expected.effective_sample_size_)


@pytest.mark.parametrize("loss", ["squared_hinge", "auto"])
@pytest.mark.parametrize("search_rows", [300, 50_000])
def test_other_losses_rank_within_groups(loss, search_rows):
    X, y, groups = make_rows(900, 60)
    ranker = AdditiveAUCClassifier("curves", loss, search_rows=search_rows, random_state=0)
    ranker.fit(X[:600], y[:600], groups=groups[:600])
    auc = grouped_roc_auc(y[600:], ranker.decision_function(X[600:]), groups[600:])
    over_all = AdditiveAUCClassifier("curves", loss, random_state=0).fit(X[:600], y[:600])
    assert auc > 0.05 + grouped_roc_auc(y[600:], over_all.decision_function(X[600:]), groups[600:])
    assert ("Loss: " in ranker.choice_) == (loss == "auto")


def test_what_groups_differ_in_misleads_the_pairs_of_all_rows():
    X, y, groups = make_rows(6000, 400)
    Xn, yn, new = make_rows(6000, 400, seed=5)
    within = AdditiveAUCClassifier(random_state=0).fit(X, y, groups=groups)
    over_all = AdditiveAUCClassifier(random_state=0).fit(X, y)
    aucs = [grouped_roc_auc(yn, ranker.decision_function(Xn), new) for ranker in (within, over_all)]
    assert within.features_ != "linear"
    assert aucs[0] > 0.75
    assert aucs[1] < 0.65
    # a larger first column is better within a group, and worse across them
    ends = [ranker.terms().curve("x0").values[[0, -1]] for ranker in (within, over_all)]
    assert ends[0][0] < ends[0][1]
    assert ends[1][0] > ends[1][1]
    # the AUC of the search is the one within groups
    assert within.search_["curves"] == pytest.approx(aucs[0], abs=0.03)


def test_an_interaction_within_groups_is_found():
    rng = np.random.default_rng(0)
    groups = rng.integers(200, size=4000)
    X = rng.standard_normal((4000, 3))
    score = 2 * X[:, 0] * X[:, 1] + 3 * rng.standard_normal(200)[groups]
    y = score + rng.standard_normal(4000) > 0
    ranker = AdditiveAUCClassifier(random_state=0).fit(X, y, groups=groups)
    assert ("x0", "x1") in ranker.interactions_


# -- folds and samples -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [150, 400])
def test_samples_and_folds_have_whole_groups(most):
    X, y, groups = make_rows(400, 40)
    keys = group_keys(groups, y.size)
    block = Block(X, y == 1, groups=keys)
    sample = sample_rows(rows_in_memory(block), most, seed=3)
    assert sample.is_whole == (most == 400)
    assert most - 40 < sample.block.n_rows <= most
    sizes = np.sort(np.unique(sample.block.groups, return_counts=True)[1])
    known = np.unique(groups, return_counts=True)[1].tolist()
    assert all(known.count(size) >= sizes.tolist().count(size) for size in sizes)
    chosen = choose_features(
        sample,
        [ColumnKind(f"x{j}") for j in range(3)],
        "curves",
        None,
        design=DesignSettings(bins=16),
        settings=SearchSettings(),
        n_folds=4,
        rng=np.random.default_rng(0),
    )
    rows = chosen.rows
    assert rows.n_folds == 4
    for key in np.unique(rows.groups):
        assert np.unique(rows.fold[rows.groups == key]).size == 1
    for fold in range(4):
        own = rows.fold == fold
        assert any(len(set(rows.positive[own & (rows.groups == key)])) == 2 for key in rows.groups[own])


def test_moments_and_auc_of_folds_are_within_groups():
    X, y, groups = make_rows(120, 20)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, y.size)
    fold = (groups % 3).astype(np.int32)
    rows = FoldedRows(X, y == 1, weight, fold, groups=groups.astype(np.uint64))
    train, test = fold != 1, fold == 1
    mu, sigma, _, _ = reference.grouped_moments(X[train], y[train], groups[train], weight[train])
    np.testing.assert_allclose(rows.statistics(1).mu, mu, atol=1e-12)
    np.testing.assert_allclose(rows.statistics(1).covariance, (sigma - np.outer(mu, mu)) / 2, atol=1e-12)
    expected = [reference.grouped_auc(y[test], s, groups[test], weight[test]) for s in X[test].T]
    np.testing.assert_allclose(rows.auc(1, X[test].T), expected)


# -- gains -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_residuals_are_the_gradient_of_a_further_column(weighted):
    X, y, groups = make_rows(150, 20)
    weight = np.random.default_rng(0).uniform(0.5, 2.0, y.size) if weighted else None
    scores = X @ [0.5, -0.2, 0.0]
    mu, sigma, rows, _ = reference.grouped_moments(np.column_stack([X, scores]), y, groups, weight)
    residual = residuals(scores, y == 1, weight, groups.astype(np.uint64))
    expected = mu[:3] - (sigma[:3, 3] - mu[:3] * mu[3]) / 2
    np.testing.assert_allclose(X.T @ residual, expected, atol=1e-12)
    assert not residual[rows == 0].any()


def test_gains_and_their_errors_are_of_groups():
    X, y, groups = make_rows(300, 30)
    gain, error = paired_gain(y == 1, X[:, 1], X[:, 2], None, groups=groups.astype(np.uint64))
    told = compare_grouped_roc_auc(y, {"a": X[:, 1], "b": X[:, 2]}, groups)
    assert gain == pytest.approx(told.difference[0, 1])
    gaps, pairs = [], []
    for group in np.unique(groups):
        own = groups == group
        if len(set(y[own])) == 2:
            gaps.append(reference.auc(y[own], X[own, 1]) - reference.auc(y[own], X[own, 2]))
            pairs.append(y[own].sum() * (1 - y[own]).sum())
    share = np.array(pairs) / sum(pairs)
    assert gain == pytest.approx(share @ gaps)
    assert error == pytest.approx(np.sqrt(((share * (np.array(gaps) - gain)) ** 2 / (1 - share)).sum()))


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
def test_of_one_group_rows_are_what_was_sampled():
    X, y, groups = make_rows(200, 2)
    one = groups == 0
    y = np.where(one, X[:, 1] + X[:, 2] > 0, 0)
    gain, error = paired_gain(y == 1, X[:, 1], X[:, 2], None, groups=groups.astype(np.uint64))
    told = compare_roc_auc(y[one], {"a": X[one, 1], "b": X[one, 2]}, confidence=0.6826894921370859)
    assert gain == pytest.approx(told.difference[0, 1])
    assert error == pytest.approx(told.high[0, 1] - gain)


# -- what is refused -------------------------------------------------------------------------------------------


def test_what_cannot_be_fitted_is_said():
    X, y, groups = make_rows()
    ranker = AdditiveAUCClassifier(random_state=0)
    with pytest.raises(ValueError, match="groups must have a value for each of the 240 rows, got shape"):
        ranker.fit(X, y, groups=groups[:-1])
    with pytest.raises(ValueError, match="groups has no value at row 7"):
        ranker.fit(X, y, groups=np.where(np.arange(240) == 7, np.nan, groups))
    with pytest.raises(NoPairsError, match="no group has rows of both classes"):
        ranker.fit(X, y, groups=y)
    with pytest.raises(NoPairsError, match="no group has rows of both classes"):
        ranker.fit(Blocks(X, y, y))
    with pytest.raises(ValueError, match="at least 2 groups with rows of both classes, got 1"):
        ranker.fit(X, y, groups=np.zeros(240))
    with pytest.raises(ValueError, match="leave out y, sample_weight and groups"):
        ranker.fit(Blocks(X, y, groups), groups=groups)
    with pytest.raises(
        ValueError, match=r"sample of 100 rows keeps groups whole, and 0 of its groups .* search_rows=1000"
    ):
        AdditiveAUCClassifier(search_rows=100).fit(X, y, groups=np.arange(240) % 2)
    assert not hasattr(ranker, "coef_")


@pytest.mark.filterwarnings("default::mbauc.errors.OneClassGroupsWarning")
@pytest.mark.parametrize("search_rows", [200, 50_000])
def test_groups_of_one_class_are_warned_of_once(search_rows):
    X, y, groups = make_rows(400, 40)
    y[groups < 5] = 1
    ranker = AdditiveAUCClassifier("linear", search_rows=search_rows, random_state=0)
    with pytest.warns(OneClassGroupsWarning, match="of 40 groups have rows of one class only") as said:
        ranker.fit(X, y, groups=groups)
    assert len([one for one in said if one.category is OneClassGroupsWarning]) == 1


def test_a_sample_with_too_few_groups_of_both_classes_says_how_to_search_on_more_rows():
    rng = np.random.default_rng(0)
    groups = np.concatenate([np.repeat([0, 1, 2], 20), np.arange(3, 543)])
    X, y = rng.standard_normal((600, 2)), np.arange(600) % 2
    AdditiveAUCClassifier("linear").fit(X, y, groups=groups)
    with pytest.raises(ValueError, match=r"at least 2 are needed\. Search on more rows: search_rows=1000"):
        AdditiveAUCClassifier("linear", search_rows=100).fit(X, y, groups=groups)
