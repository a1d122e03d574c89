"""Products with Σ from dense rows, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.operator.pair_operator import PairOperator, Stratum
from mbauc.rows.finite import raise_nonfinite
from mbauc.runtime.threads import run_threads, single_threaded_blas

Array = NDArray[np.float64]

#: Numbers of a block: 4 MB, which stays in cache between the two products.
_BLOCK = 1 << 19
#: Rows whose mean is taken off all of them.
_PROBE = 1000


class DensePairOperator(PairOperator):
    """The pairs of a dense data set, as a linear operator.

    X is read where it is. A block of it is copied, shifted by a provisional mean and multiplied twice.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Any real dtype.
    strata : sequence of index arrays
        Row numbers of each stratum.
    weight : ndarray of shape (n,), optional
        Weight of each row.
    shards : int
        Parts of the rows that work side by side.
    """

    def __init__(
        self, X: NDArray[Any], strata: Sequence[NDArray[np.intp]], weight: Array | None, shards: int = 1
    ) -> None:
        self._X, self.shards = X, shards
        self._rows = np.concatenate(strata)
        self._stratum = np.repeat(np.arange(len(strata)), [rows.size for rows in strata])
        self._weight = np.ones(self._rows.size) if weight is None else weight[self._rows]
        self._step = max(1, _BLOCK // X.shape[1])
        probe = self._rows[:: max(1, self._rows.size // _PROBE)]
        shift = X[probe].astype(np.float64).mean(axis=0)
        if not np.isfinite(shift).all():
            raise_nonfinite(X)
        # a whole column of one value is exactly constant only if that very value is taken off
        constant = (X[probe] == X[probe[0]]).all(axis=0)
        shift[constant] = X[probe[0]][constant]
        self.shift = shift
        sums, squares = np.zeros((len(strata), X.shape[1])), np.zeros((len(strata), X.shape[1]))
        with np.errstate(over="ignore", invalid="ignore"):
            for part, block in self._blocks(0, 1):
                for number in np.unique(self._stratum[part]):
                    own = self._stratum[part] == number
                    weighted = block[own] * self._weight[part][own, None]
                    sums[number] += weighted.sum(axis=0)
                    squares[number] += np.einsum("ij,ij->j", weighted, block[own])
        if not np.isfinite(squares).all():
            raise_nonfinite(X)
            raise ValueError("X holds values whose squares overflow float64; rescale the features.")
        found = []
        for number, rows in enumerate(strata):
            own = self._weight[self._stratum == number]
            found.append(
                Stratum.from_sums(
                    int(rows.size), float(own.sum()), float(own @ own), sums[number], squares[number]
                )
            )
        super().__init__(found, shift)
        self.order = ColumnOrder(X.shape[1])
        self.order.admit(np.ones(X.shape[1], dtype=np.int64))

    def _blocks(self, shard: int, shards: int) -> Iterator[tuple[slice, Array]]:
        """Every ``shards``-th block of rows, shifted."""
        for start in range(shard * self._step, self._rows.size, shards * self._step):
            part = slice(start, start + self._step)
            yield part, np.subtract(self._X[self._rows[part]], self.shift, dtype=np.float64)

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        centre, scale = np.array(centres), np.array([1.0 / stratum.weight for stratum in self.strata])

        def sweep(shard: int) -> tuple[Array, Array]:
            result, sums = np.zeros(v.size), np.zeros((len(self.strata), 2))
            for part, block in self._blocks(shard, self.shards):
                stratum = self._stratum[part]
                score = block @ v - centre[stratum]
                share = score * self._weight[part] * scale[stratum]
                result += share @ block
                np.add.at(sums[:, 0], stratum, share)
                np.add.at(sums[:, 1], stratum, share * score)
                self.advance(stratum.size)
            return result, sums

        with single_threaded_blas():
            return run_threads(sweep, range(self.shards), self.shards)
