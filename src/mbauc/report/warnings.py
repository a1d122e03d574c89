"""What a reader of a report should know before believing its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from mbauc.metrics.curves import PenaltyPath
from mbauc.metrics.intervals.binomial import clopper_pearson
from mbauc.metrics.intervals.delong import AucInterval
from mbauc.metrics.intervals.sample_design import FEW_ROWS, enough_rows
from mbauc.metrics.operating_point import choose_threshold
from mbauc.metrics.probabilities import Reliability
from mbauc.metrics.ranked import RankedScores
from mbauc.metrics.thresholds import ThresholdTable
from mbauc.report.text import count, number, percent, short_percent

if TYPE_CHECKING:
    from mbauc.model import RankerModel

#: Width of an AUC interval from which a warning is due.
_WIDE = 0.1
#: Share of tied pairs from which a warning is due.
_TIED = 0.01
#: Sum of the weights divided by the number of rows, from which they were perhaps not meant as frequencies.
_HEAVY = 10
#: Factor between predicted and observed positives from which probabilities are off as a whole.
_OFF = 1.5
#: Share of bins of rows in which a probability may lie outside the interval of what was seen.
_BY_CHANCE = 0.25


def about_rows(ranked: RankedScores, tied: float) -> Iterator[str]:
    """Classes that are missing or small, and ties."""
    for part, name in zip(ranked.classes, ("positive", "negative"), strict=True):
        if not part.values.size:
            yield (
                f"There are no {name} rows. AUC, curves and thresholds need both classes and are omitted; "
                "check how these rows were selected."
            )
        elif part.total < FEW_ROWS:
            yield (
                f"Only {count(part.total)} {name} row{'' if part.total == 1 else 's'}: the confidence interval "
                f"of the AUC tends to be too narrow below {FEW_ROWS}, and all figures are uncertain."
            )
    if tied > _TIED:
        yield (
            f"{percent(tied)} of the pairs of a positive and a negative row are tied (equal scores). They "
            "count one half in the AUC, and no threshold separates them."
        )
    if any(part.up_to is not None and (part.up_to % 1).any() for part in ranked.classes):
        yield "Some weights are not whole numbers. The confidence intervals treat weights as frequencies."
    rows, total = sum(part.values.size for part in ranked.classes), ranked.total
    if total > _HEAVY * rows:
        yield (
            f"The weights of {count(rows)} rows add up to {count(total)}. The confidence intervals treat "
            "weights as frequencies; if they are amounts, the intervals are far too narrow."
        )


def about_auc(auc: AucInterval, size: float) -> Iterator[str]:
    """AUCs that are uncertain, no better than chance, or too good, given the size of the smaller class."""
    if FEW_ROWS <= size < enough_rows(auc.auc):
        yield (
            f"At an AUC of {auc.auc:.4f} few rows are misranked: its confidence interval tends to be too "
            f"narrow below {count(enough_rows(auc.auc))} rows of each class, and the smaller class has "
            f"{count(size)}."
        )
    if auc.high - auc.low > _WIDE:
        yield f"The confidence interval of the AUC is wide: {auc.low:.3f} to {auc.high:.3f}. Test on more rows."
    if auc.high < 0.5:
        yield "The scores rank worse than chance. Check which label is positive."
    elif auc.low <= 0.5:
        yield (
            "The confidence interval of the AUC contains 0.5: the ranking is not significantly better than "
            "chance."
        )
    if auc.auc == 1.0:
        yield (
            "The scores separate the classes perfectly. Check for data leakage: does a column contain the "
            "label?"
        )


def about_thresholds(table: ThresholdTable, model: RankerModel) -> Iterator[str]:
    """A promise that these rows speak against."""
    promised = None if model.threshold is None else model.threshold.false_alarm
    if promised is None or table.chosen is None:
        return
    at = choose_threshold(table)
    if at.false_alarm.low > promised:
        yield (
            f"The model's threshold exceeds its false-alarm limit of {short_percent(promised)}: the "
            f"false-alarm rate on these rows is {percent(at.false_alarm.value)} (95% interval "
            f"{percent(at.false_alarm.low)} to {percent(at.false_alarm.high)}). Check the data for drift."
        )


def about_probabilities(bins: Reliability) -> Iterator[str]:
    """Probabilities that are off as a whole, or in many places."""
    size = float(bins.size.sum())
    predicted, hits = float(bins.predicted @ bins.size) / size, float(bins.seen @ bins.size)
    low, high = (float(end) for end in clopper_pearson(hits, size, 0.95))
    seen = hits / size
    too_high, too_low = predicted > max(high, _OFF * seen), predicted < min(low, seen / _OFF)
    if too_high or too_low:
        yield (
            f"Probabilities are too {'high' if too_high else 'low'} overall: mean prediction "
            f"{percent(predicted)}, observed share of positives {percent(seen)}. The ranking is not affected."
        )
        return
    wrong = (bins.predicted < bins.low) | (bins.predicted > bins.high)
    if wrong.sum() > max(_BY_CHANCE * wrong.size, 2):
        worst = int(np.argmax(np.abs(bins.predicted - bins.seen)))
        yield (
            f"Probabilities are poorly calibrated in {int(wrong.sum())} of {wrong.size} bins: the largest "
            f"error is {percent(float(bins.predicted[worst]))} predicted, {percent(float(bins.seen[worst]))} "
            "observed. Use them for ranking only, or recalibrate them on separate rows (mbauc calibrate)."
        )


def about_model(model: RankerModel, path: PenaltyPath | None) -> Iterator[str]:
    """Weights that are all zero, and penalties at the end of what was tried."""
    if not model.coef.any():
        yield "All weights are zero: every row has the same score. The penalty l1 may be too large."
    if path is not None and len(path.entries) > 2:
        chosen = {"l1": model.l1, "l2": model.l2}[path.name]
        ends = (path.entries[0][path.name], path.entries[-1][path.name])
        if chosen in ends:
            which = "smallest" if chosen == ends[0] else "largest"
            yield (
                f"The chosen {path.name} = {number(chosen)} is the {which} one compared. A value outside the "
                "range may be better."
            )
