"""The sections of a report: a heading each, with plots and tables."""

from __future__ import annotations

from collections.abc import Iterator

from mbauc.metrics.operating_point import OperatingPoint, choose_threshold, starting_point
from mbauc.metrics.probabilities import Reliability
from mbauc.report import figures
from mbauc.report.by_group import group_section
from mbauc.report.by_segment import segments_section
from mbauc.report.by_time import time_section
from mbauc.report.evaluation import Evaluation, Ranking
from mbauc.report.explorer import explorer_html
from mbauc.report.pieces import Section, facts, figure, fold, side_by_side, table
from mbauc.report.text import between, count, escape_name, number, percent, rough_percent, short_percent

#: False-alarm limits of the table beside the ROC curve.
_LIMITS = (0.0001, 0.001, 0.01, 0.05, 0.1, 0.2)


def sections(found: Evaluation, data_name: str = "") -> Iterator[Section]:
    """The sections of the page; those that the threshold moves marks in are within the one it is chosen in."""
    ranking = found.ranking
    if ranking:
        at = starting_point(ranking.table)
        roc = side_by_side(_roc(ranking, at), _promise(ranking, at))
        precision = side_by_side(_precision(ranking, at), _gains(ranking))
        yield Section(
            "threshold",
            "Choose a threshold",
            "<p>Rows with a score above the threshold raise an alarm. The figures below show detections, "
            "false alarms and precision at the selected threshold. The confidence intervals assume that the "
            "threshold was fixed in advance; for a threshold selected on these rows they are slightly "
            "optimistic.</p>" + explorer_html(ranking.table, found.origin, _scores(found, at)),
            (
                Section("roc", "ROC curve", roc),
                Section("precision", "Precision–recall and gains", precision),
            ),
        )
    else:
        yield Section("scores", "Scores", side_by_side(_scores(found, None)))
    if ranking and found.groups:
        yield group_section(found.groups, ranking.interval or ranking.auc)
    if ranking and found.segments:
        yield segments_section(found.segments, ranking.auc)
    if ranking and found.time:
        yield time_section(found.time, ranking.auc)
    if found.calibration:
        yield Section("calibration", "Calibration", side_by_side(*_calibration(found.calibration)))
    yield from found.origin.sections(found.ranked)
    yield Section("summary", "Data and model", _summary(found, data_name))


def _scores(found: Evaluation, at: OperatingPoint | None) -> str:
    bins = found.scores
    text = "Score distribution of each class. The less the two overlap, the better the ranking."
    if bins.outside:
        text += f" {count(bins.outside)} rows with extreme scores lie outside the plot."
    middle = (bins.edges[:-1] + bins.edges[1:]) / 2
    rows = [
        (number(score), percent(minus), percent(plus))
        for score, minus, plus in zip(middle, bins.minus, bins.plus, strict=True)
    ]
    shown = table("Share of each class by bins of equal width", ("Score near", "Negatives", "Positives"), rows)
    return figure("score-plot", figures.score_plot(bins, at), text, fold(shown))


def _roc(ranking: Ranking, at: OperatingPoint) -> str:
    rows = []
    for limit in _LIMITS:
        if limit * ranking.table.negatives >= 1:
            here = choose_threshold(ranking.table, false_alarm=limit)
            ends = between(here.detection.low, here.detection.high)
            rows.append((short_percent(limit), percent(here.detection.value), ends, number(here.cut)))
    heads = ("False-alarm rate", "Detection rate", "95% interval", "Threshold")
    return figure(
        "roc-plot",
        figures.roc_plot(ranking.table, at),
        "ROC curve with pointwise 95% confidence intervals of the detection rate (Clopper–Pearson, exact). The "
        "interval of the AUC is DeLong’s. The dotted line is a random ranking.",
        fold(table("Detection rate at a limited false-alarm rate", heads, rows)),
    )


def _promise(ranking: Ranking, at: OperatingPoint) -> str:
    return figure(
        "promise-plot",
        figures.promise_plot(ranking.table, at),
        "ROC curve at low false-alarm rates, with the distribution-free Neyman–Pearson band. At each threshold "
        "the right edge is the 95% upper confidence bound of the true false-alarm rate; use it for a "
        "guarantee. The vertical extent is the 95% confidence interval of the detection rate.",
    )


def _precision(ranking: Ranking, at: OperatingPoint) -> str:
    return figure(
        "precision-plot",
        figures.precision_plot(ranking.table, at),
        "Precision (share of alarms that are positives) with its 95% confidence interval (Clopper–Pearson), "
        "valid for data with the same share of positives as these rows.",
    )


def _gains(ranking: Ranking) -> str:
    lifts = [(short_percent(lift.share), percent(lift.found), f"{lift.lift:.3g}") for lift in ranking.lifts]
    return figure(
        "gains-plot",
        figures.gains_plot(ranking.table),
        "Cumulative gains: share of the positives among the rows with the highest scores.",
        table("Lift over a random selection of rows", ("Top rows", "Positives found", "Lift"), lifts),
    )


def _calibration(bins: Reliability) -> tuple[str, str]:
    rows = [
        (rough_percent(predicted), rough_percent(seen), between(low, high))
        for predicted, seen, low, high in zip(*bins[1:5], strict=True)
    ]
    plot = figure(
        "calibration-plot",
        figures.calibration_plot(bins),
        "Calibration curve: observed share of positives against predicted probability, in bins with equal "
        "numbers of rows, with 95% confidence intervals (Clopper–Pearson). Expected calibration error: "
        f"{percent(bins.error)}.",
    )
    least, most = count(bins.size.min()), count(bins.size.max())
    sizes = least if least == most else f"{least} to {most}"
    heads = ("Predicted", "Observed", "95% interval")
    return plot, table(
        f"Predicted probability and observed share of positives, {sizes} rows per bin", heads, rows
    )


def _summary(found: Evaluation, data_name: str) -> str:
    negative, positive = found.origin.describe_classes()
    general = [
        ("Rows", count(found.rows) + (f", {escape_name(data_name)}" if data_name else "")),
        ("Positive", f"{count(found.positives)}, label {positive}"),
        ("Negative", f"{count(found.negatives)}, label {negative}"),
    ]
    if found.weighted:
        general.append(("Weights", "a row of weight k counts as k equal rows"))
    more, technical, below = found.origin.facts(found.ranked)
    if found.ranking:
        technical.append(("Tied pairs (equal scores)", percent(found.ranking.tied)))
    details = f"{facts(technical)}{below}" if technical else "<p>None.</p>"
    return f"{facts([*general, *more])}<details><summary>Technical details</summary>{details}</details>"
