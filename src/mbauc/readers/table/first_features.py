"""Features of the first rows of a table, kept during a pass, so that they need not be read again."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.columns.features import Features
from mbauc.readers.table.columns.values import Texts

#: Rows that are kept, at most.
_ROWS = 200_000
#: Bytes that are kept, at most; a table whose rows take more is read again.
_BYTES = 1 << 25

RowsT = TypeVar("RowsT", bound=Any)


class _Kept(NamedTuple):
    """Texts of some rows, and where their numbers are missing."""

    rows: int
    missing: dict[str, NDArray[np.bool_]]
    texts: dict[str, Texts]

    @property
    def nbytes(self) -> int:
        texts = sum(each.codes.nbytes + each.values.nbytes for each in self.texts.values())
        return int(texts) + sum(each.nbytes for each in self.missing.values())


class FirstFeatures:
    """Texts of the first rows, in whole blocks, and which of their numbers are missing."""

    def __init__(self) -> None:
        self._blocks: list[_Kept] | None = None
        self._rows = 0

    def watch(self, blocks: Iterable[RowsT]) -> Generator[RowsT, None, None]:
        """The same blocks of rows, whose ``features`` are kept as long as they are few."""
        if self._blocks is not None:
            yield from blocks
            return
        kept: list[_Kept] | None = []
        rows = size = 0
        for block in blocks:
            if kept is not None and rows < _ROWS:
                features = block.features
                texts = {name: each.drop_unused() for name, each in features.texts.items()}
                missing = {name: np.isnan(values) for name, values in features.numbers.items()}
                kept.append(_Kept(features.rows, missing, texts))
                rows, size = rows + features.rows, size + kept[-1].nbytes
                if size > _BYTES:
                    kept = None
                elif rows >= _ROWS:
                    self._blocks, self._rows = kept, rows
            yield block
        if kept is not None and self._blocks is None:
            self._blocks, self._rows = kept, _ROWS  # there are no more rows

    def get(self, n_rows: int | None) -> list[Features] | None:
        """Features of at least ``n_rows`` first rows, or of all there are; None if they were not kept."""
        if self._blocks is None or n_rows is None or n_rows > self._rows:
            return None
        return [
            Features(
                kept.rows,
                {name: np.where(missing, np.nan, 0.0) for name, missing in kept.missing.items()},
                kept.texts,
            )
            for kept in self._blocks
        ]
