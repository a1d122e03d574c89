"""Gaussian mixtures: the distributions of the paper's simulations, any weights, means and covariances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp, ndtr

from mbauc.checks import check_whole
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]

#: Numbers in a block of rows.
_BLOCK = 1 << 19


class LineMixture(NamedTuple):
    """A mixture of normal distributions on the line: shares, centres and standard deviations."""

    weights: Array
    centres: Array
    widths: Array

    def tail(self, t: Any) -> Array:
        """P(score > t)."""
        return np.asarray(ndtr((self.centres - np.asarray(t)[..., None]) / self.widths) @ self.weights)

    def beats(self, other: LineMixture) -> float:
        """Probability that a draw is above one of the other mixture: the AUC of the score, in closed form."""
        apart = np.subtract.outer(self.centres, other.centres)
        spread = np.sqrt(np.add.outer(self.widths**2, other.widths**2))
        return float(self.weights @ ndtr(apart / spread) @ other.weights)


class GaussianMixture:
    """A mixture of normal distributions (Eq. 36).

    Parameters
    ----------
    means : array-like of shape (K, d)
        Means of the K components; one vector of shape (d,) is a single normal distribution.
    covariances : None, float, or array-like of shape (K,), (d, d) or (K, d, d)
        Identity, a common variance, a variance for each component, a common matrix, or a matrix for each.
    weights : array-like of shape (K,), optional
        Weights of the components, which must sum to one; by default equal.

    Attributes
    ----------
    means, covariances, weights : ndarray of shape (K, d), (K, d, d) and (K,)
        The parameters in full, for each component.

    Examples
    --------
    >>> import numpy as np
    >>> mixture = GaussianMixture([[-1.0, 0.0], [1.0, 0.0]], weights=[0.3, 0.7])
    >>> mixture
    GaussianMixture(2 components in 2 dimensions)
    >>> mixture.mean
    array([0.4, 0. ])
    >>> mixture.sample(3, random_state=0).shape
    (3, 2)
    """

    def __init__(
        self,
        means: ArrayLike,
        covariances: ArrayLike | None = None,
        weights: ArrayLike | None = None,
    ) -> None:
        self.means = _finite("means", np.atleast_2d(np.array(means, dtype=np.float64)))
        if self.means.ndim != 2 or self.means.size == 0:
            raise ValueError(f"means must have shape (K, d), got {np.shape(means)}.")
        self.weights = _check_shares(weights, len(self.means))
        self.covariances = _check_covariances(covariances, *self.means.shape)
        self._factors = _factors(self.covariances)

    @property
    def n_components(self) -> int:
        """Number K of components."""
        return int(self.means.shape[0])

    @property
    def dimension(self) -> int:
        """Number d of coordinates."""
        return int(self.means.shape[1])

    @property
    def mean(self) -> Array:
        """Mean of the whole mixture, shape (d,)."""
        return np.asarray(self.weights @ self.means)

    @property
    def covariance(self) -> Array:
        """Covariance of the whole mixture, shape (d, d): within the components and between them."""
        apart = self.means - self.mean
        within = np.einsum("k,kij->ij", self.weights, self.covariances)
        return np.asarray(within + (apart * self.weights[:, None]).T @ apart)

    def sample(self, n: int, random_state: Any = None) -> Array:
        """Draw n rows, shape (n, d); the same seed gives bit-identical rows. ``O(n d²)``."""
        check_whole("n", n, low=0)
        rng = generator(random_state)
        component = rng.choice(self.n_components, size=n, p=self.weights)
        rows = rng.standard_normal((n, self.dimension))
        for k, factor in enumerate(self._factors):
            own = component == k
            rows[own] = (rows[own] if factor is None else rows[own] @ factor.T) + self.means[k]
        return rows

    def log_density(self, X: ArrayLike) -> Array:
        """Logarithm of the density at each row of X, shape (n,). ``O(n K d²)`` time, blocks of 4 MB."""
        rows = _finite("X", np.atleast_2d(np.asarray(X, dtype=np.float64)))
        if rows.ndim != 2 or rows.shape[1] != self.dimension:
            raise ValueError(f"X must have {self.dimension} columns, got shape {np.shape(X)}.")
        result = np.empty(len(rows))
        step = max(1, _BLOCK // self.dimension)
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            result[part] = logsumexp(self._log_parts(rows[part]), axis=0, b=self.weights[:, None])
        return result

    def _log_parts(self, X: Array) -> Array:
        """Log-density of each component, shape (K, n)."""
        parts = np.empty((self.n_components, len(X)))
        for k, factor in enumerate(self._factors):
            apart = X - self.means[k]
            scale = 0.0
            if factor is not None:
                apart = solve_triangular(factor, apart.T, lower=True, check_finite=False).T
                scale = float(np.log(np.diag(factor)).sum())
            parts[k] = -0.5 * np.einsum("ij,ij->i", apart, apart) - scale
        return np.asarray(parts - 0.5 * self.dimension * np.log(2 * np.pi))

    def along(self, w: ArrayLike) -> LineMixture:
        """Distribution of the linear score w'x, a one-dimensional mixture."""
        direction = np.asarray(w, dtype=np.float64)
        variances = np.einsum("i,kij,j->k", direction, self.covariances, direction)
        return LineMixture(self.weights, self.means @ direction, np.sqrt(variances))

    def __repr__(self) -> str:
        parts = "1 component" if self.n_components == 1 else f"{self.n_components} components"
        return f"GaussianMixture({parts} in {self.dimension} dimensions)"


# -- validation -----------------------------------------------------------------------------------------------


def _finite(name: str, array: Array) -> Array:
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, got a NaN or an infinity.")
    return array


def _check_shares(weights: ArrayLike | None, K: int) -> Array:
    if weights is None:
        return np.full(K, 1.0 / K)
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (K,):
        raise ValueError(
            f"weights must have one share for each of the {K} components, got shape {shares.shape}."
        )
    if not (np.isfinite(shares).all() and (shares >= 0).all() and abs(shares.sum() - 1.0) < 1e-9):
        raise ValueError(f"weights must be at least 0 and sum to one, got {shares.tolist()}.")
    return np.asarray(shares / shares.sum())


def _check_covariances(covariances: ArrayLike | None, K: int, d: int) -> Array:
    given = _finite("covariances", np.array(1.0 if covariances is None else covariances, dtype=np.float64))
    if given.ndim == 0 or given.shape == (K,):
        return np.broadcast_to(given[..., None, None] * np.eye(d), (K, d, d))
    if given.shape in ((d, d), (K, d, d)):
        return np.broadcast_to(given, (K, d, d))
    raise ValueError(
        f"covariances must be a number or have shape ({K},), ({d}, {d}) or ({K}, {d}, {d}), got {given.shape}."
    )


def _factors(covariances: Array) -> list[Array | None]:
    """Lower Cholesky factor of each covariance; None where it is the identity."""
    factors: list[Array | None] = []
    for k, covariance in enumerate(covariances):
        if np.array_equal(covariance, np.eye(len(covariance))):
            factors.append(None)
            continue
        try:
            if not np.allclose(covariance, covariance.T, rtol=1e-10, atol=0.0):
                raise np.linalg.LinAlgError
            factors.append(cholesky(covariance, lower=True))
        except np.linalg.LinAlgError:
            raise ValueError(
                f"the covariance of component {k} must be symmetric and positive definite."
            ) from None
    return factors
