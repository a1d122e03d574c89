"""All the numbers of a report, from scores of rows that no model was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mbauc.metrics.curves import (
    Histogram,
    Lift,
    average_precision,
    histogram,
    lift_at,
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
from mbauc.report.by_segment import BySegment, about_segments, measure_segments
from mbauc.report.by_time import ByTime, about_time, measure_time
from mbauc.report.origin import Origin
from mbauc.report.warnings import about_auc, about_probabilities, about_rows

if TYPE_CHECKING:
    from mbauc.model import Threshold

#: False-alarm rates of the partial AUCs, and shares of the rows at which lifts are computed.
PARTS = (0.1, 0.01)
SHARES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.5)
#: Scores of which nothing else is known.
ANY = Origin()


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
    """What a report shows of scores on some rows.

    Attributes
    ----------
    origin : Origin
        Where the scores come from.
    ranked : RankedScores
        The rows.
    ranking : Ranking or None
        None if a class is missing.
    scores : Histogram
        Of both classes.
    calibration : Reliability or None
        Of the probabilities, if there are any.
    warnings : list of str
        What to know before believing the numbers.
    groups : ByGroup or None
        Within groups, if there are any.
    segments : list of BySegment
        By the levels of columns.
    time : ByTime or None
        Period by period.
    """

    origin: Origin
    ranked: RankedScores
    ranking: Ranking | None
    scores: Histogram
    calibration: Reliability | None
    warnings: list[str]
    groups: ByGroup | None = None
    segments: list[BySegment] = field(default_factory=list)
    time: ByTime | None = None

    @property
    def rows(self) -> int:
        """How many rows."""
        return int(self.ranked.values.size)

    @property
    def positives(self) -> float:
        """How many positive rows, or their weight."""
        return self.ranked.plus.total

    @property
    def negatives(self) -> float:
        """How many negative rows, or their weight."""
        return self.ranked.minus.total

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.ranked.weight is not None


def evaluate(
    y: Any,
    s: Any,
    weight: Any = None,
    *,
    origin: Origin = ANY,
    groups: Any = None,
    group_name: str = "group",
    group_names: Any = None,
    segments: Mapping[str, Any] | None = None,
    time: Any = None,
    time_name: str = "time",
    max_fpr: float | None = None,
) -> Evaluation:
    """Measure scores by labels 0 and 1, weights, groups, segments and times; ``O(n log n)``.

    Where groups are numbers from 0 on, ``group_names`` may say what they are called. ``max_fpr`` is one more
    false-alarm rate for a partial AUC.
    """
    ranked = RankedScores.validate(y, s, weight, classes=(0, 1), both_classes=False, finite=True)
    plus, minus = ranked.classes
    probabilities = origin.probabilities(ranked)
    calibration = None if probabilities is None else reliability(probabilities)
    parts = PARTS if max_fpr is None else tuple(sorted({*PARTS, max_fpr}, reverse=True))
    ranking = _ranking(ranked, origin.threshold, parts) if plus.values.size and minus.values.size else None
    notes = [*about_rows(ranked, ranking.tied if ranking else 0.0)]
    by_group, by_segment, by_time = None, [], None
    if ranking:
        notes += about_auc(ranking.interval, min(plus.total, minus.total)) if ranking.interval else ()
        notes += [] if calibration is None else about_probabilities(calibration)
        if groups is not None:
            by_group = measure_groups(ranked, groups, group_name, group_names)
        by_segment = list(measure_segments(ranked, segments or {}, ranking.auc))
        notes += about_segments(by_segment, ranking.auc)
        if time is not None:
            by_time = measure_time(ranked, time, time_name)
            notes += about_time(by_time)
    if ranking and by_group:
        notes += about_groups(by_group, ranking.auc)
    elif groups is not None:
        notes.append("No group has rows of both classes; the AUC within groups is undefined.")
    notes += origin.notes(ranking.table if ranking else None)
    scores = histogram(ranked)
    return Evaluation(origin, ranked, ranking, scores, calibration, notes, by_group, by_segment, by_time)


def _ranking(ranked: RankedScores, own: Threshold | None, parts: tuple[float, ...]) -> Ranking:
    interval = None
    if min(ranked.plus.total, ranked.minus.total) >= 2:
        # where rows are few, the page says so
        interval = auc_interval(ranked, frequency_design(ranked))
    return Ranking(
        interval.auc if interval else auc(ranked),
        interval,
        {part: standardized_partial_auc(ranked, part) for part in parts},
        average_precision(ranked),
        [lift_at(ranked, share) for share in SHARES if share * ranked.total >= 1],
        threshold_table(ranked, float(own.value) if own else None),
        tied_pairs(ranked),
    )
