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
    errors,
)
from mbauc.estimators import LinearScorer
from mbauc.features import CurveFeatures, FourierFeatures, GammaChoice, TableEncoder, TriedGamma, choose_gamma
from mbauc.losses import (
    LOSSES,
    Expansion,
    Exponential,
    Logistic,
    PairLoss,
    PairObjective,
    PairWeights,
    Region,
    SmoothHinge,
    Squared,
    SquaredHinge,
    TruncatedSquares,
    get_loss,
)
from mbauc.metrics import (
    AucComparison,
    AucDifference,
    AucInterval,
    Calibration,
    GroupTable,
    PairedTest,
    RankTests,
    StreamingAUC,
    WinTieLoss,
    calibration_error,
    compare_roc_auc,
    compare_roc_auc_unpaired,
    fit_calibration,
    group_table,
    grouped_roc_auc,
    paired_t_test,
    partial_roc_auc_interval,
    rank_tests,
    roc_auc,
    roc_auc_bootstrap,
    roc_auc_interval,
    win_tie_loss,
)
from mbauc.metrics.neyman_pearson import (
    DetectionInterval,
    FalseAlarmThreshold,
    NpBand,
    detection_interval,
    false_alarm_threshold,
    np_roc_band,
)
from mbauc.model import LibsvmLayout, RankerModel, TableLayout, Threshold, load_model, merge_models, save_model
from mbauc.model.export import to_sklearn
from mbauc.objectives import (
    LightGBMMetric,
    LightGBMObjective,
    XGBoostMetric,
    XGBoostObjective,
    lightgbm,
    xgboost,
)
from mbauc.paper.clicks import ClickLog
from mbauc.paper.detection import (
    AtomicCurve,
    DetectionCurve,
    Detector,
    DiscreteHypotheses,
    GaussianMixture,
    Hypotheses,
    TailCurve,
)
from mbauc.paper.rivals import OAM, OPAUC, AdaOAM, FTRLProximal, MiniBatchPairwise, OnlineLogisticRegression
from mbauc.paper.theory import (
    Measured,
    PairPlan,
    PairsNeeded,
    Quantities,
    Route,
    guaranteed_distance,
    pairs_needed,
    plan_pairs,
)
from mbauc.readers import (
    CodeColumn,
    GroupedBlock,
    LibsvmSource,
    RawBlock,
    Source,
    TableEncoding,
    TableSource,
    learn_table_codes,
)
from mbauc.report import report_html
from mbauc.solvers import (
    MatrixOperator,
    Penalty,
    Reduced,
    RidgePath,
    Solution,
    Spectrum,
    SymmetricOperator,
    choose_l2,
    elastic_net_path,
    solve_elastic_net,
    solve_ridge_matrix_free,
)

if TYPE_CHECKING:
    from mbauc import dask, spark
    from mbauc.paper.datasets import DataSet
    from mbauc.spark.ml import MBARanker, MBARankerModel

Floats = NDArray[np.float64]


def fit_linear(X: Floats, y: NDArray[np.int8]) -> Floats:
    ranker = MBAClassifier(l2=0.1, n_jobs=1).fit(X, y, sample_weight=np.ones(len(y)))
    assert_type(ranker, MBAClassifier)
    assert_type(ranker.coef_, Floats)
    assert_type(ranker.intercept_, Floats)
    assert_type(ranker.classes_, NDArray[Any])
    assert_type(ranker.n_features_in_, int)
    if hasattr(ranker, "feature_names_in_"):
        assert_type(ranker.feature_names_in_, NDArray[Any])
    assert_type(ranker.l2_, float)
    assert_type(ranker.moments_, PairMoments)
    assert_type(ranker.predict(X), NDArray[Any])
    assert_type(ranker.predict_proba(X), Floats)
    assert_type(ranker.predict_log_proba(X), Floats)
    assert_type(ranker.scorer(), LinearScorer)
    assert_type(ranker.scorer().probability(ranker.decision_function(X)), Floats)
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
    assert_type(ranker.n_features_in_, int)
    assert_type(ranker.feature_names_in_, NDArray[Any])
    assert_type(ranker.predict_proba(table), Floats)
    assert_type(ranker.predict_log_proba(table), Floats)
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
    assert_type(calibration_error(y, fit_calibration(y, s).probability(s)), float)
    assert_type(detection_interval(y, s, 0.1), DetectionInterval)
    assert_type(np_roc_band(y, s), NpBand)
    assert_type(StreamingAUC().update(y, s, sample_weight=np.ones(len(y))), StreamingAUC)
    return interval.low, interval.high


def measure_groups(y: NDArray[np.int8], s: Floats, groups: NDArray[Any]) -> GroupTable:
    assert_type(grouped_roc_auc(y, s, groups), float)
    return group_table(y, s, groups, sort="auc")


def compare_methods(ours: Floats, theirs: Floats) -> WinTieLoss:
    assert_type(paired_t_test(ours, theirs), PairedTest)
    assert_type(rank_tests({"ours": ours, "theirs": theirs, "third": theirs}), RankTests)
    return win_tie_loss({"a": ours}, {"a": theirs})


