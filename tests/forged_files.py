"""Files of mbauc.store taken apart and put together with struct, json and numpy, as the pages describe them.

What is put together has checksums that fit, whatever it says.
"""

import errno
import json
import os
import struct
import zlib

import numpy as np

CONTAINER, JOURNAL = b"\x89MBAUC\r\n", b"\x89MBAUJ\r\n"
VERSION = 2
#: Bytes from the last multiple of 64 to where a body begins: behind the head of a file, and behind that of a
#: record, which begins at such a multiple.
HEAD, RECORD = 24, 16


def align(size):
    return -(-size // 64) * 64


# -- bodies --------------------------------------------------------------------------------------------------


def split_body(body, start=HEAD):
    """The text of a body as JSON, and the bytes of its arrays."""
    (size,) = struct.unpack_from("<Q", body)
    return json.loads(body[8 : 8 + size]), body[align(start + 8 + size) - start :]


def join_body(text, arrays=b"", start=HEAD):
    """A body with a text, which may be anything, and bytes for its arrays."""
    text = text if isinstance(text, bytes) else json.dumps(text).encode()
    return (struct.pack("<Q", len(text)) + text).ljust(align(start + 8 + len(text)) - start, b"\0") + arrays


def places(text):
    """Where each array begins in the bytes of all of them."""
    at, found = 0, {}
    for entry in text["arrays"]:
        found[entry["name"]] = at
        at += align(np.dtype(entry["dtype"]).itemsize * int(np.prod(entry["shape"], dtype=np.int64)))
    return found


def parse_body(body, start=HEAD):
    """The text of a body and its arrays by name."""
    text, content = split_body(body, start)
    at = places(text)
    arrays = {}
    for entry in text["arrays"]:
        name, count = entry["name"], int(np.prod(entry["shape"], dtype=np.int64))
        array = (
            np.frombuffer(content, entry["dtype"], count, at[name]) if count else np.empty(0, entry["dtype"])
        )
        arrays[name] = array.reshape(entry["shape"])
    return text, arrays


def make_body(text, arrays, change=lambda text: text, start=HEAD):
    """The same as bytes; ``change`` may spoil the text, once arrays are listed."""
    held = {name: np.asarray(array) for name, array in arrays.items()}
    listed = [
        {"name": name, "dtype": array.dtype.str, "shape": list(array.shape)} for name, array in held.items()
    ]
    content = b"".join(array.tobytes().ljust(align(array.nbytes), b"\0") for array in held.values())
    return join_body(change(json.dumps(text | {"arrays": listed}).encode()), content, start)


# -- containers ------------------------------------------------------------------------------------------------


def seal(body, *, mark=CONTAINER, version=VERSION):
    """A body behind a head that fits."""
    head = struct.pack("<IQ", version, len(body))
    return mark + struct.pack("<I", zlib.crc32(head + body)) + head + body


def change_container(content, change_text=lambda text: None, change_arrays=lambda arrays: None):
    """A container with its text changed, then its arrays, both in place; the list of arrays stays as it is."""
    text, body = split_body(content[24:])
    change_text(text)
    arrays = bytearray(body)
    change_arrays(arrays)
    return seal(join_body(text, bytes(arrays)))


def change_array(content, name, change):
    """A container with the numbers of one array changed."""
    text, arrays = parse_body(content[24:])
    array = arrays[name].copy()
    array[...] = change(array)
    return seal(make_body(text, arrays | {name: array}))


# -- journals --------------------------------------------------------------------------------------------------


def split_journal(content):
    """The body of the head, and those of all records."""
    (length,) = struct.unpack_from("<Q", content, 16)
    place, bodies = 24 + length, []
    while place + 16 <= len(content):
        (size,) = struct.unpack_from("<Q", content, place)
        bodies.append(content[place + 16 : place + 16 + size])
        place += 16 + size
    return content[24 : 24 + length], bodies


def join_record(body):
    head = struct.pack("<QI", len(body), zlib.crc32(body))
    return head + struct.pack("<I", zlib.crc32(head)) + body


def join_journal(head, bodies):
    """A journal whose checksums fit."""
    return seal(head, mark=JOURNAL) + b"".join(map(join_record, bodies))


class FullDisk:
    """A file that takes so many bytes and no more."""

    def __init__(self, stream, left):
        self._stream, self.left = stream, left

    def write(self, piece):
        if not self.left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = self._stream.write(memoryview(piece)[: self.left])
        self.left -= taken
        return taken

    def __getattr__(self, name):
        return getattr(self._stream, name)
