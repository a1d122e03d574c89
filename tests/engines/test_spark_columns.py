"""Arrow batches as blocks of rows, and the params of the Spark ML stages: no session is needed."""

import inspect
from decimal import Decimal

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="needs mbauc[spark]")
pytest.importorskip("pyspark", reason="needs mbauc[spark]")

from mbauc.rows.matrix import is_sparse  # noqa: E402
from mbauc.spark import MBAClassifier as SparkClassifier  # noqa: E402
from mbauc.spark import columns as columns_module  # noqa: E402
from mbauc.spark import roc_auc_interval  # noqa: E402
from mbauc.spark.columns import Columns  # noqa: E402
from mbauc.spark.ml import MBARanker, MBARankerModel  # noqa: E402
from mbauc.spark.ml_params import SETTINGS  # noqa: E402

pytestmark = pytest.mark.spark

VECTOR = pa.struct(
    [
        ("type", pa.int8()),
        ("size", pa.int32()),
        ("indices", pa.list_(pa.int32())),
        ("values", pa.list_(pa.float64())),
    ]
)


def vector(values, sparse):
    """As Spark writes a vector into Arrow."""
    if not sparse:
        return {"type": 1, "size": None, "indices": None, "values": list(values)}
    used = np.flatnonzero(values)
    return {"type": 0, "size": len(values), "indices": used.tolist(), "values": [values[k] for k in used]}


def batches(size, **columns):
    whole = pa.record_batch(columns)
    return [whole.slice(start, size) for start in range(0, whole.num_rows, size)]


def put_together(blocks):
    blocks = list(blocks)
    X = [X.toarray() if is_sparse(X) else X for X, *_ in blocks]
    return np.vstack(X), np.concatenate([y for _, y, *_ in blocks])


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed", "array", "columns"])
@pytest.mark.parametrize(("batch", "rows", "size"), [(1, 3, 1 << 26), (7, 5, 1 << 26), (20, 1 << 17, 150)])
def test_blocks_do_not_depend_on_the_batches(rng, monkeypatch, kind, batch, rows, size):
    # batches of all sizes against blocks of all sizes: put together, or cut, by rows or by bytes
    monkeypatch.setattr(columns_module, "_BLOCK_ROWS", rows)
    monkeypatch.setattr(columns_module, "_BLOCK_BYTES", size)
    X = rng.integers(-2, 3, (20, 3)).astype(float)
    y = rng.integers(0, 2, 20)
    label = pa.array(y)
    if kind == "columns":
        columns = Columns(("a", "b", "c"), 3, "y")
        given = batches(batch, a=pa.array(X[:, 0]), b=pa.array(X[:, 1]), c=pa.array(X[:, 2]), y=label)
    else:
        columns = Columns(("x",), 3, "y")
        if kind == "array":
            features = pa.array(X.tolist())
        else:
            sparse = {"dense": [False] * 20, "sparse": [True] * 20, "mixed": [k % 3 == 0 for k in range(20)]}
            rows_of = [vector(row, flag) for row, flag in zip(X, sparse[kind], strict=True)]
            features = pa.array(rows_of, VECTOR)
        given = batches(batch, x=features, y=label)
    blocks = list(columns.blocks(iter(given)))
    assert all(X.shape[0] == y.size for X, y, *_ in blocks)
    assert len(blocks) > 1
    found, labels = put_together(blocks)
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(labels, y)


def test_groups_are_a_column_of_their_own():
    [batch] = batches(9, c0=pa.array([1, 2]), c1=pa.array([0, 1]), c2=pa.array(["a", "b"]))
    columns = Columns(("x",), 1, "y", group="query")
    assert columns.names == ["x", "y", "query"]
    [(_, _, weight, ids, groups)] = columns.blocks([batch])
    assert groups.tolist() == ["a", "b"]
    assert weight is ids is None
    [labels] = batches(9, c1=pa.array([0, 1]), c2=pa.array(["a", None]))
    with pytest.raises(ValueError, match="column 'query' has no value in row 1"):
        list(columns.labels_only().blocks([labels]))


