"""Fits on a Dask cluster of processes are those of one machine."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier as LocalClassifier
from mbauc import MBAClassifierCV as LocalClassifierCV
from mbauc import metrics
from mbauc.errors import PartError
from mbauc.solvers import choice as limits

dask = pytest.importorskip("dask", reason="needs mbauc[dask]")
pytest.importorskip("distributed", reason="needs mbauc[dask]")
da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")

import dask.dataframe as dd  # noqa: E402

import mbauc.dask.parts as parts_module  # noqa: E402
from mbauc.dask import MBAClassifier, MBAClassifierCV, roc_auc, roc_auc_interval  # noqa: E402
from mbauc.dask.parts import DaskParts  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("client")]


def chunked(X, chunks):
    return da.from_array(X, chunks=(chunks, -1) if X.ndim == 2 else (chunks,))


@pytest.mark.parametrize(
    ("chunks", "weighted"), [(600, False), (75, True), ((0, 1, 250, 0, 349, 0), True)], ids=str
)
def test_the_fit_does_not_depend_on_the_partitions(table, chunks, weighted):
    X, y = table
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 600) if weighted else None
    ours = MBAClassifier().fit(
        chunked(X, chunks), chunked(y, chunks), None if weight is None else chunked(weight, chunks)
    )
    local = LocalClassifier().fit(X, y, weight)
    for name in ("mean_difference", "second_moment"):
        np.testing.assert_allclose(getattr(ours.moments_, name), getattr(local.moments_, name), rtol=1e-10)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
    assert ours.l2_ == pytest.approx(local.l2_, rel=1e-9)


@pytest.mark.usefixtures("in_this_thread")
@pytest.mark.parametrize(("together", "widest"), [(1 << 28, 8), (1500, 4), (1, 2)])
def test_large_results_are_merged_few_at_a_time(table, monkeypatch, together, widest):
    X, y = table
    monkeypatch.setattr("mbauc.rows.parts.protocol.TOGETHER", together)
    widths = []
    original = parts_module.merge_in_order
    monkeypatch.setattr(
        parts_module,
        "merge_in_order",
        lambda merge, results: widths.append(len(results)) or original(merge, results),
    )
    # moments of six columns have 336 bytes
    ours = MBAClassifier().fit(da.from_array(X, chunks=(60, 6)), da.from_array(y, chunks=60))
    assert max(widths) == widest
    np.testing.assert_allclose(ours.coef_, LocalClassifier().fit(X, y).coef_, rtol=1e-9)


def test_partitions_of_one_class(table):
    X, y = table
    order = np.argsort(y, kind="stable")
    ours = MBAClassifier().fit(chunked(X[order], 60), chunked(y[order], 60))
    np.testing.assert_allclose(ours.coef_, LocalClassifier().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"solver": "matrix-free", "tol": 1e-12}], ids=str)
def test_sparse_blocks_and_unknown_sizes(table, settings):
    X, y = table
    X = np.where(np.abs(X) < 3, 0.0, X)
    local = LocalClassifier(**settings).fit(X, y)
    rows, labels = chunked(X, 150).map_blocks(sp.csr_array), chunked(y, 150)
    ours = MBAClassifier(**settings).fit(rows, labels)
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=1e-8 * np.abs(local.coef_).max())
    everything = labels >= 0
    unknown = chunked(X, 150)[everything]
    assert np.isnan(unknown.chunks[0]).all()
    ours = MBAClassifier(**settings).fit(unknown, labels[everything])
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=1e-8 * np.abs(local.coef_).max())
    np.testing.assert_allclose(ours.decision_function(unknown).compute(), local.decision_function(X), atol=1e-7)


def test_cross_validation_has_the_folds_of_one_machine(table):
    X, y = table
    local = LocalClassifierCV(random_state=3, l2_grid=[0.01, 1.0], cv=3, repeats=2).fit(X, y)
    ours = MBAClassifierCV(random_state=3, l2_grid=[0.01, 1.0], cv=3, repeats=2).fit(
        chunked(X, 70), chunked(y, 70)
    )
    for name in (f"split{k}_test_score" for k in range(6)):
        np.testing.assert_allclose(ours.cv_results_[name], local.cv_results_[name], atol=1e-12)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
    assert ours.best_index_ == local.best_index_


@pytest.mark.parametrize("weighted", [False, True])
def test_a_sampled_fit_is_the_same_on_one_and_on_eight_partitions(table, weighted):
    X, y = table
    weight = np.random.default_rng(0).choice([0.0, 0.5, 2.0], 600) if weighted else None
    local = LocalClassifier(pairs=300, random_state=1).fit(X, y, weight)
    for chunks in (600, 75):
        ours = MBAClassifier(pairs=300, random_state=1).fit(chunked(X, chunks), chunked(y, chunks), weight)
        np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)


def test_a_sampled_fit_by_id_is_the_same_if_rows_are_shuffled(table):
    X, y = table
    ids, order = np.arange(600), np.random.default_rng(0).permutation(600)
    one = MBAClassifier(pairs=300, random_state=1).fit(chunked(X, 600), chunked(y, 600), id=chunked(ids, 600))
    eight = MBAClassifier(pairs=300, random_state=1).fit(
        chunked(X[order], 75), chunked(y[order], 75), id=chunked(ids[order], 75)
    )
    np.testing.assert_allclose(one.coef_, eight.coef_, rtol=1e-9)


# -- scores --------------------------------------------------


@pytest.mark.parametrize(("n_ranges", "weighted"), [(1, False), (5, True)])
def test_auc_and_interval_are_those_of_one_machine(monkeypatch, n_ranges, weighted):
    monkeypatch.setattr(parts_module, "_RANGE_ROWS", 2000 // n_ranges)
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.2).astype(int)
    s = np.round(rng.standard_normal(2000) + y, 1)  # many ties
    s[:10] = np.where(np.arange(10) < 5, np.inf, -np.inf)
    order = np.argsort(s, kind="stable")  # partitions of scores that hardly overlap
    y, s = y[order], s[order]
    weight = rng.choice([0.0, 1.0, 2.5], 2000) if weighted else None
    given = {"y_true": chunked(y, 300), "y_score": chunked(s, 300)}
    if weighted:
        given["sample_weight"] = chunked(weight, 300)
    assert roc_auc(**given) == pytest.approx(metrics.roc_auc(y, s, sample_weight=weight), abs=1e-13)
    local = metrics.roc_auc_interval(y, s, sample_weight=weight, weights="frequency" if weighted else None)
    ours = roc_auc_interval(**given)
    assert vars(ours) == pytest.approx(vars(local), rel=1e-10)


def test_auc_of_lazy_scores(table):
    X, y = table
    ranker = MBAClassifier().fit(chunked(X, 100), chunked(y, 100))
    scores = ranker.decision_function(chunked(X, 100))
    expected = metrics.roc_auc(y, LocalClassifier().fit(X, y).decision_function(X))
    assert roc_auc(chunked(y, 100), scores) == pytest.approx(expected, abs=1e-13)


def test_a_fitted_estimator_can_be_pickled_and_leaves_nothing_behind(table, client):
    X, y = table
    for ranker in (
        MBAClassifier(solver="matrix-free"),
        MBAClassifierCV(l2_grid=[0.1], cv=2, solver="matrix-free"),
    ):
        ranker.fit(chunked(X, 100), chunked(y, 100))
        copy = pickle.loads(pickle.dumps(ranker))
        np.testing.assert_array_equal(copy.decision_function(X), ranker.decision_function(X))
    for _ in range(100):  # workers are told in the background
        if not client.futures:
            break
        time.sleep(0.1)
    assert not client.futures


# -- what goes wrong on a worker --------------------------------------------------


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_the_row_that_is_to_blame_is_named(table, solver):
    X, y = table
    X = X.copy()
    X[317, 4] = np.nan
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abcdef")), npartitions=4)
    labels = dd.from_pandas(pd.Series(y), npartitions=4)
    with pytest.raises(PartError, match=r"in partition 2 .*NaN at row 17, column 4 \('e'\)") as caught:
        MBAClassifier(solver=solver).fit(frame, labels)
    assert caught.value.part == 2


def test_a_matrix_too_large_for_the_driver_is_refused(table, monkeypatch):
    X, y = (chunked(one, 100) for one in table)
    monkeypatch.setattr(limits, "parse_memory", lambda _: 1000)
    with pytest.raises(ValueError, match=r"on the driver.*Use solver='matrix-free'"):
        MBAClassifier(solver="gram").fit(X, y)
    assert MBAClassifier().fit(X, y).solver_.name == "matrix-free"


# -- merging --------------------------------------------------


class MakeList:
    """Task: a list with the number of its part."""

    def __call__(self, number, blocks):
        return [number]


class FailOnce:
    """A merge that uses up its first list and fails the first time that it is tried."""

    def __init__(self, path):
        self._path = path

    def __call__(self, first, second):
        first.extend(second)
        if second == [3] and not self._path.exists():
            self._path.touch()
            raise OSError("a passing fault")
        return first


def test_a_merge_that_is_tried_again_does_not_count_twice(tmp_path):
    parts = DaskParts([dask.delayed([k]) for k in range(5)])
    with dask.annotate(retries=2), dask.config.set({"optimization.fuse.active": False}):
        merged = parts.reduce(MakeList(), FailOnce(tmp_path / "failed"))
    assert (tmp_path / "failed").exists()
    assert merged == [0, 1, 2, 3, 4]
