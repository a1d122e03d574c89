"""PairwiseAUCClassifier: the minimum of any loss over pairs, however rows come."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import sparse as sp
from scipy.optimize import minimize
from sklearn import set_config
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reference
from local_parts import cut, rows_of
from mbauc import MBAClassifier, PairwiseAUCClassifier, PairwiseAUCClassifierCV
from mbauc.errors import CheckpointError, MbaucWarning, OneClassGroupsWarning
from mbauc.estimators.pair_problems import PairProblems
from mbauc.losses import LOSSES, PairObjective, PairWeights, SmoothHinge, get_loss
from mbauc.metrics import partial_roc_auc, roc_auc
from mbauc.paper import datasets
from mbauc.readers import RawBlock
from mbauc.rows.source import GroupedBlock
from mbauc.store.checkpoint import Checkpoint
from strategies import grouped_tables

OTHERS = [name for name in LOSSES if name != "squared"]
SMOOTH = ["squared", "squared_hinge", "logistic", "exponential"]


@pytest.fixture
def data(rng):
    y = (rng.random(300) < 0.3).astype(int)
    X = rng.standard_t(4, (300, 5)) + 0.8 * y[:, None] * (np.arange(5) < 3)
    return X, y, rng.integers(1, 4, 300).astype(float), rng.integers(8, size=300)


class Blocks(list):
    """A source of blocks in a list."""

    classes = (0, 1)

    def __init__(self, X, y, weight=None, groups=None, ends=(120, 300)):
        self.n_features, self.has_groups = X.shape[1], groups is not None
        for start, end in zip((0, *ends[:-1]), ends, strict=True):
            rows = slice(start, end)
            own = X[rows], y[rows], None if weight is None else weight[rows]
            self.append(RawBlock(*own) if groups is None else GroupedBlock(*own, groups[rows]))


def slow_fit(loss, X, y, l2, weight=None, groups=None, equal_groups=False, **region):
    """Weights and objective from a loop over all pairs, by a general minimiser."""
    pairs = reference.weighted_pairs(y, weight, groups, equal_groups)

    def objective(w):
        kept = reference.region_pairs(pairs, X @ w, groups=groups, **region) if region else pairs
        value, gradient, _ = reference.pair_loss(loss, kept, X @ w)
        return value + 0.5 * l2 * w @ w, X.T @ gradient + l2 * w

    found = minimize(objective, np.zeros(X.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-9})
    return found.x, found.fun


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("grouped", [False, True])
def test_weights_are_those_of_a_loop_over_pairs(rng, loss, grouped):
    y = np.arange(30) % 3 == 0
    X, weight = rng.standard_normal((30, 3)) + 0.5 * y[:, None], rng.uniform(0.5, 2.0, 30)
    groups = np.arange(30) // 10 if grouped else None
    want, value = slow_fit(loss, X, y, 0.1, weight, groups, equal_groups=grouped)
    ranker = PairwiseAUCClassifier(loss, l2=0.1, tol=1e-10, equal_groups=grouped)
    ranker.fit(X, y, weight, groups)
    assert ranker.loss_ == loss
    np.testing.assert_allclose(ranker.coef_[0], want, atol=2e-4)
    if loss != "squared":
        assert ranker.solution_.objective == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize("region", [{"max_fpr": 0.5}, {"max_fpr": 0.4, "min_tpr": 0.3}])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_a_part_of_the_curve_has_the_objective_of_its_pairs(rng, loss, region):
    y = np.arange(24) % 3 == 0
    X = rng.standard_normal((24, 2)) + 0.5 * y[:, None]
    ranker = PairwiseAUCClassifier(loss, l2=0.3, tol=1e-8, **region).fit(X, y)
    w = ranker.coef_[0]
    kept = reference.region_pairs(reference.weighted_pairs(y), X @ w, **region)
    value = reference.pair_loss(loss, kept, X @ w)[0] + 0.15 * w @ w
    assert ranker.solution_.objective == pytest.approx(value, rel=1e-6)
    assert value <= slow_fit(loss, X, y, 0.3, **region)[1] * 1.02


@pytest.mark.parametrize("settings", [{}, {"l1": 0.01, "l2": 0.1}, {"scale": True}, {"weights": "frequency"}])
def test_the_squared_loss_is_that_of_the_moments(data, settings):
    X, y, weight, groups = data
    for more in ({}, {"groups": groups}):
        ours = PairwiseAUCClassifier("squared", **settings).fit(X, y, weight, **more)
        theirs = MBAClassifier(**settings).fit(X, y, weight, **more)
        np.testing.assert_array_equal(ours.coef_, theirs.coef_)
        np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
        assert (ours.l2_, ours.effective_sample_size_) == (theirs.l2_, theirs.effective_sample_size_)


@pytest.mark.parametrize("loss", OTHERS)
def test_however_rows_come_the_weights_are_the_same(data, loss, tmp_path):
    X, y, weight, groups = data
    ranker = PairwiseAUCClassifier(loss, l1=0.002, l2=0.05, tol=1e-9, scale=True)
    for more in ({}, {"groups": groups}):
        want = clone(ranker).fit(X, y, weight, **more)
        parts = cut([100, 200], X, y, weight, blocks=2, **more)
        rows = rows_of(parts, X, weighted=True, grouped=bool(more))
        for other in (
            clone(ranker).fit(sp.csr_array(X), y, weight, **more),
            clone(ranker).fit(pd.DataFrame(X, columns=list("abcde")), y, weight, **more),
            clone(ranker).fit_source(Blocks(X, y, weight, *more.values())),
            clone(ranker).fit(Blocks(X, y, weight, *more.values())),
            clone(ranker).fit_parts(rows),
        ):
            np.testing.assert_allclose(other.coef_, want.coef_, atol=3e-4)
            np.testing.assert_allclose(other.intercept_, want.intercept_, atol=3e-3)
            assert other.slope_ == pytest.approx(want.slope_, rel=1e-2)


def test_dense_rows_of_zeros_are_as_sparse_ones(rng):
    y = (rng.random(200) < 0.3).astype(int)
    X = rng.standard_normal((200, 30)) * (rng.random((200, 30)) < 0.1) + 0.0
    X[:, 0] += y
    fits = [PairwiseAUCClassifier(l2=0.1, tol=1e-10).fit(rows, y) for rows in (X, sp.csr_array(X))]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, atol=1e-9)


@pytest.mark.parametrize("loss", [*SMOOTH, "hinge"])
def test_a_weight_is_so_many_equal_rows(data, loss):
    X, y, weight, groups = data
    times = weight.astype(int)
    ranker = PairwiseAUCClassifier(loss, weights="frequency", tol=1e-10)
    weighted = clone(ranker).fit(X, y, weight, groups)
    repeated = clone(ranker).fit(X.repeat(times, axis=0), y.repeat(times), None, groups.repeat(times))
    assert weighted.l2_ == pytest.approx(repeated.l2_, rel=1e-6)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-5)
    assert weighted.effective_sample_size_ == pytest.approx(repeated.effective_sample_size_)


def test_l2_is_that_of_the_squared_loss_times_the_curvature(data):
    X, y, *_ = data
    squared = MBAClassifier().fit(X, y)
    pairs = reference.weighted_pairs(y)
    s = X @ squared.coef_[0]
    for loss in OTHERS:
        curvature = reference.PAIR_LOSSES[loss][2]
        mean = sum(u * curvature(s[i] - s[j]) for i, j, u in pairs)
        assert PairwiseAUCClassifier(loss).fit(X, y).l2_ == pytest.approx(squared.l2_ * mean, rel=1e-6)


def test_the_top_of_the_list_is_better_if_it_is_what_was_asked_for():
    X, y = make_classification(
        8000, weights=[0.95], flip_y=0.02, n_informative=6, n_clusters_per_class=3, random_state=1
    )
    whole, top = (
        partial_roc_auc(y[4000:], ranker.fit(X[:4000], y[:4000]).decision_function(X[4000:]), max_fpr=0.1)
        for ranker in (PairwiseAUCClassifier(), PairwiseAUCClassifier(max_fpr=0.3))
    )
    assert top > whole + 0.01


def test_pairs_across_groups_do_not_count(rng):
    groups = np.repeat(np.arange(40), 10)
    y = np.arange(400) % 3 == 0
    X = rng.standard_normal((400, 3)) + 0.8 * y[:, None]
    level = rng.standard_normal(40)[groups]
    moved = X + 100.0 * level[:, None]
    for loss in LOSSES:
        ranker = PairwiseAUCClassifier(loss, l2=0.1, tol=1e-11)
        want = clone(ranker).fit(X, y, groups=groups).coef_
        np.testing.assert_allclose(clone(ranker).fit(moved, y, groups=groups).coef_, want, atol=1e-5)
        assert abs(clone(ranker).fit(moved, y).coef_ - want).max() > 0.01


@pytest.mark.parametrize(
    "make",
    [
        lambda g: g.astype(str),
        lambda g: [f"user {k}" for k in g],
        lambda g: [None if k < 0 else ("a", 1) if k == 3 else k for k in g],
        lambda g: pd.Series(g, dtype="category"),
        lambda g: g[:, None],
        lambda g: g.astype(float) / 7,
    ],
)
def test_groups_are_named_by_any_values(data, make):
    X, y, _, groups = data
    named = make(groups)
    if isinstance(named, list):
        column = np.empty(len(named), dtype=object)
        column[:] = named
        named = column
    want = PairwiseAUCClassifier(l2=0.1).fit(X, y, groups=groups).coef_
    np.testing.assert_allclose(PairwiseAUCClassifier(l2=0.1).fit(X, y, groups=named).coef_, want, atol=1e-9)


@pytest.mark.parametrize("make", [MBAClassifier, PairwiseAUCClassifier])
def test_groups_of_one_class_are_said_once(data, make):
    X, y, *_ = data
    groups = np.where(np.arange(300) < 5, np.arange(300) + 100, 0)
    with pytest.warns(OneClassGroupsWarning, match="5 of 6 groups") as caught:
        ranker = make().fit(X, y, groups=groups)
    assert len(caught) == 1
    np.testing.assert_allclose(ranker.coef_, make().fit(X[5:], y[5:], groups=groups[5:]).coef_, rtol=0.2)
    with pytest.raises(ValueError, match="no group has rows of both classes"):
        make().fit(X, y, groups=np.arange(300))


def test_a_source_says_it_too(data):
    X, y, *_ = data
    groups = np.where(np.arange(300) < 5, np.arange(300) + 100, 0)
    for ranker in (MBAClassifier(), PairwiseAUCClassifier()):
        with pytest.warns(OneClassGroupsWarning, match="5 of 6 groups"):
            ranker.fit_source(Blocks(X, y, None, groups))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("l1", [0.0, 0.01])
def test_a_killed_fit_resumes_to_the_same_bits(data, tmp_path, monkeypatch, l1, grouped):
    X, y, weight, groups = data
    source = Blocks(X, y, weight, groups if grouped else None)
    ranker = PairwiseAUCClassifier(SmoothHinge(0.7), l1, tol=1e-12)
    want = clone(ranker).fit_source(source, checkpoint=tmp_path / "whole")
    offered = []

    def stop_at_the_third(checkpoint, name, state):
        checkpoint.save(name, state)
        offered.append(name)
        if len(offered) == 3:
            raise RuntimeError("the power is off")

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "offer", stop_at_the_third)
        with pytest.raises(RuntimeError, match="power"):
            clone(ranker).fit_source(source, checkpoint=tmp_path / "cut")
    assert offered == ["solver"] * 3
    monkeypatch.setattr(PairProblems, "choose_l2", None)  # it is in the state
    again = clone(ranker).fit_source(source, checkpoint=tmp_path / "cut")
    np.testing.assert_array_equal(again.coef_, want.coef_)
    assert again.l2_ == want.l2_


def test_a_checkpoint_is_of_one_loss(data, tmp_path):
    X, y, *_ = data
    PairwiseAUCClassifier(SmoothHinge(0.7)).fit_source(Blocks(X, y), checkpoint=tmp_path)
    for other in (SmoothHinge(0.8), "hinge"):
        with pytest.raises(CheckpointError, match="settings"):
            PairwiseAUCClassifier(other).fit_source(Blocks(X, y), checkpoint=tmp_path)


@given(grouped_tables(max_rows=9, max_columns=2), st.sampled_from(list(LOSSES)), st.booleans())
def test_the_gradient_of_a_loop_over_pairs_vanishes(table, loss, equal_groups):
    X, y, weight, groups = table
    assume(np.unique(y).size == 2)
    X = X / max(1.0, abs(X).max())
    ranker = PairwiseAUCClassifier(loss, l2=0.5, tol=1e-12, equal_groups=equal_groups, scale=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OneClassGroupsWarning)
        w = ranker.fit(X, y, weight, groups).coef_[0]
    pairs = reference.weighted_pairs(y, weight, groups, equal_groups)
    gradient = X.T @ reference.pair_loss(loss, pairs, X @ w)[1] + 0.5 * w
    np.testing.assert_allclose(gradient, 0.0, atol=1e-4)


def test_scikit_learn_can_work_with_it(data):
    X, y, _, groups = data
    search = GridSearchCV(
        make_pipeline(StandardScaler(), PairwiseAUCClassifier(l2=0.1)),
        {"pairwiseaucclassifier__loss": ["squared", "hinge", SmoothHinge(0.2)]},
        scoring="roc_auc",
        cv=3,
    ).fit(X, y)
    assert len(search.cv_results_["params"]) == 3
    set_config(enable_metadata_routing=True)
    try:
        ranker = PairwiseAUCClassifier(l2=0.1).set_fit_request(groups=True, sample_weight=False)
        routed = GridSearchCV(ranker, {"loss": ["hinge"]}, cv=GroupKFold(3), scoring="roc_auc")
        routed.fit(X, y, groups=groups)
    finally:
        set_config(enable_metadata_routing=False)
    want = PairwiseAUCClassifier("hinge", l2=0.1).fit(X, y, groups=groups)
    np.testing.assert_allclose(routed.best_estimator_.coef_, want.coef_)


def test_a_fitted_one_is_restored_from_its_scorer(data):
    X, y, *_ = data
    ranker = PairwiseAUCClassifier("logistic").fit(X, y)
    again = PairwiseAUCClassifier.restore(ranker.scorer(), {"loss": "logistic"}, l1=0.0, l2=ranker.l2_)
    np.testing.assert_array_equal(again.predict_proba(X), ranker.predict_proba(X))
    assert again.l2_ == ranker.l2_


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "auto"}, "PairwiseAUCClassifierCV"),
        ({"loss": "hings"}, "loss must be one of 'squared'"),
        ({"loss": 3}, "loss must be one of"),
        ({"l2": "best"}, "l2 must be a number of at least 0 or 'auto'"),
        ({"l1": -1.0}, "l1 must be"),
        ({"max_fpr": 0.0}, "max_fpr must be"),
        (
            {"max_fpr": 0.1, "min_fpr": 0.1},
            r"the region is empty.* got min_fpr=0\.1 and max_fpr=0\.1",
        ),
        ({"min_tpr": 1.0}, "min_tpr must be .* less than 1, got 1.0"),
        ({"equal_groups": "yes"}, "equal_groups must be True or False"),
        ({"negative_rate": 0.0}, "negative_rate must be"),
        ({"tol": 0.0}, "tol must be"),
    ],
)
def test_bad_settings_are_named(data, settings, message):
    X, y, *_ = data
    with pytest.raises(ValueError, match=message):
        PairwiseAUCClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("make", [MBAClassifier, PairwiseAUCClassifier])
@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros(299), "groups must have a value for each of the 300 rows"),
        (np.append(np.zeros(299), np.nan), "groups has no value at row 299"),
        ([None] + [1] * 299, "groups has no value at row 0"),
    ],
)
def test_bad_groups_are_named(data, make, groups, message):
    X, y, *_ = data
    with pytest.raises(ValueError, match=message):
        make().fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="leave out y, sample_weight and groups"):
        make().fit(Blocks(X, y), groups=np.zeros(300))


def test_a_failing_fit_changes_nothing(data):
    X, y, *_ = data
    ranker = PairwiseAUCClassifier().fit(X, y)
    before = dict(vars(ranker))
    with pytest.raises(ValueError, match="NaN"):
        ranker.fit(np.where(np.arange(5) == 2, np.nan, X), y)
    assert vars(ranker).keys() == before.keys()
    assert all(vars(ranker)[name] is before[name] for name in before)


@pytest.mark.data
@pytest.mark.filterwarnings("ignore::mbauc.errors.HeavyTailsWarning")
@pytest.mark.parametrize(("name", "auc"), [("a1a", 0.893), ("w1a", 0.925), ("svmguide3", 0.819)])
def test_real_data(shared_file, name, auc):
    known = datasets.load(name, shared_file(f"{name}.bz2").parent)
    ranker = PairwiseAUCClassifier().fit(known.X, known.y)
    assert roc_auc(known.y_test, ranker.decision_function(known.X_test)) > auc


def test_an_automatic_l2_does_not_vanish_where_the_signal_is_weak(rng):
    X = rng.standard_normal((400, 100))
    y = 0.2 * X[:, 0] + rng.standard_normal(400) > 0
    assert PairwiseAUCClassifier("hinge").fit(X, y).l2_ > 1e-3


@pytest.mark.parametrize("make", [MBAClassifier, PairwiseAUCClassifier, PairwiseAUCClassifierCV])
def test_equal_groups_without_groups_are_refused(data, make):
    X, y, *_ = data
    with pytest.raises(ValueError, match=r"^equal_groups=True needs the group of each row"):
        make(equal_groups=True).fit(X, y)


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic"])
@pytest.mark.parametrize("size", [1e-156, 1e-160])
def test_columns_whose_squares_underflow_are_refused(data, loss, size):
    X, y, *_ = data
    with pytest.raises(ValueError, match="squares underflow float64; rescale"):
        PairwiseAUCClassifier(loss).fit(X * size, y)
    some = X * np.where(np.arange(X.shape[1]) == 0, size, 1.0)
    assert np.isfinite(MBAClassifier().fit(some, y).coef_).all()


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "logistic"])
@pytest.mark.parametrize("region", [(0.05, 0.0), (0.05, 0.5), (0.3, 0.9), (1.0, 0.9), (0.01, 0.99)])
def test_a_region_that_no_weights_can_rank_is_told_and_leaves_a_ranking(loss, region):
    """At zero all directions are as good for the loss, also one that ranks worse than chance."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 6))
    y = X[:, 0] + 3 * rng.standard_normal(3000) > 4
    whole = roc_auc(y, MBAClassifier().fit(X, y).decision_function(X))
    ranker = PairwiseAUCClassifier(loss, max_fpr=region[0], min_tpr=region[1])
    with pytest.warns(MbaucWarning, match="minimise the loss. They rank about as weights for the squared loss"):
        ranker.fit(X, y)
    assert roc_auc(y, ranker.decision_function(X)) == pytest.approx(whole, abs=0.01)
    assert ranker.slope_ > 1
    zero = PairObjective(get_loss(loss), PairWeights.build(y)).at_zero
    assert 2 * (ranker.solution_.objective - zero) <= 1e-4
