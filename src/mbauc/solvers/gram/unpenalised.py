"""Eliminating the features that no penalty holds back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.gram.eigen import decompose

Array = NDArray[np.float64]


class Reduced:
    """Elimination of the unpenalised features from Eq. (14) by the Schur complement.

    Given the penalised weights, the unpenalised ones solve a linear system. Substituting them into Eq. (14)
    leaves a problem of the same form with the Schur complement of Σ. ``O(u³ + u d²)`` for u unpenalised
    features, no cost for none.

    Attributes
    ----------
    sigma, mu : ndarrays of shape (p, p) and (p,)
        Moments of the reduced problem; the original ones if all features are penalised.
    factors : ndarray of shape (p,)
        Penalty factors of the penalised features.
    free : int
        Number of unpenalised features.
    gain : float
        μ'Σ⁻¹μ over the unpenalised features alone.
    """

    def __init__(self, sigma: Array, mu: Array, factors: Array) -> None:
        self._size = mu.size
        self._kept, self._free = np.flatnonzero(factors > 0), np.flatnonzero(factors == 0)
        self.sigma, self.mu, self.factors = sigma, mu, factors[self._kept]
        self.free, self.gain = int(self._free.size), 0.0
        if self._free.size:
            values, vectors = decompose(sigma[np.ix_(self._free, self._free)], overwrite=True)
            inverse = (vectors * pseudo_inverse(values)) @ vectors.T
            coupling = sigma[np.ix_(self._free, self._kept)]
            self._response = inverse @ coupling
            self._alone = inverse @ mu[self._free]
            self.gain = float(mu[self._free] @ self._alone)
            self.sigma = sigma[np.ix_(self._kept, self._kept)] - coupling.T @ self._response
            self.mu = mu[self._kept] - coupling.T @ self._alone

    def restore(self, coefficients: Array) -> Array:
        """Weights of all features from the weights of the penalised ones, along the last axis."""
        if not self._free.size:
            return coefficients
        full = np.empty((*coefficients.shape[:-1], self._size))
        full[..., self._kept] = coefficients
        full[..., self._free] = self._alone - coefficients @ self._response.T
        return full


def pseudo_inverse(values: Array, shift: Array | float = 0.0) -> Array:
    """Reciprocals of ``values + shift``, zero where that is a rounding error of the eigenvalues."""
    floor = values.size * np.finfo(np.float64).eps * max(float(values.max(initial=0.0)), 0.0)
    shifted = values + shift
    with np.errstate(divide="ignore"):
        return np.where(shifted > floor, 1.0 / shifted, 0.0)