def test_columns_are_read_by_their_place_whatever_they_are_called():
    [batch] = batches(9, c0=pa.array([1, 2]), c1=pa.array([3.0, 4.0]), c2=pa.array(["n", "p"]))
    [(X, y, *_)] = Columns(("a.b", "`"), 2, "the label").blocks([batch])
    assert X.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    assert y.tolist() == ["n", "p"]


def test_all_sorts_of_numbers():
    [batch] = batches(
        9,
        a=pa.array([True, False]),
        b=pa.array([1, None], pa.int8()),
        c=pa.array([Decimal("1.25"), Decimal("-2")]),
        d=pa.array([None, True]),
        y=pa.array([Decimal(0), Decimal(1)]),
        w=pa.array([0.5, 2.0], pa.float32()),
        i=pa.array(["p", "q"]),
    )
    [(X, y, weight, ids, _)] = Columns(("a", "b", "c", "d"), 4, "y", "w", "i").blocks([batch])
    np.testing.assert_array_equal(X, [[1, 1, 1.25, np.nan], [0, np.nan, -2, 1]])
    assert (y.tolist(), weight.tolist(), ids.tolist()) == ([0, 1], [0.5, 2], ["p", "q"])


def test_an_all_whole_table_stays_whole():
    [(X, *_)] = Columns(("a", "b"), 2, "a").blocks(batches(9, a=pa.array([1], pa.int8()), b=pa.array([True])))
    assert X.dtype == np.int8


@pytest.mark.parametrize(
    ("features", "label", "said"),
    [
        (pa.array([[1.0, 2.0], [1.0], [3.0, 4.0]]), [0, 1, 0], "'x' has 1 numbers in row 1, but 2 elsewhere"),
        (pa.array([[1.0, 2.0], [1.0, 2.0], None]), [0, 1, 0], "'x' has no value in row 2"),
        (pa.array([vector([1.0] * k, k == 2) for k in (2, 2, 3)], VECTOR), [0, 1, 0], "3 numbers in row 2"),
        (pa.array([vector([0.0] * k, True) for k in (2, 1, 2)], VECTOR), [0, 1, 0], "1 numbers in row 1"),
        (pa.array([vector([1.0, 0.0], True), None, None], VECTOR), [0, 1, 0], "'x' has no value in row 1"),
        (pa.array([[1.0, 2.0]] * 3), [0, None, 1], "'y' has no value in row 1"),
    ],
)
@pytest.mark.parametrize("batch", [1, 3])
def test_what_is_wrong_is_said_with_its_row(monkeypatch, features, label, said, batch):
    monkeypatch.setattr(columns_module, "_BLOCK_ROWS", batch)
    with pytest.raises(ValueError, match=said):
        list(Columns(("x",), 2, "y").blocks(batches(batch, x=features, y=pa.array(label))))


def test_no_rows_are_no_blocks():
    assert list(Columns(("x",), 1, "y").blocks([])) == []
    nothing = pa.record_batch({"x": pa.array([], pa.float64()), "y": pa.array([], pa.int64())})
    assert list(Columns(("x",), 1, "y").blocks([nothing])) == []


# -- params -------------------------------------------------------------------------------------------------

GIVEN = {
    "featuresCol": "f",
    "labelCol": "y",
    "predictionCol": "p",
    "rawPredictionCol": "r",
    "probabilityCol": "q",
    "weightCol": "w",
    "groupCol": "query",
    "equalGroups": True,
    "idCol": "i",
    "l1": 0.25,
    "l2": 2.0,
    "scale": True,
    "pairs": 70,
    "pairing": "complete",
    "negativeRate": 0.5,
    "solver": "gram",
    "tol": 1e-3,
    "maxIter": 7,
    "seed": 3,
}


def test_every_param_has_a_keyword_a_setter_and_a_getter():
    by_keyword, by_call = MBARanker(**GIVEN), MBARanker().setParams(**GIVEN)
    by_setter = MBARanker()
    assert {param.name for param in by_setter.params} == set(GIVEN)
    for name, value in GIVEN.items():
        upper = name[0].upper() + name[1:]
        assert getattr(by_setter, f"set{upper}")(value) is by_setter
        for ranker in (by_keyword, by_call, by_setter):
            assert getattr(ranker, f"get{upper}")() == value
            assert ranker.isSet(name)


