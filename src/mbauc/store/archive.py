"""The arrays of an npz file as :func:`numpy.savez` writes it, for files from anywhere.

:func:`numpy.load` believes what a file says: a small compressed one may ask for any amount of memory. Here the
directory of the archive and the heads of the arrays are held against the length of the file first, and arrays
are taken as they were written: not compressed, one behind the other.
"""

from __future__ import annotations

import errno
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from mbauc.store.arrays import TYPES, Declared, fill, item_bytes
from mbauc.store.file_schema import shown

_ENDING = ".npy"
#: Mark and version of an array, and the length of its head.
_START = struct.Struct("<6sBBH")
_HEAD = re.compile(
    rf"\{{'descr': '({TYPES})', 'fortran_order': (False|True), "
    r"'shape': \(([0-9, ]{0,100})\), \} *\n"
)
#: Bytes that a member takes in an archive besides its content, at least.
_MEMBER = 30


class PlainArchive:
    """Arrays of numbers and text in a zip archive.

    Parameters
    ----------
    stream : file
        Open for reading; it is needed until the arrays have been read.

    Attributes
    ----------
    declared : mapping of str to (str, tuple of int)
        Type and shape of each array.

    Raises
    ------
    ValueError
        If the file is anything else, or claims to hold more than it does.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._size = os.fstat(stream.fileno()).st_size
        with _as_value_errors():
            self._archive = zipfile.ZipFile(stream)
            self._members = {self._name(member): member for member in self._checked_members()}
            heads = {name: self._head(member) for name, member in self._members.items()}
        self._transposed = {name: transposed for name, (_, transposed) in heads.items()}
        self.declared: Declared = {name: declared for name, (declared, _) in heads.items()}

    def read(self, names: Collection[str] | None = None) -> dict[str, NDArray[Any]]:
        """All arrays, or some of them.

        Raises
        ------
        ValueError
            If one is damaged.
        """
        with _as_value_errors():
            return {name: self._array(name) for name in (self.declared if names is None else names)}

    def _checked_members(self) -> list[zipfile.ZipInfo]:
        """Members in the order in which they stand, once they are known to fit into the file side by side."""
        members = sorted(self._archive.infolist(), key=lambda member: member.header_offset)
        end = 0
        for member in members:
            if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
                raise ValueError(f"{shown(member.filename)} is compressed, which these files are not")
            if member.header_offset < end:
                raise ValueError(f"{shown(member.filename)} overlaps what stands before it")
            end = member.header_offset + _MEMBER + member.file_size
        if end > self._size:
            raise ValueError(f"it claims to hold {end:,} bytes and has {self._size:,}")
        if len({member.filename for member in members}) < len(members):
            raise ValueError("two arrays of one name")
        return members

    def _name(self, member: zipfile.ZipInfo) -> str:
        if not member.filename.endswith(_ENDING):
            raise ValueError(f"{shown(member.filename)} is no array")
        return member.filename.removesuffix(_ENDING)

    def _head(self, member: zipfile.ZipInfo) -> tuple[tuple[str, tuple[int, ...]], bool]:
        """Type and shape of an array, and whether its columns stand one behind the other."""
        with self._archive.open(member) as stream:
            start = stream.read(_START.size)
            mark, *version, length = _START.unpack(start.ljust(_START.size))
            head = stream.read(length)
        found = _HEAD.fullmatch(head.decode("latin-1"))
        if mark != b"\x93NUMPY" or version != [1, 0] or found is None:
            raise ValueError(f"{shown(member.filename)} is no array of numbers or text")
        dtype = found[1]
        shape = tuple(int(size) for size in found[3].replace(" ", "").split(",") if size)
        if len(shape) > 2 or max(shape, default=0) > 2**48:
            raise ValueError(f"{shown(member.filename)} has the shape {shown(shape)}")
        held = member.file_size - _START.size - length
        if math.prod(shape) * item_bytes(dtype) != held:
            raise ValueError(f"{shown(member.filename)} has {held:,} bytes for the shape {shown(shape)}")
        return (dtype, shape), found[2] == "True"

    def _array(self, name: str) -> NDArray[Any]:
        dtype, shape = self.declared[name]
        array = np.empty(shape[::-1] if self._transposed[name] else shape, dtype=dtype)
        with self._archive.open(self._members[name]) as stream:
            (length,) = struct.unpack("<H", stream.read(_START.size)[-2:])
            stream.read(length)
            fill(stream, array)
            stream.read(1)  # the checksum is looked at where the content ends
        return np.ascontiguousarray(array.T) if self._transposed[name] else array


#: What the module zipfile raises for files that are no archives, or not any more.
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    LookupError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
)


@contextmanager
def _as_value_errors() -> Iterator[None]:
    """Whatever is wrong with an archive is a ValueError; what is wrong with the disk is not."""
    try:
        yield
    except _BROKEN as error:
        raise ValueError(str(error) or type(error).__name__) from error
    except OSError as error:
        if error.errno == errno.EINVAL:  # a place before the beginning of the file
            raise ValueError("its directory points out of the file") from error
        raise
