"""The sections of a report: a heading each, with plots and tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from mbauc.metrics.curves import PenaltyPath
from mbauc.metrics.thresholds import OperatingPoint, choose_threshold, starting_point
from mbauc.report import figures
from mbauc.report.by_group import group_section
from mbauc.report.evaluation import Evaluation, Ranking
from mbauc.report.explained_rows import rows_section
from mbauc.report.explorer import explorer_html
from mbauc.report.pieces import Section, bar, facts, figure, fold, side_by_side, table, with_sign
from mbauc.report.terms_section import model_terms, terms_section
from mbauc.report.text import between, count, escape_name, number, percent, score_text, short_percent
from mbauc.report.training_facts import training_facts, weight_meaning

if TYPE_CHECKING:
    from mbauc.model import RankerModel

#: Weights that are shown, and false-alarm limits of the table beside the ROC curve.
_WEIGHTS = 25
_LIMITS = (0.0001, 0.001, 0.01, 0.05, 0.1, 0.2)
#: Facts of the training that mean something to everybody.
_FOR_ALL = (
    "Trained on",
    "Training finished",
    "Training positives",
    "Training negatives",
    "Tested",
    "Training: notes",
)


def sections(
    found: Evaluation, model: RankerModel, data_name: str = "", model_name: str = ""
) -> Iterator[Section]:
    """The sections of the page; those that the threshold moves marks in are within the one it is chosen in."""
    ranking = found.ranking
    if ranking:
        at = starting_point(ranking.table)
        roc = side_by_side(_roc(ranking, at), _promise(ranking, at))
        precision = side_by_side(_precision(ranking, at), _gains(ranking))
        yield Section(
            "threshold",
            "Choose a threshold",
            "<p>An alarm is raised for rows with a score above the threshold. Move it, and see what it finds "
            "and what that costs on these rows. Intervals are for a threshold that was fixed before; one that "
            "is chosen here looks a little better than it is.</p>"
            + explorer_html(ranking.table, model.threshold, _scores(found, at), model_name),
            (
                Section("roc", "Detection and false alarms", roc),
                Section("precision", "Precision and gains", precision),
            ),
        )
    else:
        yield Section("scores", "Scores", side_by_side(_scores(found, None)))
    if ranking and found.groups:
        yield group_section(found.groups, ranking.interval or ranking.auc)
    yield Section("calibration", "Probabilities", side_by_side(*_calibration(found)))
    terms = model_terms(model)
    if terms is None:
        yield Section("weights", "Weights", _weights(model))
    else:
        yield terms_section(terms, found.without)
    if found.explained:
        yield rows_section(found.explained, model.classes)
    yield Section("summary", "Data and model", _summary(found, model, data_name))


def _scores(found: Evaluation, at: OperatingPoint | None) -> str:
    bins = found.scores
    text = "Scores of each class, each as shares of its own class. The farther apart, the better the ranking."
    if bins.outside:
        text += f" {count(bins.outside)} rows with extreme scores lie outside the picture."
    middle = (bins.edges[:-1] + bins.edges[1:]) / 2
    rows = [
        (number(score), percent(minus), percent(plus))
        for score, minus, plus in zip(middle, bins.minus, bins.plus, strict=True)
    ]
    shown = table("Shares in bins of equal width", ("Score near", "Negatives", "Positives"), rows)
    return figure("score-plot", figures.score_plot(bins, at), text, fold(shown))


def _roc(ranking: Ranking, at: OperatingPoint) -> str:
    rows = []
    for limit in _LIMITS:
        if limit * ranking.table.negatives >= 1:
            here = choose_threshold(ranking.table, false_alarm=limit)
            ends = between(here.detection.low, here.detection.high)
            rows.append((short_percent(limit), percent(here.detection.value), ends, number(here.cut)))
    heads = ("False alarms", "Detection", "95% interval", "Threshold")
    return figure(
        "roc-plot",
        figures.roc_plot(ranking.table, at),
        "ROC curve. The band holds the detection rate of each threshold by itself with 95% confidence "
        "(Clopper–Pearson, exact); the interval of the AUC is DeLong’s. The dotted line is chance.",
        fold(table("Detection under a limit of false alarms", heads, rows)),
    )


def _promise(ranking: Ranking, at: OperatingPoint) -> str:
    return figure(
        "promise-plot",
        figures.promise_plot(ranking.table, at),
        "The same where false alarms are few. At each threshold the true false-alarm rate is, with 95% "
        "confidence, no higher than the right edge of the band says, which is what a promise can rest on; up "
        "and down it is the 95% interval of the detection rate (Neyman–Pearson band, whatever the "
        "distribution of the scores).",
    )


def _precision(ranking: Ranking, at: OperatingPoint) -> str:
    return figure(
        "precision-plot",
        figures.precision_plot(ranking.table, at),
        "Share of the alarms that are right, with its 95% interval (Clopper–Pearson). It holds for data with "
        "as large a share of positives as here.",
    )


def _gains(ranking: Ranking) -> str:
    lifts = [(short_percent(lift.share), percent(lift.found), f"{lift.lift:.3g}") for lift in ranking.lifts]
    return figure(
        "gains-plot",
        figures.gains_plot(ranking.table),
        "Positives found if the rows with the highest scores are looked at first.",
        table("Lift: how many times more positives than blindly", ("Rows", "Positives found", "Lift"), lifts),
    )


def _calibration(found: Evaluation) -> tuple[str, str]:
    bins = found.calibration
    rows = [
        (percent(predicted), percent(seen), between(low, high))
        for predicted, seen, low, high in zip(*bins[1:5], strict=True)
    ]
    plot = figure(
        "calibration-plot",
        figures.calibration_plot(bins),
        "Share of positives against the probability that the model gave, in bins of equally many rows, with "
        f"95% intervals (Clopper–Pearson). Mean distance (calibration error): {percent(bins.error)}.",
    )
    least, most = count(bins.size.min()), count(bins.size.max())
    sizes = least if least == most else f"{least} to {most}"
    heads = ("Probability", "Positives", "95% interval")
    return plot, table(f"Probabilities and what was seen, {sizes} rows each", heads, rows)


def _weights(model: RankerModel) -> str:
    used, columns = int(np.count_nonzero(model.coef)), model.n_features
    if not used:
        return f"<p>All {columns:,} weights are zero.</p>"
    text = f"The {_WEIGHTS} largest of {used:,}" if used > _WEIGHTS else f"All {used:,}"
    text += f" weights that are not zero, of {columns:,} columns." if used < columns else " weights."
    largest, (scales, _) = float(np.abs(model.coef).max()), model.scales()
    shown = list(islice(model.largest_weights(), _WEIGHTS))
    scaled = any(scales[column] != 1 for column, *_ in shown)
    more = "; the last column has it for one unit." if scaled else "; compare only columns of like units."
    rows = ""
    for column, name, weight in shown:
        rows += (
            f'<tr><th scope="row">{escape_name(name, 80)}</th><td>{bar(weight / largest)}</td>'
            f"<td>{with_sign(weight)}</td>"
        )
        if scaled:
            rows += f"<td>{with_sign(weight / scales[column]) if scales[column] != 1 else ''}</td>"
        rows += "</tr>"
    last = '<th scope="col">For one unit</th>' if scaled else ""
    return (
        f"<p>{text} Bars to the right raise the score. {weight_meaning(model)}{more}</p>"
        '<table class="weights"><thead><tr><th scope="col">Column</th><td></td><th scope="col">Weight</th>'
        f"{last}</tr></thead><tbody>{rows}</tbody></table>"
    )


def _path(path: PenaltyPath, model: RankerModel) -> str:
    chosen, other = (model.l2, "l1") if path.name == "l2" else (model.l1, "l2")
    measure = model.describe_measure()
    text = (
        f"{escape_name(measure[0].upper() + measure[1:])} on rows held out in cross-validation; "
        f"{path.name} = {number(chosen)} was chosen."
    )
    kind = "AUC" if model.region.is_whole else "partial AUC"
    if path.other_varied:
        text += f" For each {path.name} the best {other} is shown."
    rows = []
    for entry in path.entries:
        error = entry.get("stderr")
        scored = (f"{entry['score']:.5f}", "–" if error is None else f"{error:.5f}")
        rows.append((number(entry["l1"]), number(entry["l2"]), *scored))
    shown = table("Penalties that were tried", ("l1", "l2", f"Held-out {kind}", "Standard error"), rows)
    return figure("path-plot", figures.path_plot(path.entries, path.name, chosen, kind), text, fold(shown))


def _summary(found: Evaluation, model: RankerModel, data_name: str) -> str:
    negative, positive = (
        ", ".join(map(str, side)) if isinstance(side, tuple | list) else str(side) for side in model.classes
    )
    general = [
        ("Rows", count(found.rows) + (f", {escape_name(data_name)}" if data_name else "")),
        ("Positive", f"{count(found.positives)}, label {escape_name(positive)}"),
        ("Negative", f"{count(found.negatives)}, label {escape_name(negative)}"),
    ]
    if found.weighted:
        general.append(("Weights", "each row counts for as many equal rows as its weight says"))
    weights = f"{int((model.coef != 0).sum()):,}"
    if model.terms is None:
        general.append(("Columns", f"{model.coef.size:,}, {weights} with a weight"))
    else:
        pairs = len(model.terms.features.pairs)
        general.append(
            ("Columns", f"{model.layout.n_features:,} and {pairs:,} interactions, {weights} weights")
        )
    technical = [
        ("What was lowered", escape_name(model.describe_objective())),
        *([("What was asked for", escape_name(asked, 500))] if (asked := model.describe_asked()) else []),
        ("Penalties", f"l1 = {number(model.l1)}, l2 = {number(model.l2)}"),
        ("Log-odds for one unit of score", number(model.slope)),
    ]
    if model.threshold:
        technical.append(("Threshold of the model", score_text(model.threshold.value)))
    if found.ranking:
        technical.append(("Pairs with equal scores", percent(found.ranking.tied)))
    for name, value in training_facts(model.trained_on):
        (general if name in _FOR_ALL else technical).append((escape_name(name), escape_name(value, 500)))
    path = _path(found.path, model) if found.path else ""
    return f"{facts(general)}<details><summary>Technical details</summary>{facts(technical)}{path}</details>"
