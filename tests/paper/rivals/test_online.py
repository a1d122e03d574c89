import copy
import pickle
import warnings

import numpy as np
import pytest
from contenders import CLASSES, DRAWING, EVERY, WALKING, fresh, snapshot
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from mbauc import MBAClassifier, PairMoments
from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, OnlineLogisticRegression
from mbauc.paper.rivals.blocks import Table

RANDOM = [*DRAWING, "oam sequential", "oam gradient", "opauc sketched", "opauc uncentred", "ada sketched"]


class TestRandomness:
    @pytest.mark.parametrize("name", EVERY)
    def test_the_same_seed_gives_the_same_bits(self, holes, name):
        one, two, other = (fresh(name, random_state=seed, max_iter=2).fit(*holes) for seed in (3, 3, 4))
        np.testing.assert_array_equal(one.coef_, two.coef_)
        assert one.loss_curve_ == two.loss_curve_
        assert not np.array_equal(one.coef_, other.coef_)

    @pytest.mark.parametrize("name", EVERY)
    def test_forms_of_a_seed(self, holes, name):
        new = [fresh(name, random_state=np.random.default_rng(3)).fit(*holes).coef_ for _ in range(2)]
        np.testing.assert_array_equal(*new)
        numbers = [fresh(name, random_state=3).fit(*holes).coef_ for _ in range(2)]
        np.testing.assert_array_equal(*numbers)
        old = [fresh(name, random_state=np.random.RandomState(3)).fit(*holes).coef_ for _ in range(2)]
        np.testing.assert_array_equal(*old)

    @pytest.mark.parametrize("name", WALKING)
    def test_without_shuffling_only_draws_depend_on_the_seed(self, holes, name):
        one, two = (fresh(name, shuffle=False, random_state=seed).fit(*holes) for seed in (3, 4))
        assert np.array_equal(one.coef_, two.coef_) == (name not in RANDOM)

    @pytest.mark.parametrize("name", WALKING)
    def test_each_pass_has_an_order_of_its_own(self, holes, name):
        X, y = holes
        fitted = fresh(name, random_state=3, max_iter=2).fit(X, y)
        if name not in RANDOM:
            rng = np.random.default_rng(3)
            orders = [rng.permutation(400) for _ in range(2)]
            one = fresh(name, shuffle=False).fit(X[orders[0]], y[orders[0]])
            assert one.loss_curve_ == fitted.loss_curve_[:1]
        unmoved = fresh(name, random_state=3, shuffle=False, max_iter=2).fit(X, y)
        assert not np.array_equal(fitted.coef_, unmoved.coef_)

    def test_without_a_seed_every_fit_differs(self, holes):
        one, two = (fresh("ftrl", random_state=None).fit(*holes) for _ in range(2))
        assert not np.array_equal(one.coef_, two.coef_)


