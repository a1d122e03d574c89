"""PairwiseAUCClassifierCV: what is tried, how it is scored, what is taken."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, KFold

import reference
from local_parts import cut, rows_of
from mbauc import MBAClassifier, MBAClassifierCV, PairwiseAUCClassifier, PairwiseAUCClassifierCV
from mbauc.estimators.cross_validation import measure
from mbauc.estimators.cross_validation.held_out import HeldOutBlock
from mbauc.estimators.cross_validation.loss_search import choose_candidate
from mbauc.estimators.cross_validation.measure import Measure
from mbauc.estimators.cross_validation.results import Trial, Tried
from mbauc.estimators.cross_validation.splits import draw_group_splits
from mbauc.losses import PairWeights, Region, SmoothHinge, Squared, SquaredHinge
from mbauc.metrics import grouped_roc_auc, partial_roc_auc, roc_auc
from mbauc.readers import RawBlock
from mbauc.rows.block import Block
from mbauc.rows.groups import group_keys
from mbauc.rows.parts.group_folds import count_groups, group_fold_rules
from mbauc.rows.schema import Schema
from mbauc.rows.source import GroupedBlock
from mbauc.solvers import column_scales

pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.PenaltyWarning")

GRID = [0.01, 0.1, 1.0]


class Blocks(list):
    """A source of two blocks."""

    classes = (0, 1)

    def __init__(self, X, y, weight=None, groups=None):
        self.n_features, self.has_groups = X.shape[1], groups is not None
        for rows in (slice(0, 120), slice(120, None)):
            own = X[rows], y[rows], None if weight is None else weight[rows]
            self.append(RawBlock(*own) if groups is None else GroupedBlock(*own, groups[rows]))


@pytest.fixture
def data(rng):
    y = (rng.random(300) < 0.3).astype(int)
    X = rng.standard_t(4, (300, 5)) + 0.8 * y[:, None] * (np.arange(5) < 3)
    return X, y, rng.integers(1, 4, 300).astype(float), rng.integers(12, size=300)


def split_scores(fitted):
    return np.array([fitted.cv_results_[f"split{k}_test_score"] for k in range(fitted.n_splits_)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
def test_scores_are_those_of_fitting_each_training_set(data, loss, weighted):
    X, y, weight, _ = data
    weight = weight if weighted else None
    cv = KFold(3)
    fitted = PairwiseAUCClassifierCV(loss, l1_grid=[0.0, 0.01], l2_grid=GRID, cv=cv, tol=1e-9)
    fitted.fit(X, y, weight)
    for k, (train, test) in enumerate(cv.split(X)):
        own = None if weight is None else weight[train]
        for place, params in enumerate(fitted.cv_results_["params"]):
            ranker = PairwiseAUCClassifier(loss, params["l1"], params["l2"], tol=1e-9).fit(
                X[train], y[train], own
            )
            s = ranker.decision_function(X[test])
            want = roc_auc(y[test], s, sample_weight=None if weight is None else weight[test])
            assert split_scores(fitted)[k, place] == pytest.approx(want, abs=2e-3)
    best = fitted.cv_results_["params"][fitted.best_index_]
    assert (fitted.loss_, fitted.l1_, fitted.l2_) == (loss, best["l1"], best["l2"])
    whole = PairwiseAUCClassifier(loss, best["l1"], best["l2"], tol=1e-9).fit(X, y, weight)
    np.testing.assert_allclose(fitted.coef_, whole.coef_, atol=1e-3)


def test_the_squared_loss_is_scored_as_by_moments(data):
    X, y, *_ = data
    settings = {"l2_grid": GRID, "cv": KFold(4)}
    ours = PairwiseAUCClassifierCV("squared", tol=1e-10, **settings).fit(X, y)
    theirs = MBAClassifierCV(**settings).fit(X, y)
    np.testing.assert_allclose(split_scores(ours), split_scores(theirs), atol=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)


@pytest.mark.parametrize("equal_groups", [False, True])
@pytest.mark.parametrize("make", [PairwiseAUCClassifierCV, MBAClassifierCV])
def test_groups_are_fitted_and_scored_within(data, make, equal_groups):
    X, y, weight, groups = data
    own = {"loss": "squared"} if make is PairwiseAUCClassifierCV else {"within_groups": True}
    ranker = make(l2_grid=GRID, equal_groups=equal_groups, cv=GroupKFold(3), tol=1e-10, **own)
    fitted = ranker.fit(X, y, weight, groups=groups)
    for k, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        for place, l2 in enumerate(GRID):
            alone = PairwiseAUCClassifier("squared", l2=l2, equal_groups=equal_groups)
            alone.fit(X[train], y[train], weight[train], groups[train])
            want = grouped_roc_auc(
                y[test],
                alone.decision_function(X[test]),
                groups[test],
                sample_weight=weight[test],
                equal_groups=equal_groups,
            )
            assert split_scores(fitted)[k, place] == pytest.approx(want, abs=1e-9)


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_a_splitter_may_cut_groups(data):
    X, y, _, groups = data
    cv = KFold(3, shuffle=True, random_state=0)
    ours = MBAClassifierCV(l2_grid=GRID, cv=cv, within_groups=True, solver="gram").fit(X, y, groups=groups)
    theirs = MBAClassifierCV(l2_grid=GRID, cv=cv, within_groups=True, solver="matrix-free", tol=1e-12)
    theirs.fit(X, y, groups=groups)
    np.testing.assert_allclose(split_scores(ours), split_scores(theirs), atol=1e-9)


def test_what_groups_mean_is_asked_for(data):
    X, y, _, groups = data
    with pytest.raises(ValueError, match=r"groups would be ignored.*GroupKFold.*within_groups=True"):
        MBAClassifierCV().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="within_groups=True needs the group of each row"):
        MBAClassifierCV(within_groups=True).fit(X, y)
    for make in (MBAClassifierCV, PairwiseAUCClassifierCV, MBAClassifier, PairwiseAUCClassifier):
        with pytest.raises(ValueError, match="equal_groups=True needs the group of each row; pass groups"):
            make(equal_groups=True).fit(X, y)
    # for the splitter alone, as ever: all pairs count
    alone = MBAClassifierCV(l2_grid=GRID, cv=GroupKFold(3)).fit(X, y, groups=groups)
    listed = MBAClassifierCV(l2_grid=GRID, cv=GroupKFold(3).split(X, y, groups)).fit(X, y)
    np.testing.assert_array_equal(alone.coef_, listed.coef_)


@pytest.mark.parametrize("make", [MBAClassifierCV, PairwiseAUCClassifierCV])
def test_a_source_may_be_passed_to_fit(data, make):
    X, y, *_ = data
    own = {"loss": "logistic"} if make is PairwiseAUCClassifierCV else {}
    ranker = make(l2_grid=GRID, random_state=0, **own)
    np.testing.assert_array_equal(ranker.fit(Blocks(X, y)).coef_, clone(ranker).fit_source(Blocks(X, y)).coef_)
    with pytest.raises(ValueError, match="a source has its labels, weights and groups with it; leave out y"):
        ranker.fit(Blocks(X, y), y)


def test_the_squared_loss_is_for_the_whole_curve(data):
    X, y, *_ = data
    fitted = PairwiseAUCClassifierCV(max_fpr=0.2, random_state=0, cv=2).fit(X, y)
    tried = fitted.cv_results_
    assert set(tried["param_max_fpr"][tried["param_loss"] == "squared"]) == {1.0}
    assert (tried["param_max_fpr"] == 0.2).any()


def test_the_reason_for_products_is_that_of_the_loss(data):
    X, y, *_ = data
    reasons = [
        PairwiseAUCClassifierCV(loss, l2_grid=GRID, random_state=0).fit(X, y).solver_.reason
        for loss in ("squared", Squared(), "logistic")
    ]
    assert ["no quadratic" in reason for reason in reasons] == [False, False, True]


def test_folds_keep_groups_together_and_hold_pairs(rng):
    groups = rng.integers(30, size=400).astype(np.uint64)
    positive = (groups % 2 == 0) & (rng.random(400) < 0.5)
    block = Block(np.zeros((400, 1)), positive, groups=groups)
    for repeat in draw_group_splits(block, 5, 3, rng):
        tests = [split.test for split in repeat]
        assert sorted(np.concatenate(tests)) == list(range(400))
        for k, test in enumerate(tests):
            others = np.concatenate(tests[:k] + tests[k + 1 :])
            assert not set(groups[test]) & set(groups[others])
            assert reference.weighted_pairs(positive[test], groups=groups[test])
    with pytest.warns(UserWarning, match="3 groups have rows of both classes, fewer than cv=5"):
        few = draw_group_splits(
            Block(np.zeros((9, 1)), np.arange(9) % 2 == 0, groups=block.groups[:9] % 3), 5, 1, rng
        )
    assert len(few[0]) == 3
    with pytest.raises(ValueError, match="at least 2 groups"):
        draw_group_splits(
            Block(np.zeros((4, 1)), np.arange(4) % 2 == 0, groups=block.groups[:4] * 0), 5, 1, rng
        )


def judge(measure, s, y, weights=None, groups=None):
    return measure.of_rows(y.sum(), (~y).sum(), weights, groups)(s[y], s[~y])


REGIONS = [{"max_fpr": 0.2}, {"min_tpr": 0.5}, {"max_fpr": 0.3, "min_tpr": 0.4}]


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("decimals", [9, 0, -2], ids=["distinct", "ties", "one value"])
def test_a_region_is_scored_by_its_partial_auc(rng, region, weighted, decimals):
    y = np.arange(200) % 4 == 0
    s = np.round(rng.standard_normal(200) + y, decimals)
    weight = rng.uniform(0.5, 2.0, 200) if weighted else None
    weights = None if weight is None else (weight[y], weight[~y])
    found = judge(Measure(Region(**region)), s, y, weights)
    assert found == pytest.approx(partial_roc_auc(y, s, sample_weight=weight, **region))


def test_a_band_of_the_curve_is_the_difference_of_two_parts(rng):
    y = np.arange(300) % 4 == 0
    s = rng.standard_normal(300) + y
    area = [partial_roc_auc(y, s, max_fpr=end, standardized=False) for end in (0.1, 0.4)]
    share, chance = (area[1] - area[0]) / 0.3, 0.25
    want = 0.5 + 0.5 * (share - chance) / (1 - chance)
    assert judge(Measure(Region(0.4, min_fpr=0.1)), s, y) == pytest.approx(want)


@pytest.mark.parametrize("region", REGIONS)
def test_a_region_is_scored_group_by_group(rng, region):
    y, groups = np.arange(90) % 3 == 0, (np.arange(90) // 3 % 7).astype(np.uint64)
    s = np.round(rng.standard_normal(90) + y, 1)
    parts = [partial_roc_auc(y[groups == g], s[groups == g], **region) for g in range(7)]
    sizes = [np.sum(y & (groups == g)) * np.sum(~y & (groups == g)) for g in range(7)]
    for equal in (False, True):
        measure = Measure(Region(**region), equal_groups=equal)
        found = judge(measure, s, y, groups=(groups[y], groups[~y]))
        assert found == pytest.approx(np.average(parts, weights=None if equal else sizes))


def test_groups_are_scored_by_their_auc(rng):
    y, groups = np.arange(90) % 3 == 0, np.arange(90) % 7
    s = np.round(rng.standard_normal(90) + y, 1)
    keys = groups.astype(np.uint64)
    for equal in (False, True):
        found = judge(Measure(equal_groups=equal), s, y, groups=(keys[y], keys[~y]))
        assert found == pytest.approx(reference.grouped_auc(y, s, groups, equal_groups=equal))


@pytest.mark.parametrize("grouped", [False, True])
def test_a_part_of_the_curve_may_be_fitted_by_a_larger_one(data, grouped):
    X, y, _, groups = data
    more = {"groups": groups} if grouped else {}
    fitted = PairwiseAUCClassifierCV("squared_hinge", max_fpr=0.1, random_state=0).fit(X, y, **more)
    tried = fitted.cv_results_["param_max_fpr"]
    assert set(np.round(tried, 6)) == {0.1, 0.3, 1.0}
    assert fitted.region_ == Region(float(tried[fitted.best_index_]))
    assert fitted.best_score_ >= fitted.cv_results_["mean_test_score"][tried == 1.0].max() - 1e-12
    plain = PairwiseAUCClassifierCV("squared_hinge", max_fpr=0.1, scoring="roc_auc", random_state=0)
    assert plain.fit(X, y, **more).best_score_ > fitted.best_score_


@pytest.mark.parametrize("seed", range(3))
def test_a_part_of_the_curve_that_is_lost_for_all_rows_is_passed_over(seed):
    # a few negatives are highest in the column that most positives are high in; a quarter of these has another
    rng = np.random.default_rng(seed)
    y = rng.random(2000) < 0.05
    common = (rng.standard_normal(y.size) + 1.1 * y) * np.where(~y & (rng.random(y.size) < 0.15), 3.0, 1.0)
    rare = rng.standard_normal(y.size) + 4.0 * y * (rng.random(y.size) < 0.25)
    X = np.column_stack([common, rare, rng.standard_normal((y.size, 4))])
    fitted = PairwiseAUCClassifierCV("squared_hinge", max_fpr=0.01, random_state=0).fit(X, y)
    # of these seeds the highest held-out score is that of weights that end at zero
    assert fitted.cv_results_["rank_test_score"][fitted.best_index_] > 1
    assert "passed over, because weights of zero are best for all rows: squared_hinge" in fitted.choice_
    assert fitted.best_score_ == fitted.cv_results_["mean_test_score"][fitted.best_index_]
    assert partial_roc_auc(y, fitted.decision_function(X), max_fpr=0.01) > fitted.best_score_ - 0.01


def test_nothing_set_tries_losses_scalings_and_penalties(data):
    X, y, *_ = data
    fitted = PairwiseAUCClassifierCV(random_state=0).fit(X * [1, 10, 0.1, 1, 1], y)
    results = fitted.cv_results_
    assert set(results["param_loss"]) == {"hinge", "squared_hinge", "squared"}
    assert set(results["param_scale"]) == {False, True}
    assert len(results["params"]) == 3 * 2 * 9 + 3 * 2
    assert (
        results["params"][fitted.best_index_] | {"loss": fitted.loss_, "l2": fitted.l2_}
        == (results["params"][fitted.best_index_])
    )
    assert fitted.choice_.startswith(fitted.loss_)
    assert fitted.best_score_ == results["mean_test_score"][fitted.best_index_]
    again = PairwiseAUCClassifierCV(random_state=0).fit(X * [1, 10, 0.1, 1, 1], y)
    np.testing.assert_array_equal(again.coef_, fitted.coef_)


def test_given_penalties_hold_in_the_columns_as_they_are(data):
    X, y, *_ = data
    fitted = PairwiseAUCClassifierCV(l2_grid=GRID, random_state=0).fit(X, y)
    assert set(fitted.cv_results_["param_scale"]) == {False}
    assert set(fitted.cv_results_["param_l2"]) == set(GRID)
    assert (fitted.scale_ == 1.0).all()


def test_how_columns_are_divided_is_decided_once(rng, monkeypatch):
    """Variances so near the limit that some training sets are below it and some above."""
    X, y = rng.standard_normal((200, 2)), rng.random(200) < 0.5
    X[:, 1] = 0.0
    X[:2, 1] = 1.0, -1.0
    X[:, 0] *= np.sqrt(1.02e3 * 200 * X[:, 1].var() / X[:, 0].var())
    decided, find_scales = [], column_scales.column_scales

    def spy(scale, *summary):
        if isinstance(scale, str):
            decided.append(summary[-1])
        return find_scales(scale, *summary)

    monkeypatch.setattr(column_scales, "column_scales", spy)
    PairwiseAUCClassifierCV("squared_hinge", random_state=0).fit(X, y)
    assert set(decided) == {200}


def test_scalings_that_come_to_the_same_are_tried_once(data):
    X, y, *_ = data
    apart = PairwiseAUCClassifierCV("squared_hinge", random_state=0).fit(X * [1, 1, 1, 1, 1e4], y)
    assert set(apart.cv_results_["param_scale"]) == {True}
    flags = np.column_stack([X * 1e4, X[:, 0] > 0])
    mixed = PairwiseAUCClassifierCV("squared_hinge", random_state=0).fit(flags, y)
    assert set(mixed.cv_results_["param_scale"]) == {"auto", True}


def test_params_can_be_fitted_again(data):
    X, y, *_ = data
    fitted = PairwiseAUCClassifierCV(random_state=0, tol=1e-8).fit(X * [1, 1, 1, 1, 1e4], y)
    params = fitted.cv_results_["params"][fitted.best_index_]
    again = PairwiseAUCClassifier(**params, tol=1e-8).fit(X * [1, 1, 1, 1, 1e4], y)
    np.testing.assert_allclose(again.coef_, fitted.coef_, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_number_of_l1_begins_where_the_loss_has_no_weights(data, loss):
    X, y, *_ = data
    fitted = PairwiseAUCClassifierCV(loss, l1_grid=3, scale=False, random_state=0).fit(X, y)
    largest = fitted.cv_results_["param_l1"].max()
    gap = np.abs(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)).max()
    assert largest == pytest.approx(gap * {"logistic": 0.5, "squared": 1.0}[loss])
    assert not PairwiseAUCClassifier(loss, 1.001 * largest, 0.1).fit(X, y).coef_.any()
    assert PairwiseAUCClassifier(loss, 0.9 * largest, 0.1).fit(X, y).coef_.any()


def tried_of(table, losses):
    return Tried.of([Trial([0.0], [1.0, 10.0], loss) for loss in losses], np.array(table))


LOSSES = [SmoothHinge(), SquaredHinge(), Squared()]


def test_the_first_loss_within_a_standard_error_of_the_difference_is_taken():
    # the differences to the best are 0.00 and 0.02: a mean of 0.01, with an error of 0.01
    table = [[0.90, 0.5, 0.5, 0.5, 0.90, 0.5], [0.80, 0.5, 0.7, 0.5, 0.82, 0.5]]
    place, said = choose_candidate(tried_of(table, LOSSES), LOSSES, 2, shrink=False)
    assert place == 0
    assert said.startswith("hinge (")
    assert "; squared (" in said
    assert "no more than the standard error of 0.01000" in said
    # always behind by as much: no error that could explain it
    table = [[0.90, 0.5, 0.93, 0.5, 0.92, 0.5], [0.80, 0.5, 0.83, 0.5, 0.82, 0.5]]
    place, said = choose_candidate(tried_of(table, LOSSES), LOSSES, 2, shrink=False)
    assert place == 2
    assert said.startswith("squared_hinge (")
    assert "; hinge (l1=0, l2=1" in said
    assert "0.03000 behind" in said


def test_of_its_penalties_the_largest_within_an_error_where_that_is_asked_for():
    table = [[0.90, 0.91, 0.5, 0.5, 0.5, 0.5], [0.83, 0.81, 0.7, 0.5, 0.6, 0.5]]
    tried = tried_of(table, LOSSES)
    assert choose_candidate(tried, LOSSES, 2, shrink=False)[0] == 0
    assert choose_candidate(tried, LOSSES, 2, shrink=True)[0] == 1


@pytest.mark.parametrize("other", [{"scale": True}, {"region": Region(0.3)}])
def test_penalties_in_other_units_are_not_compared(other):
    loss = SquaredHinge()
    first = {"scale": False, "region": Region()}
    trials = [Trial([0.0], [1.0, 2.0], loss, **first), Trial([0.0], [500.0], loss, **first | other)]
    tried = Tried.of(trials, np.array([[0.90, 0.91, 0.91], [0.83, 0.81, 0.81]]))
    assert choose_candidate(tried, [loss], 2, shrink=True)[0] == 1


@pytest.mark.parametrize(
    ("loss", "more"),
    [("squared", {}), ("hinge", {}), ("squared_hinge", {"max_fpr": 0.3}), ("hinge", {"min_tpr": 0.2})],
)
def test_sources_and_clusters_choose_as_rows_in_memory_do(data, loss, more):
    X, y, weight, _ = data
    ranker = PairwiseAUCClassifierCV(loss, l2_grid=GRID, random_state=0, **more)
    memory = clone(ranker).fit(X, y, weight)
    # where the selection of rows is a matter of rounding, so are the weights
    whole = [k for k, one in enumerate(memory.cv_results_["params"]) if one["max_fpr"] == 1.0][: len(GRID)]
    for other in (
        clone(ranker).fit_source(Blocks(X, y, weight)),
        clone(ranker).fit(Blocks(X, y, weight)),
        clone(ranker).fit_parts(rows_of(cut([90, 200], X, y, weight, blocks=2), X, weighted=True)),
    ):
        np.testing.assert_allclose(split_scores(other)[:, whole], split_scores(memory)[:, whole], atol=6e-3)
        alone = PairwiseAUCClassifier(loss, l2=other.l2_, **vars(other.region_)).fit(X, y, weight)
        np.testing.assert_allclose(other.coef_, alone.coef_, atol=0.02)


@pytest.mark.parametrize("equal_groups", [False, True])
@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_sources_and_clusters_choose_within_groups(data, loss, equal_groups):
    X, y, weight, _ = data
    groups = np.argsort(np.argsort(y, kind="stable"), kind="stable") % 30
    keys = group_keys(groups, 300)
    ranker = PairwiseAUCClassifierCV(
        loss, l2_grid=GRID, random_state=0, tol=1e-9, equal_groups=equal_groups, cv=3
    )
    source = clone(ranker).fit_source(Blocks(X, y, weight, groups))
    parts = cut([90, 200], X, y, weight, blocks=2, groups=groups)
    cluster = clone(ranker).fit_parts(rows_of(parts, X, weighted=True, grouped=True))
    rules = group_fold_rules(count_groups(parts, Schema(5)), 3, 1, np.random.default_rng(0))
    fold = rules[0].for_part(0).assign(Block(X, y == 1, weight, groups=keys))
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    memory = clone(ranker).set_params(cv=splits).fit(X, y, weight, groups)
    for other in (source, cluster):
        np.testing.assert_allclose(split_scores(other), split_scores(memory), atol=1e-6)
        np.testing.assert_allclose(other.coef_, memory.coef_, atol=1e-4)


def test_moments_choose_within_groups_of_a_source_too(data):
    X, y, weight, _ = data
    groups = np.argsort(np.argsort(y, kind="stable"), kind="stable") % 30
    ranker = MBAClassifierCV(l2_grid=GRID, random_state=0, tol=1e-10).fit_source(Blocks(X, y, weight, groups))
    assert ranker.solver_.name == "matrix-free"
    other = PairwiseAUCClassifierCV("squared", l2_grid=GRID, random_state=0, tol=1e-10)
    np.testing.assert_allclose(
        split_scores(ranker), split_scores(other.fit_source(Blocks(X, y, weight, groups))), atol=1e-9
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "best"}, "loss must be one of"),
        ({"scoring": "risk"}, "scoring must be 'auto' or 'roc_auc'"),
        ({"cv": 1}, "cv must be at least 2 folds"),
        ({"repeats": 0}, "repeats must be"),
        ({"l2_grid": []}, "l2_grid must be a sequence of at least one number"),
        ({"l1_grid": 0}, "l1_grid must be"),
        ({"max_fpr": 2.0}, "max_fpr must be"),
        ({"one_standard_error": 1}, "one_standard_error must be True or False"),
        ({"cv": KFold(3), "repeats": 2}, "give a repeated splitter"),
    ],
)
def test_bad_settings_are_named(data, settings, message):
    X, y, *_ = data
    with pytest.raises(ValueError, match=message):
        PairwiseAUCClassifierCV(**settings).fit(X, y)


@pytest.mark.parametrize("grouped", [False, True])
def test_who_is_paired_is_found_out_once_a_fold(data, monkeypatch, grouped):
    X, y, _, groups = data
    built = []
    build = PairWeights.build.__func__
    monkeypatch.setattr(
        measure.PairWeights, "build", classmethod(lambda cls, *a, **k: built.append(1) or build(cls, *a, **k))
    )
    held_out = HeldOutBlock(
        Block(X, y == 1, groups=groups.astype(np.uint64) if grouped else None),
        [np.arange(0, 100), np.arange(100, 300)],
        1,
        Measure(Region(0.5)),
    )
    for rows in (np.arange(0, 100), np.arange(100, 300)):
        assert held_out.auc(rows, np.eye(5)).shape == (5,)
    assert len(built) == 2


@pytest.mark.parametrize("seed", range(3))
def test_few_groups_of_a_source_are_enough(data, seed):
    X, y, *_ = data
    groups = np.argsort(np.argsort(y, kind="stable"), kind="stable") % 8
    ranker = PairwiseAUCClassifierCV("squared", l2_grid=GRID, random_state=seed)
    assert clone(ranker).fit_source(Blocks(X, y, None, groups)).n_splits_ == 5
    with pytest.warns(UserWarning, match="3 groups have rows of both classes, fewer than cv=5; using 3 folds"):
        assert ranker.fit_source(Blocks(X, y, None, groups % 3)).n_splits_ == 3
