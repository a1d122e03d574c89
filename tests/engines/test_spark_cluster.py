"""Fits on a Spark cluster of processes are those of one machine, whatever happens to the processes."""

import json
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse as sp
from sklearn.exceptions import NotFittedError

from mbauc import AdditiveAUCClassifier as LocalCurves
from mbauc import MBAClassifier as LocalClassifier
from mbauc import MBAClassifierCV as LocalClassifierCV
from mbauc import PairwiseAUCClassifier as LocalPairwise
from mbauc import __version__, metrics
from mbauc.errors import PartError

pytest.importorskip("pyspark", reason="needs mbauc[spark]")
pa = pytest.importorskip("pyarrow", reason="needs mbauc[spark]")

from pyspark.ml import Pipeline, PipelineModel  # noqa: E402
from pyspark.ml.evaluation import BinaryClassificationEvaluator  # noqa: E402
from pyspark.ml.feature import VectorAssembler  # noqa: E402
from pyspark.ml.linalg import Vectors, VectorUDT  # noqa: E402
from pyspark.ml.tuning import CrossValidator, ParamGridBuilder  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from pyspark.sql import types as T  # noqa: E402
from pyspark.storagelevel import StorageLevel  # noqa: E402
from spark_session import killer, session, was_killed, why_not  # noqa: E402

from mbauc.pairs.operator.of_parts import Sweep  # noqa: E402
from mbauc.spark import (  # noqa: E402
    AdditiveAUCClassifier,
    MBAClassifier,
    MBAClassifierCV,
    PairwiseAUCClassifier,
    roc_auc,
    roc_auc_interval,
)
from mbauc.spark import parts as parts_module  # noqa: E402
from mbauc.spark.columns import Columns  # noqa: E402
from mbauc.spark.ml import MBARanker, MBARankerModel  # noqa: E402
from mbauc.spark.parts import SparkParts  # noqa: E402

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

FEATURES = [f"x{k}" for k in range(6)]
N = 600


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    with session(tmp_path_factory.mktemp("spark")) as spark:
        yield spark


@pytest.fixture(scope="module")
def data():
    """Features, labels and weights, some of which are zero."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 6)) @ rng.standard_normal((6, 6)) + 3.0
    y = (X[:, 0] - X[:, 1] + 4 * rng.standard_normal(N) > np.quantile(X[:, 0] - X[:, 1], 0.7)).astype(int)
    return X, y, rng.choice([0.0, 0.5, 2.0], N)


@pytest.fixture(scope="module")
def frame(spark, data):
    X, y, weight = data
    columns = {name: X[:, k] for k, name in enumerate(FEATURES)}
    return spark.createDataFrame(pa.table({**columns, "label": y, "weight": weight, "id": np.arange(N)}))


@pytest.fixture(scope="module")
def local(data):
    X, y, _ = data
    return LocalClassifier().fit(X, y)


def in_order(frame, parts):
    """Neighbouring rows in each partition, in the order of the ids."""
    return frame.repartitionByRange(parts, "id").sortWithinPartitions("id")


CUTS = {
    "1": lambda frame: frame.coalesce(1),
    "in order": lambda frame: in_order(frame, 4),
    "shuffled": lambda frame: frame.repartition(3),
    "most of them empty": lambda frame: frame.repartition(5, F.lit(0)),
    "of one class": lambda frame: frame.repartition(4, "label"),
    "from an adaptive plan": lambda frame: frame.join(frame.select("id"), "id").orderBy("x0"),
}


def assert_same_moments(ours, local):
    assert ours.counts == local.counts
    for name in ("mean_difference", "second_moment"):
        expected = getattr(local, name)
        np.testing.assert_allclose(
            getattr(ours, name), expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max()
        )


@pytest.mark.parametrize("cut", CUTS)
def test_moments_do_not_depend_on_the_partitions(frame, data, local, cut):
    ours = MBAClassifier().fit(CUTS[cut](frame), features=FEATURES)
    assert_same_moments(ours.moments_, local.moments_)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
    assert ours.intercept_ == pytest.approx(local.intercept_, rel=1e-9)
    assert ours.feature_names_in_.tolist() == FEATURES


@pytest.mark.parametrize("cut", ["shuffled", "of one class"])
def test_weights_are_those_of_their_rows(frame, data, cut):
    X, y, weight = data
    expected = LocalClassifier().fit(X, y, weight)
    ours = MBAClassifier().fit(CUTS[cut](frame), features=FEATURES, weight="weight")
    assert_same_moments(ours.moments_, expected.moments_)
    np.testing.assert_allclose(ours.coef_, expected.coef_, rtol=1e-9)


def test_pairs_within_groups_are_those_of_one_machine(frame, data, assembler):
    X, y, weight = data
    groups = np.arange(N) % 5
    given = frame.repartition(3).withColumn("query", (F.col("id") % 5).cast("string"))
    expected = LocalClassifier(l2=1.0, equal_groups=True).fit(X, y, weight, groups=groups)
    ranker = MBARanker(l2=1.0, equalGroups=True, tol=1e-8, weightCol="weight", groupCol="query")
    model = ranker.fit(assembler.transform(given))
    np.testing.assert_allclose(model.coefficients.toArray(), expected.coef_[0], rtol=1e-3, atol=1e-5)
    settings = {"loss": "squared_hinge", "l2": 100.0, "tol": 1e-6}  # few steps: each is a job of Spark's
    expected = LocalPairwise(**settings).fit(X, y, weight, groups=groups).coef_
    ours = PairwiseAUCClassifier(**settings).fit(given, features=FEATURES, weight="weight", group="query")
    np.testing.assert_allclose(ours.coef_, expected, atol=0.005 * np.abs(expected).max())
    assert not np.allclose(
        LocalPairwise(**settings).fit(X, y, weight).coef_, expected, atol=0.005 * np.abs(expected).max()
    )


@pytest.fixture
def merges(monkeypatch):
    """How often a level of a tree is planned."""
    found = []

    def counted(merge):
        found.append(merge)
        return original(merge)

    original = parts_module.make_merger
    monkeypatch.setattr(parts_module, "make_merger", counted)
    return found


def test_many_results_are_merged_level_by_level(frame, local, merges, monkeypatch):
    monkeypatch.setattr("mbauc.rows.parts.protocol.FAN_IN", 2)
    monkeypatch.setattr(parts_module, "_AT_THE_DRIVER", 2)
    ours = MBAClassifier().fit(frame.repartition(6), features=FEATURES)
    assert len(merges) == 2  # six, three, two
    assert_same_moments(ours.moments_, local.moments_)


@pytest.fixture(scope="module")
def broad(spark):
    """800 columns: eight results of 5 MB are more than the driver of these tests accepts."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 800)), np.arange(200) % 2
    rows = pa.table(
        {"features": pa.FixedSizeListArray.from_arrays(X.ravel(), 800).cast(pa.list_(pa.float64())), "label": y}
    )
    return spark.createDataFrame(rows).repartition(8), X, y


