"""Two symmetric matrices in the space of one: the scatters of the positive and the negative class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsymm, dsyr, dsyrk

Side = Literal["positive", "negative"]

#: Edge of the square tiles in which triangles are mirrored: two tiles fit the second-level cache.
_TILE = 128


@dataclass(frozen=True)
class PackedScatters:
    """Scatter matrices of both classes in one buffer of shape (d + 1, d).

    The positive class owns the lower triangle of ``buffer[1:]``, the negative class the upper triangle of
    ``buffer[:-1]``: together every cell once. BLAS reads and writes both in place, so two d×d scatters
    take the memory of one matrix. ``O(d²)`` memory.
    """

    buffer: NDArray[np.float64]

    sides: ClassVar[tuple[Side, Side]] = ("positive", "negative")

    @classmethod
    def zeros(cls, n_features: int) -> PackedScatters:
        """Both scatters zero."""
        try:
            return cls(np.zeros((n_features + 1, n_features)))
        except (MemoryError, ValueError):
            size = 8 * n_features**2 / 2**30
            raise MemoryError(
                f"moments of {n_features:,} columns take {size:,.0f} GiB, more than the free memory. Hash the "
                "columns (sklearn.feature_extraction.FeatureHasher) or select some; 20,000 take 3 GiB."
            ) from None

    @property
    def n_features(self) -> int:
        """Number of columns d."""
        return int(self.buffer.shape[1])

    def square(self, side: Side) -> NDArray[np.float64]:
        """View of shape (d, d) of which ``side`` owns the lower (positive) or upper (negative) triangle."""
        return self.buffer[1:] if side == "positive" else self.buffer[:-1]

    def diagonal(self, side: Side) -> NDArray[np.float64]:
        """Writable view of the diagonal of one scatter."""
        square = self.square(side)
        return np.lib.stride_tricks.as_strided(
            square, shape=(self.n_features,), strides=(square.strides[0] + square.strides[1],)
        )

    def add_outer(self, side: Side, coefficient: float, v: NDArray[np.float64]) -> None:
        """Add ``coefficient · v v'`` to one scatter, in place."""
        if coefficient != 0.0:
            # the transposed view is what BLAS calls the matrix: lower here is upper there
            dsyr(coefficient, v, lower=side == "negative", a=self.square(side).T, overwrite_a=True)

    def add_gram(self, side: Side, rows: NDArray[np.float64]) -> None:
        """Add ``rows' rows`` to one scatter, in place, with as many threads as BLAS likes."""
        dsyrk(
            1.0,
            rows.T,
            beta=1.0,
            c=self.square(side).T,
            lower=side == "negative",
            overwrite_c=True,
        )

    def add_full(self, side: Side, matrix: NDArray[np.float64]) -> None:
        """Add a full symmetric matrix to one scatter, in place."""
        square, d = self.square(side), self.n_features
        for start in range(0, d, _TILE):
            stop = min(start + _TILE, d)
            corner = matrix[start:stop, start:stop]
            if side == "positive":
                square[start:stop, :start] += matrix[start:stop, :start]
                square[start:stop, start:stop] += np.tril(corner)
            else:
                square[start:stop, start:stop] += np.triu(corner)
                square[start:stop, stop:] += matrix[start:stop, stop:]

    def scale(self, side: Side, factor: float) -> None:
        """Multiply one scatter by ``factor``, in place."""
        square = self.square(side)
        for i, row in enumerate(square):
            row[slice(i + 1) if side == "positive" else slice(i, None)] *= factor

    def clear(self, side: Side, columns: NDArray[np.intp]) -> None:
        """Set the rows and columns of one scatter that belong to ``columns`` to zero, in place."""
        square = self.square(side)
        for j in columns:
            if side == "positive":
                square[j, : j + 1] = 0.0
                square[j:, j] = 0.0
            else:
                square[j, j:] = 0.0
                square[: j + 1, j] = 0.0

    def product(self, side: Side, W: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scatter of one class times the columns of W, shape (d, k)."""
        return np.asarray(dsymm(1.0, self.square(side).T, np.asfortranarray(W), lower=side == "negative"))

    def combine(self, positive: float, negative: float) -> NDArray[np.float64]:
        """Full symmetric matrix ``positive · S₊ + negative · S₋``; the one new d×d array is returned."""
        d = self.n_features
        below, above = self.square("positive"), self.square("negative")
        full = np.empty((d, d))
        for i in range(0, d, _TILE):
            rows = slice(i, min(i + _TILE, d))
            for j in range(0, i + 1, _TILE):
                columns = slice(j, min(j + _TILE, d))
                tile = positive * below[rows, columns] + negative * above[columns, rows].T
                if i == j:
                    tile = np.tril(tile)
                    tile += np.tril(tile, -1).T
                full[rows, columns] = tile
                full[columns, rows] = tile.T
        return full
