"""Σ known by its products with vectors alone, for data too wide to form it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SymmetricOperator(Protocol):
    """What iterative solvers of Eq. (14) ask of the pairs.

    Attributes
    ----------
    mu : ndarray of shape (d,)
        First moment μ of the differences.
    diagonal : ndarray of shape (d,)
        Diagonal of their second moment Σ.
    """

    mu: Array
    diagonal: Array

    def product(self, v: Array) -> Array:
        """Σ v, a new array."""

    def leading_block(self) -> Array:
        """An estimate of Σ among the first columns, to precondition with; empty if there is nothing to gain."""


class MatrixOperator:
    """Products with a Σ that is there as a matrix."""

    def __init__(self, sigma: Array, mu: Array) -> None:
        self._sigma, self.mu = sigma, mu
        self.diagonal = np.diagonal(sigma).copy()

    def product(self, v: Array) -> Array:
        """Σ v."""
        return np.asarray(self._sigma @ v)

    def leading_block(self) -> Array:
        """None."""
        return np.empty((0, 0))