def test_results_that_are_large_together_are_merged_before_the_driver(broad, merges):
    frame, X, y = broad
    ours = MBAClassifier(l2=1.0).fit(frame)
    assert len(merges) == 1
    assert_same_moments(ours.moments_, LocalClassifier(l2=1.0, solver="gram").fit(X, y).moments_)


def test_large_results_are_merged_by_two_and_come_to_the_driver_as_one(broad, merges, monkeypatch):
    frame, X, y = broad
    monkeypatch.setattr("mbauc.rows.parts.protocol.TOGETHER", 8_000_000)
    monkeypatch.setattr(parts_module, "TOGETHER", 8_000_000)
    ours = MBAClassifier(l2=1.0).fit(frame)
    assert len(merges) == 3  # eight, four, two, one
    assert_same_moments(ours.moments_, LocalClassifier(l2=1.0, solver="gram").fit(X, y).moments_)


def test_a_gram_matrix_that_is_too_large_is_refused_and_avoided(spark, frame, monkeypatch):
    wide = frame.limit(2).select(F.sequence(F.lit(1), F.lit(2300)).alias("features"), "label")
    with pytest.raises(ValueError, match=r"that a task can send.*Use solver='matrix-free'"):
        MBAClassifier(solver="gram").fit(wide)
    monkeypatch.setattr("mbauc.solvers.choice.parse_memory", lambda memory: 1000)
    with pytest.raises(ValueError, match=r"on the driver.*Use solver='matrix-free'"):
        MBAClassifier(solver="gram").fit(frame, features=FEATURES)
    assert MBAClassifier(l2=10.0).fit(frame, features=FEATURES).solver_.name == "matrix-free"


def test_results_that_the_driver_does_not_accept(spark):
    parts = SparkParts.from_frame(spark.range(0, 10, 1, 3), Columns((), 0, "id"))
    with pytest.raises(ValueError, match=r"spark\.driver\.maxResultSize='48m'\); raise it"):
        parts.collect(lambda number, items: os.urandom(20_000_000))


# -- draws and folds ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_seed_draws_the_same_pairs_from_any_partitions(frame, data, weighted):
    X, y, weight = data
    ranker = MBAClassifier(pairs=200, random_state=3)
    how = {"features": FEATURES, "weight": "weight" if weighted else None}
    expected = LocalClassifier(pairs=200, random_state=3).fit(X, y, weight if weighted else None).coef_
    for parts in (1, 8):
        np.testing.assert_allclose(ranker.fit(in_order(frame, parts), **how).coef_, expected, rtol=1e-9)
    by_id = ranker.fit(in_order(frame, 8), id="id", **how).coef_
    shuffled = frame.orderBy(F.rand(5))
    np.testing.assert_allclose(ranker.fit(shuffled, id="id", **how).coef_, by_id, rtol=1e-9)
    assert not np.allclose(by_id, expected)


