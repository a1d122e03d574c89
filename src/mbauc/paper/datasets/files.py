"""Where the files of a data set are on this machine, and whether their content is the official one."""

from __future__ import annotations

import hashlib
import io
import os
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from mbauc.errors import NotAvailableError
from mbauc.paper.datasets.entry import ENDINGS, Entry, File
from mbauc.readers.compressed import DAMAGE, is_damage, unpack

Folder = str | os.PathLike[str]
Content = Literal["original", "copy", "changed", "damaged", "not on record"]

_CHUNK = 1 << 20


# -- places ---------------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """The user's folder for downloads: ``~/.cache/mbauc`` or what the system uses instead."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mbauc"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "mbauc" / "Cache"
    cache = os.environ.get("XDG_CACHE_HOME", "")
    # the XDG specification says that a relative path is to be ignored
    return (Path(cache) if os.path.isabs(cache) else Path.home() / ".cache") / "mbauc"


def list_folders(data_dir: Folder | None = None) -> list[Path]:
    """Folders to look in: ``data_dir`` or, without it, ``$MBAUC_DATA``; then the user's cache."""
    first = os.fsdecode(data_dir) if data_dir is not None else os.environ.get("MBAUC_DATA", "")
    return [*([Path(first).expanduser()] if first else []), cache_folder()]


def find_file(file: File, folder: Path) -> Path | None:
    """Path of a file in a folder, under any of its names; None if it is not there."""
    paths = (folder / name for name in file.names())
    return next((path for path in paths if path.is_file() and _has_content(path, file)), None)


def locate(entry: Entry, data_dir: Folder | None = None) -> dict[str, Path]:
    """Locate the files of a data set on this machine.

    Parameters
    ----------
    entry : Entry
        Of :func:`find`.
    data_dir : path, optional
        Folder to search first, by default that of the environment variable ``MBAUC_DATA``; then the cache of
        the user is searched. Files may be plain or compressed (.bz2, .gz, .xz).

    Returns
    -------
    dict
        Paths by the official names of the files, without optional files that are missing.

    Raises
    ------
    NotAvailableError
        If a file is missing; the message says where to get it.
    """
    folders = list_folders(data_dir)
    paths = {}
    for file in entry.files:
        path = next((path for folder in folders if (path := find_file(file, folder))), None)
        if path is not None:
            paths[file.name] = path
    missing = [file for file in entry.files if file.name not in paths and not file.optional]
    if missing:
        raise NotAvailableError(_explain_missing(entry, missing, folders))
    return paths


def _explain_missing(entry: Entry, missing: list[File], folders: list[Path]) -> str:
    wanted = [
        name for file in missing for name in (file.name, *(PurePosixPath(m).name for m in file.members[:1]))
    ]
    looked = " and ".join(f"{folder}{'' if folder.is_dir() else ' (no such folder)'}" for folder in folders)
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


# -- content ---------------------------------------------------------------------------------------------------


class DamagedError(ValueError):
    """A compressed file or archive cannot be read to its end."""


class NoMemberError(ValueError):
    """An archive is readable, but what is wanted is not in it."""


@contextmanager
def open_content(path: Path, file: File) -> Iterator[IO[bytes]]:
    """Open the uncompressed content of a file or of a zip archive."""
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                stream = _open_member(archive, _member_names(file))
                if stream is None:
                    wanted = " or ".join(sorted(_member_names(file)))
                    raise NoMemberError(f"{path}: there is no {wanted} in the archive. {file.hint}".strip())
                with stream:
                    yield stream
        else:
            with open(path, "rb") as stream:
                if path.suffix not in ENDINGS[1:]:
                    yield stream
                    return
                inside = unpack(stream)
                if inside is None:
                    raise EOFError("it is not compressed, as its name says")
                with inside:
                    yield inside
    except (*DAMAGE, zipfile.BadZipFile) as error:
        if not isinstance(error, zipfile.BadZipFile) and not is_damage(error):
            raise
        raise DamagedError(
            f"{path}: cannot be read to its end ({error}). Download it again: mbauc data download --force."
        ) from error


def identify(path: Path, file: File) -> Content:
    """Whether the content of a file is the official one or a known copy. ``O(bytes)`` time.

    ``changed`` if it should be the official one and is not, ``damaged`` if it cannot be read to its end, ``not
    on record`` if nobody is known to have recorded the official checksum.
    """
    known = [*([file.checksum] if file.checksum else []), *file.copies]
    digests = {kind: hashlib.new(kind, usedforsecurity=False) for kind in {k.split(":")[0] for k in known}}
    try:
        with open_content(path, file) as stream:
            while chunk := stream.read(_CHUNK):
                for digest in digests.values():
                    digest.update(chunk)
    except DamagedError:
        return "damaged"
    checksums = {f"{kind}:{digest.hexdigest()}" for kind, digest in digests.items()}
    if file.checksum in checksums:
        return "original"
    if checksums.intersection(file.copies):
        return "copy"
    return "changed" if file.checksum else "not on record"


def _has_content(path: Path, file: File) -> bool:
    """Whether a file, if it is an archive, has the content in it."""
    if path.suffix != ".zip":
        return True
    try:
        with open_content(path, file):
            return True
    except DamagedError:
        return True  # it is the file; reading it raises the error
    except NoMemberError:
        return False


def _member_names(file: File) -> set[str]:
    return {PurePosixPath(member).name for member in file.members}


def _open_member(archive: zipfile.ZipFile, wanted: set[str]) -> IO[bytes] | None:
    inside = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    for name in inside:
        if PurePosixPath(name).name in wanted:
            return archive.open(name)
    # UCI wraps some archives into another one
    for name in inside:
        if name.endswith(".zip"):
            stream = _open_member(zipfile.ZipFile(io.BytesIO(archive.read(name))), wanted)
            if stream is not None:
                return stream
    return None
