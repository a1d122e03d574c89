"""The same weights without a d×d matrix."""

import pickle

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from mbauc import MBAClassifier, MBAClassifierCV
from mbauc.errors import SingularWarning
from mbauc.solvers.choice import Demand, SolverChoice, choose_solver
from mbauc.solvers.workload import Workload

GB = 1e9


def clicks(n=4000, d=300, seed=0):
    """One-hot rows with frequent and rare columns, and labels that depend on them."""
    rng = np.random.default_rng(seed)
    columns = np.minimum((rng.pareto(0.8, (n, 12)) * 5).astype(int) * 7 + np.arange(12), d - 1)
    X = sp.csr_array((np.ones(n * 12), columns.ravel(), np.arange(0, n * 12 + 1, 12)), shape=(n, d))
    X.sum_duplicates()
    X.data[:] = 1.0
    y = rng.random(n) < 1 / (1 + np.exp(1.5 - X @ rng.standard_normal(d)))
    return X, y.astype(int)


@pytest.fixture(scope="module")
def log():
    return clicks()


SETTINGS = [
    {"l2": 0.01},
    {"l2": 0.01, "scale": True},
    {"l1": 0.005, "l2": 0.01},
    {"l1": 0.02, "l2": 0.0, "scale": True},
    {"l2": 0.01, "pairs": 3000},
    {"l2": 0.01, "pairs": 3000, "pairing": "complete"},
    {"l2": 0.1, "penalty_factors": np.r_[0.0, np.ones(299)]},
    {"l2": 0.01, "negative_rate": 0.1},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("form", ["csr", "csc", "dense"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_fit_is_that_of_the_moments(log, settings, form, weighted):
    X, y = log
    X = {"csr": X, "csc": X.tocsc(), "dense": X.toarray()}[form]
    weight = np.random.default_rng(1).uniform(0.5, 2.0, y.size) if weighted else None
    gram, free = (
        MBAClassifier(solver=solver, tol=1e-13, max_iter=5000, random_state=0, **settings).fit(X, y, weight)
        for solver in ("gram", "matrix-free")
    )
    scale = np.abs(gram.coef_).max()
    np.testing.assert_allclose(free.coef_, gram.coef_, atol=2e-5 * scale)
    assert free.intercept_[0] == pytest.approx(gram.intercept_[0], abs=1e-4 * scale)
    assert free.slope_ == pytest.approx(gram.slope_, rel=1e-3)
    assert free.solution_.objective == pytest.approx(gram.solution_.objective, abs=1e-9)
    np.testing.assert_allclose(free.effective_sample_size_, gram.effective_sample_size_)
    np.testing.assert_allclose(free.scale_[gram.scale_ != 1], gram.scale_[gram.scale_ != 1])
    assert free.solver_.name == "matrix-free"
    assert free.solution_.coef.shape == (300,)
    assert not hasattr(free, "moments_")


def test_the_default_stops_where_more_would_not_rank_better(log):
    X, y = log
    rough, chosen = (MBAClassifier(solver=solver).fit(X, y) for solver in ("matrix-free", "gram"))
    assert 1 / 1.5 < rough.l2_ / chosen.l2_ < 1.5
    exact = MBAClassifier(l2=rough.l2_, solver="gram").fit(X, y)
    auc = [roc_auc_score(y, fitted.decision_function(X)) for fitted in (rough, exact)]
    assert auc[0] == pytest.approx(auc[1], abs=1e-3)
    assert rough.l2_ / 4 < exact.l2_ < rough.l2_ * 4
    assert rough.solution_.excess_risk <= 1e-4
    assert rough.n_iter_ < 40


def test_more_columns_than_any_matrix_could_have():
    X, y = clicks(2000, 200)
    wide = sp.csr_array((X.data, X.indices * 1000, X.indptr), shape=(2000, 10_000_000))
    fitted = MBAClassifier(l2=0.01, tol=1e-10).fit(wide, y)
    narrow = MBAClassifier(l2=0.01, solver="gram").fit(X, y)
    assert fitted.solver_.name == "matrix-free"
    assert "TB" in fitted.solver_.reason or "GB" in fitted.solver_.reason
    np.testing.assert_allclose(fitted.coef_[0, ::1000][:200], narrow.coef_[0], atol=1e-4)
    assert np.count_nonzero(fitted.coef_) <= 200
    np.testing.assert_allclose(
        fitted.decision_function(wide), narrow.decision_function(X), atol=1e-3, rtol=1e-3
    )


def test_what_needs_moments_says_so(log):
    X, y = log
    fitted = MBAClassifier(solver="matrix-free").fit(X, y)
    with pytest.raises(ValueError, match="fit with solver='gram'"):
        fitted.coef_standard_errors()
    with pytest.raises(ValueError, match="no moments to add a block to"):
        fitted.partial_fit(X, y)
    with pytest.raises(ValueError, match="within_block=True"):
        MBAClassifier(solver="matrix-free", within_block=True).fit(X, y)
    with pytest.raises(ValueError, match="solver must be"):
        MBAClassifier(solver="cholesky").fit(X, y)


def test_a_later_fit_with_moments_has_them_again(log):
    X, y = log
    fitted = MBAClassifier(solver="matrix-free").fit(X, y)
    fitted.set_params(solver="gram").fit(X, y)
    assert fitted.moments_.counts == (y.sum(), (1 - y).sum())
    fitted.set_params(solver="matrix-free").fit(X, y)
    assert not hasattr(fitted, "moments_")


def test_streams_use_moments_whatever_the_solver(log):
    X, y = log
    stream = clone(MBAClassifier(solver="matrix-free")).partial_fit(X, y, classes=[0, 1])
    assert stream.solver_.name == "gram"
    assert stream.partial_fit(X, y).moments_.counts[0] == 2 * y.sum()


def test_pickle(log):
    X, y = log
    fitted = MBAClassifier(solver="matrix-free").fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert len(pickle.dumps(fitted)) < 50_000


@pytest.mark.parametrize("scoring", ["roc_auc", "binormal_auc", "risk"])
@pytest.mark.parametrize("weighted", [False, True])
def test_cross_validation_scores_what_moments_score(log, scoring, weighted):
    X, y = log
    weight = np.random.default_rng(2).uniform(0.5, 2.0, y.size) if weighted else None
    gram, free = (
        MBAClassifierCV(
            l1_grid=[0.0, 0.01],
            l2_grid=[0.001, 0.01, 0.1],
            cv=3,
            scoring=scoring,
            solver=solver,
            tol=1e-11,
            random_state=0,
        ).fit(X, y, weight)
        for solver in ("gram", "matrix-free")
    )
    for key in ("mean_test_score", "mean_test_binormal_auc", "mean_test_risk", "param_l1", "param_l2"):
        np.testing.assert_allclose(free.cv_results_[key], gram.cv_results_[key], atol=2e-5)
    assert (free.l1_, free.l2_) == (gram.l1_, gram.l2_)
    np.testing.assert_allclose(free.coef_, gram.coef_, atol=1e-4 * np.abs(gram.coef_).max())


def test_default_grids_of_cross_validation(log):
    X, y = log
    gram, free = (
        MBAClassifierCV(l1_grid=2, cv=2, solver=solver, random_state=0).fit(X, y)
        for solver in ("gram", "matrix-free")
    )
    np.testing.assert_allclose(free.cv_results_["param_l1"], gram.cv_results_["param_l1"])
    np.testing.assert_allclose(free.cv_results_["param_l2"], gram.cv_results_["param_l2"])
    assert free.best_score_ == pytest.approx(gram.best_score_, abs=1e-3)


class TestChoice:
    def work(self, n, d, k=None):
        return Workload(n, d, n * (k or d), n * (k or d) ** 2, k is not None)

    @pytest.mark.parametrize(
        ("work", "name"),
        [
            ((1_000_000, 10_000, 39), "matrix-free"),
            ((1_000_000, 1 << 20, 39), "matrix-free"),
            ((40_000, 1 << 20, 33), "matrix-free"),
            ((1_000_000, 100), "gram"),
            ((10_000, 20), "gram"),
            ((30_000, 123, 14), "gram"),
            ((5_000, 15_000), "matrix-free"),
        ],
    )
    def test_by_size(self, work, name):
        assert choose_solver(Demand("auto"), self.work(*work), 8 * GB).name == name

    def test_memory_decides_before_time(self):
        choice = choose_solver(Demand("auto"), self.work(100, 5000, 3), 0.1 * GB)
        assert choice.name == "matrix-free"
        assert "0.6 GB" in choice.reason
        assert "0.1 GB" in choice.reason

    def test_many_penalties_speak_for_the_matrix(self):
        work = self.work(1_000_000, 1000, 39)
        assert choose_solver(Demand("auto", n_l1=10, n_l2=10), work, 8 * GB, n_fits=6).name == "gram"

    def test_many_blocks_speak_against_the_matrix(self, rng):
        block = sp.random_array((1000, 3000), density=0.01, rng=rng, format="csr")
        some, many = (Workload.from_matrix(block, rows, in_blocks=True) for rows in (1000, 1_000_000))
        assert (some.blocks, many.blocks) == (1, 1000)
        assert many.gram_seconds(1, 1) > 40
        assert choose_solver(Demand("auto"), many, 8 * GB).name == "matrix-free"

    @pytest.mark.parametrize(
        ("change", "name"),
        [
            (lambda X: X, "matrix-free"),
            (lambda X: 1e6 + 100.0 * X, "matrix-free"),
            (lambda X: X.astype(np.float32), "matrix-free"),
            (lambda X: np.asfortranarray(X), "matrix-free"),
            (lambda X: np.column_stack([X, np.full(len(X), 3.0)]), "matrix-free"),
            (lambda X: np.column_stack([X, X[:, 0] + 0.01 * X[:, 1]]), "gram"),
            (lambda X: X @ np.triu(np.ones((X.shape[1], X.shape[1]))), "gram"),
            (lambda X: np.where(np.arange(len(X))[:, None] == 0, np.nan, X), "gram"),
        ],
    )
    def test_dense_columns_are_multiplied_only_if_they_are_uncorrelated(self, rng, change, name):
        """Where some combination of columns hardly varies, products would need many steps to see it."""
        X = change(rng.standard_normal((2400, 800)))
        assert choose_solver(Demand("auto"), Workload.from_matrix(X, 1_000_000), 8 * GB).name == name
        # rows of files come in blocks, and are not looked at
        assert (
            choose_solver(Demand("auto"), Workload.from_matrix(X, 1_000_000, in_blocks=True), 8 * GB).name
            == "gram"
        )

    def test_a_wish_is_granted_and_said(self):
        choice = choose_solver(Demand("gram"), self.work(1_000_000, 10_000, 39), 8 * GB)
        assert choice == SolverChoice("gram", "as asked for")
        assert str(choice) == "gram: as asked for"

    def test_sizes_of_matrices(self, rng):
        X = sp.random_array((500, 40), density=0.2, rng=rng, format="csr")
        work = Workload.from_matrix(X)
        assert work.entries == X.nnz
        assert work.squares == pytest.approx(float((np.diff(X.indptr) ** 2.0).sum()))
        assert Workload.from_matrix(X.toarray()) == Workload(500, 40, 20_000.0, 800_000.0, False)
        assert Workload.from_matrix(X, 1000).entries == 2 * X.nnz


@pytest.mark.parametrize("pairs", ["all", 50])
@pytest.mark.parametrize("side", ["test", "train"])
@pytest.mark.parametrize("complement", [True, False])
def test_a_split_that_weights_leave_with_one_class_is_said_so(rng, pairs, side, complement):
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    train, test = np.arange(20), np.arange(20, 40 if complement else 38)
    weight = np.ones(40)
    weight[y == 1] = 0.0
    weight[{"test": train, "train": test}[side]] = 1.0
    for solver in ("gram", "matrix-free"):
        search = MBAClassifierCV(l2_grid=[0.1], cv=[(train, test)], solver=solver, pairs=pairs, random_state=0)
        with pytest.raises(
            ValueError, match="a split is left with one class once rows of zero weight are dropped"
        ):
            search.fit(X, y, weight)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_a_singular_problem_without_a_penalty_is_told_of(rng, make):
    X = rng.standard_normal((50, 60))
    y = np.arange(50) % 2
    with pytest.warns(SingularWarning, match=r"60 columns, of which 49 at most are of use, from 50 rows"):
        MBAClassifier(l2=0.0, solver="matrix-free").fit(make(X), y)
    constant = np.c_[X[:, :3], np.zeros(50)]
    with pytest.warns(SingularWarning, match=r"4 columns, of which 3 at most"):
        MBAClassifier(l2=0.0, solver="matrix-free").fit(make(constant), y)
    MBAClassifier(l2=0.0, solver="matrix-free").fit(make(X[:, :3]), y)
