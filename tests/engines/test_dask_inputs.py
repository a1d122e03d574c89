"""All that may be passed as Dask collections, without a cluster."""

import warnings

import numpy as np
import pytest
from scipy import sparse as sp

from mbauc import MBAClassifier as LocalClassifier
from mbauc import MBAClassifierCV as LocalClassifierCV
from mbauc import metrics

dask = pytest.importorskip("dask", reason="needs mbauc[dask]")
da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs mbauc[dask]")

from dask import delayed  # noqa: E402

from mbauc.dask import MBAClassifier, MBAClassifierCV, roc_auc  # noqa: E402
from mbauc.dask.blocks import open_collections  # noqa: E402
from mbauc.errors import PartError  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_this_thread")]

FEATURES = list("abcdef")


def assert_same(ours, table, weight=None, **settings):
    local = LocalClassifier(**settings).fit(*table, weight)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-8)


# -- arrays --------------------------------------------------


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_any_scheduler(arrays, table, scheduler):
    with dask.config.set(scheduler=scheduler):
        assert_same(MBAClassifier().fit(*arrays), table)
        settings = {"solver": "matrix-free", "tol": 1e-13}
        assert_same(MBAClassifier(**settings).fit(*arrays), table, **settings)
        expected = metrics.roc_auc(table[1], table[0][:, 0])
        assert roc_auc(arrays[1], arrays[0][:, 0]) == pytest.approx(expected, abs=1e-14)


def test_chunks_of_columns(table):
    X, y = (da.from_array(one, chunks=100 if one.ndim == 1 else (200, 4)) for one in table)
    ranker = MBAClassifier().fit(X, y)
    assert_same(ranker, table)
    np.testing.assert_allclose(
        ranker.decision_function(X).compute(), ranker.decision_function(table[0]), atol=1e-12
    )


@pytest.mark.parametrize(
    "form", [sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_array], ids=lambda f: f.__name__
)
def test_sparse_chunks(arrays, table, form):
    X = arrays[0].map_blocks(form)
    ranker = MBAClassifier().fit(X, arrays[1])
    assert_same(ranker, table)
    for name in ("decision_function", "predict", "predict_proba"):
        expected = getattr(ranker, name)(table[0])
        np.testing.assert_allclose(getattr(ranker, name)(X).compute(), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["i1", "f2", "f4", ">f8", bool, object])
def test_types_of_numbers(arrays, table, kind):
    X = (table[0] * 3).astype(kind)
    assert_same(MBAClassifier().fit(da.from_array(X, chunks=(100, 6)), arrays[1]), (X, table[1]))


def test_labels_and_weights_in_memory_are_cut_as_the_rows_are(arrays, table, frame):
    weight = frame["weight"].to_numpy()
    for y in (table[1], table[1].tolist(), table[1][:, None], frame["y"], frame["text"], arrays[1].rechunk(77)):
        assert_same(MBAClassifier().fit(arrays[0], y, weight), table, weight)
    assert_same(MBAClassifier().fit(arrays[0], arrays[1][:, None], weight[:, None]), table, weight)


@pytest.mark.parametrize("kind", [bool, "i8", "f4", "U3", object])
def test_labels_of_any_kind(arrays, table, kind):
    labels = {bool: table[1] == 1, "U3": np.where(table[1], "yes", "no")}.get(kind, table[1]).astype(kind)
    ranker = MBAClassifier().fit(arrays[0], da.from_array(labels, chunks=150))
    assert_same(ranker, table)
    predicted = ranker.predict(arrays[0])
    assert predicted.dtype == ranker.classes_.dtype
    np.testing.assert_array_equal(
        predicted.compute(), LocalClassifier().fit(table[0], labels).predict(table[0])
    )


def test_persisted_and_empty_chunks(arrays, table):
    X, y = arrays
    assert_same(MBAClassifier().fit(X.persist(), y.persist()), table)
    cut = ((0, 1, 0, 599, 0),)
    ranker = MBAClassifier().fit(X.rechunk((*cut, -1)), y.rechunk(cut))
    assert_same(ranker, table)
    assert ranker.predict_proba(X.rechunk((*cut, -1))).compute().shape == (600, 2)


# -- dataframes --------------------------------------------------


