"""A change of variables w = T u, block by block: fewer and smoother coordinates for the weights of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Reduction:
    """A block-diagonal matrix T of shape (features, coordinates).

    In coordinates u = T⁻w the pairs have Σ̃ = T'ΣT and μ̃ = T'μ, and a penalty on curves is diagonal. Features
    of one block are indicators of which one is 1 in each row, or a single number: then squares of coordinates
    are sums of squares of T.

    Attributes
    ----------
    blocks : tuple of ndarray or int
        T of each block, shape (features, coordinates) of it; a whole number k stands for the identity of k.
    """

    blocks: tuple[Array | int, ...]

    @cached_property
    def _places(self) -> list[tuple[slice, slice]]:
        places, row, column = [], 0, 0
        for block in self.blocks:
            height, width = (block, block) if isinstance(block, int) else block.shape
            places.append((slice(row, row + height), slice(column, column + width)))
            row, column = row + height, column + width
        return places

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self._places[-1][0].stop)

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self._places[-1][1].stop)

    def places(self) -> Sequence[tuple[slice, slice]]:
        """Features and coordinates of each block."""
        return self._places

    def expand(self, u: Array) -> Array:
        """T u, over the last axis; ``O(Σ features · coordinates)`` time."""
        w = np.empty((*u.shape[:-1], self.n_features))
        for block, (rows, columns) in zip(self.blocks, self._places, strict=True):
            w[..., rows] = u[..., columns] if isinstance(block, int) else u[..., columns] @ block.T
        return w

    def reduce(self, g: Array) -> Array:
        """T'g, over the last axis."""
        return self._adjoint(g, squared=False)

    def reduce_squares(self, g: Array) -> Array:
        """(T∘T)'g: sums of squares of the coordinates from sums of squares of the features."""
        return self._adjoint(g, squared=True)

    def _adjoint(self, g: Array, *, squared: bool) -> Array:
        u = np.empty((*g.shape[:-1], self.n_coordinates))
        for block, (rows, columns) in zip(self.blocks, self._places, strict=True):
            if isinstance(block, int):
                u[..., columns] = g[..., rows]
            else:
                u[..., columns] = g[..., rows] @ (block**2 if squared else block)
        return u

    def sandwich(self, sigma: Array) -> Array:
        """T' Σ T of a symmetric Σ; ``O(features² · coordinates of a block)`` time."""
        half = np.empty((self.n_coordinates, self.n_features))
        for block, (rows, columns) in zip(self.blocks, self._places, strict=True):
            half[columns] = sigma[rows] if isinstance(block, int) else block.T @ sigma[rows]
        result = np.empty((self.n_coordinates, self.n_coordinates))
        for block, (rows, columns) in zip(self.blocks, self._places, strict=True):
            result[:, columns] = half[:, rows] if isinstance(block, int) else half[:, rows] @ block
        # both halves of a symmetric matrix, to the last bit
        return np.asarray((result + result.T) / 2)
