"""DATA on the command line: which files, and what they are."""

from __future__ import annotations

import argparse
import math
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from mbauc.cli.options import TABLE_OPTIONS
from mbauc.cli.output import Usage
from mbauc.defaults import BLOCK_ROWS
from mbauc.readers.input_files import expand_pattern
from mbauc.store.atomic import name_file
from mbauc.store.lock import hold, remove_leftovers

if TYPE_CHECKING:
    from mbauc.model.layout import LibsvmLayout, TableLayout

#: Names of folders for copies of standard input.
_STDIN = "mbauc-stdin-{}"


@contextmanager
def files(options: argparse.Namespace) -> Iterator[list[str]]:
    """The paths of DATA; standard input becomes a temporary file, since rows are read more than once."""
    remove_leftovers(Path(tempfile.gettempdir()), _STDIN.format("*"), "stdin.*")
    if "-" not in options.data:
        paths = [path for given in options.data for path in expand_pattern(given)]
        yield find_of_format(paths, options.format)
        return
    if options.data != ["-"]:
        raise Usage("- (standard input) cannot be combined with files.")
    if sys.stdin is None:
        raise Usage("standard input is closed; give files, or pipe rows in.")
    ending = {"parquet": ".parquet", "libsvm": ".libsvm", "tsv": ".tsv"}.get(options.format, ".csv")
    with tempfile.TemporaryDirectory(prefix=_STDIN.format("")) as folder:
        path = Path(folder, "stdin" + ending)
        with _open_locked(path) as stream:
            with name_file(f"copy of standard input in {folder}"):
                shutil.copyfileobj(sys.stdin.buffer, stream, 1 << 20)
                stream.flush()
            if not path.stat().st_size:
                raise Usage("standard input is empty; give files, or pipe rows in.")
            yield [str(path)]


def _open_locked(path: Path) -> IO[bytes]:
    """A new file that others leave alone as long as this process lives."""
    stream = open(path, "wb")  # noqa: SIM115
    while not hold(stream):  # another process took it for a leftover and removed it
        stream.close()
        path.parent.mkdir(mode=0o700, exist_ok=True)
        stream = open(path, "wb")  # noqa: SIM115
    return stream


def find_of_format(paths: list[str], kind: str) -> list[str]:
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
        raise Usage(
            f"{folder} contains both tables and LIBSVM text; select one with --format table or --format libsvm."
        )
    return found[1]


def _looks_like_libsvm(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and all(word.partition(":")[0].isdigit() and ":" in word for word in words[1:])


def open_ungrouped(model: Any, paths: list[str], options: argparse.Namespace) -> Any:
    """A source of labelled files to measure a model on, which need not have its column of groups."""
    from mbauc.model.layout import LibsvmLayout

    group = None
    if isinstance(model.layout, LibsvmLayout):
        # query numbers that are neither said to be groups nor were any in the training are warned of
        group = _check_queries(options) or (model.group if _has_queries(paths) else None)
    return open_like(model, paths, options, group=group)


def _has_queries(paths: list[str]) -> bool:
    """Whether rows of LIBSVM text have query numbers, by the first one."""
    from mbauc.errors import DataWarning
    from mbauc.readers.libsvm.paths import find_libsvm
    from mbauc.readers.libsvm.queries import has_queries

    with warnings.catch_warnings(action="ignore", category=DataWarning):  # reading says what it leaves out
        return has_queries(map(str, find_libsvm(paths)))


def _check_queries(options: argparse.Namespace) -> Literal["qid"] | None:
    """What groups of LIBSVM text can be: query numbers, or none."""
    group = getattr(options, "group", None)
    if group is not None and group != "qid":
        raise Usage(f"--group {group}: the only groups in LIBSVM text are query numbers; pass --group qid.")
    return None if group is None else "qid"


def open_like(model: Any, paths: list[str], options: argparse.Namespace, **more: Any) -> Any:
    """A source of labelled files like those that a model was trained on."""
    from mbauc.model.layout import LibsvmLayout

    text = isinstance(model.layout, LibsvmLayout)
    if options.format != "auto" and (options.format == "libsvm") != text:
        raise Usage(
            f"--format {options.format}: the model was trained on {'LIBSVM text' if text else 'tables'}."
        )
    return model.layout.source(paths, model.classes, on_error=options.on_error, **more)


def read_groups(source: Any, name: str | None, model: Any) -> Any:
    """The groups of the rows of a source: of the column that is named, or of the model's own if it is there."""
    from mbauc.model.testing import GroupColumn

    if name is None and model.group is not None:
        plan = getattr(source, "plan", None)
        there = source.has_groups if plan is None else model.group in {column.name for column in plan.columns}
        name = model.group if there else None
    return None if name is None else GroupColumn.read(source, name)


def read_segments(source: Any, names: list[str], time: str | None) -> dict[str, Any]:
    """The columns of a source by which AUC is shown, as arguments of an evaluation."""
    from mbauc.readers import LibsvmSource

    wanted = [*names, *([time] if time else [])]
    if wanted and isinstance(source, LibsvmSource):
        option = "--segment" if names else "--time"
        raise Usage(f"{option} {wanted[0]}: LIBSVM text has no named columns; leave it out.")
    found: dict[str, Any] = {"segments": {name: source.column(name, "segment") for name in names}}
    return found if time is None else found | {"time": source.column(time, "time"), "time_name": time}


def open_source(
    paths: list[str], options: argparse.Namespace, block_rows: int = BLOCK_ROWS
) -> tuple[Any, TableLayout | LibsvmLayout]:
    """A source of files seen for the first time, and what a model has to know of their rows."""
    from mbauc.readers import LibsvmSource, TableSource
    from mbauc.readers.libsvm.paths import find_libsvm

    verbose = not options.json
    said = {name: getattr(options, name, None) for name in TABLE_OPTIONS}  # not every command has them all
    given = {name: value for name, value in said.items() if value is not None}
    if is_libsvm(paths, options.format):
        group = _check_queries(options)
        given.pop("group", None)
        if options.label is not None:
            raise Usage(
                "--label applies to tables only; in LIBSVM text the label is the first field of a line."
            )
        if given:
            option = "--" + next(iter(given)).replace("_", "-")
            raise Usage(
                f"{option} applies to tables only, and these files are LIBSVM text. Leave it out, or correct "
                "the format with --format."
            )
        source = LibsvmSource(
            find_libsvm(paths),
            positive=_numbers(options.positive),
            group=group,
            on_error=options.on_error,
            block_rows=block_rows,
            verbose=verbose,
        )
        return source, source.layout
    if options.label is None:
        raise Usage("--label is required for tables: the name of the column of the labels.")
    if getattr(options, "features", None) is not None:
        given["encode"] = "codes"
    if given.get("encode") == "onehot" and ("hash_dim" in given or "signed" in given):
        raise Usage("--hash-dim and --signed apply to --encode hash only, not to --encode onehot.")
    if given.get("scale") == "none":
        given["scale"] = None
    if given.get("names") == ["auto"]:
        given["names"] = "auto"
    table = TableSource(
        paths,
        label=options.label,
        cluster=getattr(options, "cluster", None),
        positive=options.positive,
        on_error=options.on_error,
        block_rows=block_rows,
        verbose=verbose,
        **given,
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
            raise Usage(
                f"--positive: expected a number, because labels in LIBSVM text are numeric, got {label!r}."
            )
    return found or None
