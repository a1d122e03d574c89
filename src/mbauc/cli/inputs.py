"""What a command reads must not be what it writes."""

from __future__ import annotations

import argparse
import warnings
from contextlib import suppress
from pathlib import Path

from mbauc.cli.data_options import matches
from mbauc.cli.output import Usage

#: Where options have files that are read, and files that are written.
_READ = ("data", "test", "model", "models", "like")
_WRITTEN = {"out": "-o", "report": "--report"}


def spare_inputs(options: argparse.Namespace) -> None:
    """Raise if an output would replace an input; ``update`` alone may go on in the same model file."""
    read = [Path(path) for name in _READ for path in _paths(getattr(options, name, None))]
    for name, option in _WRITTEN.items():
        for out in _paths(getattr(options, name, None)):
            for path in read:
                own = options.command == "update" and path == Path(options.model)
                if not own and _holds(path, Path(out)):
                    raise Usage(f"{option} {out} would replace what the command reads; name another file.")


def _paths(given: object) -> list[str]:
    """The files that an option has, patterns expanded."""
    if given is None or isinstance(given, bool):
        return []
    listed = given if isinstance(given, list | tuple) else [given]
    return [found for path in listed if str(path) != "-" for found in matches(str(path))]


def _holds(path: Path, out: Path) -> bool:
    """Whether an output is an input, or one of the files of an input folder or archive."""
    if not out.exists():
        return False
    if path.is_dir():
        return out.resolve().is_relative_to(path.resolve()) and _is_data(path, out)
    archive = next((place for place in (path, *path.parents) if place.is_file()), None)
    return archive is not None and archive.samefile(out)


def _is_data(folder: Path, out: Path) -> bool:
    """Whether a file of a folder is among those that are read of it."""
    from mbauc.errors import DataWarning
    from mbauc.readers.libsvm.paths import find_libsvm
    from mbauc.readers.table.files import find_tables

    tables, texts = [], []
    with (
        suppress(FileNotFoundError, ValueError),
        warnings.catch_warnings(action="ignore", category=DataWarning),
    ):
        tables = [file.path for file in find_tables([folder])]
    with suppress(FileNotFoundError, ValueError):
        texts = find_libsvm([folder])
    return any(Path(file).samefile(out) for file in (*tables, *texts))
