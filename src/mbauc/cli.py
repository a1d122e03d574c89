"""The command ``mbauc``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mbauc import __version__
from mbauc.data.sets.command import add_data
from mbauc.experiments import EXPERIMENTS, Request


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    if sys.stdout is None:  # closed by whoever started us
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        return int(options.run(options))
    except BrokenPipeError:
        # whoever read our output has seen enough; leave nothing for the interpreter to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except (ValueError, OSError, ImportError, MemoryError) as error:
        sys.stderr.write(f"mbauc: {error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nmbauc: interrupted; nothing was left half-written.\n")
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mbauc",
        description="Linear rankers for AUC on large, imbalanced data: exact over all pairs, in one pass.",
        epilog="Start with 'mbauc demo'. In Python: from mbauc import MBAClassifierCV.",
    )
    parser.add_argument("--version", action="version", version=f"mbauc {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="fit and evaluate a ranker on data made up on the spot",
        description=(
            "Makes an imbalanced table (2% positives, 40 columns) block by block, chooses the penalty by "
            "cross-validation in one pass, and evaluates on rows held back: AUC with a confidence interval, "
            "next to logistic regression, and a plot of both ROC curves."
        ),
        epilog="example: mbauc demo --rows 1000000 --out /tmp/demo",
    )
    demo.add_argument(
        "--rows",
        type=_count,
        default=400_000,
        metavar="N",
        help="rows to train on, at least 1000 (default: %(default)s)",
    )
    demo.add_argument(
        "--out",
        type=Path,
        default=Path("mbauc-demo"),
        metavar="DIR",
        help="folder for the plot (default: %(default)s)",
    )
    demo.add_argument("--seed", type=_seed, default=0, help="seed of the data (default: %(default)s)")
    demo.set_defaults(run=_run_demo)
    _add_reproduce(commands)
    add_data(commands)
    return parser


def _add_reproduce(commands: Any) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="run an experiment of the MBA paper",
        description=(
            "Runs an experiment of the MBA paper and writes its tables and plots, with the paper's figures "
            "beside ours. table2 and figure2 are two views of one simulation study, which is run once per "
            "folder; a run that was stopped goes on where it was. linearity tests the paper's claim that a "
            "linear score is enough where the signal is strong, also where the best score is not linear."
        ),
        epilog="example: mbauc reproduce table2 --quick",
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
    reproduce.add_argument("--seed", type=_seed, default=0, help="seed of all draws (default: %(default)s)")
    reproduce.add_argument(
        "--jobs", type=_jobs, default=None, metavar="N", help="threads (default: as many as BLAS may use)"
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
    reproduce.set_defaults(run=_run_reproduce)


def _count(text: str) -> int:
    try:
        value = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text!r}") from None
    if value < 1000:
        raise argparse.ArgumentTypeError(f"expected at least 1000 rows, got {value}")
    return value


def _click_rows(text: str) -> int:
    value = _count(text)
    if value < 2000:
        raise argparse.ArgumentTypeError(f"expected at least 2000 rows, got {value}")
    return value


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def _names(text: str) -> tuple[str, ...]:
    from mbauc.data.sets.registry import find

    found = []
    for name in filter(None, (part.strip() for part in text.split(","))):
        try:
            found.append(find(name).name)
        except (KeyError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return tuple(found)


def _jobs(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, got {text!r}")
    return int(text)


def _run_reproduce(options: argparse.Namespace) -> int:
    if options.out.exists() and not options.out.is_dir():
        raise NotADirectoryError(f"--out must name a folder, but {options.out} is a file.")
    if options.rows is not None and options.experiment not in ("figure4", "figure5"):
        raise ValueError(f"--rows is for figure4 and figure5; {options.experiment} has no rows to choose.")
    request = Request(
        options.out, options.quick, options.seed, options.jobs, options.datasets, options.data_dir, options.rows
    )
    for path in EXPERIMENTS[options.experiment](request):
        sys.stdout.write(f"wrote {path}\n")
        sys.stdout.flush()
    return 0


def _run_demo(options: argparse.Namespace) -> int:
    from mbauc.demo import run

    for line in run(options.rows, options.out, options.seed):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
    return 0
