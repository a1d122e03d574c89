"""A share of the rows of a source, drawn by their numbers: rows to train on, and the others to test on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
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


class RowSubset:
    """Rows of a source that a keyed hash of their numbers puts on one side of a split.

    Which side a row is on depends on the seed and its number alone, so that both sides can be read block by
    block, as often as wanted, and no row is on both. Where rows are of groups it depends on the group instead:
    no group is on both sides.

    Parameters
    ----------
    source : Source
        All rows.
    share : float
        Of the rows, in (0, 1), that are held out.
    held_out : bool
        Whether these are the rows held out, or the others.
    seed : int
        Of the split.

    Examples
    --------
    >>> from mbauc.paper.clicks import ClickLog
    >>> log = ClickLog(10_000, hash_dim=100)
    >>> sum(block.y.size for side in (True, False) for block in RowSubset(log, 0.2, held_out=side))
    10000
    """

    def __init__(self, source: Source, share: float, *, held_out: bool, seed: int = 0) -> None:
        self._share = check_number("share", share, low=0.0, high=1.0, open_low=True, open_high=True)
        self._source, self._held_out, self._seed = source, held_out, int(seed)
        self.n_features, self.classes = source.n_features, source.classes

    @property
    def has_groups(self) -> bool:
        """Whether the rows are of groups."""
        return has_groups(self._source)

    @property
    def about_rows(self) -> int | None:
        """How many rows there are, about."""
        known = about_rows(self._source)
        return None if known is None else round(known * (self._share if self._held_out else 1 - self._share))

    def fingerprint(self) -> dict[str, object] | None:
        """What the blocks depend on: the source, and the split."""
        inner = fingerprint_of(self._source)
        if inner is None:
            return None
        split = {"share": self._share, "held_out": self._held_out, "seed": self._seed}
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
        numbers = np.arange(first, first + count, dtype=np.uint64)
        keys = hash_columns(numbers if groups is None else group_keys(groups, count))
        keys = hash_columns(keys ^ hash_columns(np.array([self._seed])))
        out = keys < np.uint64(min(int(self._share * 2.0**64), 2**64 - 1))
        return np.flatnonzero(out if self._held_out else ~out)


def take_block(block: Iterable[Any], rows: NDArray[np.intp]) -> list[Any]:
    """Some rows of each of the parts of a block that are there."""
    return [None if part is None else part[rows] for part in block]
