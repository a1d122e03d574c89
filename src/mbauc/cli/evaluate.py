"""``mbauc evaluate``: how well a model ranks the rows of files, in numbers and as a page."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.data_files import files, open_ungrouped, read_groups
from mbauc.cli.options import add_command, add_data, add_group
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, note_skipped

if TYPE_CHECKING:
    from mbauc.metrics.thresholds import OperatingPoint
    from mbauc.model import RankerModel
    from mbauc.report.by_group import ByGroup
    from mbauc.report.evaluation import Evaluation, Ranking

_DESCRIPTION = """\
Scores labelled rows that the model was not trained on and says how well it ranks them: AUC with DeLong's
interval, the part of it at few false alarms, calibration, and what the threshold does, if the model has one.
--report writes one HTML file with curves, weights and a threshold explorer, to be opened in any browser.
"""
_EXAMPLES = """\
examples:
  mbauc evaluate model.mbauc tomorrow.csv
  mbauc evaluate model.mbauc tomorrow.csv --report report.html
  mbauc evaluate model.mbauc searches.csv --group query
"""
#: Numbers of rows that are held in memory to say what columns are worth.
_MOST_NUMBERS = 20_000_000
#: Groups that are shown.
_SHOWN = 5


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands, "evaluate", "AUC with its interval, and a report to show to others", _DESCRIPTION, _EXAMPLES
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    add_data(parser)
    add_group(parser)
    parser.add_argument("--report", type=Path, metavar="FILE", help="HTML page to write")
    parser.add_argument("--title", default="", help="of the page")
    parser.add_argument("--force", action="store_true", help="replace FILE without asking")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Score, measure, and write the page."""
    if options.report is not None:
        check_writable(options.report, options.force, "--report")
    from mbauc.metrics.thresholds import choose_threshold
    from mbauc.model import load_model
    from mbauc.model.seen_files import file_marks, list_names
    from mbauc.model.testing import score_source
    from mbauc.report.evaluation import evaluate

    model, output = load_model(options.model, moments=False), Output(options.json)
    with files(options) as paths:
        source = open_ungrouped(model, paths, options)
        tested = score_source(model, source, verbose=not options.json)
        groups = read_groups(source, options.group, model)
        marks, left_out = file_marks(source), note_skipped(source)
        seen = list(_warn_of_seen_rows(model, source))
        X = _rows_to_explain(model, source, tested.y, tested.s) if options.report is not None else None
    of_groups = (
        {} if groups is None else dict(zip(("group_name", "groups", "group_names"), groups, strict=True))
    )
    found = evaluate(model, tested.y, tested.s, tested.weight, X=X, **of_groups)
    found.warnings.extend(seen)
    own = (
        choose_threshold(found.ranking.table)
        if found.ranking and found.ranking.table.chosen is not None
        else None
    )
    for line in _lines(found, own):
        output.say(line)
    for note in found.warnings:
        output.note(note, 14)
    if options.report is not None:
        from mbauc.report.page import page_html
        from mbauc.store.atomic import atomic_write

        data_name = list_names([entry["name"] for entry in marks])
        now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
        page = page_html(
            found,
            model,
            title=options.title,
            data_name=data_name,
            model_name=options.model.name,
            generated=f"{options.model.name}, {now}",
        )
        with atomic_write(options.report) as stream:
            stream.write(page.encode())
        output.say(f"wrote         {options.report}")
    return output.finish(
        {"model": options.model, "data": marks, "report": options.report, **left_out, **_numbers(found, own)}
    )


def _rows_to_explain(model: RankerModel, source: Any, y: Any, s: Any) -> Any:
    """Rows for the report of a model of curves: all of them if they fit, or those that will be shown."""
    import numpy as np

    from mbauc.report.explained_rows import choose_rows
    from mbauc.rows.taken import take_rows

    if model.terms is None:
        return None
    if y.size * source.n_features <= _MOST_NUMBERS:
        return take_rows(source, np.arange(y.size))
    shown = np.unique([row for _, row in choose_rows(y == 1, s)])
    rows = take_rows(source, shown)
    return lambda numbers: rows[np.searchsorted(shown, numbers)]


def _warn_of_seen_rows(model: RankerModel, source: Any) -> Iterator[str]:
    """Words of warning where rows may be those that the model, or its threshold, came from."""
    from mbauc.model.seen_files import find_seen_files, list_names

    seen = find_seen_files(model.trained_on.get("files"), source)
    if seen:
        yield (
            f"The model was trained on {list_names(seen)}: rows that it has seen look better than "
            "new ones will."
        )
    seen = find_seen_files(model.trained_on.get("threshold_files"), source)
    if seen:
        yield (
            f"The threshold was set on {list_names(seen)}: its false alarms here are those it was chosen for, "
            "which is no check of its promise. Check it on other rows."
        )


