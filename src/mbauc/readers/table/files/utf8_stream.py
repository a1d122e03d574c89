"""Text files whose bytes are not all UTF-8, decoded so that a reader of UTF-8 can read them."""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass
from typing import IO

#: Byte b stands in the text as the character of this number plus b: of a plane for private use.
_MARKS = 0x10FE00
#: Characters that stand for bytes, as a regular expression.
OTHER_BYTES = f"[{chr(_MARKS + 0x80)}-{chr(_MARKS + 0xFF)}]"
#: How Python writes such bytes into a text.
_ESCAPED = re.compile("[\udc80-\udcff]")
_MARKED = re.compile(OTHER_BYTES)


@dataclass
class Seen:
    """What a stream has seen of a file."""

    #: The last bytes that were read.
    end: bytes = b""
    #: Whether there were bytes that are not UTF-8.
    marked: bool = False
    #: What ended the reading before the end of the file.
    error: BaseException | None = None


class Utf8Stream(io.RawIOBase):
    r"""A stream in which each byte that is no UTF-8 is a character for private use.

    So that a fault in one row does not end the reading of thousands. An error is kept in ``seen`` and not
    raised, and the stream is at its end: by its traceback an exception would hold on to the stream.

    Parameters
    ----------
    stream : binary file
        What to read.
    seen : Seen
        Keeps what is to be known of it, when the stream itself is gone.

    Examples
    --------
    >>> import io
    >>> from mbauc.readers.table.files.utf8_stream import Seen, Utf8Stream, show_bytes
    >>> seen = Seen()
    >>> text = Utf8Stream(io.BytesIO(b"caf\xe9"), seen).read().decode()
    >>> seen.marked, show_bytes(text)
    (True, 'caf\\xe9')
    """

    def __init__(self, stream: IO[bytes], seen: Seen) -> None:
        self._stream, self._seen = stream, seen
        self._ready = self._rest = b""

    def readable(self) -> bool:
        """Yes."""
        return True

    def read(self, size: int = -1) -> bytes:
        """As many bytes as are asked for, less only at the end: Arrow takes what it gets for whole lines."""
        ready = self._ready
        while size < 0 or len(ready) < size:
            try:
                data = self._stream.read(size if size < 0 else size - len(ready))
            except BaseException as error:
                self._seen.error = error.with_traceback(None)
                return b""
            self._seen.end = (self._seen.end + data[-64:])[-64:]
            ready += data if not self._rest and data.isascii() else self._as_utf8(data, final=not data)
            if not data:
                break
        size = len(ready) if size < 0 else size
        ready, self._ready = ready[:size], ready[size:]
        return ready

    def _as_utf8(self, data: bytes, final: bool) -> bytes:
        whole = self._rest + data
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            decoder.decode(whole, final)
        except UnicodeDecodeError:
            self._seen.marked = True
            decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
            text = decoder.decode(whole, final)
            self._rest = decoder.getstate()[0]
            return _ESCAPED.sub(lambda found: chr(ord(found[0]) - 0xDC00 + _MARKS), text).encode()
        # a character that is cut in two waits for its other half
        self._rest = decoder.getstate()[0]
        return whole[: len(whole) - len(self._rest)]


def show_bytes(text: str) -> str:
    """A text with its bytes that are not UTF-8, for people."""
    return _MARKED.sub(lambda found: f"\\x{ord(found[0]) - _MARKS:02x}", text)
