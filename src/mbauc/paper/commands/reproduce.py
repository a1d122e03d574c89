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
from mbauc.paper.studies import EXPERIMENTS, Request


def add(commands: Any) -> None:
    """Add the command."""
    reproduce = add_command(
        commands,
        "reproduce",
        "run an experiment of the MBA paper",
        (
            "Runs an experiment of the MBA paper and writes its tables and plots, with the paper's figures "
            "beside ours. table2 and figure2 are two views of one simulation study, which is run once per "
            "folder; a run that was stopped goes on where it was. linearity tests the paper's claim that a "
            "linear score is enough where the signal is strong, also where the best score is not linear."
        ),
        "example:\n  mbauc reproduce table2 --quick",
    )
    reproduce.add_argument(
        "experiment",
        choices=tuple(EXPERIMENTS),
        help="figure1: detection and learning side by side; table1: the data sets; table2: AUC of all methods "
        "on Gaussian mixtures (about 10 minutes on 2 cores); figure2: their ROC curves; linearity: half a "
        "minute; table3: AUC on the benchmark data sets (under half an hour); figure3: AUC against sample "
        "size; figure4: AUC on click logs against the penalty (about a quarter of an hour); figure5: running "
        "times on click logs (some minutes)",
    )
    reproduce.add_argument(
        "--out",
        type=Path,
        default=Path("mbauc-results"),
        metavar="DIR",
        help="folder for the results (default: %(default)s)",
    )
    reproduce.add_argument(
        "--quick",
        action="store_true",
        help="a rough answer in a minute or two: few training sets, runs and draws",
    )
    reproduce.add_argument("--seed", type=seed, default=0, help="seed of all draws (default: %(default)s)")
    reproduce.add_argument(
        "--jobs", type=jobs, default=None, metavar="N", help="threads (default: as many as BLAS may use)"
    )
    reproduce.add_argument(
        "--datasets",
        type=_names,
        default=(),
        metavar="A,B",
        help="data sets of table1, table3, figure4 and figure5, separated by commas (default: all; see 'mbauc "
        "data list')",
    )
    reproduce.add_argument(
        "--rows",
        type=_click_rows,
        default=None,
        metavar="N",
        help="training rows of each synthetic click log of figure4 and figure5, at least 2000 and never more "
        "than the paper has: 12.6, 23.6 and 45.8 million (default: 1000000, or 50000 with --quick)",
    )
    reproduce.add_argument(
        "--data-dir",
        type=Path,
        default=None,
        metavar="DIR",
        help="folder with the data files under their official names (default: $MBAUC_DATA, then the cache)",
    )
    reproduce.set_defaults(run=run)


def _click_rows(text: str) -> int:
    value = whole(text)
    if value < 2000:
        raise argparse.ArgumentTypeError(f"expected at least 2000 rows, got {value}")
    return value


def _names(text: str) -> tuple[str, ...]:
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
    for path in EXPERIMENTS[options.experiment](request):
        for line in _against_the_paper(path):
            output.say(line)
        output.say(f"wrote {path}")
        written.append(path)
    return output.done({"files": written})


def _against_the_paper(path: Path) -> Iterator[str]:
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
