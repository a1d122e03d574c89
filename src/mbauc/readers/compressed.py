"""Compressed files: what they are by their first bytes, and gzip, bzip2 and xz read to the very end."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import PurePath
from typing import IO, Any, TypeVar, cast

#: Errors of unpacking; an ``OSError`` is one only if it has no number (see :func:`is_damage`).
DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError)
#: Endings of the names of files that are unpacked on the way.
ENDINGS = (".gz", ".bz2", ".xz")
# First bytes of the archives that are unpacked.
_GZIP = b"\x1f\x8b"
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ\x00"
#: What other archives begin with.
_OTHERS = {
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # without members
    b"\x28\xb5\x2f\xfd": "zstd",
    b"7z\xbc\xaf": "7z",
    b"\x1f\x9d": "compress",
}
#: First bytes of a bzip2 block, which follow the level.
_BLOCK = b"1AY&SY"
#: Bytes that identify the kind of a file.
_START = 10
_CHUNK = 1 << 16

AnyPath = TypeVar("AnyPath", bound=PurePath)


def strip_ending(path: AnyPath) -> AnyPath:
    """The path without the ending of a compressed file.

    Examples
    --------
    >>> from pathlib import PurePosixPath
    >>> str(strip_ending(PurePosixPath("clicks.csv.GZ"))), str(strip_ending(PurePosixPath("clicks.csv")))
    ('clicks.csv', 'clicks.csv')
    """
    return path.with_suffix("") if path.suffix.lower() in ENDINGS else path


def archive_kind(stream: IO[bytes]) -> str | None:
    """Of a file open at its beginning: gzip, bzip2, xz, zip, zstd, 7z or compress; None if it is no archive."""
    start = stream.read(_START)
    stream.seek(0)
    if start.startswith(_GZIP):
        return "gzip"
    if _is_bzip2(start):
        return "bzip2"
    if start.startswith(_XZ):
        return "xz"
    return next((name for first, name in _OTHERS.items() if start.startswith(first)), None)


def unpack(stream: IO[bytes]) -> IO[bytes] | None:
    """The content of a file that is open at its beginning; None if it is not compressed.

    A file may hold several streams one after the other, as parallel packers and ``cat`` write them, and zeros
    between and after them. Anything else after the end of a stream is damage: taking it for the end would
    lose the rows that follow. A file that was cut off exactly between two streams looks whole.

    Examples
    --------
    >>> import bz2, io
    >>> packed = bz2.compress(b"first ") + bz2.compress(b"second")
    >>> unpack(io.BytesIO(packed)).read()
    b'first second'
    >>> unpack(io.BytesIO(b"plain")) is None
    True
    """
    match archive_kind(stream):
        case "gzip":  # the reader of the standard library is strict
            return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
        case "bzip2":
            return io.BufferedReader(_Streams(stream, _BZIP2), _CHUNK)
        case "xz":
            return io.BufferedReader(_Streams(stream, _XZ), _CHUNK)
    return None


def _is_bzip2(start: bytes) -> bool:
    """Whether a file begins like bzip2, and not like a text that begins with the same three letters."""
    block = start[4:_START]
    text = block.isascii() and block.decode("ascii").isprintable()
    return start.startswith(_BZIP2) and start[3:4] in b"123456789" and (block == _BLOCK or not text)


def is_damage(error: BaseException) -> bool:
    """Whether an error comes from unpacking: what the system refuses has a number, other damage has none."""
    return isinstance(error, DAMAGE) and getattr(error, "errno", None) is None


class _Streams(io.RawIOBase):
    """bzip2 or xz streams, one after the other.

    The readers of the standard library take a stream whose first bytes are damaged for rubbish that may be
    left out, and end there without a word.
    """

    def __init__(self, stream: IO[bytes], magic: bytes) -> None:
        self._stream, self._magic = stream, magic
        self._unpacker = self._new()
        self._ended = False

    def _new(self) -> Any:
        return bz2.BZ2Decompressor() if self._magic == _BZIP2 else lzma.LZMADecompressor(lzma.FORMAT_XZ)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = b""
        while not part and not self._ended:
            if self._unpacker.eof:
                rest = self._next_stream()
                if not rest:
                    self._ended = True
                    break
                self._unpacker = self._new()
                part = self._unpacker.decompress(rest, len(buffer))
            elif not self._unpacker.needs_input:
                part = self._unpacker.decompress(b"", len(buffer))
            else:
                packed = self._stream.read(_CHUNK)
                if not packed:
                    raise EOFError("the file ends in the middle of a compressed stream")
                part = self._unpacker.decompress(packed, len(buffer))
        buffer[: len(part)] = part
        return len(part)

    def _next_stream(self) -> bytes:
        """Bytes from the beginning of the next stream on; none at the end of the file."""
        rest = self._unpacker.unused_data.lstrip(b"\0")
        while len(rest) < len(self._magic):
            more = self._stream.read(_CHUNK)
            if not more:
                break
            rest = (rest + more).lstrip(b"\0")
        if rest and not rest.startswith(self._magic):
            raise EOFError("the bytes after a compressed stream do not begin another one")
        return bytes(rest)