def test_dataframes(lazy, table, frame):
    X, y = lazy[FEATURES], lazy["y"]
    ranker = MBAClassifier().fit(X, y, lazy["weight"])
    assert_same(ranker, table, frame["weight"])
    assert ranker.feature_names_in_.tolist() == FEATURES
    scores = ranker.decision_function(X)
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), ranker.decision_function(frame[FEATURES]), atol=1e-12)
    assert ranker.predict_proba(X).compute().shape == (600, 2)
    with pytest.raises(ValueError, match="feature names should match"):
        ranker.decision_function(lazy[FEATURES[::-1]]).compute()
    assert_same(MBAClassifier().fit(X, lazy[["y"]], lazy[["weight"]]), table, frame["weight"])


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_columns_in_another_order_in_one_partition(frame, table, solver):
    X, y = frame[FEATURES], dd.from_pandas(frame["y"].reset_index(drop=True), npartitions=2)
    first = y.partitions[0].compute().size
    parts = [delayed(X[:first]), delayed(X[first:][FEATURES[::-1]])]
    lazy = dd.from_delayed(parts, meta=X[:0], verify_meta=False)
    ranker = MBAClassifier(solver=solver, tol=1e-13).fit(lazy, y)
    assert_same(ranker, table, solver=solver, tol=1e-13)
    renamed = X[first:].rename(columns={"b": "β"})
    lazy = dd.from_delayed([parts[0], delayed(renamed)], meta=X[:0], verify_meta=False)
    with pytest.raises(PartError, match=r"partition 1 .*X has no column 'b', which other blocks have"):
        MBAClassifier(solver=solver).fit(lazy, y)


@pytest.mark.parametrize("kind", ["str", "category", "string[pyarrow]", "object"])
def test_labels_of_series(lazy, table, kind):
    ranker = MBAClassifier().fit(lazy[FEATURES], lazy["text"].astype(kind))
    assert_same(ranker, table)
    assert ranker.classes_.tolist() == ["no", "yes"]
    assert_same(MBAClassifier().fit(lazy[FEATURES], lazy["text"].astype("category").cat.as_known()), table)


def test_nullable_and_arrow_columns(lazy, table):
    X = lazy[FEATURES].astype({"a": "Float64", "b": "double[pyarrow]"})
    assert_same(MBAClassifier().fit(X, lazy["y"].astype("Int64")), table)
    assert_same(MBAClassifier().fit(X, (lazy["y"] == 1).astype("boolean")), table)