class TestStopping:
    @pytest.mark.parametrize("name", EVERY)
    def test_without_tol_all_passes_are_made(self, holes, name):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fitted = fresh(name, max_iter=7, tol=None).fit(*holes)
        assert fitted.n_iter_ == len(fitted.loss_curve_) == 7
        assert np.isfinite(fitted.loss_curve_).all()

    @pytest.mark.parametrize("name", EVERY)
    def test_a_tol_that_nothing_reaches_stops_at_once(self, holes, name):
        fitted = fresh(name, max_iter=50, tol=1e6, n_iter_no_change=3).fit(*holes)
        assert fitted.n_iter_ == len(fitted.loss_curve_) == 4
        same = fresh(name, max_iter=4).fit(*holes)
        np.testing.assert_array_equal(fitted.coef_, same.coef_)

    @pytest.mark.parametrize("name", ["logistic", "ftrl", "ada", "logistic pairs"])
    @pytest.mark.parametrize("patience", [1, 4])
    def test_stops_when_no_pass_of_the_last_few_was_better(self, holes, name, patience):
        tol = 1e-3
        fitted = fresh(name, max_iter=500, tol=tol, n_iter_no_change=patience).fit(*holes)
        curve = fitted.loss_curve_
        assert patience < fitted.n_iter_ == len(curve) < 500
        stale = [
            min(curve[stop - patience : stop]) > min(curve[: stop - patience]) - tol
            for stop in range(patience + 1, len(curve) + 1)
        ]
        assert stale == [False] * (len(stale) - 1) + [True]

    @pytest.mark.parametrize("name", EVERY)
    def test_running_out_of_passes_is_told(self, holes, name):
        with pytest.warns(ConvergenceWarning, match=r"cannot tell .* after max_iter=2") as caught:
            fitted = fresh(name, max_iter=2, tol=0.0).fit(*holes)
        assert fitted.n_iter_ == 2
        assert caught[0].filename == __file__

    def test_progress_to_the_end_is_told(self, holes):
        with pytest.warns(ConvergenceWarning, match="still made progress after max_iter=4"):
            OnlineLogisticRegression(1e-3, max_iter=4, n_iter_no_change=2, tol=0.0).fit(*holes)

    def test_a_loss_that_stays_the_same_is_no_progress(self):
        X, y = np.array([[-9.0], [9.0], [-8.0], [8.0]]), [0, 1, 0, 1]
        fitted = OAM(1.0, max_iter=50, tol=0.0, n_iter_no_change=3, random_state=0).fit(X, y)
        assert fitted.n_iter_ < 10

    @pytest.mark.parametrize("name", ["logistic", "ftrl", "opauc", "ada", "squared"])
    def test_losses_fall(self, holes, name):
        curve = fresh(name, max_iter=20).fit(*holes).loss_curve_
        assert curve[-1] < curve[0]


class TestComposition:
    @pytest.mark.parametrize("name", EVERY)
    def test_clone_copy_and_pickle(self, holes, name):
        X, y = holes
        fitted = fresh(name).fit(X[:300], y[:300])
        empty = clone(fitted)
        assert not hasattr(empty, "coef_")
        with pytest.raises(NotFittedError):
            empty.predict(X)
        for again in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
            np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
            again.partial_fit(X[300:], y[300:])
        fitted.partial_fit(X[300:], y[300:])
        np.testing.assert_array_equal(again.coef_, fitted.coef_)

    @pytest.mark.parametrize("estimator", CLASSES)
    def test_parameters_are_kept_as_given(self, estimator):
        given = estimator().get_params()
        assert "random_state" in given
        for name, value in given.items():
            assert getattr(estimator(**{name: value}), name) is value
        assert set(vars(estimator())) == set(given)

    def test_grid_search(self, holes):
        X, y = holes
        for rival, grid in (
            (fresh("logistic"), {"l2": [1e-3, 1e3]}),
            (fresh("opauc"), {"l2": [1e-3, 1e3], "eta0": [1e-4]}),
            (fresh("hinge"), {"l2": [1e-3, 1e3], "loss": ["hinge", "logistic"]}),
            (fresh("oam gradient"), {"update": ["sequential", "gradient"]}),
        ):
            search = GridSearchCV(rival, grid, scoring="roc_auc", cv=3).fit(X, y)
            assert np.isfinite(search.cv_results_["mean_test_score"]).all()
            assert search.best_score_ > 0.7
            assert search.best_params_.get("l2", 1e-3) in (1e-3, 1e3)

    @pytest.mark.parametrize("name", EVERY)
    def test_pipelines_rank(self, holes, name):
        X, y = holes
        for given in (X, sp.csr_array(X)):
            pipe = make_pipeline(MaxAbsScaler(), fresh(name, max_iter=20)).fit(given, y)
            assert roc_auc_score(y, pipe.decision_function(given)) > 0.8

    @pytest.mark.parametrize("name", EVERY)
    def test_predictions_cut_at_zero(self, holes, name):
        X, y = holes
        fitted = fresh(name).fit(X, y)
        s = fitted.decision_function(X)
        np.testing.assert_allclose(s, X @ fitted.coef_[0] + fitted.intercept_[0], atol=1e-12)
        np.testing.assert_array_equal(fitted.predict(X), (s > 0).astype(int))
        assert hasattr(fitted, "predict_proba") == (name in ("logistic", "logistic auto", "ftrl"))
        assert fitted.coef_.shape == (1, 8)
        assert fitted.intercept_.shape == (1,)


