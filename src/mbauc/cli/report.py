"""``mbauc report``: the page for scores of any model."""

from __future__ import annotations

import argparse
from typing import Any

from mbauc.cli.argument_types import delimiter, name_list
from mbauc.cli.data_files import files, read_segments
from mbauc.cli.evaluate import write_report
from mbauc.cli.measured import measured_lines, measured_numbers
from mbauc.cli.options import add_command, add_data, add_group, add_max_fpr, add_out, add_segments
from mbauc.cli.out_files import check_page
from mbauc.cli.output import Output, Usage, note_skipped

_DESCRIPTION = """\
Evaluates the scores of any model, from a table with a column of labels and a column of scores: AUC with
DeLong's confidence interval, partial AUC at low false-alarm rates, precision, lift and calibration. -o
writes one self-contained HTML file with curves and a threshold explorer. No model file is needed.

Use rows that the model was not trained on; on training rows every figure is too good. Scores may be any
numbers, higher for rows that are more likely positive. If all lie between 0 and 1 they are read as
probabilities; --probability names another column of probabilities, --no-probability says that there are
none.
"""
_EXAMPLES = """\
examples:
  mbauc report scores.csv --label churned --score score -o report.html
  mbauc report scores.parquet --label y --score s --probability p --segment plan,age --time day -o report.html
  mbauc report scores.csv --label outcome --positive fraud --score rule_points --json

from LightGBM (or any other library) in Python, with rows that it was not trained on:
  test.assign(p=booster.predict(test[features])).to_parquet("scores.parquet")
then:
  mbauc report scores.parquet --label y --score p --segment country --time day -o report.html
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "report", _DESCRIPTION, _EXAMPLES)
    add_data(parser)
    parser.add_argument("--label", metavar="NAME", required=True, help="column of the labels")
    parser.add_argument("--score", metavar="NAME", required=True, help="column of the scores")
    chance = parser.add_mutually_exclusive_group()
    chance.add_argument(
        "--probability", metavar="NAME", help="column with the probability of the positive label"
    )
    chance.add_argument(
        "--no-probability", action="store_true", help="do not read scores between 0 and 1 as probabilities"
    )
    parser.add_argument(
        "--positive",
        metavar="LABEL",
        type=name_list,
        help="labels to rank above the others (default: the larger of two)",
    )
    parser.add_argument(
        "--weight", metavar="NAME", help="column of row weights: a row of weight 3 counts as three equal rows"
    )
    add_group(parser, "")
    add_segments(parser)
    add_max_fpr(parser)
    parser.add_argument("--delimiter", type=delimiter, metavar="C", help="field separator (default: detected)")
    parser.add_argument(
        "--names",
        metavar="A,B|auto",
        type=name_list,
        help="column names, for files without a header; auto: c1, c2, …",
    )
    parser.add_argument("--title", default="", help="title of the page")
    add_out(parser, "HTML page to write", required=False)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read, measure, and write the page."""
    if options.format == "libsvm":
        raise Usage("--format libsvm: scores are read from tables, CSV, TSV or Parquet.")
    if options.out is not None:
        check_page(options.out, options.force)
    from mbauc.model.seen_files import file_marks
    from mbauc.model.testing import GroupColumn
    from mbauc.readers.table.scored import ScoredTable
    from mbauc.report.evaluation import evaluate
    from mbauc.report.origin import Origin

    output = Output(options.json)
    wanted = {"segment": options.segment}
    wanted |= {one: [vars(options)[one]] for one in ("time", "group") if vars(options)[one] is not None}
    with files(options) as paths:
        table = ScoredTable(
            paths,
            label=options.label,
            score=options.score,
            probability=options.probability,
            weight=options.weight,
            positive=options.positive,
            delimiter=options.delimiter,
            names="auto" if options.names == ["auto"] else options.names,
            on_error=options.on_error,
            also=wanted,
        )
        groups = None if options.group is None else GroupColumn.read(table, options.group)
        by = read_segments(table, options.segment, options.time)
        marks, left_out = file_marks(table), note_skipped(options, table)
    if groups is not None:
        by |= {"group_name": groups.name, "groups": groups.codes, "group_names": groups.names}
    given = False if options.no_probability else table.probability
    origin = Origin(table.classes, given)
    found = evaluate(table.y, table.s, table.weight, origin=origin, max_fpr=options.max_fpr, **by)
    negative, positive = table.classes
    output.say(f"labels        {positive!r} is positive, {negative!r} negative")
    for line in measured_lines(found):
        output.say(line)
    for note in found.warnings:
        output.note(note, 14)
    if options.out is not None:
        write_report(found, options.out, options.title, marks, "")
        output.say(f"wrote         {options.out}")
    numbers = measured_numbers(found)
    return output.finish(
        {"data": marks, "classes": table.classes, "report": options.out, **left_out, **numbers}
    )
