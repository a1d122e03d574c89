"""The plots of a report, each from the numbers that it shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.metrics.curves import Histogram
from mbauc.metrics.group_table import GroupBins
from mbauc.metrics.operating_point import OperatingPoint
from mbauc.metrics.probabilities import Reliability
from mbauc.metrics.thresholds import ThresholdTable
from mbauc.report.levels import Levels
from mbauc.report.pieces import interval_ends
from mbauc.report.svg import Axis, Plot

Array = NDArray[np.float64]

_SHARE = (0.0, 1.0)


def roc_plot(table: ThresholdTable, at: OperatingPoint) -> Plot:
    """Detection against false alarms with the interval of each detection rate."""
    plot = Plot(
        "ROC curve",
        Axis(*_SHARE, "false-alarm rate", percent=True),
        Axis(*_SHARE, "detection rate", percent=True),
        [("line", "curve", "measured"), ("area", "band", "95% interval"), ("dot", "mark", "threshold")],
        height=300,
    )
    x, y = _from_zero(table)
    low, high = (np.concatenate([end[:1], end]) for end in table.detection_limits)
    plot.band(x, low, high, "band")
    plot.line(_SHARE, _SHARE, "chance")
    plot.line(x, y, "curve")
    plot.mark(at.false_alarm.value, at.detection.value, "rates")
    return plot


def promise_plot(table: ThresholdTable, at: OperatingPoint) -> Plot:
    """The same where false alarms are few, with what a promise can reach."""
    x, y = _from_zero(table)
    floor = 10.0 ** np.floor(np.log10(0.9 / max(table.negatives, 2.0)))
    plot = Plot(
        "ROC curve with a logarithmic false-alarm rate",
        Axis(floor, 1.0, "false-alarm rate, logarithmic", log=True, percent=True),
        Axis(*_SHARE, "detection rate", percent=True),
        [
            ("line", "curve", "measured"),
            ("area", "promise", "Neyman–Pearson"),
            ("dot", "mark", "threshold"),
        ],
        height=300,
    )
    # a promise between two thresholds has to use the higher one: steps
    low, high = (np.repeat(end, 2)[:-1] for end in table.detection_limits)
    plot.band(np.repeat(table.promise, 2)[1:], low, high, "promise")
    # straight between two thresholds means bent on this axis
    grid = np.geomspace(floor, 1.0, 300)
    x, y = np.concatenate([x, grid]), np.concatenate([y, np.interp(grid, x, y)])
    order = np.lexsort([y, x])
    plot.line(grid, grid, "chance")
    plot.line(x[order], y[order], "curve")
    plot.mark(at.false_alarm.value, at.detection.value, "rates")
    return plot


def score_plot(bins: Histogram, at: OperatingPoint | None) -> Plot:
    """Where the scores of each class lie."""
    kinds = [("minus", "negatives", bins.minus), ("plus", "positives", bins.plus)]
    key = [("area", kind, text) for kind, text, _ in kinds]
    plot = Plot(
        "Scores of both classes",
        Axis(float(bins.edges[0]), float(bins.edges[-1]), "score"),
        Axis(
            0.0,
            float(max(bins.plus.max(), bins.minus.max())) * 1.05,
            "share of rows in the class",
            percent=True,
        ),
        [*key, ("line", "mark", "threshold")] if at else key,
    )
    for kind, _, shares in kinds:
        height = np.repeat(shares, 2)
        plot.band(np.repeat(bins.edges, 2)[1:-1], np.zeros(height.size), height, kind)
    if at:
        plot.mark(at.threshold, None, "score")
    return plot


def group_plot(bins: GroupBins) -> Plot:
    """How the AUCs of groups spread."""
    kinds = [("minus", "of the groups", bins.groups), ("plus", "of the pairs", bins.pairs)]
    plot = Plot(
        "AUCs of groups",
        Axis(*_SHARE, "AUC of a group"),
        Axis(0.0, float(max(bins.pairs.max(), bins.groups.max())) * 1.05, "share", percent=True),
        [("area", kind, text) for kind, text, _ in kinds],
    )
    for kind, _, shares in kinds:
        height = np.repeat(shares, 2)
        plot.band(np.repeat(bins.edges, 2)[1:-1], np.zeros(height.size), height, kind)
    return plot


@dataclass(frozen=True)
class PeriodAxis(Axis):
    """An axis of periods in their order, of which some are named."""

    names: tuple[str, ...] = ()

    def ticks(self) -> list[tuple[float, str]]:
        """The first, the last, and one in the middle if there is room."""
        last = len(self.names) - 1
        places = sorted({0, last // 2, last} if last > 3 and last % 2 == 0 else {0, last})
        return [(float(place), self.names[place].partition(" to ")[0]) for place in places]


def period_plot(periods: Levels, auc: float) -> Plot:
    """AUC period by period with intervals, and that of all rows."""
    places = np.flatnonzero(~np.isnan(periods.auc))
    low, high = (np.where(np.isnan(end), periods.auc, end)[places] for end in (periods.low, periods.high))
    last = len(periods.names) - 1
    plot = Plot(
        "AUC over time",
        PeriodAxis(-0.5, last + 0.5, "period", names=tuple(name[:16] for name in periods.names)),
        Axis(*interval_ends([(low, high)], auc), "AUC"),
        [("line", "curve", "AUC"), ("line", "whisker", "95% interval"), ("line", "chance", "all rows")],
    )
    plot.line([-0.5, last + 0.5], [auc, auc], "chance")
    if places.size:
        plot.whiskers(places, low, high, "whisker")
        plot.line(places, periods.auc[places], "curve")
        plot.dots(places, periods.auc[places], "dot", 3)
    return plot


def precision_plot(table: ThresholdTable, at: OperatingPoint) -> Plot:
    """Precision against detection with its interval."""
    some = table.alarms > 0
    x, y = table.detection[some], table.found[some] / table.alarms[some]
    plot = Plot(
        "Precision against detection rate",
        Axis(*_SHARE, "detection rate (recall)", percent=True),
        Axis(*_SHARE, "precision", percent=True),
        [("line", "curve", "measured"), ("area", "band", "95% interval"), ("line", "chance", "chance")],
    )
    low, high = (end[some] for end in table.precision_limits)
    plot.band(x, low, high, "band")
    plot.line(_SHARE, [table.prevalence] * 2, "chance")
    plot.line(x, y, "curve")
    if x.size < 20:
        plot.dots(x, y, "dot")
    plot.mark(at.detection.value, at.precision.value if table.alarms[at.row] else 0.0, "precision")
    return plot


def gains_plot(table: ThresholdTable) -> Plot:
    """Share of the positives found in a share of all rows."""
    plot = Plot(
        "Cumulative gains: share of positives found against share of rows",
        Axis(*_SHARE, "share of the rows, highest scores first", percent=True),
        Axis(*_SHARE, "share of the positives found", percent=True),
        [("line", "curve", "model"), ("line", "chance", "random"), ("line", "ideal", "perfect ranking")],
    )
    plot.line(_SHARE, _SHARE, "chance")
    plot.line([0.0, table.prevalence, 1.0], [0.0, 1.0, 1.0], "ideal")
    plot.line(np.append(0.0, table.alarms / table.rows), np.append(0.0, table.detection), "curve")
    return plot


def calibration_plot(bins: Reliability) -> Plot:
    """Share of positives against mean probability; logarithmic where the probabilities span decades."""
    high = float(max(bins.predicted.max(), bins.seen.max()))
    log = bool(np.median(bins.predicted) < bins.predicted.max() / 10)
    if log:
        least = max(1e-6, min(bins.predicted.min(), bins.seen[bins.seen > 0].min(initial=1.0)))
        ends = (10.0 ** np.floor(np.log10(least)), 10.0 ** np.ceil(np.log10(max(high, 10 * least))))
    else:
        ends = (0.0, min(1.0, 1.15 * max(float(bins.high.max()), high)))
    tail = ", logarithmic" if log else ""
    plot = Plot(
        "Calibration curve: observed share of positives against predicted probability",
        Axis(*ends, "mean predicted probability" + tail, log=log, percent=True),
        Axis(*ends, "observed share of positives" + tail, log=log, percent=True),
        [("dot", "dot", "bins of rows"), ("line", "chance", "perfect calibration")],
        height=300,
    )
    plot.line(ends, ends, "chance")
    plot.whiskers(bins.predicted, bins.low, bins.high, "whisker")
    plot.dots(bins.predicted, bins.seen, "dot")
    return plot


def path_plot(path: Sequence[dict[str, Any]], name: str, chosen: float, measure: str) -> Plot:
    """Held-out scores against the penalty ``name``, by which the entries are sorted."""
    values = np.array([float(entry[name]) for entry in path])
    score = np.array([float(entry["score"]) for entry in path])
    stderr = np.nan_to_num([float(entry.get("stderr") or 0.0) for entry in path])
    powers = np.log10([value for value in (*values, chosen) if value > 0])
    # whole decades; a penalty of zero stands at the left end, on its own
    zero = bool((values == 0).any()) or chosen == 0
    first = np.floor(powers.min()) - float(zero)
    last = max(np.ceil(powers.max()), first + 1)
    low, high = float((score - stderr).min()), float((score + stderr).max())
    room = 0.08 * (high - low) or 0.01
    key = [("line", "curve", f"held-out {measure}"), ("line", "mark", f"selected {name}")]
    if stderr.any():
        key.append(("line", "whisker", "± 1 standard error"))
    plot = Plot(
        f"Held-out {measure} against the penalty {name}",
        Axis(10.0**first, 10.0**last, f"{name}, logarithmic", log=True, zero=zero),
        Axis(low - room, high + room, f"held-out {measure}"),
        key,
    )
    plot.line([chosen, chosen], [low - room, high + room], "mark")
    plot.whiskers(values, score - stderr, score + stderr, "whisker")
    plot.line(values, score, "curve")
    plot.dots(values, score, "dot", 2.5)
    return plot


def _from_zero(table: ThresholdTable) -> tuple[Array, Array]:
    """The measured curve, from no alarm at all."""
    return np.append(0.0, table.false_alarm), np.append(0.0, table.detection)
