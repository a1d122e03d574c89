"""What is said of collections that cannot be fitted or scored."""

import numpy as np
import pytest

from mbauc.errors import PartError

da = pytest.importorskip("dask.array", reason="needs mbauc[dask]")
dd = pytest.importorskip("dask.dataframe", reason="needs mbauc[dask]")

import dask.bag as db  # noqa: E402

from mbauc.dask import MBAClassifier, MBAClassifierCV, roc_auc, roc_auc_interval  # noqa: E402

pytestmark = pytest.mark.usefixtures("in_this_thread")

FEATURES = list("abcdef")


def test_wrong_collections(arrays, lazy, table):
    X, y = arrays
    bag = db.from_sequence([table], npartitions=1)
    unknown = X[y >= 0]
    for given, words in [
        ((X,), "y is None"),
        ((X, y[:-1]), "X has 600 rows and y has 599"),
        ((X, table[1][:-1]), "X has 600 rows and y has 599"),
        ((X, y, np.ones(5)), "X has 600 rows and sample_weight has 5"),
        ((X, 1), "y must be one-dimensional"),
        ((X, "y"), "y must be one-dimensional"),
        ((X, y, 2.0), "sample_weight must be one-dimensional"),
        ((X, da.stack([y, y], axis=1)), r"y must be one-dimensional.*\(600, 2\)"),
        ((X[:, 0], y), r"X must be two-dimensional .* got 1 dimension"),
        ((X[:, :0], y), "X has no columns"),
        ((X.map_blocks(lambda b: b, chunks=(X.chunks[0], (np.nan,))), y), "unknown number of columns"),
        ((X, lazy["y"].repartition(npartitions=3)), "X has 4 partitions and y has 3"),
        ((lazy[FEATURES], lazy["y"].repartition(npartitions=3)), "X has 4 partitions and y has 3"),
        (
            (lazy[FEATURES], lazy["y"], lazy["weight"].repartition(npartitions=2)),
            "4 partitions and sample_weight has 2",
        ),
        ((lazy[FEATURES], table[1]), "y is a ndarray .* unknown sizes"),
        ((unknown, table[1]), "y is a ndarray .* unknown sizes"),
        ((bag, y), "X must be a dask array or dataframe, got Bag"),
        ((bag,), "X must be a dask array or dataframe, got Bag"),
    ]:
        for ranker in (MBAClassifier(), MBAClassifierCV()):
            with pytest.raises(ValueError, match=words):
                ranker.fit(*given)


def test_wrong_blocks_are_said_with_their_partition(arrays, lazy, table, frame):
    X, y = arrays
    broken = frame.assign(c=frame["c"].where(frame["id"] != 3 * 310))
    missing = da.from_array(np.where(np.arange(600) == 310, np.nan, table[1]), chunks=150)
    shifted = lazy["y"].repartition(divisions=[0, 100, 300, 450, 599])
    for given, words in [
        ((lazy[[*FEATURES, "text"]], lazy["y"]), r"partition \d .*'(yes|no)' at row 0, column 6 \('text'\)"),
        ((lazy.assign(a=lazy["text"].astype("category"))[FEATURES], lazy["y"]), r"at row 0, column 0 \('a'\)"),
        (
            (dd.from_pandas(broken, npartitions=4)[FEATURES], lazy["y"]),
            r"partition 2 .*row 10, column 2 \('c'\)",
        ),
        ((X, missing), "partition 2 .*y contains NaN at row 10"),
        (
            (X, da.from_array(frame["y"].where(frame["id"] != 930).astype("Int64").to_numpy(), chunks=150)),
            "partition 2 ",
        ),
        ((lazy[FEATURES], shifted), r"partition \d .*X has 150 rows and y has shape \(\d+,\)"),
        ((X.astype(str), y), r"partition \d .*real numbers, got dtype <U"),
        ((X + 1j, y), r"partition \d .*real numbers, got dtype complex128"),
    ]:
        for ranker in (MBAClassifier(), MBAClassifierCV()):
            with pytest.raises(PartError, match=words):
                ranker.fit(*given)


def test_wrong_scores(arrays, lazy):
    X, y = arrays
    ranker = MBAClassifier().fit(X, y)
    for given, words in [
        ((np.arange(600) % 2, np.zeros(600)), "y_score must be a dask array or series, got ndarray"),
        ((y, ranker.predict_proba(X)), "one score for each row, got 2 dimensions and 2 columns"),
        ((lazy["y"], lazy[["a", "b"]]), "2 dimensions and 2 columns"),
        ((None, X[:, 0]), "y is None"),
        ((y * 0, X[:, 0]), "one class only"),
        ((y[:-1], X[:, 0]), "600 rows and y has 599"),
    ]:
        with pytest.raises(ValueError, match=words):
            roc_auc(*given)
    with pytest.raises(PartError, match=r"partition 2 .*score of row 10 is NaN"):
        roc_auc(lazy["y"], lazy["a"].where(lazy["id"] != 930))
    never = X[:, 0].map_blocks(lambda scores: 1 / 0, meta=np.empty(0))
    for name, wrong in (("confidence", 95), ("scale", "probit")):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            roc_auc_interval(y, never, **{name: wrong})


def test_wrong_rows_to_score(arrays):
    X, y = arrays
    with pytest.raises(ValueError, match="not fitted"):
        MBAClassifier().decision_function(X)
    ranker = MBAClassifier().fit(X, y)
    with pytest.raises(ValueError, match="two-dimensional"):
        ranker.predict(X[:, 0])
    with pytest.raises(ValueError, match="expecting 6 features"):
        ranker.predict(X[:, :3]).compute()
    with pytest.raises(ValueError, match="got Bag"):
        ranker.predict(db.from_sequence([1]))
