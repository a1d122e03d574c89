"""``python -m benchmarks.click_fit``: run the race, or a part of it, and show where it stands."""

import argparse
import json
import os
import tempfile
from functools import partial
from pathlib import Path

from benchmarks.click_fit import DOCS
from benchmarks.click_fit.contender import all_contenders
from benchmarks.click_fit.data import SOURCES, Rows
from benchmarks.click_fit.plot import draw
from benchmarks.click_fit.process import Rules, measured
from benchmarks.click_fit.race import Race
from benchmarks.click_fit.table import WIDE, notes, rows
from benchmarks.timing import RESULTS, machine, report
from mbauc.paper.ledger import Ledger
from mbauc.paper.studies.outputs import write_figure, write_table

WIDTHS = (10_000, 2**20)
#: Only runs of so many rows are written into the docs.
FULL = 1_000_000
#: What is listed of each fit.
LISTED = ("data", "contender", "version", "setting", "status", "seconds", "auc", "megabytes")


def parser():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.click_fit", description=__doc__)
    parser.add_argument("--columns", type=_numbers, default=WIDTHS, help="such as 10000,1048576")
    parser.add_argument("--rows", type=int, default=FULL)
    parser.add_argument("--data", choices=SOURCES, default="clicks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=_names, help=f"some of {', '.join(all_contenders())}")
    parser.add_argument("--again", type=_names, default=(), help="contenders whose earlier fits are forgotten")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which a fit is killed")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "mbauc-click-fit", help="of the rows"
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the ledgers")
    parser.add_argument("--show", action="store_true", help="measure nothing, show what there is")
    return parser


def _numbers(text):
    return tuple(int(part) for part in text.split(","))


def _names(text):
    names = tuple(text.split(","))
    unknown = sorted(set(names) - set(all_contenders()))
    if unknown:
        raise argparse.ArgumentTypeError(
            f"no contender {', '.join(unknown)}; there are {', '.join(all_contenders())}"
        )
    return names


def main(arguments=None):
    options = parser().parse_args(arguments)
    races = {}
    for columns in options.columns:
        data = Rows(options.data, options.rows, columns, options.seed)
        race = _race(data, options, options.again)
        load = os.getloadavg()[0]
        if not options.show:
            print(f"{data.rows:,} rows, {columns:,} columns", flush=True)
            folder = data.folder(options.folder)
            race.measure = partial(measured, folder=folder, rules=Rules(options.threads, options.limit))
            race.run()
        races[columns] = race
        _tell(race, data, load)
    if options.rows == FULL:
        # a width that was not asked for now is drawn as it was
        for columns in WIDTHS:
            data = Rows(options.data, options.rows, columns, options.seed)
            if columns not in races and _ledger_path(data, options).exists():
                races[columns] = _race(data, options, again=())
    folder = DOCS if options.rows == FULL else options.results
    races = {
        f"{columns:,} columns": races[columns] for columns in sorted(races) if races[columns].ledger.records
    }
    if races:
        write_figure(folder, "click_fit", draw(races))
        write_table(folder / "click_fit.csv", LISTED, _fits(races))
    return races


def _race(data, options, again):
    path = _ledger_path(data, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    settings = {**data.settings(), "threads": options.threads, "cpu": machine()["cpu"]}
    ledger = Ledger(path, settings)
    kept = [each for each in ledger.records if each["contender"] not in again]
    if len(kept) < len(ledger.records):
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        rewritten = Ledger(part, settings)
        for record in kept:
            rewritten.append(record)
        part.replace(path)
        ledger = Ledger(path, settings)
    return Race(ledger, data.rows, only=options.only, repeats=options.repeats)


def _ledger_path(data, options):
    return options.results / f"click_fit-{data.source}-{data.rows}x{data.columns}-seed{data.seed}.ledger"


def _tell(race, data, load):
    table, remarks = rows(race, data.columns), notes(race, data, load)
    if data.rows == FULL:
        report("click_fit_wide" if data.columns >= WIDE else "click_fit", table, remarks)
    else:
        print("\n".join([*(f"{first} | {cells}" for first, cells, _ in table), *remarks]))


def _fits(races):
    """All fits, for a table of them."""
    for title, race in races.items():
        for name in race.contenders:
            for fit in race.fits(name):
                numbers = [fit.get(key, "") for key in ("seconds", "auc", "megabytes")]
                setting = json.dumps(fit["setting"], sort_keys=True)
                yield [title, name, fit["version"], setting, fit["status"], *numbers]


if __name__ == "__main__":
    main()
