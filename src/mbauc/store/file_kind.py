"""Kinds of files: their names, versions and errors, and what is said of a file that is of none of them."""

from __future__ import annotations

from dataclasses import dataclass

from mbauc.checks import truncate

#: How files of other programs, and of versions before 0.1.0, begin, and what to say about them.
_KNOWN = {
    b"\x89MBAUC\n": "was copied as text, which changed its line ends; copy it as binary",
    b"\x89MBAUJ\n": "was copied as text, which changed its line ends; copy it as binary",
    b"\x89MBAUC\r\n": "is another file of mbauc: a model, moments or a state of a checkpoint",
    b"\x89MBAUJ\r\n": "is another file of mbauc: a row cache or a ledger",
    b"MBAUCKPT": "is a state of a checkpoint written by a version before 0.1.0",
    b"MBAUCROW": "is a row cache written by a version before 0.1.0",
    b"PK\x03\x04": "is a zip archive, as NumPy writes and PairMoments.save did before 0.1.0",
    b"\x80": "may be a pickle, which mbauc never loads, because a pickle can run any code",
    b"\x93NUMPY": "is an array of NumPy",
    b"\x1f\x8b": "is compressed; unpack it with gunzip first",
}


@dataclass(frozen=True)
class FileKind:
    """A kind of file, and the errors about files that should be of it."""

    #: what it is, as the file itself says
    name: str
    #: for files that cannot be used; no plain ValueError, by which schemas say what is wrong
    error: type[ValueError]
    #: what the user can do then, as a sentence without a full stop
    remedy: str
    #: of the format; version 1 is that of all files before 0.1.0
    version: int = 2

    def reject(self, path: str, what: str) -> ValueError:
        """The error for a file of which something is to be said."""
        return self.error(f"{path} {what}. {self.remedy}.")

    def reject_content(self, path: str, reason: ValueError) -> ValueError:
        """The error for a file that fits its checksum, but says what no mbauc has written."""
        why = truncate(str(reason)).rstrip(".")
        return self.reject(path, f"is whole, but holds no {self.name} that this mbauc understands: {why}")

    def reject_start(self, path: str, start: bytes, mark: bytes) -> ValueError:
        """The error for a file that does not begin with the mark."""
        if not start:
            return self.reject(path, "is empty")
        if mark.startswith(start):
            return self.reject(path, f"was cut short after {len(start):,} bytes")
        known = (what for begin, what in _KNOWN.items() if start.startswith(begin))
        return self.reject(
            path,
            f"is not an mbauc {self.name}: expected it to begin with {mark!r}, found {start[:8]!r}. "
            f"It {next(known, 'is a file of another program, or of a version before 0.1.0')}",
        )

    def require_version(self, path: str, version: int) -> None:
        """Raise unless a file has the version that is read."""
        if version < self.version:
            raise self.reject(
                path,
                f"has format version {version} and was written by a version before 0.1.0; this mbauc reads "
                f"version {self.version}",
            )
        if version > self.version:
            raise self.error(
                f"{path} has format version {version}, this mbauc reads version {self.version}. It comes from "
                "a later mbauc: update mbauc, or read it with the mbauc that wrote it."
            )