@pytest.mark.parametrize("solver", ["gram", "matrix-free"])
def test_cross_validation_is_that_of_one_machine(frame, data, solver):
    X, y, _ = data
    how = {
        "l2_grid": [10.0, 1.0] if solver == "gram" else [10.0],
        "cv": 2,
        "random_state": 0,
        "solver": solver,
        "tol": 1e-12,
    }
    ours = MBAClassifierCV(**how).fit(in_order(frame, 2), features=FEATURES)
    expected = LocalClassifierCV(**how).fit(X, y)
    scores = [found.cv_results_["mean_test_score"] for found in (ours, expected)]
    np.testing.assert_allclose(*scores, rtol=1e-9)
    assert ours.l2_ == expected.l2_
    np.testing.assert_allclose(ours.coef_, expected.coef_, atol=1e-5 * np.abs(expected.coef_).max())


def test_folds_by_id_do_not_depend_on_the_order(frame):
    ranker = MBAClassifierCV(l2_grid=[0.1], cv=3, random_state=0, scoring="binormal_auc")
    first = ranker.fit(in_order(frame, 3), features=FEATURES, id="id").best_score_
    second = ranker.fit(frame.repartition(4), features=FEATURES, id="id").best_score_
    assert first == pytest.approx(second, rel=1e-9)


# -- forms of features and labels ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forms(spark, data):
    """The same features in one column of each form."""
    X, y, _ = data
    rows = []
    for k, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        dense, sparse = Vectors.dense(row), Vectors.sparse(6, range(6), row)
        rows.append((k, label, row, dense, sparse, dense if k % 3 else sparse))
    return spark.createDataFrame(rows, ["id", "label", "array", "dense", "sparse", "mixed"])


@pytest.mark.parametrize("form", ["array", "dense", "sparse", "mixed"])
def test_features_of_any_form_give_the_same_fit_and_scores(forms, data, local, form):
    X = data[0]
    ours = MBAClassifier().fit(forms, features=form)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
    scored = forms.select(
        "id", ours.decision_function(forms).alias("score"), ours.predict_proba(forms).alias("p")
    )
    rows = sorted(scored.collect())
    np.testing.assert_allclose([row.score for row in rows], local.decision_function(X), atol=1e-12)
    np.testing.assert_allclose([row.p for row in rows], local.predict_proba(X), atol=1e-12)


LABELS = {
    "texts": ("if(label = 1, 'yes', 'no')", ["no", "yes"]),
    "booleans": ("label = 1", [False, True]),
    "decimals": ("cast(label as decimal(3,0))", [0.0, 1.0]),
    "bytes": ("cast(2 * label - 1 as byte)", [-1, 1]),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_kind_come_back_as_predictions(frame, data, local, kind):
    X = data[0]
    label, classes = LABELS[kind]
    given = frame.withColumn("label", F.expr(label)).repartition(2, "label")
    ours = MBAClassifier().fit(given, features=FEATURES)
    assert ours.classes_.tolist() == classes
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
    found = [row[1] for row in sorted(given.select("id", ours.predict(given)).collect())]
    assert found == [classes[k] for k in local.predict(X)]


def test_numbers_of_all_kinds_are_features(frame, data):
    X = data[0]
    kinds = {"x0": "decimal(12,4)", "x1": "float", "x2": "byte", "x3": "short", "x4": "int", "x5": "long"}
    given = frame.select(
        *[F.col(name).cast(kind) for name, kind in kinds.items()], (F.col("x0") > 3).alias("flag"), "label"
    )
    rows = np.column_stack([np.round(X[:, 0], 4), X[:, 1].astype(np.float32), np.trunc(X[:, 2:]), X[:, 0] > 3])
    ours = MBAClassifier(l2=0.1).fit(given, features=[*FEATURES, "flag"])
    np.testing.assert_allclose(ours.coef_, LocalClassifier(l2=0.1).fit(rows, data[1]).coef_, rtol=1e-9)


def test_names_with_dots_backticks_and_spaces(frame, local):
    names = ["a.b", "c`d", "e f", "x-y", "ö", "1"]
    given = frame.toDF(*names, "the.label", "the weight", "i`d")
    ours = MBAClassifier().fit(given, features=names, label="the.label")
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)
    sampled = MBAClassifier(pairs=50, random_state=0).fit(given, features=names, label="the.label", id="i`d")
    assert sampled.coef_.shape == (1, 6)
    assert roc_auc(given, ours.decision_function(given), label="the.label", weight="the weight") > 0.5


SETTINGS = {
    "arrow.maxRecordsPerBatch": "7",
    "arrow.useLargeVarTypes": "true",
    "pythonUDF.arrow.enabled": "false",
}


