"""Both sides of a split of a source from one pass: rows to train on, and the others, kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.rows.matrix import is_sparse
from mbauc.rows.source import RawBlock, Source
from mbauc.rows.split import RowSubset


class SplitSource:
    """The rows of a source to train on; those held out are kept while the first whole pass goes by.

    Both sides then cost one pass. What is kept gives the same numbers as another pass over the source would; if
    it does not fit, :attr:`held_out` is that other pass.

    Parameters
    ----------
    source : Source
        All rows.
    share : float
        Of the rows, in (0, 1), that are held out.
    seed : int
        Of the split.
    memory : int
        Bytes that the rows held out may take.
    """

    def __init__(self, source: Source, share: float, *, seed: int, memory: int) -> None:
        self._source, self._memory = source, memory
        self._sides = [RowSubset(source, share, held_out=out, seed=seed) for out in (False, True)]
        self._kept: list[_PackedRows] | None = None
        self.n_features, self.classes = source.n_features, source.classes

    @property
    def about_rows(self) -> int | None:
        """How many rows there are to train on, about."""
        return self._sides[0].about_rows

    def fingerprint(self) -> dict[str, object] | None:
        """What the blocks depend on: the source, and the split."""
        return self._sides[0].fingerprint()

    def __iter__(self) -> Iterator[RawBlock]:
        """The blocks to train on."""
        if self._kept is not None:
            yield from self._sides[0]
            return
        kept: list[_PackedRows] = []
        size, first = 0, 0
        for X, y, *rest in self._source:
            weight = rest[0] if rest else None
            rows, others = (side.select(first, len(y)) for side in self._sides)
            first += len(y)
            if others.size and size <= self._memory:
                kept.append(_PackedRows.pack(X[others], y[others], None if weight is None else weight[others]))
                size += kept[-1].nbytes
                if size > self._memory:
                    kept.clear()
            if rows.size:
                yield RawBlock(X[rows], y[rows], None if weight is None else weight[rows])
        if size <= self._memory:
            self._kept = kept

    @property
    def held_out(self) -> Source:
        """The rows held out: those that were kept, or the source's own."""
        return self._sides[1] if self._kept is None else _KeptRows(self._kept, self.n_features, self.classes)


class _KeptRows:
    """Rows in memory as a source."""

    def __init__(self, blocks: list[_PackedRows], n_features: int, classes: tuple[Any, Any]) -> None:
        self._blocks, self.n_features, self.classes = blocks, n_features, classes

    @property
    def n_rows(self) -> int:
        return sum(block.y.size for block in self._blocks)

    def __iter__(self) -> Iterator[RawBlock]:
        return (block.unpack() for block in self._blocks)


@dataclass(frozen=True)
class _PackedRows:
    """Some rows in as few bytes as give the same numbers again; ``sparse``: their columns, and row ends."""

    values: NDArray[Any]
    sparse: tuple[NDArray[Any], NDArray[Any]] | None
    y: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    shape: tuple[int, int]

    @classmethod
    def pack(cls, X: Any, y: NDArray[np.int8], weight: NDArray[np.float64] | None) -> _PackedRows:
        if not is_sparse(X):
            return cls(_pack_values(np.ascontiguousarray(X)), None, y, weight, X.shape)
        X = sp.csr_array(X)
        narrow = X.indices.astype(np.uint16 if X.shape[1] <= 1 << 16 else X.indices.dtype)
        return cls(_pack_values(X.data), (narrow, X.indptr), y, weight, X.shape)

    @property
    def nbytes(self) -> int:
        arrays = (self.values, *(self.sparse or ()), self.y, *(() if self.weight is None else (self.weight,)))
        return sum(array.nbytes for array in arrays)

    def unpack(self) -> RawBlock:
        values = self.values.astype(np.float64)
        if self.sparse is None:
            return RawBlock(values, self.y, self.weight)
        columns, ends = self.sparse
        X = sp.csr_array((values, columns.astype(ends.dtype), ends), shape=self.shape)
        return RawBlock(X, self.y, self.weight)


def _pack_values(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in the narrowest of a few types that holds them all exactly."""
    if np.array_equal(values, np.rint(values)) and np.abs(values).max(initial=0.0) < 128:
        # the sign of zero is lost, which no sum of products shows
        return values.astype(np.int8)
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return narrow if np.array_equal(narrow, values) else values.copy()
