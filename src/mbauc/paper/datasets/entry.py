"""What is on record of a data set: its files, its figures and how it becomes rows and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

#: Endings under which a file may lie in a folder.
ENDINGS = ("", ".bz2", ".gz", ".xz")


@dataclass(frozen=True)
class File:
    """One file of a data set.

    Attributes
    ----------
    name : str
        Official name, without the ending of a compression.
    urls : tuple of str
        Where to get it, in the order in which to try.
    checksum : str or None
        ``sha256:…`` or ``md5:…`` of the official content, uncompressed; None if nobody is known to have
        recorded it.
    copies : tuple of str
        Checksums of contents that stand in for the official one: the same rows, written differently, or
        contents that are probably official but were never compared.
    members : tuple of str
        If the file is an archive: where in it the content may be.
    hint : str
        What has to be done after a download before the content can be read.
    optional : bool
        Whether a copy of another file of the set may hold its rows already.
    """

    name: str
    urls: tuple[str, ...] = ()
    checksum: str | None = None
    copies: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    hint: str = ""
    optional: bool = False

    def names(self) -> Iterator[str]:
        """Every name under which the content may lie in a folder; of archives only zip is read as it is."""
        for member in self.members:
            for name in dict.fromkeys((member, PurePosixPath(member).name)):
                yield from (name + ending for ending in ENDINGS)
        if self.name.endswith(".zip"):
            yield self.name
        elif not self.members:
            yield from (self.name + ending for ending in ENDINGS)


@dataclass(frozen=True)
class Printed:
    """What Table I says of a data set, as rounded there."""

    rows: tuple[int, int]
    columns: int
    ratio: float


@dataclass(frozen=True)
class Entry:
    """A data set on record.

    Attributes
    ----------
    name : str
        As in the paper.
    group : {"benchmark", "clicks", "extra"}
        The 15 sets of Table III, the three click logs of Figure 4, or neither.
    train, test : tuple of File
        Files whose rows are joined; without test files the rows of ``train`` are split.
    rows : (int, int)
        Training and test rows.
    columns : int
        Columns that are used.
    positives : int or None
        Positive rows: in training if the split is provided, in all if not. None if not known beforehand.
    printed : Printed or None
        What Table I says.
    positive : tuple of labels, or int
        Labels of the positive class, or how many of the sorted labels make it up.
    format : {"libsvm", "csv", "arff"}
        What the content is.
    width : int or None
        Columns in the files, if more than are used: folded by a hash if ``folded``, cut off otherwise.
    folded, zero_based : bool
        See ``width``; whether the files count columns from 0.
    held_out : int
        Rows at the end of the file that become the test set; 0 for stratified halves.
    aliases : tuple of str
        Other names.
    source : str
        Page that describes the set.
    notes : tuple of str
        What a user of the set should know.
    """

    name: str
    group: Literal["benchmark", "clicks", "extra"]
    train: tuple[File, ...]
    rows: tuple[int, int]
    columns: int
    positives: int | None
    printed: Printed | None
    test: tuple[File, ...] = ()
    positive: tuple[float | str, ...] | int = (1,)
    format: Literal["libsvm", "csv", "arff"] = "libsvm"
    width: int | None = None
    folded: bool = False
    zero_based: bool = False
    held_out: int = 0
    aliases: tuple[str, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """The name as one word, for a command line."""
        return self.name.replace(" ", "-")

    @property
    def files(self) -> tuple[File, ...]:
        """All files, training first."""
        return self.train + self.test

    @property
    def split(self) -> str:
        """How test rows are chosen: ``provided``, ``last rows`` or ``halves`` (stratified)."""
        return "provided" if self.test else "last rows" if self.held_out else "halves"
