import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, RepeatedStratifiedKFold, ShuffleSplit, TimeSeriesSplit

import mbauc.estimators.classifier_cv
import mbauc.pairs.moments
from mbauc import MBAClassifier, MBAClassifierCV, PairMoments
from mbauc.errors import BinormalWarning
from mbauc.estimators.cross_validation.folded_splits import FoldedSplits
from mbauc.estimators.cross_validation.grids import default_l2_grid
from mbauc.estimators.cross_validation.held_out import HeldOutBlock
from mbauc.model.record import list_penalties
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.plots import PenaltyPathDisplay
from mbauc.rows.block import Block
from mbauc.solvers.problem import Problem

GRID = [1e-3, 0.1, 10.0]
# a grid of three values often has its best at an edge, which is not what these tests are about
pytestmark = pytest.mark.filterwarnings("ignore::mbauc.errors.PenaltyWarning")


@pytest.fixture
def data(rng):
    X = rng.standard_normal((400, 8))
    y = (X[:, 0] + 0.5 * X[:, 1] + 2 * rng.standard_normal(400) > 1.2).astype(int)
    return X, y


def slow_scores(X, y, splits, grid, scoring, weight=None, **settings):
    """Each grid point fitted and scored split by split from the rows themselves."""
    weight = np.ones(len(y)) if weight is None else weight
    table = []
    for train, test in splits:
        held_out = PairMoments.from_arrays(X[test], y[test], weight[test])
        row = []
        for l1, l2 in grid:
            fitted = MBAClassifier(l1=l1, l2=l2, **settings).fit(X[train], y[train], weight[train])
            w = fitted.coef_[0]
            if scoring == "roc_auc":
                row.append(roc_auc_score(y[test], X[test] @ w, sample_weight=weight[test]))
            else:
                row.append(held_out.binormal_auc(w) if scoring == "binormal_auc" else -held_out.risk(w))
        table.append(row)
    return np.array(table)


def split_scores(results):
    return np.array(
        [results[f"split{k}_test_score"] for k in range(sum(key.startswith("split") for key in results))]
    )