@pytest.mark.parametrize(
    ("rival", "changed", "before"),
    [(OPAUC(rank=3), {"rank": None}, 3), (AdaOAM(), {"rank": 2}, None), (OAM(), {"buffer_size": 7}, 100)],
)
def test_what_a_stream_remembers_by_cannot_change(holes, rival, changed, before):
    X, y = holes
    stream = clone(rival).partial_fit(X, y)
    (name,) = changed
    with pytest.raises(ValueError, match=f"{name} must be {before} as when the stream began"):
        stream.set_params(**changed).partial_fit(X, y)
    stream.fit(X, y).partial_fit(X, y)


@pytest.mark.parametrize("name", EVERY)
def test_new_settings_change_nothing_until_the_next_fit(holes, name):
    fitted = fresh(name).fit(*holes)
    before = fitted.coef_
    other = {"C": 5.0, "alpha": 5.0, "beta": 5.0, "lambda_1": 5.0, "lambda_2": 5.0, "eta0": 5.0, "l2": 5.0}
    fitted.set_params(**{key: value for key, value in other.items() if key in fitted.get_params()})
    np.testing.assert_array_equal(fitted.coef_, before)


@pytest.mark.parametrize("bad", ["x", -1, 1.5])
def test_a_bad_seed_is_named(holes, bad):
    for rival in (OnlineLogisticRegression(random_state=bad), OAM(random_state=bad)):
        with pytest.raises(ValueError, match=r"^random_state must be"):
            rival.fit(*holes)


@pytest.mark.parametrize("name", EVERY)
def test_an_interrupted_stream_is_as_it_was(holes, name, monkeypatch):
    X, y = holes
    fitted = fresh(name).partial_fit(X, y)
    before = snapshot(fitted)
    blocks = Table.blocks
    monkeypatch.setattr(Table, "rows_a_block", 100)

    def interrupted(self, order, step):
        for number, block in enumerate(blocks(self, order, step)):
            if number == 2:
                raise KeyboardInterrupt
            yield block

    def block(self, order, calls=[]):  # noqa: B006
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(self, order)

    original = Table.block
    if name in WALKING:
        monkeypatch.setattr(Table, "blocks", interrupted)
    else:
        monkeypatch.setattr(Table, "block", block)
    with pytest.raises(KeyboardInterrupt):
        fitted.partial_fit(X, y)
    assert snapshot(fitted) == before


def test_a_generator_is_left_to_its_owner(holes):
    owner = np.random.default_rng(3)
    stream = OAM(random_state=owner).partial_fit(*holes)
    state = owner.bit_generator.state
    stream.partial_fit(*holes)
    assert owner.bit_generator.state == state
    assert not np.array_equal(
        OAM(random_state=owner).fit(*holes).coef_, OAM(random_state=owner).fit(*holes).coef_
    )


def test_the_kind_of_step_cannot_change_in_a_stream(holes):
    stream = OnlineLogisticRegression("auto").partial_fit(*holes)
    with pytest.raises(ValueError, match=r"eta0 must be 'auto' as when the stream began, got 0\.5"):
        stream.set_params(eta0=0.5).partial_fit(*holes)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("size", [1e-160, 1e150])