def test_settings_of_the_session_do_not_matter(spark, forms, data):
    X, y, _ = data
    settings = {f"spark.sql.execution.{name}": value for name, value in SETTINGS.items()}
    before = {name: spark.conf.get(name) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        given = forms.withColumn("label", F.expr("if(label = 1, 'yes', 'no')"))
        ours = MBAClassifier(l2=10.0, solver="matrix-free", tol=1e-12).fit(given, features="mixed")
        total = given.select(F.sum(ours.decision_function(given))).head()[0]
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)
    expected = LocalClassifier(l2=10.0, solver="matrix-free", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(ours.coef_, expected.coef_, atol=1e-5 * np.abs(expected.coef_).max())
    assert total == pytest.approx(expected.decision_function(X).sum(), rel=1e-4)


def test_wide_sparse_rows_are_fitted_without_a_gram_matrix(spark):
    rng = np.random.default_rng(2)
    n, d = 1500, 1 << 20
    columns = (rng.pareto(0.7, (n, 8)) * 50).astype(np.int64) % d
    X = sp.csr_array((np.ones(8 * n), columns.ravel(), np.arange(0, 8 * n + 1, 8)), shape=(n, d))
    X.sum_duplicates()
    y = (X[:, :100].sum(axis=1) + rng.standard_normal(n) > 4).astype(int)
    ends = X.indptr
    rows = [
        (Vectors.sparse(d, X.indices[a:b], X.data[a:b]), int(label))
        for a, b, label in zip(ends[:-1], ends[1:], y, strict=True)
    ]
    given = spark.createDataFrame(rows, ["features", "label"]).repartition(3)
    for settings in ({"l2": 1.0, "tol": 1e-12}, {"l1": 0.02, "l2": 0.1, "tol": 1e-12}):
        ours = MBAClassifier(**settings).fit(given)
        assert ours.solver_.name == "matrix-free"
        expected = LocalClassifier(solver="matrix-free", **settings).fit(X, y)
        np.testing.assert_allclose(ours.coef_, expected.coef_, atol=1e-5 * np.abs(expected.coef_).max())
    assert 0 < np.count_nonzero(ours.coef_) == np.count_nonzero(expected.coef_) < 1000
    total = given.select(F.sum(ours.decision_function(given))).head()[0]
    assert total == pytest.approx(expected.decision_function(X).sum(), rel=1e-4)


# -- scores and AUC -----------------------------------------------------------------------------------------


# -- curves ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gaps(spark, data):
    """The rows with missing values: null in whole numbers, NaN and null in others; and as a matrix."""
    X, y, weight = data
    X = X.copy()
    X[:, 5] = np.round(X[:, 5])
    X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    columns = {name: pa.array(X[:, k], from_pandas=k % 2 == 0) for k, name in enumerate(FEATURES)}
    columns["x5"] = pa.array(X[:, 5], from_pandas=True).cast(pa.int64())
    table = pa.table({**columns, "label": y, "weight": weight, "id": np.arange(N)})
    return spark.createDataFrame(table), X


@pytest.mark.parametrize(
    ("cut", "named"), [("in order", {"weight": "weight"}), ("shuffled", {"id": "id"})], ids=["order", "id"]
)
def test_curves_are_those_of_one_machine(gaps, data, cut, named):
    (frame, X), (_, y, weight) = gaps, data
    settings = {"features": "curves", "search_rows": 200, "random_state": 3, "cv": 3}
    ours = AdditiveAUCClassifier(**settings).fit(CUTS[cut](frame), features=FEATURES, **named)
    assert (ours.features_, ours.columns_) == ("curves", FEATURES)
    if "id" in named:
        # whatever the order
        local = AdditiveAUCClassifier(**settings).fit(in_order(frame, 2), features=FEATURES, **named)
    else:
        local = LocalCurves(**settings).fit(X, y, weight)
        local.feature_map_ = replace(local.feature_map_, names=tuple(FEATURES))
    assert ours.feature_map_.to_dict() == local.feature_map_.to_dict()
    np.testing.assert_array_equal(ours.penalty_factors_, local.penalty_factors_)
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=1e-9 * np.abs(local.coef_).max())
    rows = in_order(frame, 2)
    found = [row.score for row in rows.select(ours.decision_function(rows).alias("score")).collect()]
    np.testing.assert_allclose(found, local.scorer().scores(X), atol=1e-9)


def test_curves_of_arrays_with_another_loss(gaps, data):
    frame, X = gaps
    settings = {"features": "linear", "loss": "squared_hinge", "search_rows": 200, "random_state": 3, "cv": 2}
    rows = in_order(frame, 3).select(F.array(*FEATURES[:5]).alias("features"), "label")
    ours = AdditiveAUCClassifier(**settings).fit(rows)
    local = LocalCurves(**settings).fit(X[:, :5], data[1])
    assert ours.feature_map_.to_dict() == local.feature_map_.to_dict()
    np.testing.assert_allclose(ours.coef_, local.coef_, atol=1e-6 * np.abs(local.coef_).max())
    with pytest.raises(ValueError, match="groups cannot be combined with curves"):
        AdditiveAUCClassifier(**settings).fit(frame, features=FEATURES, group="id")
    assert AdditiveAUCClassifier("linear").fit(X, data[1]).features_ == "linear"


