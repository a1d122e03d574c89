"""Blocks of dense rows on their way to a Gram matrix: copied into cache, shifted and scaled there."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Most rows of a block. Enough for BLAS to run at speed, few enough to stay in cache while centred and scaled.
BLOCK_ROWS = 2048
#: Rows of other dtypes that are converted at a time.
_CONVERTED_ROWS = 128
#: Below this many multiplications starting threads costs more than it saves.
_MIN_PARALLEL_WORK = 2_000_000


class RowBlocks:
    """Blocks of chosen rows of X, copied, shifted and scaled by the root of their weight.

    A block is kept the way X is laid out: ``(k, d)`` for rows next to each other in memory, ``(d, k)``
    for columns next to each other. All rows have one shift, or with ``codes`` each its row of ``shift``. With
    ``single`` blocks are float32, as X must be.
    """

    def __init__(
        self,
        X: NDArray[Any],
        index: NDArray[np.intp],
        weight: NDArray[np.float64] | None,
        shift: NDArray[np.float64] | None,
        n_threads: int,
        codes: NDArray[np.intp] | None = None,
        *,
        single: bool = False,
    ) -> None:
        self.dtype = np.dtype(np.float32 if single else np.float64)
        self.X, self.rows, self.codes = X, index, codes
        self.shift = None if shift is None else shift.astype(self.dtype, copy=False)
        self.root = None if weight is None else np.sqrt(weight).astype(self.dtype, copy=False)
        self.by_column = X.flags.f_contiguous and not X.flags.c_contiguous
        if index.size * X.shape[1] ** 2 < _MIN_PARALLEL_WORK:
            n_threads = 1
        # equal blocks, the same number for each thread
        per_thread = -(-index.size // (BLOCK_ROWS * n_threads))
        self.size = -(-index.size // (per_thread * n_threads))
        self.count = -(-index.size // self.size)
        self.n_threads = min(n_threads, self.count)
        self.stopped = False

    def walk(self, first: int, step: int) -> Any:
        """Blocks number ``first``, ``first + step``, … through one buffer."""
        d = self.X.shape[1]
        buffer = np.empty(self.size * d, dtype=self.dtype)
        for number in range(first, self.count, step):
            part = self.part_of(number)
            index = self.rows[part]
            k = index.size
            block = buffer[: k * d].reshape((d, k) if self.by_column else (k, d))
            if self.X.dtype == self.dtype:
                self._take(index, block)
                offset = self._offset(part)
                if offset is not None:
                    block -= offset
            else:
                # in small steps, so that what is converted is still in cache
                for start in range(0, k, _CONVERTED_ROWS):
                    piece = slice(start, min(start + _CONVERTED_ROWS, k))
                    rows = slice(part.start + piece.start, part.start + piece.stop)
                    self._convert(rows, block[:, piece] if self.by_column else block[piece])
            if self.root is not None:
                block *= self.root[part] if self.by_column else self.root[part, None]
            yield number, block

    def _take(self, index: NDArray[np.intp], out: NDArray[Any]) -> None:
        """Copy rows of X as they are."""
        if self.by_column:
            np.take(self.X.T, index, axis=1, out=out, mode="clip")
        elif self.X.flags.c_contiguous:
            np.take(self.X, index, axis=0, out=out, mode="clip")
        else:
            out[...] = self.X[index]

    def _convert(self, part: slice, out: NDArray[np.float64]) -> None:
        """Copy rows of X as float64, shifted."""
        taken = np.empty(out.shape, dtype=self.X.dtype)
        self._take(self.rows[part], taken)
        offset = self._offset(part)
        if offset is None:
            out[...] = taken
        else:
            np.subtract(taken, offset, out=out)

    def _offset(self, part: slice) -> NDArray[Any] | None:
        """What to subtract from some rows, laid out as a block is."""
        if self.shift is None:
            return None
        shift = np.atleast_2d(self.shift) if self.codes is None else self.shift[self.codes[part]]
        return shift.T if self.by_column else shift

    def stop(self) -> None:
        """Stop the threads that walk the blocks."""
        self.stopped = True

    def weighted_sum(self, numbered: tuple[int, NDArray[Any]]) -> NDArray[Any]:
        """Sum over the rows of a block of ``w (x - shift)``."""
        number, block = numbered
        root = self.roots(number)
        return np.asarray(block @ root if self.by_column else root @ block)

    def roots(self, number: int) -> NDArray[Any]:
        """What the rows of a block have been multiplied by."""
        part = self.part_of(number)
        return np.ones(part.stop - part.start, dtype=self.dtype) if self.root is None else self.root[part]

    def gram(self, numbered: tuple[int, NDArray[Any]], out: NDArray[Any]) -> None:
        """Write ``Σ w (x - shift)(x - shift)'`` over the rows of a block."""
        _, block = numbered
        # numpy sees one array times its own transpose and halves the work
        if self.by_column:
            np.matmul(block, block.T, out=out)
        else:
            np.matmul(block.T, block, out=out)

    def part_of(self, number: int) -> slice:
        """Which of the rows are in a block."""
        return slice(number * self.size, min((number + 1) * self.size, self.rows.size))

    def row_major(self, numbered: tuple[int, NDArray[Any]]) -> NDArray[Any]:
        """The block with one row of X a row."""
        return numbered[1].T if self.by_column else numbered[1]