def test_columns_named_by_numbers_are_not_remembered(lazy, table):
    X = lazy[FEATURES].rename(columns=dict(zip(FEATURES, range(6), strict=True)))
    ranker = MBAClassifier().fit(X, lazy["y"])
    assert not hasattr(ranker, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(ranker.decision_function(X).compute(), ranker.decision_function(table[0]))


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
def test_parquet_whose_columns_are_read_apart(frame, table, tmp_path, filesystem):
    """Few columns of many files are read in fewer partitions than many columns, unless that is prevented."""
    dd.from_pandas(frame, npartitions=9).to_parquet(tmp_path)
    log = dd.read_parquet(tmp_path, filesystem=filesystem)
    assert log["y"].optimize().npartitions < log[FEATURES].optimize().npartitions  # what would go wrong
    X, y, weight = log[FEATURES], log["y"], log["weight"]
    ranker = MBAClassifier().fit(X, y, weight)
    assert_same(ranker, table, frame["weight"])
    sampled = MBAClassifier(pairs=100, random_state=0).fit(X, y, weight, id=log["id"])
    again = MBAClassifier(pairs=100, random_state=0).fit(
        *(dd.from_pandas(frame[name], npartitions=3) for name in (FEATURES, "y", "weight")),
        id=dd.from_pandas(frame["id"], npartitions=3),
    )
    np.testing.assert_allclose(sampled.coef_, again.coef_, rtol=1e-9)
    searched = MBAClassifierCV(random_state=0, l2_grid=[0.1]).fit(X, y)
    read = log.compute()  # files may be read in another order than they were written
    local = LocalClassifierCV(random_state=0, l2_grid=[0.1]).fit(read[FEATURES], read["y"])
    assert searched.best_score_ == pytest.approx(local.best_score_, abs=1e-12)
    scores = ranker.decision_function(X)
    expected = metrics.roc_auc(read["y"], ranker.decision_function(read[FEATURES]))
    assert roc_auc(y, scores) == pytest.approx(expected, abs=1e-12)
    expected = ranker.score(read[FEATURES], read["y"], read["weight"])
    assert ranker.score(X, y, weight) == pytest.approx(expected, abs=1e-12)
    some = log[log["a"] > 3.0]
    kept = frame["a"].to_numpy() > 3.0
    assert_same(MBAClassifier().fit(some[FEATURES], some["y"]), (table[0][kept], table[1][kept]))


class Ids:
    """Task: the ids of a part, in their order."""

    def __call__(self, number, blocks):
        return np.concatenate([np.asarray(ids) for *_, ids, _ in blocks])


def test_rows_that_come_out_of_a_shuffle_stay_together(lazy, table, frame):
    """Each time that it is computed, a shuffle on disk gives rows in another order."""
    shuffled = lazy.shuffle("id", shuffle_method="disk")
    X, y, weight = shuffled[FEATURES], shuffled["y"], shuffled["weight"]
    with dask.config.set(scheduler="threads"):
        ranker = MBAClassifier().fit(X, y, weight)
        assert_same(ranker, table, frame["weight"])
        expected = metrics.roc_auc(frame["y"], frame["a"], sample_weight=frame["weight"])
        assert roc_auc(y, shuffled["a"], sample_weight=weight) == pytest.approx(expected, abs=1e-12)
        searched = MBAClassifierCV(random_state=0, l2_grid=[0.1]).fit(X, y, id=shuffled["id"])
        again = MBAClassifierCV(random_state=0, l2_grid=[0.1]).fit(lazy[FEATURES], lazy["y"], id=lazy["id"])
        assert searched.best_score_ == pytest.approx(again.best_score_, abs=1e-12)
        # the order counts where rows are known by it, so that it is held on to
        parts = open_collections(X, y, weight, shuffled["id"]).parts.fix_order()
        first, second = parts.collect(Ids()), parts.collect(Ids())
        bare = parts.labels_only().collect(Ids())
        for one, other, third in zip(first, second, bare, strict=True):
            np.testing.assert_array_equal(one, other)
            np.testing.assert_array_equal(one, third)
        for given in ((X, y.to_dask_array()), (X.to_dask_array(), y)):
            with pytest.raises(ValueError, match=r"comes out of a shuffle.*Persist the dataframe"):
                MBAClassifier().fit(*given)
        with pytest.raises(ValueError, match="y comes out of a shuffle"):
            roc_auc(y, ranker.decision_function(X))
        kept = shuffled.persist()
        found = roc_auc(kept["y"], ranker.decision_function(kept[FEATURES]))
        assert found == pytest.approx(
            metrics.roc_auc(table[1], ranker.decision_function(frame[FEATURES])), abs=1e-12
        )


def test_partitions_without_rows(lazy, frame):
    ranker = MBAClassifier().fit(lazy[FEATURES], lazy["y"])
    for least in (200, 1000):  # of the ids: the first partitions are empty, and then all of them
        some = lazy[lazy["id"] > 3 * least]
        expected = frame[frame["id"] > 3 * least][FEATURES]
        for name in ("decision_function", "predict", "predict_proba"):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = getattr(ranker, name)(some[FEATURES]).compute()
            np.testing.assert_allclose(
                found, getattr(ranker, name)(frame[FEATURES])[len(frame) - len(expected) :]
            )
            assert found.dtype == getattr(ranker, name)(frame[FEATURES]).dtype


# -- blocks of one's own --------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("known", [True, False], ids=["known sizes", "unknown sizes"])
def test_blocks_that_functions_read(table, frame, form, known):
    """Arrays of delayed blocks, as ``docs/user_guide/clusters.md`` has it."""
    meta = form(np.empty((0, 6)))

    def column(values):
        return da.concatenate(
            [
                da.from_delayed(delayed(values[k : k + 100]), (100 if known else np.nan,), values.dtype)
                for k in range(0, 600, 100)
            ]
        )

    X = da.concatenate(
        [
            da.from_delayed(
                delayed(form(table[0][k : k + 100])), (100 if known else np.nan, 6), float, meta=meta
            )
            for k in range(0, 600, 100)
        ]
    )
    weight = frame["weight"].to_numpy()
    assert_same(MBAClassifier().fit(X, column(table[1]), column(weight)), table, weight)
    settings = {"random_state": 0, "l2_grid": [0.1]}
    cross = MBAClassifierCV(**settings).fit(X, column(table[1]))
    assert cross.best_score_ == pytest.approx(LocalClassifierCV(**settings).fit(*table).best_score_, abs=1e-12)
