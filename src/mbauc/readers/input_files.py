"""Which files are read: what is written must not replace one of them."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from mbauc.errors import DataWarning


def expand_pattern(path: str) -> list[str]:
    """The files that a pattern stands for, sorted, where the shell left it alone; other paths as they are."""
    if os.path.exists(path):
        return [path]
    return sorted(glob.glob(path, recursive=True)) or [path]


def is_read(out: str | os.PathLike[str], paths: Iterable[str | os.PathLike[str]]) -> bool:
    """Whether a file is among those that paths, patterns, folders and archives stand for.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc.readers.input_files import is_read
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "rows.csv").write_text("y,x")
    >>> is_read(folder / "rows.csv", [folder / "*.csv"]), is_read(folder / "scores.csv", [folder])
    (True, False)
    """
    given = (Path(found) for path in paths for found in expand_pattern(os.fspath(path)))
    return Path(out).exists() and any(_holds(path, Path(out)) for path in given)


def _holds(path: Path, out: Path) -> bool:
    """Whether a file is another one, or one of the files of a folder or an archive."""
    if path.is_dir():
        return out.resolve().is_relative_to(path.resolve()) and _is_data(path, out)
    archive = next((place for place in (path, *path.parents) if place.is_file()), None)
    return archive is not None and archive.samefile(out)


def _is_data(folder: Path, out: Path) -> bool:
    """Whether a file of a folder is among those that are read of it."""
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
