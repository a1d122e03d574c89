"""A sealed file: a mark, a checksum, a version, a JSON text and plain arrays; nothing in it can run.

::

    bytes 0-7     the mark  89 4D 42 41 55 43 0D 0A  (a byte above 127 and a line end, which text tools break)
    bytes 8-11    CRC-32 of all that follows
    bytes 12-15   version of the format
    bytes 16-23   length of the content, which is all that follows
    bytes 24-31   length of a JSON text
    from byte 32  the text {"about": {…}, "arrays": [{"name", "dtype", "shape", "at"}, …]}, ASCII
    after it      the arrays, C-ordered, each ``at`` bytes from byte 24: the next multiple of 64

Whole numbers are without sign, all numbers little endian, gaps are zeros. Every version begins with these 24
bytes, so that a damaged file is not taken for one from the future.
"""

from __future__ import annotations

import json
import os
import stat
import struct
import zlib
from collections.abc import Callable, Collection, Mapping
from typing import IO, Any

from numpy.typing import NDArray

from mbauc.errors import ModelFileError
from mbauc.store.arrays import Declared, encoded, read_plain
from mbauc.store.file_schema import shortened
from mbauc.store.whole_file import whole_file

MARK = b"\x89MBAUC\r\n"
VERSION = 1
#: Mark, checksum, version, length of the content.
HEAD = struct.Struct("<8sIIQ")
#: Bytes before those that the checksum is of.
_UNSEALED = 12
#: Longest JSON text: its objects take some twenty times as much memory. Names of ten million columns fit.
MOST_TEXT = 1 << 28
_CHUNK = 1 << 20
#: How files of other programs begin, and what to say about them.
_OTHERS = {
    b"\x89MBAUC\n": "It is one that was copied as text, which changed its line ends; copy it as binary",
    b"MBAUCKPT": "It is a state of a checkpoint; 'checkpoint' takes its folder",
    b"PK\x03\x04": "It is a zip archive, as PairMoments.save and NumPy write; PairMoments.load may read it",
    b"\x80": "It may be a pickle, which mbauc never loads, because a pickle can run anything",
    b"\x93NUMPY": "It is an array of NumPy",
    b"\x1f\x8b": "It is compressed; unpack it with gunzip first",
}


def write_sealed(path: str | os.PathLike[str], about: dict[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a sealed file, whole or not at all. Nothing is copied.

    Parameters
    ----------
    path : path
        Where to.
    about : dict
        What JSON can hold, without NaN.
    arrays : mapping of str to array
        Truth values, int64, float64 or text.
    """
    json.dumps(about, allow_nan=False)  # says what is wrong before anything is written
    pieces = encoded(arrays, about)
    if len(pieces[1]) > MOST_TEXT:
        raise ValueError(
            f"what the model says of its columns takes {len(pieces[1]) / 2**20:,.0f} MiB of text, more than "
            f"the {MOST_TEXT / 2**20:,.0f} MiB that a model file may have. Hash the columns instead."
        )
    length = sum(len(piece) for piece in pieces)
    sealed = struct.pack("<IQ", VERSION, length)
    crc = zlib.crc32(sealed)
    for piece in pieces:
        crc = zlib.crc32(piece, crc)
    with whole_file(path) as stream:
        stream.write(HEAD.pack(MARK, crc, VERSION, length))
        for piece in pieces:
            stream.write(piece)


def read_sealed(
    path: str | os.PathLike[str], wanted: Callable[[dict[str, Any], Declared], Collection[str]]
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The note and the arrays of a sealed file. Memory: that of the arrays, and of the text some twenty times.

    Parameters
    ----------
    path : path
        A file.
    wanted : callable
        Told the note, and type and shape of each array, it raises a ValueError if they are not as they should
        be, and returns the names of the arrays to read.

    Raises
    ------
    ModelFileError
        If the file is anything else, is damaged, or has a later version.
    """
    name = os.fsdecode(path)
    if not stat.S_ISREG(os.stat(name).st_mode):
        what = "a folder" if os.path.isdir(name) else "no regular file (a pipe or a device)"
        raise ModelFileError(f"{name} is {what}. Give a file that 'mbauc fit' or save_model wrote.")
    with open(name, "rb") as stream:
        length = _checked_length(name, stream)
        try:
            return read_plain(stream, HEAD.size, length, wanted, most_text=MOST_TEXT)
        except ValueError as error:
            raise not_understood(name, error) from error


def not_understood(name: str, error: Exception) -> ModelFileError:
    """What to say about a whole file with a content that makes no sense."""
    return ModelFileError(
        f"{name} is whole, but holds no model that this mbauc understands: "
        f"{shortened(str(error)).rstrip('.')}. Write it again with 'mbauc fit' or save_model."
    )


def _checked_length(name: str, stream: IO[bytes]) -> int:
    """Length of the content, once mark, length, checksum and version are as they should be."""
    size = os.fstat(stream.fileno()).st_size
    head = stream.read(HEAD.size)
    if head[: len(MARK)] != MARK:
        raise ModelFileError(_not_a_model(name, head))
    if len(head) < HEAD.size:
        raise ModelFileError(f"{name} was cut short after {len(head):,} bytes. Copy or write it again.")
    _, crc, version, length = HEAD.unpack(head)
    if length != size - HEAD.size:
        what = "was cut short" if length > size - HEAD.size else "has something behind its end"
        raise ModelFileError(
            f"{name} {what}, or is damaged: it has {size - HEAD.size:,} bytes of content where its head says "
            f"{length:,}. Copy or write it again."
        )
    found = zlib.crc32(head[_UNSEALED:])
    while chunk := stream.read(_CHUNK):
        found = zlib.crc32(chunk, found)
    if found != crc:
        raise ModelFileError(f"{name} is damaged: it does not fit its checksum. Copy or write it again.")
    if version != VERSION:
        raise ModelFileError(
            f"{name} has format version {version}, this mbauc reads version {VERSION}. "
            + ("It comes from a later mbauc: update mbauc" if version > VERSION else "Write it again")
            + ", or read it with the mbauc that wrote it."
        )
    return int(length)


def _not_a_model(name: str, head: bytes) -> str:
    if not head:
        return f"{name} is empty. Copy or write it again."
    known = next((what for start, what in _OTHERS.items() if head.startswith(start)), None)
    if known is None and MARK.startswith(head):
        return f"{name} was cut short after {len(head):,} bytes. Copy or write it again."
    return (
        f"{name} is not an mbauc model: expected it to begin with {MARK!r}, found {head[:8]!r}. "
        f"{known or 'It is a file of another program'}. Give a file that 'mbauc fit' or save_model wrote."
    )
