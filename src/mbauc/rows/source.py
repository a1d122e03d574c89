"""Blocks of rows: the one form in which data from any file reaches the rest of the package."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.scores import scores
from mbauc.runtime.progress import Progress

#: What looks on while a source is read: given the progress bar of a pass, a function that is called with the
#: features of each block and the mask of its positive rows.
Observe = Callable[[Progress], Callable[[Any, NDArray[np.bool_]], None]]


def ignore(progress: Progress) -> Callable[[Any, NDArray[np.bool_]], None]:
    """Look at nothing."""
    return lambda X, positive: None


#: Rows that a source is taken to have if it does not tell.
_UNKNOWN_ROWS = 1_000_000


class RawBlock(NamedTuple):
    """A block of rows yielded by a source, as accepted by ``partial_fit`` and ``PairMoments.from_blocks``.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Features, float64.
    y : ndarray of shape (n,)
        1 for positive rows, 0 for negative ones.
    weight : ndarray of shape (n,) or None
        Row weights.
    """

    X: Any
    y: NDArray[np.int8]
    weight: NDArray[np.float64] | None = None


class GroupedBlock(NamedTuple):
    """A block of rows with groups; the other attributes are those of RawBlock.

    Attributes
    ----------
    groups : ndarray of shape (n,)
        Group of each row: numbers, strings, or the keys that the readers of this package make of them.
    """

    X: Any
    y: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    groups: NDArray[Any]


class ScoredBlock(NamedTuple):
    """Labels, scores and, if any, weights of some rows of a data set."""

    #: 1 for positive rows, 0 for negative ones, shape (n,)
    y: NDArray[np.int8]
    #: x'w of each row, shape (n,)
    scores: NDArray[np.float64]
    #: row weights, shape (n,)
    weight: NDArray[np.float64] | None = None


class GroupedScores(NamedTuple):
    """The same of rows that are of groups."""

    y: NDArray[np.int8]
    scores: NDArray[np.float64]
    weight: NDArray[np.float64] | None
    #: group of each row, shape (n,)
    groups: NDArray[Any]


class NumberedScores(NamedTuple):
    """Scores of some rows of files without labels."""

    #: which rows they are, counted from 0 over all files: those that were left out count, int64
    numbers: NDArray[np.int64]
    #: x'w of each row, shape (n,)
    scores: NDArray[np.float64]
    #: columns of the files that are passed on
    columns: Any = None


class NumberedRows(NamedTuple):
    """Some rows of files without labels."""

    #: which rows they are, as in NumberedScores
    numbers: NDArray[np.int64]
    #: the rows: of LIBSVM text a matrix, of a table its columns as they were read (Features)
    rows: Any
    #: columns of the files that are passed on
    columns: Any = None


class Source(Protocol):
    """Protocol of a data set that can be read repeatedly, block by block.

    Optional methods: ``fingerprint()`` identifies the data and settings (see :func:`fingerprint_of`),
    ``score_blocks(coef)`` computes scores faster than from blocks (see :func:`score_blocks`), and
    ``known_moments()`` returns moments that are already known (see :func:`known_moments`). A source whose
    blocks have groups (:class:`GroupedBlock`) has an attribute ``has_groups = True``.

    Attributes
    ----------
    n_features : int
        Number d of columns of every block.
    classes : tuple
        The two labels as in the data, negative first.
    """

    n_features: int
    classes: tuple[Any, Any]

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        """The blocks from the first row on, each time anew."""


def unpack_block(block: Any, name: str) -> tuple[Any, Any, Any, Any]:
    """X, y, weight and groups of a block called ``name``, a tuple of the first two, three or of all."""
    if not isinstance(block, tuple | list) or len(block) not in (2, 3, 4):
        raise ValueError(
            f"{name} must be a tuple (X, y) or (X, y, weight), or (X, y, weight, groups) with groups; got "
            f"{type(block).__name__}{f' of {len(block)}' if isinstance(block, tuple | list) else ''}."
        )
    X, y, weight, groups = (*block, None, None)[:4]
    return X, y, weight, groups


def pack_block(X: Any, y: Any, weight: Any, groups: Any) -> RawBlock | GroupedBlock:
    """A block as a source yields it, with groups if there are some."""
    return RawBlock(X, y, weight) if groups is None else GroupedBlock(X, y, weight, groups)


def pack_scores(y: Any, s: Any, weight: Any, groups: Any) -> ScoredBlock | GroupedScores:
    """Scores as a source yields them, with groups if there are some."""
    return ScoredBlock(y, s, weight) if groups is None else GroupedScores(y, s, weight, groups)


def has_groups(source: Any) -> bool:
    """Whether the rows of a source are of groups: it says so; nothing is read."""
    return bool(getattr(source, "has_groups", False))


def about_rows(source: Source) -> int | None:
    """How many rows a source has or may have (its ``n_rows`` or ``about_rows``); None if unknown."""
    for name in ("n_rows", "about_rows"):
        known = getattr(source, name, None)
        if known is not None:
            return int(known)
    return None


def count_rows(source: Source) -> int:
    """How many rows a source has, or what is assumed if it does not tell."""
    return about_rows(source) or _UNKNOWN_ROWS


def fingerprint_of(source: Any) -> dict[str, object] | None:
    """Fingerprint of the data and settings of a source, ready for JSON; None if unknown.

    The method ``fingerprint()`` of a source describes its files by name, size and modification time, and all
    settings that affect the blocks. Equal fingerprints mean the same blocks in the same order, unless
    modification times were forged. ``O(files)`` time, without reading the files.

    Examples
    --------
    >>> from mbauc.rows.source import fingerprint_of
    >>> fingerprint_of([]) is None                                  # a list of blocks has none
    True
    """
    describe = getattr(source, "fingerprint", None)
    return describe() if callable(describe) else None


def known_moments(source: Any) -> Any:
    """Moments of all pairs of the rows of a source (PairMoments), if it knows them; None otherwise.

    By the source's own ``known_moments()`` where it has one: they are those of its blocks up to rounding.
    Nothing is read.
    """
    tell = getattr(source, "known_moments", None)
    return tell() if callable(tell) else None


def score_blocks(source: Any, coef: NDArray[np.float64]) -> Iterator[ScoredBlock | GroupedScores]:
    """Labels, scores x'w, weights and groups of the rows of any source, block by block.

    By the source's own ``score_blocks(coef)`` where it has one, else from its blocks. ``O(entries)`` time.

    Examples
    --------
    >>> import numpy as np
    >>> blocks = [RawBlock(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0, 1]))]
    >>> [block.scores.tolist() for block in score_blocks(blocks, np.array([1.0, -0.5]))]
    [[0.0, 1.0]]
    """
    score = getattr(source, "score_blocks", None)
    if callable(score):
        yield from score(coef)
        return
    for number, raw in enumerate(source, start=1):
        X, y, weight, groups = unpack_block(raw, f"block {number:,} of the source")
        yield pack_scores(y, scores(X, coef[None, :])[0], weight, groups)


def file_stamps(paths: Iterable[str]) -> list[object]:
    """Name, size in bytes and time of the last change in nanoseconds of files, for fingerprints."""
    stamps: list[object] = []
    for path in paths:
        status = os.stat(path)
        stamps.append({"name": path, "bytes": status.st_size, "mtime_ns": status.st_mtime_ns})
    return stamps