def make_features(X: Floats, y: NDArray[np.int8]) -> GammaChoice:
    assert_type(CurveFeatures(8, random_state=None).fit(X), CurveFeatures)
    assert_type(FourierFeatures(16, random_state=0).fit(X, y), FourierFeatures)
    assert_type(FourierFeatures(16, random_state=0).fit(X, y).n_features_in_, int)
    assert_type(TableEncoder().fit({"a": X[:, 0]}).get_feature_names_out(), NDArray[Any])
    chosen = choose_gamma(X, y, n_components=16)
    assert_type(chosen.tried, tuple[TriedGamma, ...])
    return chosen


class Truncated(TruncatedSquares):
    name = "truncated"


def lower_losses(positive: NDArray[np.bool_], s: Floats) -> list[float]:
    pairs = PairWeights.build(positive)
    losses: list[PairLoss] = [Squared(), SquaredHinge(), SmoothHinge(), Logistic(), Exponential()]
    assert_type(LOSSES, dict[str, type[PairLoss]])
    assert_type(get_loss("hinge"), PairLoss)
    around = PairObjective(losses[0], pairs, Region(max_fpr=0.5)).expand(s)
    assert_type(around, Expansion)
    return [loss.expand(pairs, s).value for loss in losses]


def boost(y: NDArray[np.int8], s: Floats) -> tuple[LightGBMMetric, XGBoostMetric]:
    light, extreme = lightgbm("squared_hinge"), xgboost(max_fpr=0.1)
    assert_type(light, LightGBMObjective)
    assert_type(extreme, XGBoostObjective)
    assert_type(light(y, s), tuple[Floats, Floats])
    return light.metric, extreme.metric


def solve(moments: PairMoments) -> Solution:
    sigma, mu = moments.second_moment, moments.mu
    factors = np.ones(moments.n_features)
    path, penalty = RidgePath(sigma, mu, factors), Penalty(0.01, 0.1, factors)
    assert_type(path.spectrum, Spectrum)
    assert_type(choose_l2(path.spectrum, (100.0, 100.0)), float)
    assert_type(Reduced(sigma, mu, factors).restore(mu), Floats)
    assert_type(elastic_net_path(sigma, mu, [0.1, 0.01], 0.1, factors), list[Solution])
    operator: SymmetricOperator = MatrixOperator(sigma, mu)
    assert_type(solve_ridge_matrix_free(operator, Penalty(0.0, 0.1, factors)), Solution)
    return solve_elastic_net(sigma, mu, penalty)


def repeat_the_paper(X: Floats, y: NDArray[np.int8]) -> Detector:
    plan = plan_pairs(X, y, delta=0.5, draws=2, random_state=0)
    assert_type(plan, PairPlan)
    assert_type(plan.needed, PairsNeeded)
    assert_type(plan.needed.best, Route)
    assert_type(plan.measured, tuple[Measured, ...])
    sizes = Quantities(d=2, R_x=1.0, R_w=1.0, sigma_norm=1.0, trace=2.0, l2=0.1)
    assert_type(pairs_needed(sizes, delta=0.5), PairsNeeded)
    assert_type(guaranteed_distance(1000, sizes), float)
    for rival in (OAM(), OPAUC(), AdaOAM(), FTRLProximal(), MiniBatchPairwise(), OnlineLogisticRegression()):
        assert_type(rival.fit(X, y).decision_function(X), Floats)
    assert_type(ClickLog(1000, seed=0).rows(), RawBlock)
    both = Hypotheses(GaussianMixture([1.0, 0.0]), GaussianMixture([0.0, 0.0]))
    curve: DetectionCurve = both.curve()
    assert_type(both.linear_curve([1.0, 0.0]), TailCurve)
    assert_type(DiscreteHypotheses([0.5, 0.5], [0.9, 0.1]).curve(), AtomicCurve)
    return curve.detector(0.1)


def read_a_set(found: "DataSet") -> NDArray[Any]:
    return found.y_test


def read_files(csv: Path, libsvm: Path) -> MBAClassifier:
    source = TableSource(csv, label="y")
    assert_type(source.feature_names, list[str])
    assert_type(source.layout, TableLayout)
    rows: Source = LibsvmSource(libsvm)
    assert_type(rows.n_features, int)
    for block in rows:
        assert_type(block, RawBlock | GroupedBlock)
    assert_type(LibsvmSource(libsvm).layout, LibsvmLayout)
    codes = learn_table_codes({"site": ["a", "b", "a"]})
    assert_type(codes, TableEncoding)
    assert_type(codes.code_columns, tuple[CodeColumn, ...])
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
    to_sklearn(read)
    return read


def show(y: NDArray[np.int8], s: Floats) -> str:
    from mbauc.plots import RocBandDisplay, ScoreDistributionDisplay, WeightsDisplay

    display = RocBandDisplay.from_predictions(y, s)
    assert_type(display, RocBandDisplay)
    assert_type(display.plot(), RocBandDisplay)
    assert_type(ScoreDistributionDisplay.from_predictions(y, s), ScoreDistributionDisplay)
    assert_type(WeightsDisplay(["a", "b"], [1.0, 2.0]).plot(), WeightsDisplay)
    return report_html(y, s)


