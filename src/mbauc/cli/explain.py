"""``mbauc explain``: why rows have their scores."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.argument_types import row_range, whole
from mbauc.cli.data_files import files
from mbauc.cli.options import add_command, add_data, add_id
from mbauc.cli.output import Output, Usage, escape_controls, note_skipped

if TYPE_CHECKING:
    from mbauc.model.explaining import ExplainedFileRow

_DESCRIPTION = """\
Explains the scores of single rows: the columns, and pairs of columns, that raise or lower each score most,
in log-odds (+0.69 doubles the odds, -0.69 halves them). Contributions are relative to an average training
row. For linear models with hashed columns, or without moments, they are relative to a row with numbers at
their means (if standardised) and no level of any category. Labels are not needed. 'mbauc score --reasons'
writes the same reasons beside the scores of all rows.
"""
_EXAMPLES = """\
examples:
  mbauc explain model.mbauc today.csv --rows 0-4
  mbauc explain model.mbauc today.csv --top 20 --id customer
"""
#: Rows that are explained if nothing is said.
_ROWS = 5


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(commands, "explain", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a file that 'mbauc fit' wrote")
    add_data(parser)
    add_id(parser, "shown beside the rows (default: as in 'mbauc fit --id')")
    parser.add_argument(
        "--n",
        type=whole,
        default=5,
        metavar="N",
        help="contributions to show for each row (default: %(default)s)",
    )
    parser.add_argument(
        "--rows",
        type=row_range,
        metavar="A-B",
        help=f"rows A to B, counted from 0 over all files (default: the first {_ROWS})",
    )
    parser.add_argument("--top", type=whole, metavar="N", help="only the N rows with the highest scores")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain and show."""
    from mbauc.cli.score import find_ids, needs_means
    from mbauc.model import load_model
    from mbauc.model.explaining import explain_files

    if options.n == 0 or options.top == 0:
        raise Usage("--n and --top must be at least 1.")
    model = load_model(options.model, moments=needs_means(options.model))
    output = Output(options.json)
    rows = options.rows if options.rows is not None or options.top is not None else (0, _ROWS - 1)
    sources: list[Any] = []
    with files(options) as paths:
        found = explain_files(
            model,
            paths,
            rows=rows,
            top=options.top,
            n=options.n,
            keep=find_ids(model, paths) if options.id is None else options.id,
            on_error=options.on_error,
            read=sources.append,
        )
    left_out = note_skipped(options, *sources)
    for place, one in enumerate(found):
        if place:
            output.say()
        _say_row(output, one, "an average row" if model.terms is not None else "baseline")
    return output.finish({"rows": [_numbers(one) for one in found], **left_out})


def _say_row(output: Output, one: ExplainedFileRow, start: str) -> None:
    found = one.explanation
    ids = "".join(f", {name} {value}" for name, value in one.ids.items())
    chance = "" if found.probability is None else f", probability {found.probability:.2%}"
    output.say(f"row {one.row}{_short(ids, 200)}: score {found.score:.4g}{chance}")
    lines = [(found.base, start)]
    lines += [(part.log_odds, f"{part.name} = {part.value}") for part in found.contributions]
    if found.n_rest:
        lines.append((found.rest, f"{found.n_rest} more"))
    for amount, text in lines:
        output.say(f"  {amount:+7.2f}  {_short(text, 160)}")


def _numbers(one: ExplainedFileRow) -> dict[str, Any]:
    found = one.explanation
    return {
        "row": one.row,
        "id": {
            name: value if isinstance(value, int | float | str) else str(value)
            for name, value in one.ids.items()
        },
        "score": found.score,
        "log_odds": found.log_odds,
        "probability": found.probability,
        "base": found.base,
        "contributions": [part._asdict() for part in found.contributions],
        "rest": found.rest,
        "n_rest": found.n_rest,
    }


def _short(text: str, most: int) -> str:
    text = escape_controls(text.replace("\n", "\\n").replace("\t", "\\t"))
    return text if len(text) <= most else text[: most - 1] + "…"
