"""Options that several commands have: what is read, which columns mean what, what is written."""

from __future__ import annotations

import argparse
import shutil
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

from mbauc import defaults
from mbauc.cli import COMMANDS
from mbauc.cli.argument_types import column_kinds, delimiter, hash_dim, name_list, rate

#: Options for tables alone; None where they are not given, and then Python's own defaults hold.
TABLE_OPTIONS = (
    *("weight", "ignore", "id", "types", "encode", "hash_dim", "signed", "scale", "missing", "delimiter"),
    "names",
    "group",
)
#: Options that say which columns mean what; None where they are not given.
COLUMN_OPTIONS = ("label", "positive", *TABLE_OPTIONS)
FORMATS = ("auto", "table", "csv", "tsv", "parquet", "libsvm")
#: What --id means in every command.
_ID = "columns that identify a row, such as a user or a time:"


def add_command(
    commands: Any, name: str, description: str, example: str, *, summary: str | None = None
) -> argparse.ArgumentParser:
    """A command with the options that all have, and an example below its help; actions bring a summary."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary or COMMANDS[name][1],
        description=_wrap(description),
        epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    return parser


def _wrap(text: str) -> str:
    """Paragraphs as wide as argparse makes help; lines that are indented stay as they are."""
    width, wrapped = shutil.get_terminal_size().columns - 2, []
    for is_prose, lines in groupby(text.split("\n"), lambda line: bool(line) and not line.startswith(" ")):
        kept = list(lines)
        wrapped += textwrap.wrap(" ".join(kept), width, break_on_hyphens=False) if is_prose else kept
    return "\n".join(wrapped)


def add_out(parser: argparse.ArgumentParser, what: str, *, required: bool = True) -> None:
    """``-o FILE`` and ``--force``."""
    parser.add_argument("-o", "--out", type=Path, metavar="FILE", required=required, help=what)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")


def add_data(parser: argparse.ArgumentParser) -> argparse.Action:
    """DATA alone, for files like those that a model was trained on."""
    data = parser.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="CSV, TSV, Parquet or LIBSVM files (also .gz, .bz2, .xz, .zip), folders of them, or - for "
        "standard input",
    )
    add_reading(parser)
    return data


def add_group(
    parser: argparse.ArgumentParser,
    default: str = " (default: the group of training, if the files have it)",
) -> None:
    """``--group`` of commands that measure."""
    parser.add_argument(
        "--group",
        metavar="NAME",
        help="column of groups, such as a query, a user or a day: also report the AUC within groups" + default,
    )


def add_segments(parser: argparse.ArgumentParser) -> None:
    """``--segment`` and ``--time`` of commands that measure tables."""
    parser.add_argument(
        "--segment",
        metavar="A,B",
        type=name_list,
        default=[],
        help="show AUC by value of these columns, worst first; numbers with many values are cut into fifths",
    )
    parser.add_argument(
        "--time",
        metavar="NAME",
        help="column of dates, times or increasing numbers: show AUC by period, and test for a drop at the end",
    )


def add_max_fpr(parser: argparse.ArgumentParser) -> None:
    """``--max-fpr`` of commands that measure."""
    parser.add_argument(
        "--max-fpr",
        type=rate,
        metavar="B",
        help="also report the partial AUC up to this false-alarm rate, such as 0.05 or 5%%: how well the "
        "top of the list is ranked",
    )


def add_share(parser: argparse.ArgumentParser, what: str) -> None:
    """``--share``: the base rate in production."""
    parser.add_argument(
        "--share",
        type=rate,
        metavar="RATE",
        help=f"share of positives in production, such as 0.01 or 1%%, for which to compute {what} "
        "(default: as in the data)",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How DATA is read."""
    parser.add_argument(
        "--format", choices=FORMATS, default="auto", help="format of the files (default: by their names)"
    )
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="at a row that cannot be read, stop or skip it (default: %(default)s)",
    )


def add_id(parser: Any, where: str) -> None:
    """``--id``, which means the same in every command."""
    parser.add_argument("--id", metavar="A,B", type=name_list, help=f"{_ID} {where}")


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Which columns mean what, for files seen for the first time; what is not given is None."""
    group, kinds = parser.add_argument_group("columns"), defaults.COLUMN_KINDS
    group.add_argument("--label", metavar="NAME", help="column of the labels (not for LIBSVM)")
    group.add_argument(
        "--positive",
        metavar="LABEL",
        type=name_list,
        help="labels to rank above the others (default: the larger of two)",
    )
    group.add_argument(
        "--weight", metavar="NAME", help="column of row weights: a row of weight 3 counts as three equal rows"
    )
    group.add_argument("--ignore", metavar="A,B", type=name_list, help="columns to leave out")
    add_id(group, "never features, and 'mbauc score' writes them beside the scores")
    group.add_argument(
        "--types",
        metavar="A=KIND,…",
        type=column_kinds,
        help=f"types of columns, where the detected one is wrong: {', '.join(kinds[:-1])} or {kinds[-1]}",
    )
    group.add_argument(
        "--delimiter",
        type=delimiter,
        metavar="C",
        help="field separator of text files (default: detected)",
    )
    group.add_argument(
        "--names",
        metavar="A,B|auto",
        type=name_list,
        help="column names, for text files without a header; auto: c1, c2, …",
    )
    linear = parser.add_argument_group("columns of linear models")
    linear.add_argument(
        "--encode",
        choices=("hash", "onehot"),
        help=f"encoding of categories (default: {defaults.ENCODE})",
    )
    linear.add_argument(
        "--hash-dim",
        type=hash_dim,
        metavar="D",
        help=f"number of hashed columns (default: {defaults.HASH_DIM:,})",
    )
    linear.add_argument(
        "--signed",
        action="store_true",
        default=None,
        help="hash with random signs, so that collisions cancel on average",
    )
    linear.add_argument(
        "--scale",
        choices=("none", "max-abs", "standard"),
        help="scaling of numbers: standard (mean 0, standard deviation 1), max-abs (absolute value at most 1) "
        "or none "
        f"(default: {defaults.SCALE})",
    )
    linear.add_argument(
        "--missing",
        choices=("category", "mean"),
        help=f"missing numbers: an indicator column, or the mean (default: {defaults.MISSING})",
    )