def test_values_whose_squares_vanish_or_overflow_are_refused(holes, name, size):
    X, y = holes
    fitted = fresh(name).partial_fit(X, y)
    before = snapshot(fitted)
    for given in (X * size, sp.csr_array(X * size)):
        with pytest.raises(ValueError, match="rescale the features"):
            fitted.partial_fit(given, y)
        assert snapshot(fitted) == before


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [([0, 1, 2], [0, 7]), ([0, 1, 2], [0, -1]), ([0, 2, 1], [0, 1]), ([0, 1, 9], [0, 1])],
)
def test_a_broken_sparse_matrix_is_refused(indptr, indices):
    X = sp.csr_array((2, 3))
    X.data, X.indices, X.indptr = np.ones(2), np.array(indices, np.int32), np.array(indptr, np.int32)
    whole = np.arange(6.0).reshape(2, 3)
    for model in (*(fresh(name) for name in EVERY), MBAClassifier(l2=1.0)):
        with pytest.raises(ValueError, match="broken sparse matrix"):
            model.fit(X, [0, 1])
        with pytest.raises(ValueError, match="broken sparse matrix"):
            model.fit(whole, [0, 1]).decision_function(X)
    with pytest.raises(ValueError, match="broken sparse matrix"):
        PairMoments.from_arrays(X, [0, 1])


def test_one_row_at_a_time_costs_the_same_all_along():
    """Neither what a stream remembers nor its losses are copied for a row."""
    stream = FTRLProximal().partial_fit([[1.0]], [0], classes=[0, 1])
    curve, state = stream.loss_curve_, stream._state
    stream.partial_fit([[1.0]], [1])
    assert stream.loss_curve_ is curve
    assert stream._state is state


@pytest.mark.slow
def test_searching_in_processes(holes):
    grid = {"alpha": [0.03, 0.3]}
    found = [
        GridSearchCV(FTRLProximal(random_state=0), grid, scoring="roc_auc", n_jobs=n).fit(*holes)
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*(search.cv_results_["mean_test_score"] for search in found))


def test_a_broken_column_matrix_is_refused():
    X = sp.csc_array((4, 2))
    X.data, X.indices, X.indptr = np.ones(2), np.array([1, 10**6]), np.array([0, 1, 2])
    for model in (FTRLProximal(), MBAClassifier()):
        with pytest.raises(ValueError, match="must lie between 0 and 3, the last row, got 1 to 1,000,000"):
            model.fit(X, [0, 1, 0, 1])


def test_dates_are_no_numbers(holes):
    dates = np.full((4, 2), np.datetime64("2020-01-01"))
    for model in (FTRLProximal(), MBAClassifier()):
        with pytest.raises(ValueError, match="holds dates or times"):
            model.fit(dates, [0, 1, 0, 1])


@pytest.mark.parametrize("name", ["logistic", "ftrl", "oam sequential", "squared"])
def test_short_column_numbers(holes, name):
    X, y = holes
    sparse = sp.csr_array(X)
    want = fresh(name).fit(sparse, y).coef_
    sparse.indices = sparse.indices.astype(np.int16)
    np.testing.assert_array_equal(fresh(name).fit(sparse, y).coef_, want)


@pytest.mark.parametrize("name", EVERY)
def test_a_stream_goes_on_from_memory_that_cannot_be_written_to(holes, name):
    X, y = holes
    want = fresh(name).partial_fit(X, y).partial_fit(X, y).coef_
    stream = fresh(name).partial_fit(X, y)
    for array in vars(stream._state).values():
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    before = stream.coef_
    np.testing.assert_array_equal(stream.partial_fit(X, y).coef_, want)
    assert not np.array_equal(before, want)


@pytest.mark.parametrize("name", EVERY)
def test_a_stream_knows_its_width(holes, name):
    X, y = holes
    stream = fresh(name).partial_fit(X, y)
    stream.n_features_in_ = 16
    with pytest.raises(ValueError, match="the number of columns must be 8 as when the stream began, got 16"):
        stream.partial_fit(np.c_[X, X], y)
