"""What a typed user writes; mypy checks it, and ``test_user_program.py`` runs what needs no cluster."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np
from numpy.typing import NDArray

import mbauc
from mbauc import (
    AdditiveAUCClassifier,
    MBAClassifier,
    MBAClassifierCV,
    NeymanPearsonClassifier,
    PairMoments,
    PairwiseAUCClassifier,
    PairwiseAUCClassifierCV,
    TableRanker,
)
from mbauc.metrics import (
    AucComparison,
    AucDifference,
    AucInterval,
    Calibration,
    StreamingAUC,
    compare_roc_auc,
    compare_roc_auc_unpaired,
    fit_calibration,
    partial_roc_auc_interval,
    roc_auc,
    roc_auc_bootstrap,
    roc_auc_interval,
)
from mbauc.metrics.neyman_pearson import FalseAlarmThreshold, false_alarm_threshold
from mbauc.model import RankerModel, Threshold, load_model, merge_models, save_model
from mbauc.readers import LibsvmSource, TableSource
from mbauc.report import report_html

if TYPE_CHECKING:
    from mbauc import dask, spark

Floats = NDArray[np.float64]


def fit_linear(X: Floats, y: NDArray[np.int8]) -> Floats:
    ranker = MBAClassifier(l2=0.1, n_jobs=1).fit(X, y, sample_weight=np.ones(len(y)))
    assert_type(ranker, MBAClassifier)
    assert_type(ranker.coef_, Floats)
    assert_type(ranker.intercept_, Floats)
    assert_type(ranker.classes_, NDArray[Any])
    assert_type(ranker.n_features_in_, int)
    assert_type(ranker.l2_, float)
    assert_type(ranker.moments_, PairMoments)
    assert_type(ranker.predict(X), NDArray[Any])
    assert_type(ranker.predict_proba(X), Floats)
    assert_type(ranker.partial_fit(X, y), MBAClassifier)
    return ranker.decision_function(X)


def cross_validate(X: Floats, y: NDArray[np.int8]) -> float:
    ranker = MBAClassifierCV(cv=3, random_state=0).fit(X, y)
    assert_type(ranker, MBAClassifierCV)
    assert_type(ranker.cv_results_, dict[str, Any])
    assert_type(PairwiseAUCClassifier(loss="hinge").fit(X, y).coef_, Floats)
    chosen = PairwiseAUCClassifierCV(cv=3, random_state=0).fit(X, y)
    assert_type(chosen.choice_, str)
    return ranker.l2_


def fit_curves(X: Floats, y: NDArray[np.int8]) -> str:
    ranker = AdditiveAUCClassifier(features="curves").fit(X, y)
    assert_type(ranker, AdditiveAUCClassifier)
    assert_type(ranker.interactions_, list[tuple[str, str]])
    assert_type(ranker.predict_proba(X), Floats)
    return ranker.choice_


def raise_alarms(X: Floats, y: NDArray[np.int8]) -> float:
    detector = NeymanPearsonClassifier(MBAClassifier(), alpha=0.2, random_state=0).fit(X, y)
    assert_type(detector, NeymanPearsonClassifier)
    assert_type(detector.predict(X), NDArray[Any])
    assert_type(false_alarm_threshold(np.arange(100.0), alpha=0.1), FalseAlarmThreshold)
    return detector.threshold_


def rank_table(table: dict[str, Sequence[float]], y: NDArray[np.int8], folder: Path) -> str:
    ranker = TableRanker(random_state=0).fit(table, y)
    assert_type(ranker, TableRanker)
    assert_type(ranker.auc_, AucInterval | None)
    assert_type(ranker.predict_proba(table), Floats)
    assert_type(ranker.model_, RankerModel)
    ranker.save(folder / "table.mbauc")
    assert_type(mbauc.load(folder / "table.mbauc"), TableRanker)
    return ranker.describe()


def merge(X: Floats, y: NDArray[np.int8]) -> PairMoments:
    moments = PairMoments.from_arrays(X, y)
    assert_type(moments.mu, Floats)
    assert_type(moments.second_moment, Floats)
    assert_type(moments + moments, PairMoments)
    assert_type(MBAClassifier().fit_moments(moments), MBAClassifier)
    return moments


def measure(y: NDArray[np.int8], s: Floats) -> tuple[float, float]:
    interval = roc_auc_interval(y, s)
    assert_type(interval, AucInterval)
    assert_type(roc_auc(y, s), float)
    assert_type(roc_auc_bootstrap(y, s, random_state=0), AucInterval)
    assert_type(partial_roc_auc_interval(y, s, max_fpr=0.5), AucInterval)
    assert_type(compare_roc_auc(y, {"a": s, "b": -s}), AucComparison)
    assert_type(compare_roc_auc_unpaired(interval, interval), AucDifference)
    assert_type(fit_calibration(y, s), Calibration)
    stream = StreamingAUC()
    stream.update(y, s)
    return interval.low, interval.high


def read_files(csv: Path, libsvm: Path) -> MBAClassifier:
    source = TableSource(csv, label="y")
    assert_type(source.feature_names, list[str])
    assert_type(LibsvmSource(libsvm).n_features, int)
    ranker = MBAClassifier().fit_source(source, memory="1GB")
    assert_type(ranker, MBAClassifier)
    return ranker


def keep_model(csv: Path, out: Path) -> RankerModel:
    source = TableSource(csv, label="y")
    model = RankerModel.of(MBAClassifier().fit_source(source), source.layout, [0, 1])
    save_model(model, out)
    read = load_model(out)
    assert_type(read, RankerModel)
    assert_type(read.threshold, Threshold | None)
    assert_type(merge_models([read, read]), RankerModel)
    return read


def show(y: NDArray[np.int8], s: Floats) -> str:
    from mbauc.plots import RocBandDisplay, ScoreDistributionDisplay, WeightsDisplay

    display = RocBandDisplay.from_predictions(y, s)
    assert_type(display, RocBandDisplay)
    assert_type(display.plot(), RocBandDisplay)
    assert_type(ScoreDistributionDisplay.from_predictions(y, s), ScoreDistributionDisplay)
    assert_type(WeightsDisplay(["a", "b"], [1.0, 2.0]).plot(), WeightsDisplay)
    return report_html(y, s)


def fit_on_clusters(frame: object, array: object) -> tuple["spark.MBAClassifier", "dask.MBAClassifierCV"]:
    from mbauc import dask, spark

    on_spark = spark.MBAClassifier().fit(frame, features=["a", "b"], label="y")
    on_dask = dask.MBAClassifierCV().fit(array, array)
    assert_type(on_spark.coef_, Floats)
    assert_type(on_dask.coef_, Floats)
    assert_type(spark.AdditiveAUCClassifier().fit(frame), spark.AdditiveAUCClassifier)
    assert_type(dask.PairwiseAUCClassifier().fit(array, array), dask.PairwiseAUCClassifier)
    assert_type(spark.roc_auc(frame, "score"), float)
    assert_type(dask.roc_auc_interval(array, array), AucInterval)
    return on_spark, on_dask


def misspell() -> None:
    # each must be an error: mypy warns of comments that ignore nothing
    mbauc.MBAClasifier  # type: ignore[attr-defined]  # noqa: B018
    MBAClassifier(l3=1.0)  # type: ignore[call-arg]
    MBAClassifier(pairing="all")  # type: ignore[arg-type]
    MBAClassifier(solver="lbfgs")  # type: ignore[arg-type]
    roc_auc_interval([0, 1], [0.0, 1.0]).hi  # type: ignore[attr-defined]  # noqa: B018
    fraction: str = roc_auc([0, 1], [0.0, 1.0])  # type: ignore[assignment]  # noqa: F841


if TYPE_CHECKING:
    # names of packages whose members are imported on demand
    spark.MBAClasifier  # type: ignore[attr-defined]  # noqa: B018