def draw(ranker: AdditiveAUCClassifier, X: Floats, y: NDArray[np.int8]) -> None:
    from mbauc import plots

    assert_type(plots.CurveDisplay.from_estimator(ranker, 0), plots.CurveDisplay)
    assert_type(plots.InteractionDisplay.from_estimator(ranker, (0, 1)), plots.InteractionDisplay)
    assert_type(plots.ContributionDisplay.from_estimator(ranker, X, row=0), plots.ContributionDisplay)
    assert_type(plots.ImportanceDisplay.from_estimator(ranker, X, y), plots.ImportanceDisplay)
    assert_type(plots.GainsDisplay.from_estimator(ranker, X, y), plots.GainsDisplay)
    assert_type(plots.PrecisionBandDisplay.from_estimator(ranker, X, y), plots.PrecisionBandDisplay)
    assert_type(plots.ReliabilityDisplay.from_estimator(ranker, X, y), plots.ReliabilityDisplay)
    chosen = MBAClassifierCV(cv=3, random_state=0).fit(X, y)
    assert_type(plots.PenaltyPathDisplay.from_estimator(chosen), plots.PenaltyPathDisplay)
    enough = MBAClassifier(pairs="enough", random_state=0).fit(X, y)
    assert_type(plots.EnoughPairsDisplay.from_estimator(enough), plots.EnoughPairsDisplay)


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
    assert_type(spark.MBAClassifierCV().fit(frame), spark.MBAClassifierCV)
    assert_type(spark.PairwiseAUCClassifier().fit(frame), spark.PairwiseAUCClassifier)
    assert_type(spark.PairwiseAUCClassifierCV().fit(frame), spark.PairwiseAUCClassifierCV)
    assert_type(dask.AdditiveAUCClassifier().fit(array, array), dask.AdditiveAUCClassifier)
    assert_type(dask.MBAClassifier().partial_fit(array, [0, 1]), dask.MBAClassifier)
    assert_type(dask.PairwiseAUCClassifierCV().fit(array, array), dask.PairwiseAUCClassifierCV)
    return on_spark, on_dask


def fit_a_stage() -> "MBARanker":
    from mbauc.spark.ml import MBARanker

    ranker: MBARanker = MBARanker(labelCol="clicked", l2=0.1)
    return ranker


def read_weights(model: "MBARankerModel") -> float:
    assert_type(model.scorer, LinearScorer)
    return model.intercept


def catch(path: Path) -> str:
    try:
        return str(mbauc.load(path))
    except (
        errors.CheckpointError,
        errors.DiskFullError,
        errors.DivergedError,
        errors.DownloadError,
        errors.ModelFileError,
        errors.MomentFileError,
        errors.NoPairsError,
        errors.NotAvailableError,
    ) as error:
        return str(error)
    except errors.NonFiniteError as error:
        return f"row {error.row}, column {error.column}"
    except errors.PartError as error:
        return f"part {error.part}"


def silence() -> list[type[errors.MbaucWarning]]:
    return [
        errors.BinormalWarning,
        errors.CancellationWarning,
        errors.DataWarning,
        errors.FewRowsWarning,
        errors.HeavyTailsWarning,
        errors.LeftOutWarning,
        errors.NotTestedWarning,
        errors.OneClassGroupsWarning,
        errors.PenaltyWarning,
        errors.PositiveLabelWarning,
        errors.SingularWarning,
    ]


def advise() -> errors.Advice:
    return errors.Advice("set {l2}", l2=0.1)


def misspell() -> None:
    # each must be an error: mypy warns of comments that ignore nothing
    mbauc.MBAClasifier  # type: ignore[attr-defined]  # noqa: B018
    MBAClassifier(l3=1.0)  # type: ignore[call-arg]
    MBAClassifier(pairing="all")  # type: ignore[arg-type]
    MBAClassifier(solver="lbfgs")  # type: ignore[arg-type]
    TableRanker("curve")  # type: ignore[arg-type]
    TableRanker(on_error="ignore", hold_out="first")  # type: ignore[arg-type]
    AdditiveAUCClassifier(features="lines")  # type: ignore[arg-type]
    TableEncoder("one-hot", missing="median")  # type: ignore[arg-type]
    TableSource("rows.csv", label="y", encode="dummies")  # type: ignore[arg-type]
    roc_auc_interval([0, 1], [0.0, 1.0]).hi  # type: ignore[attr-defined]  # noqa: B018
    fraction: str = roc_auc([0, 1], [0.0, 1.0])  # type: ignore[assignment]  # noqa: F841
    roc_auc([0, 1], [0.0, 1.0], [1.0, 2.0])  # type: ignore[call-arg]


if TYPE_CHECKING:
    # names of packages whose members are imported on demand
    spark.MBAClasifier  # type: ignore[attr-defined]  # noqa: B018