@pytest.mark.parametrize("form", ["columns", "arrays"])
def test_scores_are_lazy_and_stand_in_the_plan_once(frame, form, capsys):
    never = frame.repartition(2).withColumn("x0", F.expr("cast(raise_error(string(id)) as double)"))
    features = FEATURES if form == "columns" else "features"
    given, never = (one.withColumn("features", F.array(*FEATURES)) for one in (frame, never))
    with pytest.raises(Exception, match="USER_RAISED_EXCEPTION"):
        never.select("x0").collect()
    ours = MBAClassifier().fit(given, features=features)
    for method in (ours.decision_function, ours.predict, ours.predict_proba):
        never.select(method(never).alias("scored")).explain()  # a look at one row would fail
        assert capsys.readouterr().out.count("ArrowEvalPython") == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_auc_and_its_interval_are_exact(frame, data, weighted):
    X, y, weight = data
    s, w, column = np.round(X[:, 0], 1), weight if weighted else None, "weight" if weighted else None
    given = frame.repartition(3)
    ties = F.round("x0", 1)
    assert roc_auc(given, ties, weight=column) == pytest.approx(
        metrics.roc_auc(y, s, sample_weight=w), rel=1e-12
    )
    if weighted:
        w, given = np.ceil(weight), given.withColumn("weight", F.ceil("weight"))
    expected = metrics.roc_auc_interval(
        y, s, sample_weight=w, weights="frequency" if weighted else None, scale="linear"
    )
    ours = roc_auc_interval(given.withColumn("s", ties), "s", weight=column, scale="linear")
    for name in ("auc", "low", "high", "stderr"):
        assert getattr(ours, name) == pytest.approx(getattr(expected, name), rel=1e-10)


def test_what_an_unfitted_or_foreign_estimator_says(frame, data):
    X, y, _ = data
    for method in ("decision_function", "predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(MBAClassifier(), method)(frame)
    ours = MBAClassifier().fit(frame, features=FEATURES).fit(X, y)
    with pytest.raises(ValueError, match="was not fitted to a DataFrame"):
        ours.decision_function(frame)
    np.testing.assert_array_equal(ours.predict_proba(X), LocalClassifier().fit(X, y).predict_proba(X))
    ours = MBAClassifier().fit(frame.select(F.array("x0", "x1").alias("features"), "label"))
    with pytest.raises(ValueError, match=r"roc_auc\(df, ranker\.decision_function"):
        ours.score(frame)
    with pytest.raises(ValueError, match="take the logarithm of predict_proba"):
        ours.predict_log_proba(frame)
    assembled = VectorAssembler(inputCols=FEATURES, outputCol="features").transform(frame)
    with pytest.raises(ValueError, match="has 6 features, the estimator was fitted to 2"):
        ours.decision_function(assembled)
    short = frame.select(F.array("x0").alias("features"))
    with pytest.raises(Exception, match=r"in partition 0 .*'features' has 1 numbers in row 0, but 2 elsewhere"):
        short.limit(1).select(ours.decision_function(short)).collect()


# -- what is wrong with the data ----------------------------------------------------------------------------


def instead(column, value, kind="double"):
    """The last row, which is row 149 of partition 3, with another value."""
    return lambda frame: frame.withColumn(
        column, F.when(F.col("id") == N - 1, F.lit(value).cast(kind)).otherwise(F.col(column))
    )


SPOILT = {
    "NaN": (instead("x3", float("nan")), {}, r"NaN at row 149, column 3 \('x3'\)"),
    "infinity": (instead("x5", float("inf")), {"solver": "matrix-free"}, r"inf at row 149, column 5 \('x5'\)"),
    "a null": (instead("x3", None), {}, r"NaN at row 149, column 3 \('x3'\)"),
    "a null among the drawn": (instead("x3", None), {"pairs": 10**5}, r"NaN at row 149, column 3 \('x3'\)"),
    "a null label": (instead("label", None, "long"), {}, r"column 'label' has no value in row 149"),
    "a null label of a draw": (
        instead("label", None, "long"),
        {"pairs": 9},
        r"'label' has no value in row 149",
    ),
    "a third label": (
        instead("label", 2, "long"),
        {},
        r"y has label 2 at row 149, but the classes are \[0, 1\]",
    ),
    "a negative weight": (instead("weight", -1.0), {}, r"sample_weight has -1\.0 at row 149"),
    "a null weight": (instead("weight", None), {}, r"column 'weight' has no value in row 149"),
    "a null id": (instead("id", None, "long"), {"pairs": 9}, r"column 'id' has no value in row"),
}


@pytest.mark.parametrize("case", SPOILT)
def test_an_error_in_the_data_names_partition_row_and_column(frame, case):
    spoil, settings, said = SPOILT[case]
    given = spoil(in_order(frame, 4))
    with pytest.raises(PartError, match=said) as caught:
        MBAClassifier(**settings).fit(
            given,
            features=FEATURES,
            weight="weight" if "weight" in case else None,
            id="id" if "id" in case else None,
            classes=[0, 1],
        )
    assert caught.value.part == 3
    assert str(caught.value).startswith("in partition 3 (counted from 0): ")
    assert str(caught.value).count("\n") == 0


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[1.0, 2.0], None, [1.0, 3.0]], "column 'features' has no value in row 1"),
        ([[1.0, 2.0], [1.0, 3.0], [1.0]], "column 'features' has 1 numbers in row 2, but 2 elsewhere"),
        ([[1.0, 2.0], [1.0, float("nan")], [1.0, 4.0]], "NaN at row 1, column 1"),
    ],
)
def test_an_error_in_a_vector_names_partition_and_row(spark, vectors, said):
    schema = T.StructType([T.StructField("features", VectorUDT()), T.StructField("label", T.IntegerType())])
    rows = [(None if values is None else Vectors.dense(values), k % 2) for k, values in enumerate(vectors)]
    with pytest.raises(PartError, match=f"in partition 0 .*{said}"):
        MBAClassifier().fit(spark.createDataFrame(rows, schema).coalesce(1))


