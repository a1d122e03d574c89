"""A share of the rows of a source, drawn by their numbers: rows to train on, and the others to test on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.rows.hashing.texts import hash_columns
from mbauc.rows.source import RawBlock, ScoredBlock, Source, about_rows, fingerprint_of, score_blocks


class RowSubset:
    """Rows of a source that a keyed hash of their numbers puts on one side of a split.

    Which side a row is on depends on the seed and its number alone, so that both sides can be read block by
    block, as often as wanted, and no row is on both.

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

    def __iter__(self) -> Iterator[RawBlock]:
        """The blocks, each without the rows of the other side."""
        first = 0
        for X, y, *rest in self._source:
            weight: Any = rest[0] if rest else None
            rows = self.select(first, len(y))
            first += len(y)
            if rows.size:
                yield RawBlock(X[rows], y[rows], None if weight is None else weight[rows])

    def score_blocks(self, coef: NDArray[np.float64]) -> Iterator[ScoredBlock]:
        """Labels, scores x'w and weights of the rows, by the fastest way that the source has."""
        first = 0
        for y, s, weight in score_blocks(self._source, coef):
            rows = self.select(first, len(y))
            first += len(y)
            if rows.size:
                yield ScoredBlock(y[rows], s[rows], None if weight is None else weight[rows])

    def select(self, first: int, count: int) -> NDArray[np.intp]:
        """Which of the rows from number ``first`` on are on this side."""
        keys = hash_columns(np.arange(first, first + count, dtype=np.uint64))
        keys = hash_columns(keys ^ hash_columns(np.array([self._seed])))
        out = keys < np.uint64(min(int(self._share * 2.0**64), 2**64 - 1))
        return np.flatnonzero(out if self._held_out else ~out)
