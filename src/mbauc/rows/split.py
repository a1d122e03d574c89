"""A share of the rows of a source, drawn by their numbers: rows to train on, and the others to test on."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_share
from mbauc.rows.groups import group_keys
from mbauc.rows.hashing.texts import hash_columns
from mbauc.rows.source import (
    GroupedBlock,
    GroupedScores,
    RawBlock,
    ScoredBlock,
    Source,
    about_rows,
    fingerprint_of,
    has_groups,
    pack_block,
    score_blocks,
    unpack_block,
)


class Split(Protocol):
    """Which rows of a source are held out, however these are cut into blocks."""

    def held_out(self, first: int, count: int, groups: Any = None) -> NDArray[np.bool_]:
        """Which of ``count`` rows from number ``first`` on, of these groups if they have some, are held out."""
        ...

    @property
    def share(self) -> float:
        """Share of the rows that are, about."""
        ...

    def describe(self) -> dict[str, object]:
        """What it depends on, for fingerprints."""
        ...


@dataclass(frozen=True)
class RandomSplit:
    """A keyed hash of a row's number decides, of rows in groups their group's: no row is on both sides.

    Parameters
    ----------
    share : float
        Of the rows, in (0, 1), that are held out.
    seed : int, default=0
        Of the hash.
    fold, n_folds : int
        With more than one fold, which of them is held out; ``share`` is ignored.
    """

    share: float
    seed: int = 0
    fold: int = 0
    n_folds: int = 1

    def __post_init__(self) -> None:
        if self.n_folds > 1:
            object.__setattr__(self, "share", 1.0 / self.n_folds)
        share = check_share("share", self.share)
        object.__setattr__(self, "share", share)

    def held_out(self, first: int, count: int, groups: Any = None) -> NDArray[np.bool_]:
        """See :class:`Split`."""
        numbers = np.arange(first, first + count, dtype=np.uint64)
        keys = hash_columns(numbers if groups is None else group_keys(groups, count))
        keys = hash_columns(keys ^ hash_columns(np.array([int(self.seed)])))
        if self.n_folds > 1:
            return np.asarray(keys % np.uint64(self.n_folds) == self.fold)
        return np.asarray(keys < np.uint64(min(int(self.share * 2.0**64), 2**64 - 1)))

    def describe(self) -> dict[str, object]:
        """See :class:`Split`."""
        folds = {"fold": self.fold, "n_folds": self.n_folds} if self.n_folds > 1 else {}
        return {"share": self.share, "seed": int(self.seed), **folds}


@dataclass(frozen=True, eq=False)
class GivenSplit:
    """A mask of all rows says which are held out, such as the last ones."""

    mask: NDArray[np.bool_]

    @property
    def share(self) -> float:
        """Share of the rows that are held out."""
        return float(self.mask.mean())

    def held_out(self, first: int, count: int, groups: Any = None) -> NDArray[np.bool_]:
        """See :class:`Split`."""
        return self.mask[first : first + count]

    def describe(self) -> dict[str, object]:
        """See :class:`Split`."""
        return {"mask": hashlib.blake2b(np.packbits(self.mask).tobytes(), digest_size=16).hexdigest()}


class RowSubset:
    """Rows of a source on one side of a split, block by block and as often as wanted.

    Parameters
    ----------
    source : Source
        All rows.
    split : Split
        Which of them are held out.
    held_out : bool
        Whether these are the rows held out, or the others.

    Examples
    --------
    >>> from mbauc.paper.clicks import ClickLog
    >>> log = ClickLog(10_000, hash_dim=100)
    >>> split = RandomSplit(0.2)
    >>> sum(block.y.size for side in (True, False) for block in RowSubset(log, split, held_out=side))
    10000
    """

    def __init__(self, source: Source, split: Split, *, held_out: bool) -> None:
        self._source, self._split, self._held_out = source, split, held_out
        self.n_features, self.classes = source.n_features, source.classes

    @property
    def encoding(self) -> Any:
        """How the columns were made of those of a table; None where they were not."""
        return getattr(self._source, "encoding", None)

    @property
    def has_groups(self) -> bool:
        """Whether the rows are of groups."""
        return has_groups(self._source)

    @property
    def about_rows(self) -> int | None:
        """How many rows there are, about."""
        known = about_rows(self._source)
        share = self._split.share if self._held_out else 1.0 - self._split.share
        return None if known is None else round(known * share)

    def fingerprint(self) -> dict[str, object] | None:
        """What the blocks depend on: the source, and the split."""
        inner = fingerprint_of(self._source)
        if inner is None:
            return None
        split = {**self._split.describe(), "held_out": self._held_out}
        return {"source": "RowSubset", "version": 1, "split": split, "of": inner}

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        """The blocks, each without the rows of the other side, or of groups on the other side."""
        first = 0
        for number, raw in enumerate(self._source, start=1):
            block = unpack_block(raw, f"block {number:,} of the source")
            rows = self.select(first, len(block[1]), block[3])
            first += len(block[1])
            if rows.size:
                yield pack_block(*take_block(block, rows))

    def score_blocks(self, coef: NDArray[np.float64]) -> Iterator[ScoredBlock | GroupedScores]:
        """Labels, scores x'w and weights of the rows, by the fastest way that the source has."""
        first = 0
        for block in score_blocks(self._source, coef):
            groups = block.groups if isinstance(block, GroupedScores) else None
            rows = self.select(first, len(block.y), groups)
            first += len(block.y)
            if rows.size:
                yield type(block)(*take_block(block, rows))

    def select(self, first: int, count: int, groups: Any = None) -> NDArray[np.intp]:
        """Which of the rows from number ``first`` on, of these groups if they have some, are on this side."""
        out = self._split.held_out(first, count, groups)
        return np.flatnonzero(out if self._held_out else ~out)


def take_block(block: Iterable[Any], rows: NDArray[np.intp]) -> list[Any]:
    """Some rows of each of the parts of a block that are there."""
    return [None if part is None else _take_rows(part, rows) for part in block]


def _take_rows(part: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of an array or a matrix; a matrix by columns stays one, and each is gathered in order."""
    if isinstance(part, np.ndarray) and part.ndim == 2 and part.flags.f_contiguous:
        return np.take(part.T, rows, axis=1).T
    return part[rows]
