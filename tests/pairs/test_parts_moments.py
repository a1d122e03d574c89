"""What is summed over parts is what one machine sums, however the rows are cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse as sp

import reference
from local_parts import LocalParts, Ranker, cut, rows_of
from mbauc import MBAClassifier, PairMoments
from mbauc.errors import CancellationWarning
from mbauc.pairs.operator.of_parts import sum_columns
from mbauc.pairs.tasks import sum_moments
from mbauc.rows.parts.folds import FoldsById
from strategies import close, tables


@st.composite
def cut_tables(draw):
    """A table in parts: (X, y, weight, parts, whether X is sparse)."""
    X, y, weight = draw(tables())
    cuts = draw(st.lists(st.integers(0, len(y)), max_size=6))
    blocks = draw(st.integers(1, 3))
    as_sparse = draw(st.booleans())
    stored = sp.csr_array(X) if as_sparse else X
    return X, y, weight, cut(cuts, stored, y.astype(int), weight, blocks=blocks)


@given(cut_tables())
def test_moments_are_those_of_all_pairs(case):
    X, y, weight, parts = case
    [moments], classes = sum_moments(rows_of(parts, X), 1)
    mu, sigma = reference.pair_moments(X, y, weight)
    close(moments.mean_difference, mu, X, 1)
    close(moments.second_moment, sigma, X, 2)
    assert classes.tolist() == [0, 1]
    assert parts.jobs == ["SumMoments"]


@given(cut_tables())
def test_moments_are_those_of_one_machine_to_ten_digits(case):
    X, y, weight, parts = case
    [moments], _ = sum_moments(rows_of(parts, X), 1)
    local = PairMoments.from_arrays(X, y, weight)
    size = max(float(np.abs(X).max()), 1e-3)
    for name, power in (("mean_difference", 1), ("second_moment", 2)):
        ours, theirs = getattr(moments, name), getattr(local, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-14 * size**power)
    assert moments.counts == local.counts
    np.testing.assert_allclose(moments.weights, local.weights, rtol=1e-14)
    np.testing.assert_allclose(moments.effective_sizes, local.effective_sizes, rtol=1e-13)


@given(cut_tables())
def test_column_sums_by_definition(case):
    X, y, weight, parts = case
    [sums], _ = sum_columns(rows_of(parts, X))
    w = np.ones(len(y)) if weight is None else weight
    np.testing.assert_array_equal(sums.counts, [y.sum(), (~y).sum()])
    np.testing.assert_allclose(sums.weights, [[w[y].sum(), w[~y].sum()], [w[y] @ w[y], w[~y] @ w[~y]]])
    np.testing.assert_array_equal(sums.occurrences.toarray()[0], (X != 0).sum(axis=0))
    assert sums.entries == np.count_nonzero(X)
    for group, own in enumerate((y, ~y)):
        close((sums.ones + sums.sums).toarray()[group], w[own] @ X[own], X, 1)
        close((sums.ones + sums.squares).toarray()[group], w[own] @ X[own] ** 2, X, 2)


@given(cut_tables(), st.integers(2, 4))
def test_folds_add_up_to_the_whole(case, n_folds):
    X, y, weight, parts = case
    parts = LocalParts(
        [[(*b[:3], np.arange(len(b[1])) + 100 * k) for b in part] for k, part in enumerate(parts._parts)]
    )
    rows, rule = rows_of(parts, X, with_ids=True), FoldsById(n_folds, 7)
    folds, _ = sum_moments(rows, 1, rule)
    assert len(folds) == n_folds
    both = sum(folds[1:], folds[0])
    close(both.second_moment, reference.pair_moments(X, y, weight)[1], X, 2)
    by_fold, _ = sum_columns(rows, rule)
    assert [one.counts.tolist() for one in by_fold] == [list(fold.counts) for fold in folds]


@given(cut_tables(), st.randoms(use_true_random=False))
def test_the_order_of_the_parts_does_not_matter(case, random):
    X, _, _, parts = case
    shuffled = list(parts._parts)
    random.shuffle(shuffled)
    [first], _ = sum_moments(rows_of(parts, X), 1)
    [second], _ = sum_moments(rows_of(LocalParts(shuffled), X), 1)
    size = max(float(np.abs(X).max()), 1e-3)
    np.testing.assert_allclose(first.second_moment, second.second_moment, rtol=1e-10, atol=1e-14 * size**2)


# -- the fit --------------------------------------------------


def rare_columns(n=400, d=60, seed=0):
    """Sparse rows of ones and counts; columns from 50 on never occur, and some occur once."""
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=0.05, rng=rng, format="lil")
    X[:, 40:] = 0
    for k in range(10):
        X[k, 40 + k] = 1.0
    X = sp.csr_array(X)
    X.data[:] = np.where(rng.random(X.nnz) < 0.8, 1.0, rng.integers(1, 4, X.nnz))
    y = (X[:, [0]].toarray().ravel() + rng.random(n) > 0.8).astype(int)
    return X, y


def assert_same_fit(ours, local, rtol):
    scale = np.abs(local.coef_).max()
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=rtol * scale)
    assert ours.intercept_[0] == pytest.approx(local.intercept_[0], rel=10 * rtol, abs=10 * rtol * scale)
    assert ours.slope_ == pytest.approx(local.slope_, rel=10 * rtol)
    assert ours.l2_ == pytest.approx(local.l2_, rel=1e3 * rtol)
    np.testing.assert_allclose(ours.effective_sample_size_, local.effective_sample_size_)
    np.testing.assert_allclose(ours.scale_, local.scale_)
    assert ours.n_features_in_ == local.n_features_in_
    np.testing.assert_array_equal(ours.classes_, local.classes_)


SETTINGS = [
    {},
    {"l2": 0.01, "scale": True},
    {"l1": 0.01, "l2": 0.01},
    {"l1": 0.02, "l2": 0.0},
    {"l2": 0.1, "penalty_factors": np.r_[0.0, np.ones(59)]},
    {"l2": 0.01, "negative_rate": 0.1},
    {"weights": "frequency"},
]


@pytest.mark.filterwarnings("ignore::mbauc.errors.FewRowsWarning")
@pytest.mark.parametrize(
    ("settings", "weighted"), [(SETTINGS[0], False), *((settings, True) for settings in SETTINGS)], ids=str
)
@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_the_fit_is_that_of_one_machine(settings, solver, weighted):
    X, y = rare_columns()
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0], y.size) if weighted else None
    parts = cut([0, 7, 7, 150, 151, 390], X, y, weight, blocks=2)
    settings = settings | ({"tol": 1e-12} if solver == "matrix-free" else {})
    ours = Ranker(solver=solver, **settings).fit_parts(parts, X, weighted=weighted)
    local = MBAClassifier(solver=solver, **settings).fit(X, y, weight)
    assert_same_fit(ours, local, 1e-10 if solver == "gram" else 1e-8)
    assert (ours.coef_[0, 50:] == 0).all()
    if solver == "gram":
        np.testing.assert_allclose(ours.coef_standard_errors(), local.coef_standard_errors(), rtol=1e-8)
    else:
        assert not hasattr(ours, "moments_")


def test_a_part_for_every_row(table):
    X, y = table
    parts = cut(list(range(1, len(y))), X, y)
    assert parts.n_parts == len(y)
    assert_same_fit(Ranker().fit_parts(parts, X), MBAClassifier().fit(X, y), 1e-10)


def test_dense_rows_without_a_matrix(table):
    X, y = table
    settings = {"solver": "matrix-free", "tol": 1e-13}
    ours = Ranker(**settings).fit_parts(cut([100, 100, 350], X, y), X)
    assert_same_fit(ours, MBAClassifier(**settings).fit(X, y), 1e-9)


def test_what_was_kept_is_given_back(table):
    X, y = table
    kept = []

    class Watched(LocalParts):
        def persist(self, task):
            kept.append(super().persist(task))
            return kept[-1]

    parts = Watched(cut([100, 300], X, y)._parts)
    Ranker(solver="matrix-free").fit_parts(parts, X)
    assert [one.released for one in kept] == [True]

    class Failing(Ranker):
        def _solve(self, pairs, factors, run=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Failing(solver="matrix-free").fit_parts(parts, X)
    assert [one.released for one in kept] == [True, True]


# -- numbers at the edge --------------------------------------------------


@pytest.mark.parametrize("as_sparse", [False, True])
def test_squares_beyond_floating_point_are_refused(table, as_sparse):
    X, y = table
    X = X.copy()
    X[450, 2] = 1e200
    parts = cut([100, 300], sp.csr_array(X) if as_sparse else X, y)
    with pytest.raises(ValueError, match="column 2 of X holds values whose squares overflow"):
        Ranker(solver="matrix-free").fit_parts(parts, X)
    with pytest.raises(ValueError, match=r"partition 2 .*squares overflow"):
        Ranker(solver="gram").fit_parts(parts, X)


def test_columns_far_from_zero_are_warned_of(table):
    X, y = table
    X = X.copy()
    X[:, 3] += 1e7
    X[:, 4] = 1e7  # constant: nothing to lose
    parts = cut([100, 300], X, y)
    with pytest.warns(CancellationWarning, match=r"column 3 .*1 such column\)") as caught:
        MBAClassifier(solver="matrix-free", l2=0.1).fit_parts(rows_of(parts, X))
    assert caught[0].filename == __file__
    X[:, 3] -= 1e7
    Ranker(solver="matrix-free", l2=0.1).fit_parts(cut([100, 300], X, y), X)


def test_moments_of_columns_far_from_zero_keep_their_digits(table):
    X, y = table
    X = X + 1e6
    ours = Ranker(l2=0.1).fit_parts(cut([100, 300], X, y), X)
    np.testing.assert_allclose(ours.coef_, MBAClassifier(l2=0.1).fit(X, y).coef_, rtol=1e-8)