def test_getters_and_setters_tell_what_they_are_for():
    assert MBARanker.setTol.__doc__ == "Convergence tolerance of the solver (> 0); see mbauc.MBAClassifier."
    assert "l2 penalty on the weights (>= 0), or 'auto'" in MBARanker().explainParam("l2")
    for name in GIVEN:
        upper = name[0].upper() + name[1:]
        for method in (f"get{upper}", f"set{upper}"):
            assert getattr(MBARanker, method).__name__ == method
            assert getattr(MBARanker, method).__doc__


def test_only_columns_that_a_model_reads_and_adds_can_be_set_on_it():
    setters = {name for name in dir(MBARankerModel) if name.startswith("set") and name[3:4].isupper()}
    columns = ("FeaturesCol", "PredictionCol", "RawPredictionCol", "ProbabilityCol")
    assert setters == {f"set{name}" for name in columns}


def test_params_not_given_have_the_defaults_of_the_classifier():
    ranker = MBARanker(tol=None, weightCol=None)
    assert not ranker.isDefined("tol")
    settings = ranker.settings()
    assert settings.pop("random_state") == 0
    from mbauc import MBAClassifier

    assert settings == {name: MBAClassifier().get_params()[name] for name in settings}
    assert set(settings) | {"random_state"} == {one.name for one in SETTINGS}
    keywords = inspect.signature(MBARanker.__init__).parameters
    for param in ranker.params:
        default = ranker.getOrDefault(param) if ranker.isDefined(param) else None
        assert (param.name, keywords[param.name].default) == (param.name, default)
    assert MBARanker(l2="auto", pairs="all").getL2() == "auto"
    assert MBARanker(seed=-1).settings()["random_state"] == 2**64 - 1


def test_copies_take_extra_params_along():
    ranker = MBARanker(l1=0.5)
    other = ranker.copy({ranker.l2: 3.0})
    assert (other.getL1(), other.getL2(), ranker.getL2(), other.uid) == (0.5, 3.0, "auto", ranker.uid)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"l2": "some"}, "l2"),
        ({"pairs": "enough"}, "pairs"),
        ({"pairs": 1.5}, "pairs"),
        ({"l1": "auto"}, "l1"),
        ({"scale": 1}, "scale"),
        (
            {"regParam": 0.1},
            "MBARanker has no param 'regParam'; it has equalGroups, featuresCol, groupCol, idCol, l1,",
        ),
    ],
)
def test_strange_params_are_refused(params, said):
    with pytest.raises(TypeError, match=said):
        MBARanker().setParams(**params)
    with pytest.raises(TypeError, match="forces keyword arguments"):
        MBARanker(0.5)


@pytest.mark.parametrize(("weights", "sparse"), [([1.0, 0.0], False), ([0.0] * 19 + [2.0], True)])
def test_a_model_is_what_its_ranker_is(table, weights, sparse):
    from pyspark.ml.linalg import SparseVector

    from mbauc import MBAClassifier

    ranker = MBAClassifier().fit(*table)
    ranker.coef_, ranker.intercept_ = np.array([weights]), np.array([0.5])
    model = MBARankerModel(ranker)
    assert isinstance(model.coefficients, SparseVector) == sparse
    assert model.coefficients.toArray().tolist() == weights
    assert (model.intercept, model.numFeatures, model.numClasses) == (0.5, len(weights), 2)
    local = model.toLocal()
    assert local is not ranker
    assert local.coef_ is ranker.coef_


@pytest.mark.parametrize(
    "named",
    [
        {"features": ["a", "b"]},
        {"label": "click"},
        {"weight": "w"},
        {"group": "user"},
        {"id": "row"},
        {"classes": (0, 1)},
    ],
)
def test_rows_in_memory_have_no_columns_to_name(table, named):
    [name] = named
    with pytest.raises(ValueError, match=f"^{name} is for DataFrames, and X is in memory; leave out {name}"):
        SparkClassifier().fit(*table, **named)


@pytest.mark.parametrize("wrong", [{"confidence": 95}, {"scale": "probit"}])
def test_an_interval_that_cannot_be_is_refused_before_any_job(wrong):
    [name] = wrong
    with pytest.raises(ValueError, match=f"^{name} must be"):
        roc_auc_interval(None, "score", **wrong)
