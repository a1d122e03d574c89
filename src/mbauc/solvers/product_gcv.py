"""Generalised cross-validation while solving: what an l2 costs in degrees of freedom, from products alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.gcv import L2_MULTIPLES
from mbauc.solvers.products import PairProducts
from mbauc.solvers.subspace import RidgeSubspace

Array = NDArray[np.float64]


class Criterion:
    """Generalised cross-validation over a grid of l2, as :func:`mbauc.solvers.choose_l2` has it.

    Parameters
    ----------
    products : PairProducts
        Products with Σ.
    factors : ndarray of shape (d,)
        Penalty factors.
    sizes : (float, float)
        Rows of each class.
    n_features : int
        Columns of the data, those that never occur included.

    Attributes
    ----------
    grid, degrees : ndarrays of one shape
        Values of l2, and the degrees of freedom that each takes, at most.
    rows : float
        What degrees of freedom count against.
    share : float
        Degrees of freedom of the latest choice, as a share of the rows.
    """

    def __init__(
        self, products: PairProducts, factors: Array, sizes: tuple[float, float], n_features: int
    ) -> None:
        self._penalised = np.flatnonzero(factors > 0)
        self._factors = factors[self._penalised]
        self._ratios = products.diagonal[self._penalised] / self._factors
        #: features that no penalty holds back count in full
        self.free = int(np.count_nonzero(products.diagonal[factors <= 0] > 0))
        mean = float(self._ratios.sum()) / max(n_features - (factors.size - self._penalised.size), 1)
        self.grid = L2_MULTIPLES * (mean if mean > 0 else 1.0)
        self.rows = 3 * sizes[0] * sizes[1] / (sizes[0] + sizes[1])
        self.degrees = self.free + self._trace(self._ratios)
        self.share = 0.0

    def best(self, subspace: RidgeSubspace) -> float:
        """The l2 that minimises risk / (1 - df/m)²."""
        left = 1.0 - self.degrees / self.rows
        if left[-1] <= 0.0:
            place = left.size - 1
        elif not subspace.size:
            # nothing is known of the risk yet: where degrees of freedom begin to cost
            place = int(np.argmax(left > 0.5)) if left[-1] > 0.5 else left.size - 1
        else:
            usable = left > 0
            risks = subspace.risks(self.grid[usable])
            place = int(np.flatnonzero(usable)[np.argmin(risks / left[usable] ** 2)])
        self.share = float(self.degrees[place] / self.rows)
        return float(self.grid[place])

    @property
    def least(self) -> float:
        """The smallest l2 that could be worth its degrees of freedom: half of the rows at most."""
        worth = 1.0 - self.degrees / self.rows > 0.5
        return float(self.grid[np.argmax(worth)]) if worth.any() else float(self.grid[-1])

    def refine(self, subspace: RidgeSubspace) -> None:
        """Bound the degrees of freedom by what the span holds of Σ, and the diagonal of the rest.

        For positive semidefinite A and B and concave f with f(0) = 0, tr f(A + B) ≤ tr f(A) + tr f(B), and
        tr f(B) is at most the sum of f over the diagonal of B.
        """
        roots, share = subspace.captured()
        roots = roots[:, self._penalised] / np.sqrt(self._factors)
        held = np.maximum(np.linalg.eigvalsh(roots @ roots.T), 0.0)
        rest = self._ratios * (1.0 - share[self._penalised])
        bound = self.free + (held / (held + self.grid[:, None])).sum(axis=1) + self._trace(rest)
        self.degrees = np.minimum(self.degrees, bound)

    def _trace(self, values: Array) -> Array:
        """Sum of v/(v + l2) over the values for each l2 of the grid, values that differ by under 5% as one."""
        values = values[values > 0]
        if not values.size:
            return np.zeros(self.grid.size)
        bins = np.frexp(values)[1] * 16 + np.floor(np.frexp(values)[0] * 32).astype(np.int64)
        bins -= bins.min()
        counts = np.bincount(bins)
        means = np.bincount(bins, values) / np.maximum(counts, 1)
        return np.asarray((counts * means / (means + self.grid[:, None])).sum(axis=1))


def probed_degrees(products: PairProducts, factors: Array, criterion: Criterion, l2: float) -> Array:
    """Degrees of freedom tr Σ(Σ + l2 F)⁻¹ for each l2 of the grid, at most those of the diagonal.

    With random signs z, ``z'√F(Σ + l2 F)⁻¹√F z`` has the trace as its mean. Its value within a subspace is too
    small, so degrees of freedom are over- rather than underestimated.
    """
    signs = np.random.default_rng(0).integers(0, 2, size=factors.size) * 2.0 - 1.0
    signs[products.diagonal <= 0] = 0.0
    target = np.sqrt(factors) * signs
    subspace = RidgeSubspace(products, factors, target)
    # solutions for a third of l2 serve those above it as well
    aim = l2 / 3
    while not subspace.is_full and subspace.grow(aim):
        gains = [aim * value for value in subspace.gains(aim, 2)]
        if len(gains) > 1 and gains[0] - gains[1] < 1e-3 * criterion.rows:
            break
    if not subspace.size:
        return criterion.degrees
    count = float(np.count_nonzero(target)) + criterion.free
    probed = np.array([count - value * subspace.gains(float(value))[0] for value in criterion.grid])
    return np.asarray(np.minimum(criterion.degrees, np.maximum(probed, 0.0)))
