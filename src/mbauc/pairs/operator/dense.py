"""Products with Σ from dense rows, block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.operator.leading_block import ENOUGH_ROWS
from mbauc.pairs.operator.pair_operator import FEW_ENTRIES, Bucket, PairOperator, RowLabels, Stratum
from mbauc.pairs.scatter.dense import is_single
from mbauc.pairs.scatter.grouped import select_rows
from mbauc.rows.finite import raise_nonfinite
from mbauc.runtime.progress import silent
from mbauc.runtime.threads import run_threads, single_threaded_blas

Array = NDArray[np.float64]

#: Numbers of a block: 4 MB, which stays in cache between the two products.
_BLOCK = 1 << 19
#: Rows whose mean is taken off all of them.
_PROBE = 1000
#: Rows are read as they stand, others between them included, if these are not more than those that count …
_MOST_AROUND = 2
#: … and without taking the shift off, if no column is further from zero than so many of its deviations.
_NEAR_ZERO = 1e3
#: In single precision that is if they are no further than so many.
_CENTRED = 2.0
#: Rows that a curvature is estimated from: of a stratum at most …
_BLOCK_ROWS = 5_000
#: … and as many that their products with each other take as long as so many columns' products with all rows.
_ROWS_AND_COLUMNS = 40


class DensePairOperator(PairOperator):
    """The pairs of a dense data set, as a linear operator.

    X is read where it is, once for each product: a block is multiplied twice while it is in cache, as it is
    or less a provisional mean where columns are far from zero. Many float32 rows are multiplied in single
    precision and summed in double, which leaves products within 1e-6 of what they are.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Any real dtype.
    strata : sequence of index arrays
        Row numbers of each stratum.
    weight : ndarray of shape (n,), optional
        Weight of each row.
    shards : int, default=1
        Parts of the rows that work side by side.
    groups : ndarray of shape (n,), optional
        Key of the group of each row.
    """

    def __init__(
        self,
        X: NDArray[Any],
        strata: Sequence[NDArray[np.intp]],
        weight: Array | None,
        shards: int = 1,
        groups: NDArray[np.uint64] | None = None,
    ) -> None:
        self._X, self.shards = X, shards
        rows = np.concatenate(strata)
        order = np.argsort(rows, kind="stable")
        self._rows = rows[order]
        self._stratum = np.repeat(np.arange(len(strata)), [own.size for own in strata])[order]
        self._weight = None if weight is None else weight[self._rows]
        self._step = max(1, _BLOCK // X.shape[1])
        probe = self._rows[:: max(1, self._rows.size // _PROBE)]
        shift = X[probe].astype(np.float64).mean(axis=0)
        if not np.isfinite(shift).all():
            raise_nonfinite(X)
        # a whole column of one value is exactly constant only if that very value is taken off
        constant = (X[probe] == X[probe[0]]).all(axis=0)
        shift[constant] = X[probe[0]][constant]
        self.shift, self._plain, self.advance = shift, False, silent
        super().__init__(self._sum_strata(len(strata)), shift)
        self.order = ColumnOrder(X.shape[1])
        self.order.admit(np.ones(X.shape[1], dtype=np.int64))
        self._row_labels = RowLabels(
            self._stratum == 0, self._weight, None if groups is None else groups[self._rows]
        )
        spread = np.sqrt(self.column_variances())
        far = float(np.max(np.abs(shift)[spread > 0] / spread[spread > 0], initial=0.0))
        self._plain, self._single = far <= _NEAR_ZERO, far <= _CENTRED and is_single(X)

    def _sum_strata(self, count: int) -> list[Stratum]:
        """Weight, mean and variances of each stratum, from one sweep."""

        def add_up(shard: int) -> Array:
            sums, buffer = np.zeros((2, count, self._X.shape[1])), np.empty((0, 0))
            with np.errstate(over="ignore", invalid="ignore"):  # of this thread; looked for below
                for part, X, places in self._pieces(shard):
                    if len(buffer) < len(X):
                        buffer = np.empty(X.shape)
                    block = np.subtract(X, self.shift, out=buffer[: len(X)])
                    weight, stratum = self._weights_of(part), self._stratum[part]
                    shares = [np.bincount(places, weight * (stratum == k), len(X)) for k in range(count)]
                    for own, share in zip(sums[0], shares, strict=True):
                        own += share @ block
                    np.square(block, out=block)
                    for own, share in zip(sums[1], shares, strict=True):
                        own += share @ block
            return sums

        sums, squares = np.sum(self._run(add_up), axis=0)
        if not np.isfinite(squares).all():
            raise_nonfinite(self._X)
            raise ValueError("X holds values whose squares overflow float64; rescale the features.")
        own = [self._weights_of(self._stratum == number) for number in range(count)]
        return [
            Stratum.from_sums(weight.size, float(weight.sum()), float(weight @ weight), *both)
            for weight, *both in zip(own, sums, squares, strict=True)
        ]

    def _weights_of(self, part: slice | NDArray[np.bool_]) -> Array:
        return np.ones(self._rows[part].size) if self._weight is None else self._weight[part]

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        centre, scale = np.array(centres), np.array([1.0 / stratum.weight for stratum in self.strata])
        direction = v.astype(np.float32) if self._single else v
        # of rows as they are, the score of the shift is in all scores
        centre = centre + float(self.shift @ v) if self._plain else centre

        def sweep(shard: int) -> tuple[Array, Array]:
            result, sums = np.zeros(v.size), np.zeros((2, len(self.strata)))
            for part, X, places in self._pieces(shard):
                X, stratum = X if self._single else self._near_zero(X), self._stratum[part]
                score = (X @ direction)[places] - centre[stratum]
                share = score * scale[stratum]
                if self._weight is not None:
                    share *= self._weight[part]
                result += np.bincount(places, share, len(X)).astype(X.dtype, copy=False) @ X
                for kept, values in zip(sums, (share, share * score), strict=True):
                    kept += np.bincount(stratum, values, minlength=len(self.strata))
            if self._plain:
                result -= self.shift * sums[0].sum()
            return result, sums.T

        return self._run(sweep)

    # -- row by row: in the order of X ----------------------------------------------------------------------

    def _pieces(self, shard: int) -> Iterator[tuple[slice, NDArray[Any], NDArray[np.intp]]]:
        """Every so many pieces of the rows that count, a piece of X around them, and where they are in it."""
        for start in range(shard * self._step, self._rows.size, self.shards * self._step):
            part = slice(start, start + self._step)
            rows = self._rows[part]
            first, last = rows[0], rows[-1] + 1
            if last - first > _MOST_AROUND * rows.size:
                yield part, self._X[rows], np.arange(rows.size)
            else:
                # read where they are, others among them included
                yield part, self._X[first:last], rows - first
            self.advance(rows.size)

    def scores(self, v: Array) -> Array:
        """The score x'v of each row, in the order of X."""
        result = np.empty(self._rows.size)

        def score(shard: int) -> None:
            for part, X, places in self._pieces(shard):
                result[part] = (self._near_zero(X) @ v)[places]

        self._run(score)
        return result

    def combine(self, r: Array) -> Array:
        """Σ rᵢ xᵢ."""

        def add_up(shard: int) -> Array:
            result = np.zeros(self.mu.size)
            for part, X, places in self._pieces(shard):
                shares = np.zeros(len(X))
                shares[places] = r[part]
                result += shares @ self._near_zero(X)
            return result

        result: Array = sum(self._run(add_up), np.zeros(self.mu.size))
        return result - self.shift * r.sum() if self._plain else result

    def combine_squares(self, r: Array) -> Array:
        """Σ rᵢ xᵢⱼ²."""

        def add_up(shard: int) -> Array:
            result = np.zeros(self.mu.size)
            for part, X, places in self._pieces(shard):
                shares = np.zeros(len(X))
                shares[places] = r[part]
                result += shares @ np.subtract(X, self.shift, dtype=np.float64) ** 2
            return result

        result: Array = sum(self._run(add_up), np.zeros(self.mu.size))
        return result

    def combine_by(self, r: Array, bucket: Bucket, n_buckets: int) -> Array:
        """Σ rᵢ xᵢ of the rows of each bucket."""
        result, own = np.zeros((n_buckets, self.mu.size)), np.flatnonzero(bucket >= 0)
        for start in range(0, own.size, self._step):
            part = own[start : start + self._step]
            rows = np.subtract(self._X[self._rows[part]], self.shift, dtype=np.float64)
            # few rows of a bucket are in one part: only the lines that they are in are added to
            lines, places = np.unique(bucket[part], return_inverse=True)
            result[lines] += select_rows(places, r[part], lines.size) @ rows
            self.advance(part.size)
        return result

    def curvature(self, r: Array) -> Array:
        """About the curvature of a loss, from some rows of each stratum; empty if columns are many."""
        d, positive = self.mu.size, self._row_labels.positive
        strata = [np.flatnonzero(positive), np.flatnonzero(~positive)]
        most = min(_BLOCK_ROWS, _ROWS_AND_COLUMNS * self._rows.size // (2 * d))
        if min(most, *(own.size for own in strata)) < ENOUGH_ROWS * d:
            return super().curvature(r)
        result, means = np.zeros((d, d)), []
        for own in strata:
            own = own[:: max(1, own.size // most)]
            rows = np.subtract(self._X[self._rows[own]], self.shift, dtype=np.float64)
            weight = r[own] / max(float(r[own].sum()), np.finfo(np.float64).tiny)
            means.append(weight @ rows)
            rows = (rows - means[-1]) * np.sqrt(weight)[:, None]
            result += rows.T @ rows
        gap = means[0] - means[1]
        return 0.5 * float(r.sum()) * (result + np.outer(gap, gap))

    def _near_zero(self, X: NDArray[Any]) -> Array:
        """Rows as they are, or less the shift where digits would be lost without."""
        shifted: Array = X if self._plain else np.subtract(X, self.shift, dtype=np.float64)
        return shifted.astype(np.float64, copy=False)

    def _run(self, work: Callable[[int], Any]) -> list[Any]:
        """Each shard; one after another if they are small."""
        few = self._rows.size * self._X.shape[1] < FEW_ENTRIES
        with single_threaded_blas():
            return run_threads(work, range(self.shards), 1 if few else self.shards)

    def _labels(self) -> RowLabels:
        return self._row_labels
