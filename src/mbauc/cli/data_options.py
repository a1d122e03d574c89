"""DATA on the command line: which files, what they are, which columns mean what."""

from __future__ import annotations

import argparse
import glob
import math
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mbauc.cli.output import Usage, listed, whole
from mbauc.store.atomic import naming
from mbauc.store.lock import hold, remove_leftovers

if TYPE_CHECKING:
    from mbauc.model.layout import LibsvmLayout, TableLayout

#: Options for tables alone, and what holds where they are not given.
_OF_TABLES: dict[str, Any] = {
    "weight": None,
    "ignore": [],
    "id": [],
    "types": {},
    "encode": "hash",
    "hash_dim": 10_000,
    "signed": False,
    "scale": "standard",
    "missing": "category",
    "delimiter": None,
    "names": None,
}
#: Options that say which columns mean what; None where they are not given.
COLUMN_OPTIONS = ("label", "positive", *_OF_TABLES)
#: What a column may be.
_KINDS = ("numeric", "category", "time", "group", "id", "ignore")
#: Names of folders for copies of standard input.
_STDIN = "mbauc-stdin-{}"
FORMATS = ("auto", "table", "csv", "tsv", "parquet", "libsvm")


def add_data(parser: argparse.ArgumentParser) -> argparse.Action:
    """DATA alone, for files like those that a model was trained on."""
    data = parser.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="CSV, TSV, Parquet or LIBSVM files (also .gz, .bz2, .xz, .zip), folders of them, or - for "
        "standard input",
    )
    parser.add_argument(
        "--format", choices=FORMATS, default="auto", help="what the files are (default: by their names)"
    )
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip"),
        default="stop",
        help="what to do at a row that cannot be read (default: %(default)s)",
    )
    return data


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Which columns mean what, for files seen for the first time; what is not given is None."""
    group = parser.add_argument_group("columns")
    group.add_argument("--label", metavar="NAME", help="column of the labels (not for LIBSVM)")
    group.add_argument(
        "--positive", metavar="LABEL", type=listed, help="labels that are positive (default: the larger one)"
    )
    group.add_argument(
        "--weight", metavar="NAME", help="column of row weights: a row of weight 3 counts as three equal rows"
    )
    group.add_argument("--ignore", metavar="A,B", type=listed, help="columns to leave out")
    group.add_argument("--id", metavar="A,B", type=listed, help="columns that name rows; left out")
    group.add_argument(
        "--types",
        metavar="A=KIND,…",
        type=_types,
        help="what columns are where the guess is wrong: numeric, category, time, group, id or ignore",
    )
    group.add_argument(
        "--encode",
        choices=("hash", "onehot"),
        help=f"how categories become columns (default: {_OF_TABLES['encode']})",
    )
    group.add_argument(
        "--hash-dim", type=_hash_dim, metavar="D", help=f"hashed columns (default: {_OF_TABLES['hash_dim']})"
    )
    group.add_argument(
        "--signed", action="store_true", default=None, help="hash with signs, so that collisions cancel"
    )
    group.add_argument(
        "--scale",
        choices=("none", "max-abs", "standard"),
        help=f"of numbers (default: {_OF_TABLES['scale']})",
    )
    group.add_argument(
        "--missing",
        choices=("category", "mean"),
        help=f"missing numbers get an indicator of their own, or the mean (default: {_OF_TABLES['missing']})",
    )
    group.add_argument("--delimiter", type=_delimiter, metavar="C", help="of text files (default: found out)")
    group.add_argument(
        "--names",
        metavar="A,B|auto",
        type=listed,
        help="names of the columns, for text files without a first line of names; auto: c1, c2, …",
    )


def _hash_dim(text: str) -> int:
    value = whole(text)
    if not 2 <= value < 2**31:
        raise argparse.ArgumentTypeError(f"expected a whole number from 2 to {2**31 - 1:,}, got {text!r}")
    return value


def _delimiter(text: str) -> str:
    text = {r"\t": "\t", "tab": "\t"}.get(text, text)
    if len(text.encode()) != 1:
        raise argparse.ArgumentTypeError(f"expected one character (tab for a tabulator), got {text!r}")
    return text


def _types(text: str) -> dict[str, str]:
    found = {}
    for part in listed(text):
        name, equals, kind = part.rpartition("=")
        if not equals:
            raise argparse.ArgumentTypeError(f"expected NAME=KIND, got {part!r}")
        if kind not in _KINDS:
            raise argparse.ArgumentTypeError(f"expected one of {', '.join(_KINDS)} for {name}, got {kind!r}")
        found[name] = kind
    return found


@contextmanager
def files(options: argparse.Namespace) -> Iterator[list[str]]:
    """The paths of DATA; standard input becomes a temporary file, since rows are read more than once."""
    remove_leftovers(Path(tempfile.gettempdir()), _STDIN.format("*"), "stdin.*")
    if "-" not in options.data:
        paths = [path for given in options.data for path in matches(given)]
        yield of_format(paths, options.format)
        return
    if options.data != ["-"]:
        raise Usage("- (standard input) cannot be combined with files.")
    if sys.stdin is None:
        raise Usage("standard input is closed; give files, or pipe rows in.")
    ending = {"parquet": ".parquet", "libsvm": ".libsvm", "tsv": ".tsv"}.get(options.format, ".csv")
    with tempfile.TemporaryDirectory(prefix=_STDIN.format("")) as folder:
        path = Path(folder, "stdin" + ending)
        with _held(path) as stream:
            with naming(f"copy of standard input in {folder}"):
                shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
                stream.flush()
            if not path.stat().st_size:
                raise Usage("standard input is empty; give files, or pipe rows in.")
            yield [str(path)]


def _held(path: Path) -> IO[bytes]:
    """A new file that others leave alone as long as this process lives."""
    stream = open(path, "wb")  # noqa: SIM115
    while not hold(stream):  # it was taken for one that somebody had left
        stream.close()
        path.parent.mkdir(mode=0o700, exist_ok=True)
        stream = open(path, "wb")  # noqa: SIM115
    return stream


def matches(path: str) -> list[str]:
    """The files that a pattern stands for, sorted, where the shell left it alone; other paths as they are."""
    if os.path.exists(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]


def of_format(paths: list[str], kind: str) -> list[str]:
    """The same paths, with the files of that format in place of a folder."""
    if kind not in ("csv", "tsv", "parquet"):
        return paths
    from mbauc.readers.table.files import TableFile, find_tables

    found: list[str] = []
    for path in paths:
        if os.path.isdir(path):
            found += map(str, find_tables(path, kind))
            continue
        if os.path.isfile(path) and TableFile(Path(path)).is_parquet != (kind == "parquet"):
            raise Usage(f"--format {kind}: {path} is {'text' if kind == 'parquet' else 'Parquet'}.")
        found.append(path)
    return found


def is_libsvm(paths: list[str], kind: str) -> bool:
    """Whether files are LIBSVM text: as said, by the name of the first one, or by a look at its first line."""
    if kind != "auto":
        return kind == "libsvm"
    from mbauc.readers.libsvm.paths import is_libsvm_name
    from mbauc.readers.table.files import TableFile

    first = Path(paths[0])
    if first.is_dir():
        return _is_libsvm_folder(first)
    if is_libsvm_name(first):
        return True
    file = TableFile(first)
    if not first.exists() or file.suffix in (".csv", ".tsv", ".parquet", ".zip", ".parq"):
        return False
    try:
        with file.open() as stream:
            line = stream.read(1 << 16).split(b"\n", 1)[0]
    except (OSError, ValueError):
        return False  # reading says more
    return _looks_like_libsvm(line.decode("utf-8", "replace"))


def _is_libsvm_folder(folder: Path) -> bool:
    from mbauc.errors import DataWarning
    from mbauc.readers.libsvm.paths import find_libsvm
    from mbauc.readers.table.files import find_tables

    found = []
    with warnings.catch_warnings(action="ignore", category=DataWarning):  # reading says what it leaves out
        for files_of in (find_tables, find_libsvm):
            try:
                found.append(bool(files_of([folder])))
            except FileNotFoundError:
                found.append(False)
    if all(found):
        raise Usage(f"{folder} holds both tables and LIBSVM text; say which to read: --format table or libsvm.")
    return found[1]


def _looks_like_libsvm(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and all(word.partition(":")[0].isdigit() and ":" in word for word in words[1:])


def opened_like(model: Any, paths: list[str], options: argparse.Namespace, **more: Any) -> Any:
    """A source of labelled files like those that a model was trained on."""
    from mbauc.model.layout import LibsvmLayout

    text = isinstance(model.layout, LibsvmLayout)
    if options.format != "auto" and (options.format == "libsvm") != text:
        raise Usage(f"--format {options.format}: the model reads {'LIBSVM text' if text else 'tables'}.")
    return model.layout.source(paths, model.classes, on_error=options.on_error, **more)


def opened(
    paths: list[str], options: argparse.Namespace, block_rows: int = 65_536
) -> tuple[Any, TableLayout | LibsvmLayout]:
    """A source of files seen for the first time, and what a model has to know of their rows."""
    from mbauc.readers import LibsvmSource, TableSource
    from mbauc.readers.libsvm.paths import find_libsvm

    verbose = not options.json
    given = {name: getattr(options, name) for name in _OF_TABLES if getattr(options, name) is not None}
    if is_libsvm(paths, options.format):
        if options.label is not None:
            raise Usage("--label is for tables; in LIBSVM text the label is the first word of a line.")
        if given:
            option = "--" + next(iter(given)).replace("_", "-")
            raise Usage(
                f"{option} is for tables; columns of LIBSVM text are taken as they are. Leave it out, or say "
                "what the files are with --format."
            )
        source = LibsvmSource(
            find_libsvm(paths),
            positive=_numbers(options.positive),
            on_error=options.on_error,
            block_rows=block_rows,
            verbose=verbose,
        )
        return source, source.layout
    if options.label is None:
        raise Usage("--label NAME is needed: which column holds the labels?")
    if given.get("encode") == "onehot" and ("hash_dim" in given or "signed" in given):
        raise Usage(
            "--hash-dim and --signed are for --encode hash; --encode onehot has a column for each value."
        )
    settings = _OF_TABLES | given
    if settings["scale"] == "none":
        settings["scale"] = None
    if settings["names"] == ["auto"]:
        settings["names"] = "auto"
    table = TableSource(
        paths,
        label=options.label,
        positive=options.positive,
        on_error=options.on_error,
        block_rows=block_rows,
        verbose=verbose,
        **settings,
    )
    return table, table.layout


def _numbers(labels: list[str] | None) -> list[float] | None:
    """Positive labels of LIBSVM text."""
    found = []
    for label in labels or ():
        try:
            found.append(float(label))
        except ValueError:
            found.append(math.nan)
        if not math.isfinite(found[-1]):
            raise Usage(f"--positive: expected numbers, as labels of LIBSVM text are, got {label!r}.")
    return found or None
