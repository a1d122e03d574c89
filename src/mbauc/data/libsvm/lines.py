"""Text files, plain or compressed, as chunks of whole lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
import mmap
import os
import stat
import zlib
from collections.abc import Callable, Generator, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.data.ahead import one_ahead

Text = NDArray[np.uint8]

#: First bytes of the archives that are unpacked here. Names may lie: browsers unpack files and keep the name.
_OPENERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\x00": lzma.open,
}
_OTHERS = {b"PK\x03\x04": "zip", b"\x28\xb5\x2f\xfd": "zstd", b"7z\xbc\xaf": "7z", b"\x1f\x9d": "compress"}
_MARK = b"\xef\xbb\xbf"
_NEWLINE = 10


class Lines(NamedTuple):
    """Whole lines of a file.

    Attributes
    ----------
    text : ndarray of uint8
        Read-only; its last byte is a line end, also where the file has none at its end.
    taken : int
        How many bytes of the file, compressed or not, went into it.
    """

    text: Text
    taken: int


class DamagedArchiveError(ValueError):
    """An archive that ends too early or does not make sense from some byte on."""


def whole_lines(path: str | os.PathLike[str], size: int | None = None) -> Generator[Lines, None, None]:
    r"""The lines of a file in chunks of at most ``size`` bytes, or twice a line that is longer.

    Plain files are mapped into memory, one chunk at a time or, with ``size=None``, as a whole; they must not
    change while they are read. Archives (gzip, bzip2, xz, told by their first bytes) are unpacked in chunks
    of ``size`` or 16 MiB, one ahead of its use in a thread of its own; their memory is used again, so that a
    chunk is valid only until the next is asked for. ``O(bytes)`` time; memory: two chunks, or four
    times the longest line where that is more.

    Raises
    ------
    DamagedArchiveError
        After the last line that could be unpacked.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "some.txt")
    >>> _ = path.write_text("first\nsecond\nlast")
    >>> [bytes(lines.text) for lines in whole_lines(path, size=14)]
    [b'first\nsecond\n', b'last\n']
    """
    with open(path, "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise ValueError(
                f"{os.fspath(path)} is not a regular file. It may have to be read more than once: "
                "write it to a file first."
            )
        start = stream.read(8)
        for first_bytes, name in _OTHERS.items():
            if start.startswith(first_bytes):
                raise ValueError(
                    f"{os.fspath(path)} is a {name} archive; plain text, gzip, bzip2 or xz is expected. "
                    "Unpack it first."
                )
        stream.seek(0)
        for first_bytes, opener in _OPENERS.items():
            if start.startswith(first_bytes):
                chunks = _unpacked(os.fspath(path), stream, opener, size or 1 << 24)
                yield from _without_mark(one_ahead(chunks))
                return
        yield from _without_mark(_mapped(stream, size))


def _without_mark(chunks: Iterator[Lines]) -> Iterator[Lines]:
    """Without the byte-order mark that some editors put before UTF-8."""
    for number, (text, taken) in enumerate(chunks):
        marked = number == 0 and text[: len(_MARK)].tobytes() == _MARK
        yield Lines(text[len(_MARK) :] if marked else text, taken)


def _mapped(stream: IO[bytes], size: int | None) -> Iterator[Lines]:
    total = os.fstat(stream.fileno()).st_size
    start, length = 0, size or total
    while start < total:
        before = start % mmap.ALLOCATIONGRANULARITY
        stop = min(start + length, total)
        memory = mmap.mmap(
            stream.fileno(), stop - start + before, access=mmap.ACCESS_READ, offset=start - before
        )
        end = memory.rfind(b"\n", before) + 1
        text = np.frombuffer(memory, dtype=np.uint8)
        if end > 0:
            yield Lines(text[before:end], end - before)
            start, length = start - before + end, size or total
        elif stop < total:
            length *= 2
        else:
            yield Lines(_ended(text[before:]), total - start)
            return


def _unpacked(
    path: str, stream: IO[bytes], opener: Callable[[IO[bytes]], Any], size: int
) -> Generator[Lines, None, None]:
    """The lines of an archive; a chunk is valid until the next but one is asked for."""
    with opener(stream) as archive:
        held: Text = np.empty(0, dtype=np.uint8)
        # the buffer of the chunk in use, and that of the one before: fresh memory costs as much as unpacking
        busy, free, buffer = held, held, held
        length, done, place = size, 0, 0
        ended = False
        damage: Exception | None = None
        while held.size > 0 or not ended:
            if held.size < length and not ended:
                buffer = free if free.size >= length else np.empty(length, dtype=np.uint8)
                free = np.empty(0, dtype=np.uint8)
                held, damage = _filled(buffer[:length], held, archive)
                ended = held.size < length
            end = _after_last_line(held[:length])
            if end > 0:
                if buffer is not busy:
                    busy, free = buffer, busy
                taken, place = stream.tell() - place, stream.tell()
                done += end
                yield Lines(_locked(held[:end]), taken)
                held, length = held[end:], size
            elif ended:
                break
            else:
                length *= 2
        if damage is not None:
            raise DamagedArchiveError(
                f"{path} is cut short or damaged after {done + held.size:,} bytes of text ({damage})."
            ) from damage
        if held.size > 0:
            yield Lines(_ended(held), 0)


def _filled(text: Text, held: Text, archive: Any) -> tuple[Text, Exception | None]:
    """``text`` filled with what is held and with more from an archive, as far as that can be unpacked."""
    text[: held.size] = held
    size = held.size
    while size < text.size:
        try:
            # one step at a time, so that nothing is lost where the next one fails
            part = archive.read1(text.size - size)
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            return text[:size], error
        if not part:
            return text[:size], None
        text[size : size + len(part)] = np.frombuffer(part, dtype=np.uint8)
        size += len(part)
    return text, None


def _after_last_line(text: Text) -> int:
    """Place after the last line end, 0 if there is none."""
    stop = text.size
    while stop > 0:
        start = max(0, stop - (1 << 16))
        ends = np.flatnonzero(text[start:stop] == _NEWLINE)
        if ends.size > 0:
            return start + int(ends[-1]) + 1
        stop = start
    return 0


def _ended(text: Text) -> Text:
    """A copy with a line end."""
    return _locked(np.append(text, np.uint8(_NEWLINE)))


def _locked(text: Text) -> Text:
    """The same, read-only as mapped memory is: compiled loops tell the two apart."""
    text.flags.writeable = False
    return text
