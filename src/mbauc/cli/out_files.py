"""Files that commands write: none that is read, and none that is there, unless its owner agrees."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from contextlib import suppress
from pathlib import Path

from mbauc.cli.data_files import expand_pattern
from mbauc.cli.output import Usage
from mbauc.store.atomic import real_path

#: Where options have files that are read, and files that are written.
_READ = ("data", "test", "model", "models", "like")
_WRITTEN = {"out": "-o", "report": "--report"}


def check_inputs_stay(options: argparse.Namespace) -> None:
    """Raise if an output would replace an input; only ``update`` may write to the model that it reads."""
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
    return [found for path in listed if str(path) != "-" for found in expand_pattern(str(path))]


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


def check_writable(path: Path, force: bool, option: str = "-o", *, finished: bool | int = False) -> None:
    """Raise unless a file may be written: it is not there, or may be replaced.

    ``finished`` says that a run was found which may have written it, so that nothing may be left to do.
    """
    if str(path) == "-":
        raise Usage(f"{option} -: this cannot go to standard output; name a file.")
    if path.is_dir():
        raise Usage(f"{option} {path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise Usage(f"{option} {path}: the folder {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise Usage(f"{option} {path}: the folder {path.parent} cannot be written to.")
    try:
        real_path(path)
    except OSError as error:
        raise Usage(f"{option} {path}: {error.strerror}; name another file.") from None
    if path.exists() and not path.is_file():
        raise Usage(f"{option} {path} is no ordinary file, which would have to be replaced; name another one.")
    if force or not path.exists():
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        done = " If the run of this checkpoint wrote it, nothing is left to do." if finished else ""
        raise Usage(f"{path} exists already; name another file, or pass --force to replace it.{done}")
    sys.stderr.write(f"{path} exists already. Replace it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Usage(f"{path} was left as it is.")
