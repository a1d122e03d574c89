"""DATA on the command line: which files, what they are, which columns mean what."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbauc.commands.terminal import Usage, listed, whole

if TYPE_CHECKING:
    from mbauc.model.layout import LibsvmLayout, TableLayout

_FORMATS = ("auto", "table", "csv", "tsv", "parquet", "libsvm")


def add_data(parser: argparse.ArgumentParser) -> None:
    """DATA alone, for files like those that a model was trained on."""
    parser.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="CSV, TSV, Parquet or LIBSVM files (also .gz, .bz2, .xz, .zip), folders of them, or - for "
        "standard input",
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="auto", help="what the files are (default: by their names)"
    )
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="what to do at a row that cannot be read (default: %(default)s)",
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Which columns mean what, for files seen for the first time."""
    group = parser.add_argument_group("columns")
    group.add_argument("--label", metavar="NAME", help="column of the labels (not for LIBSVM)")
    group.add_argument(
        "--positive", metavar="LABEL", type=listed, help="labels that are positive (default: the larger one)"
    )
    group.add_argument("--weight", metavar="NAME", help="column of row weights")
    group.add_argument("--ignore", metavar="A,B", type=listed, default=[], help="columns to leave out")
    group.add_argument("--id", metavar="A,B", type=listed, default=[], help="columns that name rows; left out")
    group.add_argument(
        "--types",
        metavar="A=KIND,…",
        type=_types,
        default={},
        help="what columns are where the guess is wrong: numeric, category, time, group, id or ignore",
    )
    group.add_argument(
        "--encode",
        choices=("hash", "onehot"),
        default="hash",
        help="how categories become columns (default: %(default)s)",
    )
    group.add_argument(
        "--hash-dim", type=whole, default=10_000, metavar="D", help="hashed columns (default: %(default)s)"
    )
    group.add_argument("--signed", action="store_true", help="hash with signs, so that collisions cancel")
    group.add_argument(
        "--scale",
        choices=("none", "max-abs", "standard"),
        default="standard",
        help="of numbers (default: %(default)s)",
    )
    group.add_argument(
        "--missing",
        choices=("category", "mean"),
        default="category",
        help="missing numbers get an indicator of their own, or the mean (default: %(default)s)",
    )
    group.add_argument("--delimiter", metavar="C", help="of text files (default: found out)")
    group.add_argument(
        "--names",
        metavar="A,B",
        type=listed,
        help="names of the columns, for text files without a first line of names",
    )


def _types(text: str) -> dict[str, str]:
    found = {}
    for part in listed(text):
        name, equals, kind = part.rpartition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"expected NAME=KIND, got {part!r}")
        found[name] = kind
    return found


@contextmanager
def files(options: argparse.Namespace) -> Iterator[list[str]]:
    """The paths of DATA; standard input becomes a temporary file, since rows are read more than once."""
    if "-" not in options.data:
        yield list(options.data)
        return
    if options.data != ["-"]:
        raise Usage("- (standard input) cannot be combined with files.")
    ending = {"parquet": ".parquet", "libsvm": ".libsvm", "tsv": ".tsv"}.get(options.format, ".csv")
    with tempfile.TemporaryDirectory(prefix="mbauc-") as folder:
        path = Path(folder, "stdin" + ending)
        with open(path, "wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
        if not path.stat().st_size:
            raise Usage("standard input is empty; give files, or pipe rows in.")
        yield [str(path)]


def is_libsvm(paths: list[str], kind: str) -> bool:
    """Whether files are LIBSVM text: as said, or by a look at the first line."""
    if kind != "auto":
        return kind == "libsvm"
    first = Path(paths[0])
    name = first.name.lower()
    for ending in (".gz", ".bz2", ".xz"):
        name = name.removesuffix(ending)
    if name.endswith((".libsvm", ".svm", ".svmlight")):
        return True
    if first.is_dir() or not first.exists() or name.endswith((".csv", ".tsv", ".parquet", ".zip", ".parq")):
        return False
    from mbauc.data.table.files import TableFile

    try:
        with TableFile(first).opened() as stream:
            line = stream.read(1 << 16).split(b"\n", 1)[0]
    except (OSError, ValueError):
        return False  # reading says more
    return _looks_like_libsvm(line.decode("utf-8", "replace"))


def _looks_like_libsvm(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and all(word.partition(":")[0].isdigit() and ":" in word for word in words[1:])


def opened(paths: list[str], options: argparse.Namespace) -> tuple[Any, TableLayout | LibsvmLayout]:
    """A source of files seen for the first time, and what a model has to know of their rows."""
    from mbauc.data import LibsvmSource, TableSource
    from mbauc.model.layout import LibsvmLayout, TableLayout

    verbose = not options.json
    if is_libsvm(paths, options.format):
        if options.label is not None:
            raise Usage("--label is for tables; in LIBSVM text the label is the first word of a line.")
        positive = options.positive and [float(label) for label in options.positive]
        source = LibsvmSource(paths, positive=positive, on_error=options.on_error, verbose=verbose)
        return source, LibsvmLayout(source.n_features, bool(source.zero_based))
    if options.label is None:
        raise Usage("--label NAME is needed: which column holds the labels?")
    table = TableSource(
        paths,
        label=options.label,
        positive=options.positive,
        weight=options.weight,
        types=options.types,
        ignore=options.ignore,
        id=options.id,
        encode=options.encode,
        hash_dim=options.hash_dim,
        signed=options.signed,
        missing=options.missing,
        scale=None if options.scale == "none" else options.scale,
        delimiter=options.delimiter,
        names=options.names,
        on_error=options.on_error,
        verbose=verbose,
    )
    positive = tuple(options.positive or ())
    return table, TableLayout(table.encoding, options.label, positive, options.weight)


def described(paths: list[str]) -> list[dict[str, Any]]:
    """Names and sizes of files, for the record of a model."""
    return [
        {"name": os.path.basename(path), "bytes": os.path.getsize(path)}
        if os.path.isfile(path)
        else {"name": path}
        for path in paths
    ]
