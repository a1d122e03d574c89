"""Text files, plain or compressed, as chunks of whole lines."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice
from mbauc.readers.compressed import DAMAGE, archive_kind, is_damage, unpack
from mbauc.runtime.ahead import one_ahead

Text = NDArray[np.uint8]
#: Size of a file and time of its last change in nanoseconds, by which a later pass sees that it is the same.
Stamp = tuple[int, int]

_MARK = b"\xef\xbb\xbf"
_NEWLINE = 10
#: Bytes unpacked at a time where no size is given.
_CHUNK = 1 << 24
#: The longest line in bytes: a few million entries. Without a limit, a small archive could fill any memory.
LONGEST = 1 << 26


class Lines(NamedTuple):
    """Whole lines of a file."""

    #: Read-only; its last byte is a line end, also where the file has none at its end.
    text: Text
    #: How many bytes of the file, compressed or not, went into it.
    taken: int


class DamagedArchiveError(ValueError):
    """An archive that ends too early or does not make sense from some byte on."""


class LongLineError(ValueError):
    """A line that is too long to be read."""


def stamp_of(path: str | os.PathLike[str]) -> Stamp:
    """The stamp of a file as it is now."""
    return _stamp(os.stat(path))


def read_lines(
    path: str | os.PathLike[str], size: int | None = None, stamp: Stamp | None = None
) -> Generator[Lines, None, None]:
    r"""The lines of a file in chunks of at most ``size`` bytes, or twice a line that is longer.

    With ``size=None`` a plain file is one chunk, and an archive several of 16 MiB. The memory of chunks is used
    again: one is valid only until the next is asked for. Archives (gzip, bzip2, xz, by their first bytes)
    are unpacked one chunk ahead, in a thread of its own. ``O(bytes)`` time; memory: one chunk, two for
    archives, or three times the longest line where that is more. A line may have 64 MiB.

    The file is read, never mapped, so that one that is cut or written to meanwhile is an error and not the
    end of the process. ``stamp`` is what the file is expected to be, by default what it is when it is opened.

    Raises
    ------
    DamagedArchiveError
        After the last line that could be unpacked.
    LongLineError
        At a line of more than 64 MiB.
    ValueError
        If the file changes, or has changed since its ``stamp`` was taken.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "some.txt")
    >>> _ = path.write_text("first\nsecond\nlast")
    >>> [bytes(lines.text) for lines in read_lines(path, size=14)]
    [b'first\nsecond\n', b'last\n']
    """
    with open(path, "rb") as stream:
        status = os.fstat(stream.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(
                f"{os.fspath(path)} is not a regular file. It may have to be read more than once: "
                "write it to a file first."
            )
        kind = archive_kind(stream)
        if kind not in (None, "gzip", "bzip2", "xz"):
            raise ValueError(
                f"{os.fspath(path)} is a {kind} archive; plain text, gzip, bzip2 or xz is expected. "
                "Unpack it first."
            )
        file = _File(os.fspath(path), stream, _stamp(status) if stamp is None else stamp)
        file.check_unchanged()
        content = unpack(stream)
        if content is None:
            yield from _drop_mark(_chunks(file, stream, size or status.st_size + 1, n_buffers=1))
            return
        with content:
            yield from _drop_mark(one_ahead(_chunks(file, content, size or _CHUNK, n_buffers=2)))


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_size, status.st_mtime_ns


class _File(NamedTuple):
    """A file that is open, and what it has to stay."""

    path: str
    stream: IO[bytes]
    stamp: Stamp

    def check_unchanged(self) -> None:
        """Raise if it is no longer the file that it was."""
        if _stamp(os.fstat(self.stream.fileno())) != self.stamp:
            raise ValueError(
                f"{self.path} has changed since it was first read; expected the same rows in every pass. "
                + Advice(
                    "Make the source again when the file is complete.",
                    command="Run the command again when the file is complete.",
                )
            )


def _drop_mark(chunks: Iterator[Lines]) -> Iterator[Lines]:
    """Without the byte-order mark that some editors put before UTF-8."""
    for number, (text, taken) in enumerate(chunks):
        marked = number == 0 and text[: len(_MARK)].tobytes() == _MARK
        yield Lines(text[len(_MARK) :] if marked else text, taken)


def _chunks(file: _File, content: IO[bytes], size: int, n_buffers: int) -> Generator[Lines, None, None]:
    """The lines of a file; a chunk is valid until as many more are asked for as there are buffers."""
    # buffers are used again in turn: fresh memory costs as much as unpacking
    buffers = [np.empty(0, dtype=np.uint8)] * n_buffers
    held: Text = buffers[0]
    length, done, place, turn = size, 0, 0, 0
    used = ended = False
    damage: BaseException | None = None
    while held.size > 0 or not ended:
        if held.size < length and not ended:
            if used:
                turn, used = (turn + 1) % n_buffers, False
            buffer = buffers[turn]
            if buffer.size < length:
                buffer = buffers[turn] = np.empty(length, dtype=np.uint8)
            held, damage = _fill(buffer[:length], held, content)
            file.check_unchanged()
            ended = held.size < length
        end = _after_last_line(held[:length])
        if end > 0:
            taken, place = file.stream.tell() - place, file.stream.tell()
            done += end
            yield Lines(_lock(held[:end]), taken)
            held, length, used = held[end:], size, True
        elif ended:
            break
        elif length >= LONGEST:
            raise LongLineError(f"it is longer than {LONGEST >> 20} MiB.")
        else:
            length = min(2 * length, LONGEST)
    if damage is not None:
        raise DamagedArchiveError(
            f"{file.path} is cut short or damaged after {done + held.size:,} bytes of text ({damage})."
        ) from damage
    if held.size > 0:
        yield Lines(_end_line(held), file.stream.tell() - place)


def _fill(text: Text, held: Text, content: Any) -> tuple[Text, BaseException | None]:
    """``text`` filled with what is held and with more of the content, as far as that can be unpacked."""
    size = held.size
    text[:size] = held
    while size < text.size:
        try:
            # one step at a time, so that nothing is lost where the next one fails
            read = content.readinto1(text[size:])
        except DAMAGE as error:
            if not is_damage(error):
                raise
            return text[:size], error
        if not read:
            return text[:size], None
        size += read
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


def _end_line(text: Text) -> Text:
    """A copy with a line end."""
    return _lock(np.append(text, np.uint8(_NEWLINE)))


def _lock(text: Text) -> Text:
    """The same, read-only, which compiled loops tell apart."""
    text.flags.writeable = False
    return text
