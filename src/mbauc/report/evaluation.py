"""All the numbers of a report, from the scores of rows that the model was not trained on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import FewRowsWarning
from mbauc.metrics import roc_auc, roc_auc_interval
from mbauc.metrics.curves import (
    Histogram,
    Lift,
    Reliability,
    average_precision,
    histogram,
    lift_at,
    partial_auc,
    reliability,
    tied_pairs,
)
from mbauc.metrics.delong import AucInterval
from mbauc.metrics.penalty_path import PenaltyPath, penalty_path
from mbauc.metrics.tally import ClassScores, Tally
from mbauc.metrics.thresholds import ThresholdTable, threshold_table
from mbauc.report import warnings as findings
from mbauc.rows.labels import positive_rows
from mbauc.rows.matrix import check_weights

if TYPE_CHECKING:
    from mbauc.model import RankerModel

Array = NDArray[np.float64]

#: False-alarm rates of the partial AUCs, and shares of the rows that lifts are told for.
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


def evaluate(model: RankerModel, y: Any, s: Any, weight: Any = None) -> Evaluation:
    """Measure a model on rows; ``O(n log n)``, about three copies of the scores.

    Parameters
    ----------
    model : RankerModel
        What the scores are of.
    y, s, weight
        As for :func:`mbauc.report.report_html`.

    Returns
    -------
    Evaluation
    """
    positive, values, weight = _checked(y, s, weight)
    tally = Tally.of(positive, values, weight)
    calibration = reliability(_probabilities(model, tally))
    ranking = None
    if tally.plus.values.size and tally.minus.values.size:
        ranking = _ranking(model, tally)
    path = penalty_path(model.path)
    notes = [*findings.about_rows(tally, ranking.tied if ranking else 0.0)]
    if ranking:
        smaller = min(tally.plus.total, tally.minus.total)
        notes += findings.about_auc(ranking.interval, smaller) if ranking.interval else ()
        notes += findings.about_thresholds(ranking.table, model)
        notes += findings.about_probabilities(calibration)
    notes += findings.about_model(model, path)
    return Evaluation(
        values.size,
        tally.plus.total,
        tally.minus.total,
        weight is not None,
        ranking,
        histogram(tally),
        calibration,
        path,
        notes,
    )


def _probabilities(model: RankerModel, tally: Tally) -> Tally:
    if model.slope >= 0:  # the order stays
        return Tally(*(ClassScores(model.probability(part.values), part.up_to) for part in tally))
    positive, values, weight = tally.rows()
    return Tally.of(positive, model.probability(values), weight)


def _ranking(model: RankerModel, tally: Tally) -> Ranking:
    interval = None
    if min(tally.plus.total, tally.minus.total) >= 2:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewRowsWarning)  # the page says so
            interval = roc_auc_interval(*tally.rows(), weights="frequency" if tally.weighted else None)
    own = float(model.threshold.value) if model.threshold else None
    return Ranking(
        interval.auc if interval else roc_auc(*tally.rows()),
        interval,
        {part: partial_auc(tally, part) for part in PARTS},
        average_precision(tally),
        [lift_at(tally, share) for share in SHARES if share * tally.total >= 1],
        threshold_table(tally, own),
        tied_pairs(tally),
    )


def _checked(y: Any, s: Any, weight: Any) -> tuple[NDArray[np.bool_], Array, Array | None]:
    values = np.asarray(s, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"s must hold one score for each row, and at least one row, got shape {values.shape}.")
    positive = positive_rows(y, (0, 1))
    if positive.size != values.size:
        raise ValueError(f"y has {positive.size:,} labels and there are {values.size:,} scores.")
    finite = np.isfinite(values)
    if not finite.all():
        row = int(np.flatnonzero(~finite)[0])
        raise ValueError(f"the score of row {row:,} is {values[row]}; every score must be finite.")
    return positive, values, check_weights(weight, values.size)
