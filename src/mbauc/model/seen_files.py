"""Which files a model has seen, recognised by what is in them, wherever they are and whatever their names."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mbauc.checks import list_some
from mbauc.rows.source import fingerprint_of

#: Parts of a file that its digest is made of, from its first to its last bytes.
_PARTS = 8
#: Bytes of each part.
_PART = 1 << 15


def file_marks(source: Any) -> list[dict[str, Any]]:
    """What the files of a source are recognised by: name, size and a digest of bytes from all over them.

    Parameters
    ----------
    source : Source
        One that tells its files (:func:`mbauc.rows.source.fingerprint_of`); others have none.

    Returns
    -------
    list of dict
        For the record of a model. A file of any size costs a quarter of a megabyte of reading.
    """
    marks = []
    for path in _files(source):
        size = _size(path)
        marks.append({"name": os.path.basename(path), "bytes": size, "digest": _digest(path, size)})
    return marks


def find_seen_files(marks: Any, source: Any) -> list[str]:
    r"""Names of those files of a source that hold rows which were seen before.

    A file is known if it is, or begins with, a file on record, by its size and, beyond 256 KiB, eight samples
    of its bytes: copies, renamed files and logs that have grown since are all recognised, and so is a file in
    which only other bytes were changed. The same rows in another format or compression are not.

    Parameters
    ----------
    marks : list of dict
        Of :func:`file_marks`, as the record of a model has them; entries of any other form know no file.
    source : Source
        Whose files are asked about.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mbauc.readers import LibsvmSource
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "monday").write_text("1 1:2\n0 2:1\n")
    >>> _ = (folder / "both").write_text("1 1:2\n0 2:1\n0 1:1\n")
    >>> _ = (folder / "tuesday").write_text("0 1:1\n1 2:2\n")
    >>> marks = file_marks(LibsvmSource(folder / "monday"))
    >>> find_seen_files(marks, LibsvmSource([folder / "both", folder / "tuesday"]))
    ['both']
    """
    known = list(_digests(marks))
    return [
        os.path.basename(path)
        for path in _files(source)
        if any(size <= _size(path) and _digest(path, size) == digest for size, digest in known)
    ]


def find_repeated_files(records: Iterable[Any]) -> list[str]:
    """Names of files that are in more than one of several lists of marks."""
    seen: dict[tuple[int, str], set[int]] = {}
    names: dict[tuple[int, str], str] = {}
    for number, marks in enumerate(records):
        for entry in marks if isinstance(marks, list) else []:
            for key in _digests([entry]):
                seen.setdefault(key, set()).add(number)
                names.setdefault(key, str(entry.get("name")))
    return [names[key] for key, numbers in seen.items() if len(numbers) > 1]


def list_names(names: list[str]) -> str:
    """Names as a text, the first few."""
    return list_some(names, 3)


def _digests(marks: Any) -> Iterator[tuple[int, str]]:
    """Sizes and digests; a record is for people, and malformed entries are ignored."""
    for entry in marks if isinstance(marks, list) else []:
        if isinstance(entry, dict):
            size, digest = entry.get("bytes"), entry.get("digest")
            if isinstance(size, int) and size > 0 and isinstance(digest, str):
                yield size, digest


def _files(source: Any) -> list[str]:
    """Paths of the files of a source; those in archives stand below it, as in a folder."""
    fingerprint: Any = fingerprint_of(source)
    while isinstance(fingerprint, dict) and isinstance(fingerprint.get("of"), dict):
        fingerprint = fingerprint["of"]
    files = fingerprint.get("files", []) if isinstance(fingerprint, dict) else []
    # tables in memory have no names
    return [str(file["name"]) for file in files if "name" in file]


def _member(path: str) -> zipfile.ZipInfo | None:
    """What an archive says of a file in it; None for a file outside an archive."""
    if os.path.exists(path):
        return None
    archive = next((parent for parent in Path(path).parents if parent.is_file()), None)
    if archive is None:
        raise FileNotFoundError(f"{path} is no longer there.")
    with zipfile.ZipFile(archive) as opened:
        return opened.getinfo(Path(path).relative_to(archive).as_posix())


def _size(path: str) -> int:
    member = _member(path)
    return os.path.getsize(path) if member is None else member.file_size


def _digest(path: str, size: int) -> str:
    """Digest of the first ``size`` bytes, by parts at equal distances."""
    member = _member(path)
    if member is not None:
        return f"crc32 {member.CRC:08x}"
    digest = hashlib.blake2b(size.to_bytes(8, "little"), digest_size=16)
    starts = [size * part // _PARTS for part in range(_PARTS)] if size > _PARTS * _PART else [0]
    with open(path, "rb") as stream:
        for start in starts[:-1]:
            stream.seek(start)
            digest.update(stream.read(_PART))
        last = starts[-1] if len(starts) == 1 else size - _PART
        stream.seek(last)
        digest.update(stream.read(size - last))
    return digest.hexdigest()
