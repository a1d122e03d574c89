"""l2 without tuning: generalised cross-validation from the spectrum of Σ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from mbauc.solvers.unpenalised import Reduced

Array = NDArray[np.float64]

#: l2 is sought among these multiples of the mean eigenvalue, eight to the decade.
L2_MULTIPLES = np.logspace(-6, 4, 81)
#: Random directions and steps of the estimate for wide Σ: two or three digits of the degrees of freedom.
_PROBES, _STEPS = 8, 40


@dataclass(frozen=True)
class Spectrum:
    """What ridge solutions for all l2 depend on: eigenvalues of Σ, how many, and what share of μ each holds.

    With nodes θ, for any function f: ``tr f(Σ) = Σᵢ multiplicityᵢ f(θᵢ)`` and ``μ' f(Σ) μ = Σᵢ energyᵢ f(θᵢ)``,
    exactly for the eigenvalues themselves, approximately for nodes of a quadrature.

    Attributes
    ----------
    nodes, multiplicity, energy : ndarrays of one shape
    free : int
        Unpenalised features.
    gain : float
        By how much they alone reduce the risk.
    """

    nodes: Array
    multiplicity: Array
    energy: Array
    free: int = 0
    gain: float = 0.0

    def risk(self, l2: Array) -> Array:
        """Pairwise squared risk of the ridge solution on the pairs it was fitted to, for each l2."""
        inverse = 1.0 / (self.nodes + l2[:, None])
        # in this order nothing overflows for features in very large or small units
        terms = self.energy * inverse * (self.nodes * inverse - 2)
        return np.asarray(1.0 - self.gain + terms.sum(axis=1))

    def degrees_of_freedom(self, l2: Array) -> Array:
        """Effective number of features that the ridge solution uses, tr Σ(Σ + l2)⁻¹, for each l2."""
        return np.asarray(self.free + (self.multiplicity * self.nodes / (self.nodes + l2[:, None])).sum(axis=1))


def estimated_spectrum(sigma: Array, mu: Array, factors: Array) -> Spectrum:
    """Spectrum of a wide Σ by Lanczos quadrature, in 40 products with nine vectors each. ``O(d²)``.

    One vector is μ, which makes the risk exact to many digits; eight are fixed random signs, which
    estimate the trace. Nothing is random from call to call.
    """
    reduced = Reduced(sigma, mu, factors)
    # with v = √f w the penalty is the same for all features: √f divides Σ on both sides
    root = np.sqrt(reduced.factors)
    sigma, mu = reduced.sigma, reduced.mu / root
    d = mu.size
    if d == 0:
        return Spectrum(mu, mu, mu, reduced.free, reduced.gain)
    signs = np.random.default_rng(0).integers(0, 2, size=(_PROBES, d)) * 2.0 - 1.0
    start = np.vstack([mu, signs])
    lengths = np.linalg.norm(start, axis=1)
    current = start / np.where(lengths > 0, lengths, 1.0)[:, None]
    previous, below = np.zeros_like(current), np.zeros(len(start))
    diagonals, offs = [], []
    for _ in range(min(_STEPS, d)):
        product = (current / root) @ sigma / root - below[:, None] * previous
        diagonals.append(np.einsum("ij,ij->i", product, current))
        product -= diagonals[-1][:, None] * current
        below = np.linalg.norm(product, axis=1)
        offs.append(below)
        previous, current = current, product / np.where(below > 0, below, 1.0)[:, None]
    nodes, multiplicity, energy = [], [], []
    for k, length in enumerate(lengths):
        theta, vectors = eigh_tridiagonal([row[k] for row in diagonals], [row[k] for row in offs[:-1]])
        weight = vectors[0] ** 2 * length**2
        nodes.append(np.maximum(theta, 0.0))
        energy.append(weight if k == 0 else np.zeros_like(weight))
        multiplicity.append(np.zeros_like(weight) if k == 0 else weight / _PROBES)
    return Spectrum(
        np.concatenate(nodes), np.concatenate(multiplicity), np.concatenate(energy), reduced.free, reduced.gain
    )


def choose_l2(spectrum: Spectrum, sizes: tuple[float, float]) -> float:
    """The l2 that minimises ``risk / (1 - df/m)²``, m = 3 n₊n₋/(n₊ + n₋).

    Generalised cross-validation corrects the risk on the training pairs for the degrees of freedom spent
    on them. Pairs are not independent: μ varies like the mean of n₊n₋/(n₊ + n₋) differences, and m is a
    multiple of that, chosen by measurement (docs/defaults.md). The criterion depends on the spectrum
    relative to l2 alone, so the ranking does not depend on the units of X.

    Parameters
    ----------
    spectrum : Spectrum
        Of Σ.
    sizes : (float, float)
        Rows of each class.
    """
    total = float(spectrum.multiplicity.sum())
    mean = float(spectrum.multiplicity @ spectrum.nodes) / total if total > 0 else 0.0
    if mean <= 0.0:
        return 1.0
    l2 = L2_MULTIPLES * mean
    rows = 3 * sizes[0] * sizes[1] / (sizes[0] + sizes[1])
    left = 1.0 - spectrum.degrees_of_freedom(l2) / rows
    if left[-1] <= 0.0:
        return float(l2[-1])
    with np.errstate(divide="ignore"):
        criterion = np.where(left > 0, spectrum.risk(l2) / left**2, np.inf)
    return float(l2[np.argmin(criterion)])