def _lines(found: Evaluation, own: OperatingPoint | None) -> Iterator[str]:
    """What people want to know first."""
    from mbauc.report.text import count

    yield f"rows          {count(found.positives)} positives, {count(found.negatives)} negatives"
    ranking = found.ranking
    if ranking is not None:
        yield f"AUC           {ranking.interval or f'{ranking.auc:.4f}'}"
        for limit, value in ranking.partial.items():
            yield f"              {value:.4f} up to {limit:.0%} false alarms (standardised partial AUC)"
        yield from _group_lines(found)
        yield f"precision     {ranking.average_precision:.4f} (average precision)"
        yield from _lift_lines(ranking)
    yield f"calibration   error {found.calibration.error:.5f}"
    if own is not None:
        yield (
            f"threshold     {own.threshold:.6g}: {count(own.found)} found ({own.detection.value:.4f}, interval "
            f"{own.detection.low:.4f} to {own.detection.high:.4f}), {count(own.false_alarms)} false alarms "
            f"({own.false_alarm.value:.5f})"
        )


def _group_lines(found: Evaluation) -> Iterator[str]:
    """AUC within groups, and the groups that lose most pairs."""
    from mbauc.checks import truncate
    from mbauc.cli.output import escape_controls
    from mbauc.metrics import AucInterval
    from mbauc.report.text import count

    groups = found.groups
    if groups is None:
        return
    for auc, what in ((groups.pairs, "each pair counts"), (groups.alike, "each group counts alike")):
        yield f"              {auc if isinstance(auc, AucInterval) else f'{auc:.4f}'} within groups, {what}"
    worst = groups.worst
    yield f"groups        {worst.n_groups:,} with both classes; those that lose most of the pairs:"
    names = [truncate(escape_controls(str(name)), 40) for name in worst.group[:_SHOWN]]
    width = max(map(len, names))
    for k, name in enumerate(names):
        interval = "" if worst.low[k] != worst.low[k] else f" ({worst.low[k]:.3f} to {worst.high[k]:.3f})"
        yield (
            f"              {name:{width}}  {worst.lost[k]:6.1%} of them, AUC {worst.auc[k]:.4f}{interval}, "
            f"{count(worst.positives[k])} of {count(worst.rows[k])} rows positive"
        )


def _lift_lines(ranking: Ranking) -> Iterator[str]:
    for lift in ranking.lifts:
        if lift.share in (0.01, 0.1):
            yield f"lift          {lift.lift:.2f} in the top {lift.share:.0%}, {lift.found:.1%} of positives"


def _numbers(found: Evaluation, own: OperatingPoint | None) -> dict[str, Any]:
    """The same for scripts."""
    result: dict[str, Any] = {
        "auc": None,
        "rows": found.rows,
        "positives": found.positives,
        "negatives": found.negatives,
        "calibration_error": found.calibration.error,
        "notes": found.warnings,
        "threshold": None,
    }
    if found.ranking is not None:
        ranking, interval = found.ranking, found.ranking.interval
        result |= {
            "auc": ranking.auc,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
            "stderr": interval.stderr if interval else None,
            "confidence": interval.confidence if interval else None,
            "partial_auc": {f"{limit:g}": value for limit, value in ranking.partial.items()},
            "average_precision": ranking.average_precision,
            "lift": {f"{lift.share:g}": lift.lift for lift in ranking.lifts},
        }
    if found.groups is not None:
        result["groups"] = _numbers_of_groups(found.groups)
    if own is not None:
        result["threshold"] = {
            "value": own.threshold,
            "detected": own.found,
            "detection_rate": own.detection.value,
            "detection_low": own.detection.low,
            "detection_high": own.detection.high,
            "false_alarms": own.false_alarms,
            "false_alarm_rate": own.false_alarm.value,
            "precision": own.precision.value,
        }
    return result


def _numbers_of_groups(groups: ByGroup) -> dict[str, Any]:
    from dataclasses import asdict

    from mbauc.metrics import AucInterval

    kinds = {"pairs": groups.pairs, "alike": groups.alike}
    worst = groups.worst
    columns = ("group", "rows", "positives", "auc", "low", "high", "share", "lost")
    return {
        "column": groups.column,
        "count": worst.n_groups,
        "one_class": worst.one_class_groups,
        "share_of_pairs": groups.within,
        "auc": {
            name: asdict(auc) if isinstance(auc, AucInterval) else {"auc": auc} for name, auc in kinds.items()
        },
        "worst": [
            dict(zip(columns, row, strict=True))
            for row in zip(*(getattr(worst, name).tolist() for name in columns), strict=True)
        ],
    }
