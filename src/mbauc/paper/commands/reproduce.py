"""``mbauc reproduce``: the experiments of the MBA paper."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

from mbauc.cli.argument_types import jobs, seed, whole
from mbauc.cli.options import add_command
from mbauc.cli.output import Output
from mbauc.paper.studies import EXPERIMENTS, reproduce
from mbauc.paper.study import Request


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "reproduce",
        "run an experiment of the MBA paper",
        (
            "Runs an experiment of the MBA paper and writes its tables and plots, with the paper's figures "
            "beside ours. table2 and figure2 are two views of one simulation study, which is run once per "
            "folder; a run that was stopped is resumed. linearity tests the paper's claim that a "
            "linear score is enough where the signal is strong, also where the best score is not linear. "
            "partial_auc fits for detections at few false alarms, on the data sets of table3."
        ),
        "example:\n  mbauc reproduce table2 --quick",
    )
    parser.add_argument(
        "experiment",
        choices=tuple(EXPERIMENTS),
        help="; ".join(f"{name}: {experiment.summary}" for name, experiment in EXPERIMENTS.items()),
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("mbauc-results"),
        metavar="DIR",
        help="folder for the results (default: %(default)s)",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a rough answer in a minute or two: few training sets, runs and draws",
    )
    parser.add_argument("--seed", type=seed, default=0, help="seed of all draws (default: %(default)s)")
    parser.add_argument(
        "--jobs", type=jobs, default=None, metavar="N", help="threads (default: as many as BLAS may use)"
    )
    parser.add_argument(
        "--datasets",
        type=_parse_names,
        default=(),
        metavar="A,B",
        help="data sets of table1, table3, partial_auc, figure4 and figure5, separated by commas (default: "
        "all; see 'mbauc data list')",
    )
    parser.add_argument(
        "--rows",
        type=_parse_rows,
        default=None,
        metavar="N",
        help="training rows of each synthetic click log of figure4 and figure5, at least 2000 and never more "
        "than the paper has: 12.6, 23.6 and 45.8 million (default: 1000000, or 50000 with --quick)",
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        default=None,
        metavar="DIR",
        help="folder with the data files under their official names (default: $MBAUC_DATA, then the cache)",
    )
    parser.set_defaults(run=run)


def _parse_rows(text: str) -> int:
    value = whole(text)
    if value < 2000:
        raise argparse.ArgumentTypeError(f"expected at least 2000 rows, got {value}")
    return value


def _parse_names(text: str) -> tuple[str, ...]:
    from mbauc.paper.datasets.registry import find

    found = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(find(name).name)
        except (KeyError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return tuple(found)


def run(options: argparse.Namespace) -> int:
    """Run it and write its files."""
    if options.out.exists() and not options.out.is_dir():
        raise NotADirectoryError(f"--out must name a folder, but {options.out} is a file.")
    if options.rows is not None and options.experiment not in ("figure4", "figure5"):
        raise ValueError(f"--rows is for figure4 and figure5; {options.experiment} has no rows to choose.")
    request = Request(
        options.out, options.quick, options.seed, options.jobs, options.datasets, options.data_dir, options.rows
    )
    output, written = Output(options.json), []
    for path in reproduce(options.experiment, request):
        for line in _extract_comparison(path):
            output.say(line)
        output.say(f"wrote {path}")
        written.append(path)
    return output.finish({"files": written})


def _extract_comparison(path: Path) -> Iterator[str]:
    """The table of a page that has the paper's figures beside ours, for the screen."""
    if path.suffix != ".md":
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    first = next((k for k, line in enumerate(lines) if " printed |" in line), len(lines))
    table = list(takewhile(lambda line: line.startswith("|"), lines[first:]))
    rows = [[cell.strip(" *") for cell in line.strip("|").split("|")] for line in table if "---" not in line]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
