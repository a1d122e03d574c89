"""Where data sets are on this machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path, PurePosixPath

from mbauc.errors import NotAvailableError
from mbauc.paper.datasets.content import holds
from mbauc.paper.datasets.entry import Entry, File

Folder = str | os.PathLike[str]


def cache_folder() -> Path:
    """The user's folder for downloads: ``~/.cache/mbauc`` or what the system uses instead."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mbauc"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "mbauc" / "Cache"
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # the XDG specification says that a relative path is to be ignored
    return (Path(cache) if os.path.isabs(cache) else Path.home() / ".cache") / "mbauc"


def folders(data_dir: Folder | None = None) -> list[Path]:
    """Folders in which to look: ``data_dir`` or, without it, ``$MBAUC_DATA``; then the user's cache."""
    first = os.fsdecode(data_dir) if data_dir is not None else os.environ.get("MBAUC_DATA", "")
    return [*([Path(first).expanduser()] if first else []), cache_folder()]


def path_of(file: File, folder: Path) -> Path | None:
    """Where a file lies in a folder, under any of its names; None if it does not."""
    places = (folder / name for name in file.names())
    return next((path for path in places if path.is_file() and holds(path, file)), None)


def locate(entry: Entry, data_dir: Folder | None = None) -> dict[str, Path]:
    """Where the files of a data set are on this machine.

    Parameters
    ----------
    entry : Entry
        Of :func:`find`.
    data_dir : path, optional
        Folder to look in first, instead of the one that the environment variable ``MBAUC_DATA`` names; the
        user's cache comes second. Files may be plain or end in .bz2, .gz or .xz.

    Returns
    -------
    dict
        Paths by the official names of the files; an optional file that is not there is left out.

    Raises
    ------
    NotAvailableError
        If a file is not there; the message says where to get it.
    """
    places = folders(data_dir)
    found = {}
    for file in entry.files:
        here = next((path for folder in places if (path := path_of(file, folder))), None)
        if here is not None:
            found[file.name] = here
    missing = [file for file in entry.files if file.name not in found and not file.optional]
    if missing:
        raise NotAvailableError(_not_available(entry, missing, places))
    return found


def _not_available(entry: Entry, missing: list[File], places: list[Path]) -> str:
    wanted = [
        name for file in missing for name in (file.name, *(PurePosixPath(m).name for m in file.members[:1]))
    ]
    looked = " and ".join(f"{place}{'' if place.is_dir() else ' (no such folder)'}" for place in places)
    if all(file.urls for file in missing):
        how = [f"Get it with 'mbauc data download {entry.word}', or from {missing[0].urls[0]}."]
    else:
        how = [f"It is not offered for download; see {entry.source}."]
    how += [file.hint for file in missing if file.hint]
    return (
        f"{entry.name} is not available: looked for {', '.join(wanted)} (plain, .bz2, .gz or .xz) in {looked}. "
        f"{' '.join(how)} A folder of your own is named by data_dir (--data-dir) or by the environment "
        "variable MBAUC_DATA."
    )
