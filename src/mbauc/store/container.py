"""One file for what is written whole: models, moments, states of a checkpoint. Nothing in it can run.

::

    bytes 0-7     the mark  89 4D 42 41 55 43 0D 0A  (a byte above 127 and a line end, which text tools break)
    bytes 8-11    CRC-32 of all that follows
    bytes 12-15   version of the format
    bytes 16-23   length of the body, which is all that follows
    from byte 24  the body (:mod:`mbauc.store.arrays`): its kind, values of JSON and arrays

Whole numbers are without sign, all numbers little endian. Every version begins with these 24 bytes, so that a
damaged file is not taken for one from the future.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from numpy.typing import NDArray

from mbauc.checks import abbreviate
from mbauc.store.arrays import Body, Declared, Piece, decode, encode
from mbauc.store.atomic import atomic_write
from mbauc.store.file_kind import FileKind
from mbauc.store.stable_file import StableFile

MARK = b"\x89MBAUC\r\n"
#: Mark, checksum, version, length of the body.
HEAD = struct.Struct("<8sIIQ")
#: Bytes before those that the checksum is of.
UNSEALED = 12
_CHUNK = 1 << 20


def write(
    path: str | os.PathLike[str], kind: FileKind, about: Mapping[str, Any], arrays: Mapping[str, Any]
) -> None:
    """Write a file, whole or not at all; ``about`` is what JSON can hold, and arrays are not copied."""
    pieces = seal(MARK, kind, about, arrays)
    with atomic_write(path) as stream:
        for piece in pieces:
            stream.write(piece)


def seal(mark: bytes, kind: FileKind, about: Mapping[str, Any], arrays: Mapping[str, Any]) -> list[Piece]:
    """A head and its body, as pieces to write one after another."""
    body, _ = encode(kind.name, about, arrays, HEAD.size)
    length = sum(len(piece) for piece in body)
    crc = zlib.crc32(struct.pack("<IQ", kind.version, length))
    for piece in body:
        crc = zlib.crc32(piece, crc)
    return [HEAD.pack(mark, crc, kind.version, length), *body]


def read(
    path: str | os.PathLike[str],
    kind: FileKind,
    select: Callable[[dict[str, Any], Declared], Collection[str]],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What a file says, and its arrays. Memory: that of the arrays, and of the text some twenty times.

    ``select`` is called with what the file says, and type and shape of each array, before any is read: it
    raises a ValueError if they are not as they should be, and returns the names of the arrays to read. A file
    that is anything else, is damaged or has another version is the error of its kind.
    """
    name = os.fsdecode(path)
    if not stat.S_ISREG(os.stat(name).st_mode):
        what = "a folder" if os.path.isdir(name) else "no regular file (a pipe or a device)"
        raise kind.reject(name, f"is {what}")
    with open(name, "rb") as stream:
        file = StableFile(stream, name, kind)
    length = _check_length(file, kind)
    try:
        body = read_body(file, kind, HEAD.size, length)
        return body.about, body.read(file, select(body.about, body.declared))
    except kind.error:
        raise
    except ValueError as error:
        raise kind.reject_content(name, error) from error


def read_body(file: StableFile, kind: FileKind, start: int, length: int) -> Body:
    """What a body says of itself; a ValueError if it makes no sense, the error of the kind if it is another."""
    body = decode(file, start, length)
    if body.kind != kind.name:
        raise kind.reject(file.path, f"is an mbauc {abbreviate(body.kind)[1:-1]}, not a {kind.name}")
    return body


def _check_length(file: StableFile, kind: FileKind) -> int:
    """Length of the body, once mark, length, checksum and version are as they should be."""
    head = bytes(file.read(0, min(HEAD.size, file.size)))
    if head[: len(MARK)] != MARK:
        raise kind.reject_start(file.path, head, MARK)
    if len(head) < HEAD.size:
        raise kind.reject(file.path, f"was cut short after {len(head):,} bytes")
    _, crc, version, length = HEAD.unpack(head)
    held = file.size - HEAD.size
    if length != held:
        what = "was cut short" if length > held else "has extra bytes at its end"
        raise kind.reject(
            file.path,
            f"{what}, or is damaged: it has {held:,} bytes of content, and its header says {length:,}",
        )
    if file_crc(file, UNSEALED, file.size) != crc:
        raise kind.reject(file.path, "is damaged: it does not match its checksum")
    kind.require_version(file.path, version)
    return int(length)


def file_crc(file: StableFile, start: int, end: int) -> int:
    """CRC-32 of a range of a file, in little memory."""
    crc = 0
    for at in range(start, end, _CHUNK):
        crc = zlib.crc32(file.read(at, min(at + _CHUNK, end)), crc)
    return crc
