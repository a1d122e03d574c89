"""Σ known by its products with vectors alone, for data too wide to form it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class SymmetricOperator(Protocol):
    """Protocol of Σ as a linear operator, for the matrix-free solvers.

    Attributes
    ----------
    mu : ndarray of shape (d,)
        First moment μ of the differences.
    diagonal : ndarray of shape (d,)
        Diagonal of the second moment Σ.
    """

    mu: Array
    diagonal: Array

    def product(self, v: Array) -> Array:
        """Σ v, a new array."""

    def leading_block(self) -> Array:
        """Estimate of the leading block of Σ for preconditioning; empty if it would not help."""


class MatrixOperator:
    """Operator for a Σ that is given as a matrix."""

    def __init__(self, sigma: Array, mu: Array) -> None:
        self._sigma, self.mu = sigma, mu
        self.diagonal = np.diagonal(sigma).copy()

    def product(self, v: Array) -> Array:
        """Σ v."""
        return np.asarray(self._sigma @ v)

    def leading_block(self) -> Array:
        """None."""
        return np.empty((0, 0))
