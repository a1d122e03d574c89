"""What is wrong with rows is said with part, row and column; what does not fit is refused with the way out."""

import pickle

import numpy as np
import pytest
from scipy import sparse as sp

from local_parts import LocalParts, Ranker, RankerCV, cut
from mbauc import MBAClassifier
from mbauc.errors import PartError
from mbauc.solvers import choice as limits
from mbauc.solvers.choice import choose_cluster_solver

NAMES = tuple("abcdef")
RANKERS = {
    "gram": Ranker(),
    "matrix-free": Ranker(solver="matrix-free"),
    "cv": RankerCV(),
    "cv matrix-free": RankerCV(solver="matrix-free"),
}


@pytest.mark.parametrize("name", RANKERS)
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf], ids=str)
def test_bad_values_are_said_with_part_row_and_column(table, name, as_sparse, bad):
    X, y = table
    X = X.copy()
    X[450, 2] = bad
    # three blocks: the row is counted from the beginning of the part, not of its block
    parts = cut([100, 300], sp.csr_array(X) if as_sparse else X, y, blocks=3)
    word = "NaN" if np.isnan(bad) else str(bad)
    with pytest.raises(PartError, match=rf"partition 2 .*{word}.* at row 150, column 2 \('c'\)") as caught:
        RANKERS[name].fit_parts(parts, X, names=NAMES)
    assert caught.value.part == 2
    with pytest.raises(PartError, match=r"row 150, column 2;"):
        RANKERS[name].fit_parts(parts, X)


def test_values_that_are_no_numbers_are_said_by_name(table):
    X, y = table
    mixed = X.astype(object)
    mixed[450, 2] = "many"
    parts = cut([100, 300], mixed, y, blocks=3)
    with pytest.raises(PartError, match=r"partition 2 .*'many' at row 150, column 2 \('c'\)"):
        Ranker().fit_parts(parts, X, names=NAMES)
    with pytest.raises(PartError, match=r"partition 2 .*'many' at row 50, column 2.*begins at row 100"):
        Ranker().fit_parts(parts, X)


def test_an_error_survives_the_way_back_from_a_worker():
    error = pickle.loads(pickle.dumps(PartError(3, "row 5 is odd")))
    assert (error.part, error.reason, str(error)) == (
        3,
        "row 5 is odd",
        "in partition 3 (counted from 0): row 5 is odd",
    )
    assert isinstance(error, ValueError)


def test_blocks_of_other_widths_and_lengths(table):
    X, y = table
    good = (X, y)
    wrong = [
        ((X[:, :4], y), r"partition 1 .*X has 4 columns, expected 6"),
        ((X, y[:-1]), r"partition 1 .*600 rows and y has shape \(599,\)"),
        ((X[:, 0], y), r"partition 1 .*two-dimensional"),
        ((X, y, np.ones(599)), r"partition 1 .*sample_weight.shape == \(599,\), expected \(600,\)"),
        ((X, y, np.full(600, -1.0)), r"partition 1 .*sample_weight has -1.0 at row 0"),
        (
            (X, y, np.where(np.arange(600) == 9, np.nan, 1.0)),
            r"partition 1 .*sample_weight has nan at row 9",
        ),
        ((X, y, np.full(600, "heavy")), "sample_weight must hold numbers"),
        ((X + 1j, y), "real numbers"),
        ((X, y, None, np.arange(5)), r"600 rows and ids of shape \(5,\)"),
    ]
    for block, words in wrong:
        for ranker in RANKERS.values():
            with pytest.raises(PartError, match=words):
                ranker.fit_parts(LocalParts([[good], [block]]), X)


def test_parts_without_any_weight_are_fine(table):
    X, y = table
    weight = np.random.default_rng(0).uniform(0.5, 2.0, 600)
    weight[100:300] = 0.0
    for kind in (float, int):
        parts = cut([100, 300], X, y, np.ceil(weight).astype(kind))
        ours = Ranker().fit_parts(parts, X, weighted=True)
        np.testing.assert_allclose(ours.coef_, MBAClassifier().fit(X, y, np.ceil(weight)).coef_, rtol=1e-10)


@pytest.mark.parametrize("name", RANKERS)
def test_a_fit_that_fails_leaves_the_estimator_as_it_was(table, name):
    X, y = table
    ranker = type(RANKERS[name])(**RANKERS[name].get_params())
    ranker.fit_parts(cut([100], X, y), X, names=NAMES)
    before = dict(vars(ranker))
    bad = X.copy()
    bad[599, 5] = np.nan
    with pytest.raises(PartError):
        ranker.fit_parts(cut([100], bad, y), X)
    assert vars(ranker) == before


def test_names_are_those_that_scikit_learn_knows(table):
    X, y = table
    ranker = Ranker().fit_parts(cut([100], X, y), X, names=NAMES)
    assert ranker.feature_names_in_.tolist() == list(NAMES)
    # numbers are no names, and an earlier fit's are forgotten
    ranker.fit_parts(cut([100], X, y), X, names=tuple(range(6)))
    assert not hasattr(ranker, "feature_names_in_")
    assert ranker.n_features_in_ == 6


# -- what does not fit --------------------------------------------------


@pytest.fixture
def small_driver(monkeypatch):
    monkeypatch.setattr(limits, "parse_memory", lambda _: 3_000_000)


def test_a_matrix_too_large_for_the_driver_is_refused(small_driver):
    X, y = np.eye(400, 300), np.arange(400) % 2
    parts = cut([100], X, y)
    words = r"solver='gram' needs Σ of 300 columns: 0.0 GB on the driver, .*solver='matrix-free'"
    with pytest.raises(ValueError, match=words):
        Ranker(solver="gram").fit_parts(parts, X)
    assert parts.jobs == []  # before any work
    free = Ranker().fit_parts(parts, X)
    assert free.solver_.name == "matrix-free"
    assert "on the driver" in free.solver_.reason


def test_a_matrix_too_large_for_the_engine_is_refused():
    X, y = np.eye(40, 30), np.arange(40) % 2
    room = 8 * 30 * 31
    parts = LocalParts(cut([10], X, y)._parts, largest_result=room - 1)
    with pytest.raises(ValueError, match=r"that a task can send\. Use solver='matrix-free'"):
        Ranker(solver="gram").fit_parts(parts, X)
    with pytest.raises(ValueError, match=r"for 5 folds.*that a task can send"):
        RankerCV(solver="gram").fit_parts(LocalParts(parts._parts, largest_result=room), X)
    assert Ranker().fit_parts(parts, X).solver_.name == "matrix-free"
    assert Ranker().fit_parts(LocalParts(parts._parts, largest_result=room), X).solver_.name == "gram"


def test_folds_and_repeats_take_room_of_their_own(monkeypatch):
    one = 8 * 100 * 101
    parts = LocalParts([])

    def fits(memory, n_folds, repeats):
        monkeypatch.setattr(limits, "parse_memory", lambda _: memory)
        return choose_cluster_solver("auto", 100, parts.largest_result, n_folds, repeats).name == "gram"

    assert fits(9 * one, 5, 1)
    assert not fits(9 * one, 5, 2)
    assert fits(14 * one, 5, 2)
    assert not fits(4 * one, 1, 1)


def test_many_columns_are_multiplied_with():
    parts = LocalParts([])
    assert choose_cluster_solver("auto", 2048, parts.largest_result).name == "gram"
    assert choose_cluster_solver("auto", 2049, parts.largest_result).name == "matrix-free"
    assert choose_cluster_solver("gram", 2049, parts.largest_result).name == "gram"
    assert choose_cluster_solver("matrix-free", 2, parts.largest_result).name == "matrix-free"
