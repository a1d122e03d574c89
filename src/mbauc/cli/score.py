"""``mbauc score``: scores of the rows of files, as a table, however many there are."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.argument_types import whole
from mbauc.cli.data_files import files
from mbauc.cli.options import add_command, add_data, add_id, add_out, add_share
from mbauc.cli.out_files import check_writable
from mbauc.cli.output import Output, Usage, note, note_left_out

if TYPE_CHECKING:
    from mbauc.model import RankerModel

_DESCRIPTION = """\
Scores raw rows of files of any size. The model knows its columns, their hashing and how to fill missing
values. Labels are not needed; in LIBSVM text any number may stand in place of the label.

The output has one row for each input row, in the same order: the id columns (--id, here or in 'mbauc fit';
otherwise the row number), the score, the probability of the positive class and, if the model has a
threshold, whether to raise an alarm. --reasons 3 adds the columns that raise each score most, reason_1 to
reason_3, such as "amount=950 (+1.32)", in log-odds: +0.69 doubles the odds.
"""
_EXAMPLES = """\
examples:
  mbauc score model.mbauc today.csv -o scores.parquet
  mbauc score model.mbauc logs/*.parquet --id user,time -o scores.csv
  mbauc score model.mbauc today.csv --reasons 3 -o scores.csv
  mbauc score model.mbauc today.csv --share 0.001 -o scores.csv
  mbauc score model.mbauc today.csv -o - | head
"""


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "score", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    add_data(parser)
    add_out(parser, "table of scores to write: .parquet, .csv or .csv.gz, or - for CSV on standard output")
    add_id(parser, "written beside the scores (default: as in 'mbauc fit --id', or the row's number)")
    parser.add_argument(
        "--reasons",
        type=whole,
        default=0,
        metavar="K",
        help="add the K columns, or pairs of columns, that raise each score most, as in 'mbauc explain' "
        "(default: none; 3 takes about four times as long as scores alone)",
    )
    add_share(parser, "probabilities")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Score and write."""
    to_screen = str(options.out) == "-"
    if to_screen and options.json:
        raise Usage("-o - and --json would both go to standard output; name a file, or leave out --json.")
    from mbauc.model import load_model
    from mbauc.model.scoring import score_files, table_format

    if not to_screen:
        try:
            table_format(options.out)
        except ValueError as error:
            raise Usage(f"-o {error}") from None
        check_writable(options.out, options.force)
    # moments know best which share of positives the training had, and what is an average row
    moments = options.share is not None or (options.reasons > 0 and needs_means(options.model))
    model, output = load_model(options.model, moments=moments), Output(options.json)
    if options.share is not None:
        model = model.with_share(options.share)
    with files(options) as paths:
        summary = score_files(
            model,
            paths,
            None if to_screen else options.out,
            keep=find_ids(model, paths) if options.id is None else options.id,
            reasons=options.reasons,
            on_error=options.on_error,
            verbose=not options.json,
        )
    if summary["skipped"]:
        note_left_out(options, summary["left_out"])
    if summary["formulas"]:
        told = "--id or --reasons" if options.reasons else "--id"
        note(
            f"{summary['formulas']:,} values of {told} begin like a formula (= + - @). A spreadsheet may run "
            "them: import these columns as text, or write .parquet."
        )
    if to_screen:
        return 0
    output.say(f"scored {summary['rows']:,} rows")
    if model.threshold is not None:
        output.say(f"alarms  {summary['alarms']:,}, above the threshold {model.threshold.value:.6g}")
    output.say(f"wrote  {options.out}")
    return output.finish({"out": options.out, **summary})


def needs_means(path: Path) -> bool:
    """Whether contributions to a model's scores are counted from means that its moments know."""
    from mbauc.model import TableLayout, load_model

    model = load_model(path, moments=False)
    return (
        model.terms is None and isinstance(model.layout, TableLayout) and model.layout.encoding.hash_dim is None
    )


def find_ids(model: RankerModel, paths: list[str]) -> list[str]:
    """Columns that identified rows in the training and that all files have."""
    from mbauc.model import TableLayout
    from mbauc.model.record import list_ids
    from mbauc.readers.table.files import open_tables

    known = list_ids(model.trained_on)
    if not known or not isinstance(model.layout, TableLayout):
        return []
    tables, _ = open_tables(paths, model.layout.delimiter, model.layout.names)
    return [name for name in known if all(name in table.column_names for table in tables)]
