"""All the numbers of a report, from the scores of rows that the model was not trained on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbauc.estimators.additive.auc_without import AucWithout, auc_without
from mbauc.metrics.curves import (
    Histogram,
    Lift,
    PenaltyPath,
    average_precision,
    histogram,
    lift_at,
    penalty_path,
    tied_pairs,
)
from mbauc.metrics.intervals.delong import AucInterval, auc_interval
from mbauc.metrics.intervals.sample_design import frequency_design
from mbauc.metrics.partial_auc import standardized_partial_auc
from mbauc.metrics.probabilities import Reliability, reliability
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.roc_auc import auc
from mbauc.metrics.thresholds import ThresholdTable, threshold_table
from mbauc.report.by_group import ByGroup, about_groups, measure_groups
from mbauc.report.explained_rows import ExplainedRow, explain_rows
from mbauc.report.warnings import about_auc, about_model, about_probabilities, about_rows, about_thresholds

if TYPE_CHECKING:
    from mbauc.model import RankerModel

#: False-alarm rates of the partial AUCs, and shares of the rows at which lifts are computed.
PARTS = (0.1, 0.01)
SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True)
class Ranking:
    """What needs rows of both classes.

    Attributes
    ----------
    auc : float
        Area under the ROC curve.
    interval : AucInterval or None
        With DeLong's interval; None if a class has less than two rows.
    partial : dict of float to float
        Standardised partial AUC up to a false-alarm rate.
    average_precision : float
        Mean precision at the positives.
    lifts : list of Lift
        Positives among the rows with the highest scores.
    table : ThresholdTable
        Counts at thresholds.
    tied : float
        Share of the pairs with equal scores.
    """

    auc: float
    interval: AucInterval | None
    partial: dict[float, float]
    average_precision: float
    lifts: list[Lift]
    table: ThresholdTable
    tied: float


@dataclass(frozen=True)
class Evaluation:
    """What a report shows of a model on some rows.

    Attributes
    ----------
    rows : int
        How many.
    positives, negatives : float
        How many of each class, or their weight.
    weighted : bool
        Whether rows have weights.
    ranking : Ranking or None
        None if a class is missing.
    scores : Histogram
        Of both classes.
    calibration : Reliability
        Of the probabilities.
    path : PenaltyPath or None
        Of the cross-validation.
    warnings : list of str
        What to know before believing the numbers.
    groups : ByGroup or None
        Within groups, if there are any.
    explained : list of ExplainedRow
        Some rows with what their scores are made of, of a model of curves.
    without : AucWithout or None
        AUC without each column, of a model of curves whose rows are in memory.
    """

    rows: int
    positives: float
    negatives: float
    weighted: bool
    ranking: Ranking | None
    scores: Histogram
    calibration: Reliability
    path: PenaltyPath | None
    warnings: list[str]
    groups: ByGroup | None = None
    explained: list[ExplainedRow] = field(default_factory=list)
    without: AucWithout | None = None


def evaluate(
    model: RankerModel,
    y: Any,
    s: Any,
    weight: Any = None,
    *,
    groups: Any = None,
    group_name: str = "group",
    group_names: Any = None,
    X: Any = None,
) -> Evaluation:
    """Measure a model on labels, scores, weights and groups; ``O(n log n)``, some copies of the scores.

    Where groups are numbers from 0 on, ``group_names`` may say what they are called. ``X`` are the rows in the
    model's columns, or what gives some of them by their numbers in rising order.
    """
    ranked = RankedScores.validate(y, s, weight, classes=(0, 1), both_classes=False, finite=True)
    plus, minus = ranked.classes
    calibration = reliability(_probabilities(model, ranked))
    ranking = _ranking(model, ranked) if plus.values.size and minus.values.size else None
    path = penalty_path(model.path)
    notes = [*about_rows(ranked, ranking.tied if ranking else 0.0)]
    if ranking:
        notes += about_auc(ranking.interval, min(plus.total, minus.total)) if ranking.interval else ()
        notes += about_thresholds(ranking.table, model)
        notes += about_probabilities(calibration)
    by_group = None
    if groups is not None and ranking is not None:
        by_group = measure_groups(ranked, groups, group_name, group_names)
    if ranking and by_group:
        notes += about_groups(by_group, ranking.auc)
    elif groups is not None:
        notes.append("No group has rows of both classes: there is no AUC within groups.")
    notes += about_model(model, path)
    return Evaluation(
        ranked.values.size,
        plus.total,
        minus.total,
        ranked.weight is not None,
        ranking,
        histogram(ranked),
        calibration,
        path,
        notes,
        by_group,
        *_explain(model, ranked, X, ranking is not None),
    )


def _probabilities(model: RankerModel, ranked: RankedScores) -> RankedScores:
    if model.slope >= 0:
        return ranked.map_increasing(model.probability)
    return RankedScores(ranked.positive, model.probability(ranked.values), ranked.weight)


def _ranking(model: RankerModel, ranked: RankedScores) -> Ranking:
    interval = None
    if min(ranked.plus.total, ranked.minus.total) >= 2:
        # where rows are few, the page says so
        interval = auc_interval(ranked, frequency_design(ranked))
    own = float(model.threshold.value) if model.threshold else None
    return Ranking(
        interval.auc if interval else auc(ranked),
        interval,
        {part: standardized_partial_auc(ranked, part) for part in PARTS},
        average_precision(ranked),
        [lift_at(ranked, share) for share in SHARES if share * ranked.total >= 1],
        threshold_table(ranked, own),
        tied_pairs(ranked),
    )


def _explain(
    model: RankerModel, ranked: RankedScores, X: Any, both_classes: bool
) -> tuple[list[ExplainedRow], AucWithout | None]:
    """Why some rows have their scores, and what columns are worth; nothing without curves or rows."""
    if X is None or model.terms is None:
        return [], None
    take: Callable[[Any], Any] = X if callable(X) else lambda rows: X[rows]
    without = None
    if not callable(X) and both_classes:
        without = auc_without(model.scorer, X, ranked.positive, by="column", sample_weight=ranked.weight)
    return explain_rows(model, ranked.positive, ranked.values, take), without
