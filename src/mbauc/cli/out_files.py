"""Files that commands write: none that is read, and none that is there, unless its owner agrees."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from mbauc.cli.output import Usage
from mbauc.readers.input_files import is_read
from mbauc.store.atomic import real_path

#: Where options have files that are read, and files that are written.
_READ = ("data", "test", "model", "models", "like")
_WRITTEN = {"out": "-o", "report": "--report"}


def check_inputs_stay(options: argparse.Namespace) -> None:
    """Raise if an output would replace an input; only ``update`` may write to the model that it reads."""
    for name, option in _WRITTEN.items():
        for out in _paths(getattr(options, name, None)):
            # only an update may replace the model that it reads
            read = [path for path in _READ if not (options.command == "update" and path == "model")]
            if is_read(out, [one for path in read for one in _paths(getattr(options, path, None))]):
                raise Usage(f"{option} {out} would overwrite an input of the command; choose another file.")


def _paths(given: object) -> list[str]:
    """The files that an option has."""
    if given is None or isinstance(given, bool):
        return []
    listed = given if isinstance(given, list | tuple) else [given]
    return [str(path) for path in listed if str(path) != "-"]


def check_page(path: Path, force: bool, option: str = "-o") -> None:
    """Raise unless an HTML page may be written, under a name that says what it is."""
    if path.suffix.lower() not in ("", ".html", ".htm"):
        raise Usage(
            f"{option} {path}: the report is an HTML page; name it {path.with_suffix('.html').name}. "
            "A browser prints it to PDF."
        )
    check_writable(path, force, option)


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
        raise Usage(f"{option} {path} is not a regular file and cannot be replaced; choose another file.")
    if force or not path.exists():
        return
    if not (sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()):
        done = " If the run of this checkpoint wrote it, nothing is left to do." if finished else ""
        raise Usage(f"{path} exists already; name another file, or pass --force to replace it.{done}")
    sys.stderr.write(f"{path} exists already. Replace it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Usage(f"{path} was not changed.")
