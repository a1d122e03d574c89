"""The uncompressed content of a file on record, and whether it is the official one."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from mbauc.paper.datasets.entry import ENDINGS, File
from mbauc.readers.compressed import DAMAGE, is_damage, unpack

Content = Literal["original", "copy", "changed", "damaged", "not on record"]

_CHUNK = 1 << 20


class DamagedError(ValueError):
    """A compressed file or archive cannot be read to its end."""


class NoMemberError(ValueError):
    """An archive is readable, but what is wanted is not in it."""


@contextmanager
def opened(path: Path, file: File, name: str | None = None) -> Iterator[IO[bytes]]:
    """The uncompressed content of a file or of a zip archive; ``name`` tells the form if the path does not."""
    name = path.name if name is None else name
    try:
        if name.endswith(".zip"):
            with zipfile.ZipFile(path) as archive:
                stream = _zip_member(archive, _base_names(file))
                if stream is None:
                    raise _no_member(path, file)
                with stream:
                    yield stream
        else:
            with open(path, "rb") as stream:
                if Path(name).suffix not in ENDINGS[1:]:
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


def holds(path: Path, file: File) -> bool:
    """Whether a file, if it is an archive, has the content in it."""
    if not path.name.endswith(".zip"):
        return True
    try:
        with opened(path, file):
            return True
    except DamagedError:
        return True  # it is the file, and whoever reads it is told
    except NoMemberError:
        return False


def identify(path: Path, file: File, name: str | None = None) -> Content:
    """Whether the content of a file is the official one or a known copy. ``O(bytes)`` time.

    Returns
    -------
    str
        ``original`` or ``copy``; ``changed`` if it should be the official one and is not; ``damaged`` if it
        cannot be read to its end; ``not on record`` if nobody is known to have recorded the official checksum.
    """
    known = [*([file.checksum] if file.checksum else []), *file.copies]
    digests = {kind: hashlib.new(kind, usedforsecurity=False) for kind in {k.split(":")[0] for k in known}}
    try:
        with opened(path, file, name) as stream:
            while chunk := stream.read(_CHUNK):
                for digest in digests.values():
                    digest.update(chunk)
    except DamagedError:
        return "damaged"
    found = {f"{kind}:{digest.hexdigest()}" for kind, digest in digests.items()}
    if file.checksum in found:
        return "original"
    if found.intersection(file.copies):
        return "copy"
    return "changed" if file.checksum else "not on record"


def _base_names(file: File) -> set[str]:
    return {PurePosixPath(member).name for member in file.members}


def _zip_member(archive: zipfile.ZipFile, wanted: set[str]) -> IO[bytes] | None:
    inside = [name for name in archive.namelist() if not name.startswith("__MACOSX/")]
    for name in inside:
        if PurePosixPath(name).name in wanted:
            return archive.open(name)
    # UCI wraps some archives into another one
    for name in inside:
        if name.endswith(".zip"):
            stream = _zip_member(zipfile.ZipFile(io.BytesIO(archive.read(name))), wanted)
            if stream is not None:
                return stream
    return None


def _no_member(path: Path, file: File) -> NoMemberError:
    return NoMemberError(
        f"{path}: there is no {' or '.join(sorted(_base_names(file)))} in the archive. {file.hint}".strip()
    )