def having(**columns):
    return lambda frame: frame.withColumns({name: F.expr(sql) for name, sql in columns.items()})


def as_it_is(frame):
    return frame


REFUSED = {
    "unknown": (as_it_is, {"features": ["x0", "z"]}, "features names the column 'z', which the DataFrame does"),
    "unknown label": (as_it_is, {"label": "y"}, "column 'y', which the DataFrame does not have; it has x0"),
    "no name": (as_it_is, {"features": [1]}, "features names the column 1, which the DataFrame does not have"),
    "text": (having(x0="'a'"), {}, "features names 'x0', a column of string; expected numbers"),
    "time": (having(x0="now()"), {}, "features names 'x0', a column of timestamp"),
    "texts": (having(a="array('a')"), {"features": "a"}, "'a' is a column of array<string>; expected vectors"),
    "struct": (having(a="struct(x0)"), {"features": "a"}, "'a' is a column of struct<x0:double>"),
    "label": (having(label="current_date()"), {}, "label names 'label', a column of date; expected numbers"),
    "weight": (having(weight="'1'"), {"weight": "weight"}, "weight names 'weight', a column of string"),
    "id": (having(id="rand()"), {"id": "id"}, "a column of double; expected whole numbers or texts"),
    "two of a name": (lambda frame: frame.select("*", "x0"), {}, "'x0', but 2 columns have that name"),
    "two cases": (lambda frame: frame.selectExpr("*", "x1 as X0"), {}, "'x0', but 2 columns have that name"),
    "named twice": (as_it_is, {"features": ["x0", "x0"]}, "features names a column twice, 'x0'"),
    "none": (as_it_is, {"features": []}, "features must be a list of columns"),
    "the answer": (as_it_is, {"features": ["x0", "label"]}, "features names 'label', which is the label"),
    "y": (as_it_is, {"y": [0, 1]}, "name the columns by label=, weight= and group="),
    "no rows": (lambda frame: frame.limit(0), {}, "there are no rows"),
    "no rows, but parts": (lambda frame: frame.where("x0 > 1e9"), {}, "no rows|y is empty"),
    "no arrays": (
        lambda frame: having(a="array(x0)")(frame).limit(0),
        {"features": "a"},
        "no rows with a value in 'a'",
    ),
    "one class": (lambda frame: frame.where("label = 1"), {}, "one class only"),
    "three classes": (having(label="id % 3"), {}, r"3 classes \(0, 1, 2\)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_fitted_is_said_in_a_sentence(frame, case):
    change, how, said = REFUSED[case]
    with pytest.raises(ValueError, match=said):
        MBAClassifier().fit(change(frame), **{"features": FEATURES, **how})


def test_a_stream_has_no_end(spark, frame):
    stream = spark.readStream.format("rate").load()
    with pytest.raises(ValueError, match="a streaming DataFrame has no end"):
        MBAClassifier().fit(stream, features=["value"], label="value")
    with pytest.raises(ValueError, match="a Spark DataFrame is needed, got list"):
        roc_auc([0.5], "score")


# -- what is kept, and what is lost -------------------------------------------------------------------------


@pytest.fixture
def held(frame, monkeypatch):
    """All that is persisted."""
    found = []

    def persist(self, *level):
        found.append(original(self, *level))
        return found[-1]

    original = type(frame).persist
    monkeypatch.setattr(type(frame), "persist", persist)
    return found


def all_released(held):
    return bool(held) and all(one.storageLevel == StorageLevel.NONE for one in held)


@pytest.mark.parametrize("settings", [{}, {"solver": "matrix-free", "l2": 10.0}, {"pairs": 20}], ids=str)
def test_nothing_stays_cached_but_what_the_caller_has_cached(frame, held, settings):
    MBAClassifier(**settings).fit(frame, features=FEATURES)
    assert all_released(held)
    with pytest.raises(PartError):
        MBAClassifier(**settings).fit(frame.withColumn("x1", F.lit(np.nan)), features=FEATURES)
    assert all_released(held)
    held.clear()
    # the very plan that a fit makes of its columns
    same = frame.select(*[F.col(name).alias(f"c{k}") for k, name in enumerate([*FEATURES, "label"])]).cache()
    try:
        MBAClassifier(**settings).fit(frame, features=FEATURES)
        assert same.storageLevel != StorageLevel.NONE
    finally:
        same.unpersist()


def test_rows_that_the_caller_has_cached_are_not_cached_again(frame, held):
    cached = in_order(frame, 3).cache()
    try:
        ours = MBAClassifier(pairs=20, random_state=0).fit(cached, features=FEATURES)
        assert held == []
        assert cached.storageLevel != StorageLevel.NONE
    finally:
        cached.unpersist()
    again = MBAClassifier(pairs=20, random_state=0).fit(in_order(frame, 3), features=FEATURES)
    assert len(held) == 1
    np.testing.assert_allclose(ours.coef_, again.coef_, rtol=1e-12)


def test_rows_are_made_once(frame, tmp_path):
    def noted(batches):
        import uuid

        (tmp_path / uuid.uuid4().hex).touch()
        yield from batches

    made = in_order(frame, 3).mapInArrow(noted, frame.schema)
    MBAClassifier().fit(made.orderBy("x0"), features=FEATURES)  # a plan that adapts itself
    # orderBy looks at its input twice: to find the ranges, and to sort
    assert len(list(tmp_path.iterdir())) == 6


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds executors in /proc")


@needs_proc
def test_a_fit_with_moments_survives_the_death_of_an_executor(frame, local, tmp_path):
    mark = tmp_path / "killed"
    kill_once = killer(mark)

    def deadly(batches):
        from pyspark import TaskContext

        for batch in batches:
            if TaskContext.get().partitionId() == 1:
                kill_once()
            yield batch

    given = in_order(frame, 3).mapInArrow(deadly, frame.schema)
    ours = MBAClassifier().fit(given, features=FEATURES)
    assert was_killed(mark)
    assert_same_moments(ours.moments_, local.moments_)
    np.testing.assert_allclose(ours.coef_, local.coef_, rtol=1e-9)


@needs_proc
def test_rows_that_are_lost_with_their_executor_are_packed_again(frame, tmp_path, monkeypatch):
    settings = {"solver": "matrix-free", "l2": 0.001, "tol": 1e-12}
    given = in_order(frame, 2)
    undisturbed = MBAClassifier(**settings).fit(given, features=FEATURES)
    mark, sweeps = tmp_path / "killed", []
    kill_once, merged = killer(mark), SparkParts.reduce

    def third_is_deadly(self, task, merge):
        sweeps.extend([task] if isinstance(task, Sweep) else [])
        if len(sweeps) != 3 or sweeps[-1] is not task:
            return merged(self, task, merge)

        def deadly(number, items):
            items = list(items)
            if number == 1:
                kill_once()
            return task(number, items)

        return merged(self, deadly, merge)

    monkeypatch.setattr(SparkParts, "reduce", third_is_deadly)
    ours = MBAClassifier(**settings).fit(given, features=FEATURES)
    assert was_killed(mark)
    assert len(sweeps) > 3
    np.testing.assert_allclose(ours.coef_, undisturbed.coef_, rtol=1e-12)


# -- Spark ML -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def assembler():
    return VectorAssembler(inputCols=FEATURES, outputCol="features")


def test_a_stage_of_a_pipeline(frame, data, assembler, tmp_path, capsys):
    X, y, weight = data
    expected = LocalClassifier(l2=0.1).fit(X, y, weight)
    ranker = MBARanker(l2=0.1, weightCol="weight", predictionCol="guess")
    pipeline = Pipeline(stages=[assembler, ranker])
    fitted = pipeline.fit(frame)
    model = fitted.stages[1]
    assert (model.uid, model.getL2(), model.numFeatures, model.numClasses) == (ranker.uid, 0.1, 6, 2)
    np.testing.assert_allclose(model.coefficients.toArray(), expected.coef_[0], rtol=1e-9)

    scored = fitted.transform(frame)
    assert scored.columns == [*frame.columns, "features", "rawPrediction", "probability", "guess"]
    scored.explain()
    assert capsys.readouterr().out.count("ArrowEvalPython") == 1
    rows = scored.orderBy("id").collect()
    s = expected.decision_function(X)
    np.testing.assert_allclose(
        [row.rawPrediction.toArray() for row in rows], np.column_stack([-s, s]), atol=1e-10
    )
    np.testing.assert_allclose(
        [row.probability.toArray() for row in rows], expected.predict_proba(X), atol=1e-10
    )
    assert [row.guess for row in rows] == expected.predict(X).astype(float).tolist()
    with pytest.raises(ValueError, match="already has a column 'rawPrediction'"):
        model.transform(scored)

    fitted.write().overwrite().save(str(tmp_path))
    [kept] = (tmp_path / "stages").glob("1_*")
    metadata = json.loads(next((kept / "metadata").glob("part-*")).read_text())
    assert metadata["mbaucVersion"] == __version__
    assert [path.suffix for path in (kept / "data").glob("part-*")] == [".parquet"]
    loaded = PipelineModel.load(str(tmp_path)).stages[1]
    assert isinstance(loaded, MBARankerModel)
    assert loaded.explainParams() == model.explainParams()
    assert (loaded.coefficients, loaded.intercept) == (model.coefficients, model.intercept)
    for local in (model.toLocal(), loaded.toLocal()):
        assert type(local) is LocalClassifier
        assert (local.l2, local.l2_) == (0.1, 0.1)
        np.testing.assert_allclose(local.predict_proba(X), expected.predict_proba(X), rtol=1e-9)
    assert_same_moments(model.toLocal().moments_, expected.moments_)


@pytest.mark.parametrize("form", ["dense", "sparse", "array"])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_all_holders_of_a_ranker_give_the_same_scores(spark, data, form, weighted, tmp_path):
    X, y, weight = data
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.5, 0.0, X)
    make = {
        "dense": lambda row: Vectors.dense(row),
        "sparse": lambda row: Vectors.sparse(6, np.flatnonzero(row), row[np.flatnonzero(row)]),
        "array": lambda row: row.tolist(),
    }[form]
    kind = T.ArrayType(T.DoubleType()) if form == "array" else VectorUDT()
    rows = [
        (make(row), int(label), float(w), k) for k, (row, label, w) in enumerate(zip(X, y, weight, strict=True))
    ]
    schema = T.StructType([T.StructField("features", kind)])
    schema = schema.add("label", "long").add("weight", "double").add("id", "long")
    frame = spark.createDataFrame(rows, schema)
    model = MBARanker(l2=0.1, weightCol="weight" if weighted else None).fit(frame)
    model.write().overwrite().save(str(tmp_path / "model"))
    ours = MBAClassifier(l2=0.1).fit(frame, weight="weight" if weighted else None)
    columns = frame.withColumns(
        {"s": ours.decision_function(frame), "p": ours.predict_proba(frame), "guess": ours.predict(frame)}
    )
    local = model.toLocal()
    s, p, labels = local.decision_function(X), local.predict_proba(X), local.predict(X)
    for one in (model, MBARankerModel.load(str(tmp_path / "model"))):
        np.testing.assert_array_equal(one.toLocal().predict_proba(X), p)
        found = one.transform(columns).orderBy("id").collect()
        np.testing.assert_allclose([row.rawPrediction[1] for row in found], s, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose([row.probability.toArray() for row in found], p, rtol=1e-12, atol=1e-14)
        assert [row.prediction for row in found] == labels.tolist()
        np.testing.assert_allclose([row.s for row in found], s, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose([row.p for row in found], p, rtol=1e-9, atol=1e-12)
        assert [row.guess for row in found] == labels.astype(int).tolist()


def test_a_ranker_and_its_model_on_disk_and_in_copies(frame, assembler, tmp_path):
    given = assembler.transform(frame)
    ranker = MBARanker(l1=0.02, l2=0.1, pairs=300, idCol="id", seed=-7, rawPredictionCol="")
    ranker.write().overwrite().save(str(tmp_path / "ranker"))
    loaded = MBARanker.load(str(tmp_path / "ranker"))
    assert loaded.extractParamMap() == ranker.extractParamMap()
    model = loaded.fit(given.repartition(3))
    assert model.coefficients == ranker.fit(given).coefficients
    assert model.coefficients != ranker.setSeed(8).fit(given).coefficients
    other = model.copy({model.predictionCol: "guess"}).setProbabilityCol("")
    assert other.transform(given).columns == [*given.columns, "guess"]
    assert model.transform(given).columns == [*given.columns, "probability", "prediction"]
    assert model.transform(given, {model.predictionCol: "p"}).columns[-1] == "p"
    with pytest.raises(Exception, match=r"already exists|PATH_ALREADY_EXISTS"):
        model.save(str(tmp_path / "ranker"))
    model.write().overwrite().save(str(tmp_path / "ranker"))
    again = MBARankerModel.load(str(tmp_path / "ranker"))
    assert (again.coefficients, again.intercept) == (model.coefficients, model.intercept)
    assert again.toLocal().get_params() == model.toLocal().get_params()


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("label + 1", r"y has label 2\.?0? at row \d+, but the classes are \[0\.0, 1\.0\]"),
        ("if(label = 1, 'yes', 'no')", "y has label '(yes|no)' at row"),
    ],
)
def test_labels_of_a_stage_are_zero_and_one(frame, assembler, label, said):
    with pytest.raises(ValueError, match=said):
        MBARanker().fit(assembler.transform(frame.withColumn("label", F.expr(label))))


def test_penalties_are_chosen_by_cross_validation_of_a_pipeline(frame, assembler):
    ranker = MBARanker()
    search = CrossValidator(
        estimator=Pipeline(stages=[assembler, ranker]),
        estimatorParamMaps=ParamGridBuilder().addGrid(ranker.l2, [1e6, "auto"]).build(),
        evaluator=BinaryClassificationEvaluator(),
        numFolds=2,
        parallelism=2,
        seed=1,
    ).fit(frame.repartition(2))
    assert len(set(search.avgMetrics)) == 2
    assert all(0.6 < auc < 0.8 for auc in search.avgMetrics)
    assert "prediction" in search.transform(frame).columns


# -- the page "From laptop to cluster" ------------------------------------------------------------------------


def test_the_spark_examples_of_the_page_run(spark, data, tmp_path, capsys):
    page = Path(__file__).parents[2] / "docs" / "user_guide" / "clusters.md"
    blocks = page.read_text(encoding="utf-8").split("```python\n")[1:]
    code = [block.split("```")[0] for block in blocks if not block.startswith(">>>")]
    assert len(code) == 3
    X, y, _ = data
    known = {"X": X, "y": y}
    for block in code:
        exec(compile(block, str(page), "exec"), known)
    assert "interval" in capsys.readouterr().out
    assert known["scored"].columns[-1] == "score"
    assert known["ranker"].coef_.shape == known["chosen"].coef_.shape == (1, len(FEATURES))
    assert known["auc"] > 0.5