@pytest.mark.parametrize("scoring", ["roc_auc", "binormal_auc", "risk"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_total_minus_fold_equals_fitting_each_training_set(data, rng, scoring, weighted, scale):
    X, y = data
    weight = rng.random(len(y)) + 0.2 if weighted else None
    splits = list(KFold(4, shuffle=True, random_state=0).split(X))
    l1 = [0.0, 0.05, 0.2]
    fitted = MBAClassifierCV(l1, GRID, cv=splits, scoring=scoring, scale=scale).fit(X, y, weight)
    grid = [(a, b) for a in l1 for b in GRID]
    want = slow_scores(X, y, splits, grid, scoring, weight, scale=scale)
    np.testing.assert_allclose(split_scores(fitted.cv_results_), want, atol=1e-7)
    results = fitted.cv_results_
    np.testing.assert_allclose(results["mean_test_score"], want.mean(0), atol=1e-7)
    np.testing.assert_allclose(results["std_test_score"], want.std(0), atol=1e-7)
    best = grid[int(np.argmax(want.mean(0)))]
    assert (fitted.l1_, fitted.l2_) == best
    assert results["params"][fitted.best_index_] == {"l1": best[0], "l2": best[1]}
    assert results["rank_test_score"][fitted.best_index_] == 1
    whole = MBAClassifier(*best, scale=scale).fit(X, y, weight)
    np.testing.assert_allclose(fitted.coef_, whole.coef_, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(3),
        ShuffleSplit(3, test_size=0.3, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        KFold(2),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_splitters(data, cv):
    X, y = data
    fitted = MBAClassifierCV(l2_grid=GRID, cv=cv).fit(X, y)
    splits = list(cv.split(X, y))
    want = slow_scores(X, y, splits, [(0.0, b) for b in GRID], "roc_auc")
    np.testing.assert_allclose(split_scores(fitted.cv_results_), want, atol=1e-9)
    assert fitted.n_splits_ == len(splits)
    assert fitted.moments_.counts == (y.sum(), (1 - y).sum())


def test_groups_stay_together(data):
    X, y = data
    groups = np.arange(len(y)) // 20
    fitted = MBAClassifierCV(l2_grid=GRID, cv=GroupKFold(4)).fit(X, y, groups=groups)
    want = slow_scores(X, y, GroupKFold(4).split(X, y, groups), [(0.0, b) for b in GRID], "roc_auc")
    np.testing.assert_allclose(split_scores(fitted.cv_results_), want, atol=1e-9)


@pytest.mark.parametrize(("cv", "passes"), [(5, 1), (KFold(5), 1), (TimeSeriesSplit(3), None)])
def test_each_row_is_read_once(data, cv, passes, monkeypatch):
    X, y = data
    read = []
    original = mbauc.pairs.class_moments.class_scatters

    def counting(X, rows, *settings):
        read.extend(np.concatenate(rows))
        return original(X, rows, *settings)

    monkeypatch.setattr(mbauc.pairs.class_moments, "class_scatters", counting)
    MBAClassifierCV(l2_grid=GRID, cv=cv, scoring="risk", random_state=0).fit(X, y)
    times = np.bincount(read, minlength=len(y))
    if passes:
        assert set(times) == {passes}
    else:
        assert times.max() > 1


def test_folds_are_stratified_reproducible_and_new_in_each_repeat(data):
    X, y = data
    fits = [MBAClassifierCV(l2_grid=GRID, cv=4, repeats=3, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(split_scores(fits[0].cv_results_), split_scores(fits[1].cv_results_))
    assert (split_scores(fits[0].cv_results_) != split_scores(fits[2].cv_results_)).any()
    scores = split_scores(fits[0].cv_results_)
    assert scores.shape == (12, 3)
    assert len({tuple(row) for row in scores}) == 12

    from mbauc.estimators.cross_validation.splits import draw_stratified_splits
    from mbauc.rows.block import Block

    (splits,) = draw_stratified_splits(Block(X, y == 1), 4, 1, np.random.default_rng(0))
    counts = [y[split.test].sum() for split in splits]
    assert max(counts) - min(counts) <= 1
    np.testing.assert_array_equal(np.sort(np.concatenate([split.test for split in splits])), np.arange(400))


def test_sparse_equals_dense(rng):
    X = sp.random(500, 30, density=0.1, random_state=0, format="csr")
    y = (np.asarray(X.sum(axis=1)).ravel() + rng.random(500) > 2).astype(int)
    dense, sparse = (MBAClassifierCV(cv=4, random_state=0).fit(form, y) for form in (X.toarray(), X))
    np.testing.assert_allclose(split_scores(dense.cv_results_), split_scores(sparse.cv_results_), atol=1e-9)
    np.testing.assert_allclose(dense.coef_, sparse.coef_, rtol=1e-6, atol=1e-10)


def test_default_grid_does_not_depend_on_units(data):
    X, y = data
    plain, scaled = (MBAClassifierCV(random_state=0).fit(c * X, y) for c in (1.0, 1e3))
    np.testing.assert_allclose(scaled.l2_, 1e6 * plain.l2_)
    np.testing.assert_allclose(plain.cv_results_["mean_test_score"], scaled.cv_results_["mean_test_score"])
    assert len(plain.cv_results_["params"]) == 20


def test_l1_grid_by_number(data):
    X, y = data
    fitted = MBAClassifierCV(l1_grid=4, l2_grid=[0.01], random_state=0).fit(X, y)
    top = np.abs(fitted.moments_.mean_difference).max()
    np.testing.assert_allclose(fitted.cv_results_["param_l1"], [0, 1e-3 * top, 1e-2 * top, 0.1 * top, top])


def test_one_standard_error_takes_the_simpler_model(data):
    X, y = data
    settings = {"l1_grid": 6, "random_state": 0}
    best = MBAClassifierCV(**settings).fit(X, y)
    simple = MBAClassifierCV(**settings, one_standard_error=True).fit(X, y)
    assert simple.l1_ >= best.l1_
    assert (simple.coef_ != 0).sum() <= (best.coef_ != 0).sum()
    results = best.cv_results_
    top = best.best_index_
    bar = results["mean_test_score"][top] - results["std_test_score"][top] / np.sqrt(4)
    assert simple.best_score_ >= bar
    within = results["mean_test_score"] >= bar
    assert simple.l1_ == results["param_l1"][within].max()


def test_heavy_tails_are_reported(rng):
    y = (rng.random(4000) < 0.3).astype(int)
    X = rng.standard_t(1.2, size=(4000, 3)) + 2.0 * y[:, None]
    with pytest.warns(BinormalWarning, match="heavy tails"):
        MBAClassifierCV(random_state=0).fit(X, y)


@pytest.mark.parametrize("seed", range(20))
def test_a_few_perfectly_ranked_rows_are_no_sign_of_heavy_tails(seed):
    X = 3 * np.random.RandomState(0).uniform(size=(20, 3))
    MBAClassifierCV(random_state=seed).fit(X, X[:, 0] < 1)


@pytest.mark.parametrize("pairing", ["matched", "complete"])
def test_sampled_pairs_are_shared_out_over_the_folds(data, pairing):
    X, y = data
    fitted = MBAClassifierCV(l2_grid=GRID, pairs=5000, pairing=pairing, random_state=0).fit(X, y)
    assert sum(fitted.moments_.counts) == 10_000
    exact = MBAClassifierCV(l2_grid=GRID, random_state=0).fit(X, y)
    assert fitted.best_score_ == pytest.approx(exact.best_score_, abs=0.03)
    np.testing.assert_allclose(fitted.moments_.weights, exact.moments_.weights)


def test_few_rows_of_a_class_make_fewer_folds(rng):
    X, y = rng.standard_normal((50, 2)), np.arange(50) < 3
    with pytest.warns(UserWarning, match="using 3 folds"):
        assert MBAClassifierCV(random_state=0).fit(X, y).n_splits_ == 3
    with pytest.raises(ValueError, match="at least 2 rows of each class"):
        MBAClassifierCV().fit(X, np.arange(50) < 1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"scoring": "accuracy"}, "scoring must be"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"repeats": 0}, "repeats must be"),
        ({"cv": KFold(2), "repeats": 2}, "repeats draws new folds"),
        ({"l2_grid": []}, "l2_grid must be a sequence"),
        ({"l2_grid": [-1.0]}, "each value of l2_grid must be"),
        ({"l2_grid": ["auto"]}, "sequence of numbers"),
        ({"cv": "5"}, "cv must be"),
        ({"l1_grid": [[1.0]]}, "l1_grid must be"),
        ({"l1_grid": 0}, "l1_grid must be"),
        ({"cv": []}, "no splits"),
        ({"cv": [([0, 1, 2], [2, 3])]}, "hold|both train and test"),
        ({"cv": [(np.arange(300), np.arange(290, 400))]}, "both train and test"),
        ({"cv": [(np.arange(300), [1000])]}, "outside the 400 rows"),
        ({"cv": [(np.arange(300),)]}, "must be a pair"),
    ],
)
def test_bad_settings_are_named(data, settings, message):
    with pytest.raises(ValueError, match=message):
        MBAClassifierCV(**settings).fit(*data)


def test_a_split_with_one_class_is_named(data):
    X, y = data
    order = np.argsort(y)
    with pytest.raises(ValueError, match="the test rows of split 0 hold 0 positives"):
        MBAClassifierCV(cv=KFold(4)).fit(X[order], y[order])


def test_a_failing_fit_changes_nothing(data):
    X, y = data
    fitted = MBAClassifierCV(random_state=0).fit(X, y)
    coef = fitted.coef_.copy()
    with pytest.raises(ValueError, match="one class only"):
        fitted.fit(X[:, :3], np.ones(len(y)))
    assert fitted.n_features_in_ == 8
    np.testing.assert_array_equal(fitted.coef_, coef)


@pytest.mark.parametrize("pairing", ["matched", "complete"])
@pytest.mark.parametrize(
    "cv", [ShuffleSplit(2, test_size=0.6, random_state=0), KFold(3)], ids=["shuffle", "kfold"]
)
def test_sampled_training_moments_hold_no_test_rows(rng, pairing, cv, monkeypatch):
    X, y = rng.standard_normal((600, 3)), np.arange(600) % 2
    trained = []
    make = Problem.__init__
    monkeypatch.setattr(
        Problem,
        "__init__",
        lambda self, moments, *args, **kwargs: trained.append(moments) or make(self, moments, *args, **kwargs),
    )
    for train, test in cv.split(X):
        # mark the test rows: moments that saw one have a large variance
        marked = X.copy()
        marked[test] += 1e3 * rng.standard_normal((test.size, 3))
        trained.clear()
        MBAClassifierCV(l2_grid=GRID, cv=[(train, test)], pairs=400, pairing=pairing, random_state=0).fit(
            marked, y
        )
        assert trained[-1].difference_covariance.max() < 10
        assert np.linalg.eigvalsh(trained[-1].difference_covariance).min() > 0


def test_rows_of_zero_weight_are_in_no_fold(data):
    X, y = data
    weight = (np.arange(len(y)) % 3 == 0).astype(float)
    weighted = MBAClassifierCV(l2_grid=GRID, cv=3, random_state=0).fit(X, y, weight)
    alone = MBAClassifierCV(l2_grid=GRID, cv=3, random_state=0).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(split_scores(weighted.cv_results_), split_scores(alone.cv_results_), atol=1e-9)


@pytest.mark.parametrize("side", [np.ones(1000, dtype=bool), np.arange(5.0), np.zeros((400, 1), dtype=bool)])
def test_splits_that_are_neither_numbers_nor_masks_are_refused(data, side):
    with pytest.raises(ValueError, match="a mask of 400 booleans"):
        MBAClassifierCV(cv=[(np.arange(300), side)]).fit(*data)


@pytest.mark.parametrize("weighted", [False, True])
def test_statistics_within_groups_do_not_depend_on_the_solver(rng, weighted):
    """Levels of the groups are far apart, so that pairs across groups would say something else."""
    groups = np.arange(240) // 8
    X = rng.standard_normal((240, 3)) + np.linspace(0, 20, 30)[groups][:, None]
    y = X[:, 0] - np.linspace(0, 20, 30)[groups] + rng.standard_normal(240) > 0
    y[::8], y[1::8] = True, False
    weight = rng.uniform(0.5, 2.0, 240) if weighted else None
    found = [
        MBAClassifierCV(
            l2_grid=GRID, cv=GroupKFold(3), within_groups=True, solver=solver, tol=1e-10, scoring="risk"
        ).fit(X, y, weight, groups=groups)
        for solver in ("gram", "matrix-free")
    ]
    for name in ("mean_test_risk", "mean_test_binormal_auc"):
        gram, products = (one.cv_results_[name] for one in found)
        np.testing.assert_allclose(products, gram, rtol=1e-6)


@pytest.fixture
def wide(rng):
    """More columns than rows, of which the smallest penalties make noise."""
    X = sp.random(600, 900, 0.02, "csr", random_state=1, data_rvs=lambda n: np.ones(n))
    w = np.where(rng.random(900) < 0.3, rng.standard_normal(900), 0.0)
    return X, (X @ w + rng.logistic(size=600) > 0.5).astype(int)


def test_penalties_far_below_the_best_are_not_tried_where_they_cost_products(wide):
    X, y = wide
    dropped = MBAClassifierCV(solver="matrix-free", random_state=0).fit(X, y)
    grid = dropped.cv_results_["param_l2"]
    whole = MBAClassifierCV(solver="matrix-free", l2_grid=grid, random_state=0).fit(X, y)
    tried = ~np.isnan(dropped.cv_results_["mean_test_score"])
    assert 5 < tried.sum() < grid.size
    # the smallest are missing, and rank last
    assert grid[~tried].max() < grid[tried].min()
    assert (dropped.cv_results_["rank_test_score"][~tried] == tried.sum() + 1).all()
    assert not np.isnan(whole.cv_results_["mean_test_score"]).any()
    for name in ("mean_test_score", "mean_test_risk", "split3_test_score"):
        np.testing.assert_array_equal(dropped.cv_results_[name][tried], whole.cv_results_[name][tried])
    assert dropped.l2_ == whole.l2_
    np.testing.assert_array_equal(dropped.coef_, whole.coef_)
    # none of those would have been near
    lost = whole.best_score_ - whole.cv_results_["mean_test_score"][~tried]
    assert lost.min() > 0.01


def test_who_stops_early_spends_no_product_on_smaller_penalties(wide, monkeypatch):
    X, y = wide
    grid = default_l2_grid(np.asarray(X.mean(axis=0)))
    spent, product = [], SparsePairOperator.product_and_variances
    monkeypatch.setattr(
        SparsePairOperator, "product_and_variances", lambda self, v: spent.append(v) or product(self, v)
    )
    counts = []
    for own in (None, grid):
        MBAClassifierCV(solver="matrix-free", l2_grid=own, random_state=0).fit(X, y)
        counts.append(len(spent))
        spent.clear()
    assert counts[0] < counts[1] - 20


def test_penalties_that_were_not_tried_are_in_no_picture_and_no_record(wide):
    pytest.importorskip("matplotlib")
    X, y = wide
    ranker = MBAClassifierCV(solver="matrix-free", random_state=0).fit(X, y)
    tried = int((~np.isnan(ranker.cv_results_["mean_test_score"])).sum())
    assert PenaltyPathDisplay.from_estimator(ranker).score.size == tried
    assert len(list_penalties(ranker, 5)) == tried


def test_weights_that_rank_a_sample_alike_share_the_auc_of_many_rows(rng):
    """Held-out AUC of many rows is within 1e-5 of the definition, for weights near each other and far apart."""
    X = rng.standard_normal((24_000, 3))
    y = (X[:, 0] + 2 * rng.standard_normal(len(X)) > 2).astype(int)
    nearly = np.array([1.0, 0.3, -0.2])
    W = np.array([nearly, nearly * (1 + 1e-9), 5 * nearly, nearly + 1e-3, -nearly, [0.0, 0.0, 0.0]])
    rows = np.flatnonzero(rng.random(len(X)) < 0.9)
    scored = []

    class Counted(HeldOutBlock):
        def _auc(self, subset, W):
            scored.append(len(W))
            return super()._auc(subset, W)

    found = Counted(Block(X, y == 1), [rows], n_threads=2).auc(rows, W)
    assert found == pytest.approx([roc_auc_score(y[rows], X[rows] @ w) for w in W], abs=1e-5)
    assert scored == [4]
    assert found[0] == found[1] == found[2] != found[3]


FOLDED = {
    "ridge": {"l2_grid": [0.01, 0.1, 1.0]},
    "two folds": {"l2_grid": [0.01, 0.1, 1.0], "cv": 2},
    "many folds": {"l2_grid": [0.1, 1.0], "cv": 11},
    "repeats": {"l2_grid": [0.1, 1.0], "repeats": 2},
    "elastic net": {"l1_grid": [0.0, 0.001, 0.01], "l2_grid": [0.01, 0.1]},
    "risk": {"l2_grid": [0.01, 0.1, 1.0], "scoring": "risk"},
    "frequencies": {"l2_grid": [0.1, 1.0], "weights": "frequency"},
    "scaled": {"l2_grid": [0.01, 0.1], "scale": True},
    "rows that no fold holds out": {
        "l2_grid": [0.1, 1.0],
        "cv": ShuffleSplit(3, test_size=0.2, random_state=0),
    },
}


@pytest.mark.parametrize("values", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", FOLDED)
def test_folds_that_share_rows_score_as_folds_of_copied_rows(name, weighted, values, wide, rng, monkeypatch):
    X, y = wide
    X = X.copy()
    if values:
        X.data = rng.uniform(0.5, 2.0, X.nnz)
    weight = rng.integers(0, 4, y.size).astype(float) if weighted else None
    settings = {"solver": "matrix-free", "tol": 1e-12, "random_state": 0} | FOLDED[name]
    shared = MBAClassifierCV(**settings).fit(X, y, weight)
    asked = []
    monkeypatch.setattr(FoldedSplits, "suits", lambda *rows: bool(asked.append(rows)))
    copied = MBAClassifierCV(**settings).fit(X, y, weight)
    assert asked
    assert shared.l1_ == copied.l1_
    assert shared.l2_ == copied.l2_
    # the excess risk l2 |w - w*|² of either is at most 100 tol, in columns with a deviation of 0.14 if scaled
    within = 2 * np.sqrt(100 * settings["tol"] / shared.l2_) / 0.14
    assert np.linalg.norm(shared.coef_ - copied.coef_) <= within
    for key in ("mean_test_risk", "mean_test_binormal_auc"):
        np.testing.assert_allclose(shared.cv_results_[key], copied.cv_results_[key], atol=2e-5)
    # two pairs of held-out rows that are nearly tied may change sides
    for key in ("split0_test_score", "split1_test_score"):
        np.testing.assert_allclose(shared.cv_results_[key], copied.cv_results_[key], atol=2e-3)
