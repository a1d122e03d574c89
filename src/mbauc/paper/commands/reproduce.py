"""``mbauc reproduce``: the experiments of the MBA paper."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.cli.argument_types import jobs, name_list, seed, whole
from mbauc.cli.options import add_command
from mbauc.cli.output import Output
from mbauc.paper.studies import EXPERIMENTS, reproduce
from mbauc.paper.study import Request

if TYPE_CHECKING:
    from mbauc.paper.studies.tables.comparison import Comparison


def add(commands: Any) -> None:
    """Add the command."""
    parser = add_command(
        commands,
        "reproduce",
        (
            "Runs an experiment of the MBA paper and writes its tables and plots, with the paper's figures "
            "beside ours. table2 and figure2 are two views of one simulation study, which is run once per "
            "folder; a run that was stopped is resumed. linearity tests the paper's claim that a "
            "linear score is enough where the signal is strong, also where the best score is not linear. "
            "partial_auc fits the partial AUC at few false alarms, on the data sets of table3. tables compares "
            "curves and interactions with boosted trees and others on real tables; results of our methods and "
            "of rivals are in two ledgers: delete one to run its methods again. one_door compares TableRanker "
            "with others on the data frames that pandas reads, all with default settings."
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
        "--tables",
        type=_parse_tables,
        default=(),
        metavar="A,B",
        help="tables of tables and one_door, separated by commas (default: all)",
    )
    parser.add_argument(
        "--methods",
        type=_parse_methods,
        default=(),
        metavar="A,B",
        help="methods of tables and one_door, separated by commas (default: all)",
    )
    parser.add_argument(
        "--again",
        type=_parse_methods,
        default=(),
        metavar="A,B",
        help="methods of tables and one_door to run once more, for example because other programs disturbed "
        "their times, separated by commas",
    )
    parser.add_argument(
        "--splits",
        type=_parse_splits,
        default=None,
        metavar="N",
        help="random halves of each table of tables and one_door without test rows (default: 5, or 3 from "
        "20,000 rows; 1 for one_door)",
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
        "--full",
        action="store_true",
        help="figure4 and figure5 also with as many rows as the paper has: 12.6, 23.6 and 45.8 million, made "
        "when they are needed (half an hour on 2 free cores and 4 GB of memory; ten minutes and 10 GB)",
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
    return _check_count(whole(text), 2000, "rows")


def _parse_splits(text: str) -> int:
    return _check_count(whole(text), 1, "split")


def _check_count(value: int, least: int, what: str) -> int:
    if value < least:
        raise argparse.ArgumentTypeError(f"expected at least {least} {what}, got {value}")
    return value


def _parse_names(text: str) -> tuple[str, ...]:
    from mbauc.paper.datasets.registry import find

    found = []
    for name in name_list(text):
        try:
            found.append(find(name).name)
        except (KeyError, ValueError) as error:
            raise argparse.ArgumentTypeError(str(error)) from None
    return tuple(found)


def _parse_tables(text: str) -> tuple[str, ...]:
    return _choose(text, [name for one in _load_comparisons().values() for name in one.tables])


def _parse_methods(text: str) -> tuple[str, ...]:
    return _choose(text, [key for one in _load_comparisons().values() for key in one.methods])


def _load_comparisons() -> dict[str, Comparison]:
    """Experiments that compare methods on tables, by name."""
    from mbauc.paper.studies.one_door.findings import ONE_DOOR
    from mbauc.paper.studies.tables.comparison import REAL_TABLES

    return {one.name: one for one in (REAL_TABLES, ONE_DOOR)}


def _choose(text: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names out of some, in the order of these."""
    wanted, known = set(name_list(text)), tuple(dict.fromkeys(names))
    if unknown := sorted(wanted.difference(known)):
        raise argparse.ArgumentTypeError(f"expected some of {', '.join(known)}; got {', '.join(unknown)}")
    return tuple(name for name in known if name in wanted)


def run(options: argparse.Namespace) -> int:
    """Run it and write its files."""
    if options.out.exists() and not options.out.is_dir():
        raise NotADirectoryError(f"--out must name a folder, but {options.out} is a file.")
    if options.rows is not None and options.experiment not in ("figure4", "figure5"):
        raise ValueError(f"--rows is for figure4 and figure5; {options.experiment} has no rows to choose.")
    if options.full and options.experiment not in ("figure4", "figure5"):
        raise ValueError(f"--full is for figure4 and figure5; {options.experiment} has one size only.")
    if options.full and options.quick:
        raise ValueError("--full and --quick exclude each other; choose one.")
    _check_comparison(options)
    request = Request(
        options.out,
        options.quick,
        options.seed,
        options.jobs,
        options.tables or options.datasets,
        options.data_dir,
        options.rows,
        options.methods,
        options.splits,
        options.again,
        options.full,
    )
    output, written = Output(options.json), []
    for path in reproduce(options.experiment, request):
        for line in _extract_comparison(path):
            output.say(line)
        output.say(f"wrote {path}")
        written.append(path)
    return output.finish({"files": written})


def _check_comparison(options: argparse.Namespace) -> None:
    """Raise unless tables, methods and splits are those of the experiment."""
    comparisons = ("tables", "one_door")
    if options.experiment not in comparisons:
        for name in ("tables", "methods", "again", "splits"):
            if getattr(options, name):
                listed = " and ".join(comparisons)
                raise ValueError(f"--{name} is for the experiments {listed}; {options.experiment} has none.")
        return
    if options.datasets:
        raise ValueError(
            f"--datasets is not for the experiment {options.experiment}; name its tables by --tables."
        )
    if options.tables or options.methods or options.again:
        one = _load_comparisons()[options.experiment]
        for name, known in (("tables", one.tables), ("methods", one.methods), ("again", one.methods)):
            if unknown := [key for key in getattr(options, name) if key not in known]:
                raise ValueError(
                    f"--{name}: {one.name} has no {', '.join(unknown)}; choose out of {', '.join(known)}."
                )


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
