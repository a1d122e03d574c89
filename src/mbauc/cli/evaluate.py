"""``mbauc evaluate``: how well a model ranks the rows of files, in numbers and as a page."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.data_files import files, open_ungrouped, read_groups, read_segments
from mbauc.cli.measured import measured_lines, measured_numbers
from mbauc.cli.options import add_command, add_data, add_group, add_max_fpr, add_segments
from mbauc.cli.out_files import check_page
from mbauc.cli.output import Output, note_skipped

if TYPE_CHECKING:
    from mbauc.model import RankerModel
    from mbauc.report.evaluation import Evaluation

_DESCRIPTION = """\
Evaluates a model on labelled rows that it was not trained on: AUC with DeLong's confidence interval,
partial AUC at low false-alarm rates, calibration, and the alarms of the threshold, if the model has one.
--segment shows the AUC of each value of a column, --time the AUC by period. --report writes one
self-contained HTML file with curves, weights and a threshold explorer.
"""
_EXAMPLES = """\
examples:
  mbauc evaluate model.mbauc tomorrow.csv
  mbauc evaluate model.mbauc tomorrow.csv --report report.html
  mbauc evaluate model.mbauc tomorrow.csv --max-fpr 0.05
  mbauc evaluate model.mbauc searches.csv --group query
  mbauc evaluate model.mbauc tomorrow.csv --segment site,device --time day --report report.html
"""
#: Numbers of rows that are held in memory to say what columns are worth.
_MOST_NUMBERS = 20_000_000


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "evaluate", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    add_data(parser)
    add_group(parser)
    add_segments(parser)
    add_max_fpr(parser)
    parser.add_argument("--report", type=Path, metavar="FILE", help="HTML report to write")
    parser.add_argument("--title", default="", help="title of the report")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Score, measure, and write the page."""
    if options.report is not None:
        check_page(options.report, options.force, "--report")
    from mbauc.metrics.operating_point import choose_threshold
    from mbauc.model import load_model
    from mbauc.model.seen_files import file_marks
    from mbauc.model.testing import score_source
    from mbauc.report.evaluation import evaluate

    model, output = load_model(options.model, moments=False), Output(options.json)
    with files(options) as paths:
        source = open_ungrouped(model, paths, options)
        # before the scores, which take longest: a wrong name is said at once
        groups = read_groups(source, options.group, model)
        by = read_segments(source, options.segment, options.time)
        tested = score_source(model, source, verbose=not options.json)
        marks, left_out = file_marks(source), note_skipped(options, source)
        seen = list(_warn_of_seen_rows(model, source))
        origin = _origin(model, source, tested, options)
    of_groups = (
        {} if groups is None else dict(zip(("group_name", "groups", "group_names"), groups, strict=True))
    )
    found = evaluate(
        tested.y, tested.s, tested.weight, origin=origin, max_fpr=options.max_fpr, **of_groups, **by
    )
    found.warnings.extend(seen)
    own = (
        choose_threshold(found.ranking.table)
        if found.ranking and found.ranking.table.chosen is not None
        else None
    )
    for line in measured_lines(found, own):
        output.say(line)
    for note in found.warnings:
        output.note(note, 14)
    if options.report is not None:
        write_report(found, options.report, options.title, marks, options.model.name)
        output.say(f"wrote         {options.report}")
    numbers = measured_numbers(found, own)
    return output.finish(
        {"model": options.model, "data": marks, "report": options.report, **left_out, **numbers}
    )


def write_report(found: Evaluation, path: Path, title: str, marks: list[dict[str, Any]], about: str) -> None:
    """Write the page of what was measured, of rows of marked files."""
    from mbauc.model.seen_files import list_names
    from mbauc.report.page import page_html
    from mbauc.store.atomic import atomic_write

    now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    page = page_html(
        found,
        title=title,
        data_name=list_names([entry["name"] for entry in marks]),
        generated=f"{about}, {now}" if about else now,
    )
    with atomic_write(path) as stream:
        stream.write(page.encode())


def _origin(model: RankerModel, source: Any, tested: Any, options: argparse.Namespace) -> Any:
    """The model, with what a page shows of its columns."""
    from mbauc.report.model_origin import ModelOrigin

    X, deviations = None, {}
    if options.report is not None:
        X = _rows_to_explain(model, source, tested.y, tested.s)
        if model.terms is None and hasattr(source, "column_deviations"):
            deviations = source.column_deviations(model.coef)
    return ModelOrigin(
        model.classes,
        model=model,
        X=X,
        deviations=deviations,
        model_name=options.model.name,
        data_files=[] if options.data == ["-"] else options.data,
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
    """Words of warning where rows may be those that the model, its threshold or its probabilities came from."""
    from mbauc.model.seen_files import find_seen_files, list_names

    seen = find_seen_files(model.trained_on.get("files"), source)
    if seen:
        yield (
            f"The model was trained on {list_names(seen)}: AUC on training rows is optimistic. Evaluate on "
            "held-out rows."
        )
    seen = find_seen_files(model.trained_on.get("threshold_files"), source)
    if seen:
        yield (
            f"The threshold was set on {list_names(seen)}: the false-alarm rate on these rows does not "
            "validate its guarantee. Validate it on other rows."
        )
    seen = find_seen_files(model.trained_on.get("calibration_files"), source)
    if seen:
        yield (
            f"Probabilities were calibrated on {list_names(seen)}: the calibration error on these rows is "
            "optimistic. Check it on other rows."
        )
