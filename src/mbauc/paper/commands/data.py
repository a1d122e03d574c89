"""``mbauc data``: which data sets there are, whether they are here and as they should be; gets them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mbauc.cli.options import add_command
from mbauc.cli.output import Output
from mbauc.errors import DownloadError, NotAvailableError
from mbauc.paper.commands.clicks import add_clicks
from mbauc.paper.datasets.entry import Entry
from mbauc.paper.datasets.files import identify, locate
from mbauc.paper.datasets.registry import RATIO_TOLERANCE, Figures, differences, find, measure, names

#: How far rows may be from the printed number: Table I gives two or three digits.
_ROWS_TOLERANCE = 0.03


def add(commands: Any) -> None:
    """Add ``data`` and what it can do to the subcommands of a parser."""
    data = commands.add_parser(
        "data",
        help="list, check and download the data sets of the MBA paper; make click logs",
        description="The 15 benchmark sets and three click logs of the paper's Table I, from LIBSVM and UCI.",
        epilog="examples: mbauc data list; mbauc data download a9a german; mbauc data check a9a; "
        "mbauc data clicks -o clicks.parquet",
    )
    actions = data.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = _action(
        actions,
        "list",
        "the data sets, and which of them are on this machine",
        "Lists all data sets: rows (training / test), columns, negatives for each positive as printed in Table "
        "I, how test rows are chosen, and the folder in which the set was found.",
        "example: mbauc data list --data-dir ~/data",
    )
    show.set_defaults(run=_run_list)
    check = _action(
        actions,
        "check",
        "compare files with the official ones and with Table I",
        "Compares the content of each file with the official checksum, and rows, columns and positives with "
        "what is on record. Where the official files themselves differ from Table I, that is said too. The "
        "exit code is 1 if a set is missing or differs from what is on record.",
        "examples: mbauc data check; mbauc data check a9a w1a --json",
    )
    check.add_argument("names", nargs="*", type=_entry, metavar="NAME", help="data sets (default: all)")
    check.set_defaults(run=_run_check)
    get = _action(
        actions,
        "download",
        "download data sets",
        "Downloads the files of data sets that are not there yet, over https, with pooch (pip install "
        "'mbauc[datasets]'). Files get their names only when they are whole and their checksums are right. A "
        "download that was stopped starts again; a click log of some gigabytes is better fetched by hand, with "
        "a program that resumes, into the folder of the files. 'mbauc data list --json' has the addresses.",
        "examples:\n  mbauc data download a9a mushrooms --data-dir ~/data\n"
        "  curl -C - -O https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/avazu-app.tr.bz2",
    )
    get.add_argument("names", nargs="+", type=_entry, metavar="NAME", help="data sets, see 'mbauc data list'")
    get.add_argument(
        "--force", action="store_true", help="download files that are there already and replace them"
    )
    get.set_defaults(run=_run_download)
    add_clicks(actions)


def _action(actions: Any, name: str, summary: str, description: str, example: str) -> argparse.ArgumentParser:
    parser = add_command(actions, name, description, example, summary=summary)
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        help="folder of the files (default: the one that MBAUC_DATA names, then the user's cache)",
    )
    return parser


def _entry(name: str) -> Entry:
    try:
        return find(name)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


# -- list --------------------------------------------------------------------------------------------------


def _run_list(options: argparse.Namespace) -> int:
    entries = [find(name) for name in names()]
    found = [_find_files(entry, options.data_dir) for entry in entries]
    output = Output(options.json)
    head = ("name", "rows", "columns", "ratio", "test rows", "here")
    lines = [head, *(_line(entry, paths) for entry, paths in zip(entries, found, strict=True))]
    for line in _align(lines, right=(1, 2, 3)):
        output.say(line)
    return output.finish(
        {"sets": [_describe(entry, paths) for entry, paths in zip(entries, found, strict=True)]}
    )


def _find_files(entry: Entry, data_dir: Path | None) -> dict[str, Path]:
    try:
        return locate(entry, data_dir)
    except NotAvailableError:
        return {}


def _line(entry: Entry, paths: dict[str, Path]) -> tuple[str, ...]:
    rows, test_rows = entry.rows
    ratio = f"{entry.printed.ratio:.2f}" if entry.printed is not None else "–"
    where = str(next(iter(paths.values())).parent) if paths else "no"
    return entry.word, f"{rows:,} / {test_rows:,}", f"{entry.columns:,}", ratio, entry.split, where


def _describe(entry: Entry, paths: dict[str, Path]) -> dict[str, Any]:
    return {
        "name": entry.name,
        "group": entry.group,
        "rows": entry.rows[0],
        "test_rows": entry.rows[1],
        "columns": entry.columns,
        "table1": entry.printed
        and {
            "rows": entry.printed.rows[0],
            "test_rows": entry.printed.rows[1],
            "columns": entry.printed.columns,
            "ratio": entry.printed.ratio,
        },
        "split": entry.split,
        "here": bool(paths),
        "files": {name: str(path) for name, path in paths.items()},
        "source": entry.source,
        "urls": [url for file in entry.files for url in file.urls[:1]],
        "notes": list(entry.notes),
    }


# -- check -------------------------------------------------------------------------------------------------


def _run_check(options: argparse.Namespace) -> int:
    entries = options.names or [find(name) for name in names()]
    output, reports = Output(options.json), []
    for entry in entries:
        report = _check(entry, options.data_dir)
        reports.append(report)
        if report["status"] == "missing" and not options.names:
            output.say(f"{entry.word}: missing ('mbauc data check {entry.word}' says where to get it)")
        else:
            for line in _report_lines(entry, report):
                output.say(line)
    output.finish({"sets": reports})
    return int(any(report["status"] != "ok" for report in reports))


def _check(entry: Entry, data_dir: Path | None) -> dict[str, Any]:
    report: dict[str, Any] = {
        "name": entry.name,
        "status": "ok",
        "files": [],
        "differs": [],
        "beside_table1": [],
    }
    try:
        paths = locate(entry, data_dir)
    except NotAvailableError as error:
        return report | {"status": "missing", "differs": [str(error)]}
    for file in entry.files:
        if file.name in paths:
            content = identify(paths[file.name], file)
            report["files"].append({"name": file.name, "path": str(paths[file.name]), "content": content})
            if content in ("changed", "damaged"):
                report["differs"].append(f"{paths[file.name]} is {content}")
    try:
        figures = measure(entry, data_dir)
    except ValueError as error:
        report["differs"].append(str(error))
    else:
        report |= figures._asdict() | {"ratio": round(figures.ratio, 4) if figures.positives else None}
        report["differs"] += differences(entry, figures)
        report["beside_table1"] = _beside_table1(entry, figures)
    return report | {"status": "differs" if report["differs"] else "ok"}


def _beside_table1(entry: Entry, found: Figures) -> list[str]:
    """What Table I says otherwise."""
    if entry.printed is None:
        return []
    figures = [
        ("training rows", found.rows, entry.printed.rows[0], _ROWS_TOLERANCE),
        ("test rows", found.test_rows, entry.printed.rows[1], _ROWS_TOLERANCE),
        ("columns", found.columns, entry.printed.columns, 0.0),
        ("negatives for each positive", round(found.ratio, 2), entry.printed.ratio, RATIO_TOLERANCE),
    ]
    return [
        f"{value:,} {what}, {printed:,} in Table I"
        for what, value, printed, tolerance in figures
        if abs(value - printed) > tolerance * printed
    ]


def _report_lines(entry: Entry, report: dict[str, Any]) -> Iterator[str]:
    yield f"{entry.word}: {report['status']}"
    for file in report["files"]:
        yield f"  {file['path']}: {_CONTENT[file['content']]}"
    if "rows" in report:
        yield (
            f"  {report['rows']:,} / {report['test_rows']:,} rows, {report['columns']:,} columns"
            + (f", {report['ratio']:.2f} negatives for each positive" if report["ratio"] is not None else "")
        )
    for difference in report["differs"]:
        yield f"  differs: {difference}" if report["status"] == "differs" else f"  {difference}"
    for remark in report["beside_table1"]:
        yield f"  {remark}"
    if report["beside_table1"]:
        for note in entry.notes:
            yield f"  note: {note}"


_CONTENT = {
    "original": "the official content",
    "copy": "a known copy",
    "changed": "not the official content",
    "damaged": "damaged: cannot be read to its end",
    "not on record": "official checksum not on record",
}


# -- download ----------------------------------------------------------------------------------------------


def _run_download(options: argparse.Namespace) -> int:
    from mbauc.paper.datasets.download import download

    output, reports, failed = Output(options.json), [], False
    for entry in options.names:
        try:
            paths = download(entry, options.data_dir, force=options.force)
        except (DownloadError, NotAvailableError) as error:
            # the next set may come from another server
            sys.stderr.write(f"mbauc: {error}\n")
            reports.append({"name": entry.name, "files": {}, "error": str(error)})
            failed = True
            continue
        reports.append(
            {"name": entry.name, "files": {f.name: paths[f.name] for f in entry.files}, "error": None}
        )
        for file in entry.files:
            output.say(f"{entry.word}: {paths[file.name]}")
        for file in entry.files:
            if file.hint and not _find_files(entry, options.data_dir):
                output.say(f"{entry.word}: {file.hint}")
    output.finish({"sets": reports})
    return int(failed)


def _align(rows: Sequence[Sequence[str]], right: tuple[int, ...]) -> Iterator[str]:
    """Lines of a table."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (
            cell.rjust(width) if k in right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
