"""Both sides of a split of a source from one pass: rows to train on, and the others, kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.errors import Advice
from mbauc.rows.matrix import is_sparse
from mbauc.rows.source import GroupedBlock, RawBlock, Source, pack_block, unpack_block
from mbauc.rows.split import RowSubset, Split, take_block


class SplitSource:
    """The rows of a source to train on; those held out are kept while the first whole pass goes by.

    Both sides then cost one pass. What is kept gives the same numbers as another pass over the source would; if
    it does not fit, :attr:`held_out` is that other pass.

    Parameters
    ----------
    source : Source
        All rows.
    split : Split
        Which rows are held out.
    memory : int
        Bytes that the rows held out may take.
    """

    def __init__(self, source: Source, split: Split, *, memory: int) -> None:
        self._source, self._memory = source, memory
        self._sides = [RowSubset(source, split, held_out=out) for out in (False, True)]
        self._kept: list[_PackedRows] | None = None
        self.n_features, self.classes = source.n_features, source.classes

    @property
    def has_groups(self) -> bool:
        """Whether the rows are of groups, which are then on one side each."""
        return self._sides[0].has_groups

    @property
    def encoding(self) -> Any:
        """How the columns were made of those of a table; None where they were not."""
        return getattr(self._source, "encoding", None)

    @property
    def about_rows(self) -> int | None:
        """How many rows there are to train on, about."""
        return self._sides[0].about_rows

    def fingerprint(self) -> dict[str, object] | None:
        """What the blocks depend on: the source, and the split."""
        return self._sides[0].fingerprint()

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        """The blocks to train on."""
        if self._kept is not None:
            yield from self._sides[0]
            return
        kept: list[_PackedRows] = []
        size, first, n_trained = 0, 0, 0
        for number, raw in enumerate(self._source, start=1):
            block = unpack_block(raw, f"block {number:,} of the source")
            rows, others = (side.select(first, len(block[1]), block[3]) for side in self._sides)
            first += len(block[1])
            if others.size and size <= self._memory:
                kept.append(_PackedRows.pack(*take_block(block, others)))
                size += kept[-1].nbytes
                if size > self._memory:
                    kept.clear()
            if rows.size:
                n_trained += rows.size
                yield pack_block(*take_block(block, rows))
        if first and not n_trained:
            what = "rows of so few groups" if self.has_groups else "rows"
            raise ValueError(
                f"all {first:,} {what} were drawn to be held out, so that none is left to train on. "
                + Advice("Use another {seed} or {hold_out}.", hold_out=0)
            )
        if size <= self._memory:
            self._kept = kept

    @property
    def held_out(self) -> Source:
        """The rows held out: those that were kept, or the source's own."""
        if self._kept is None:
            return self._sides[1]
        return _KeptRows(self._kept, self.n_features, self.classes, self.has_groups)


class _KeptRows:
    """Rows in memory as a source."""

    def __init__(
        self, blocks: list[_PackedRows], n_features: int, classes: tuple[Any, Any], has_groups: bool
    ) -> None:
        self._blocks, self.n_features, self.classes = blocks, n_features, classes
        self.has_groups = has_groups

    @property
    def n_rows(self) -> int:
        return sum(block.y.size for block in self._blocks)

    def __iter__(self) -> Iterator[RawBlock | GroupedBlock]:
        return (block.unpack() for block in self._blocks)


@dataclass(frozen=True)
class _PackedRows:
    """Some rows in as few bytes as give the same numbers again; ``sparse``: their columns, and row ends."""

    values: NDArray[Any]
    sparse: tuple[NDArray[Any], NDArray[Any]] | None
    y: NDArray[np.int8]
    weight: NDArray[np.float64] | None
    shape: tuple[int, int]
    groups: NDArray[Any] | None

    @classmethod
    def pack(
        cls, X: Any, y: NDArray[np.int8], weight: NDArray[np.float64] | None, groups: NDArray[Any] | None
    ) -> _PackedRows:
        if not is_sparse(X):
            return cls(_pack_values(np.ascontiguousarray(X)), None, y, weight, X.shape, groups)
        X = sp.csr_array(X)
        narrow = X.indices.astype(np.uint16 if X.shape[1] <= 1 << 16 else X.indices.dtype)
        return cls(_pack_values(X.data), (narrow, X.indptr), y, weight, X.shape, groups)

    @property
    def nbytes(self) -> int:
        arrays = (self.values, *(self.sparse or ()), self.y, self.weight, self.groups)
        return sum(array.nbytes for array in arrays if array is not None)

    def unpack(self) -> RawBlock | GroupedBlock:
        values = self.values.astype(np.float64)
        if self.sparse is None:
            return pack_block(values, self.y, self.weight, self.groups)
        columns, ends = self.sparse
        X = sp.csr_array((values, columns.astype(ends.dtype), ends), shape=self.shape)
        return pack_block(X, self.y, self.weight, self.groups)


def _pack_values(values: NDArray[np.float64]) -> NDArray[Any]:
    """The same numbers in the narrowest of a few types that holds them all exactly."""
    if np.array_equal(values, np.rint(values)) and np.abs(values).max(initial=0.0) < 128:
        # the sign of zero is lost, which no sum of products shows
        return values.astype(np.int8)
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    return narrow if np.array_equal(narrow, values) else values.copy()
