"""l2 without tuning: the AUC to expect on other rows, in closed form from the spectrum of Σ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, PenaltyWarning
from mbauc.runtime.warn import warn

Array = NDArray[np.float64]

#: l2 is sought among these multiples of the mean eigenvalue, eight to the decade.
L2_MULTIPLES = np.logspace(-6, 4, 81)
#: Eigenvalues below this share of the largest are rounding errors.
_ROUNDING = 1e-13
#: Leave-one-out is not to be relied on where degrees of freedom are more than this share of the rows.
_MOST_USED = 0.4
#: How many of them are above the mean eigenvalue itself.
_ABOVE_MEAN = 32
#: Losses that differ by less than this are taken for equal.
_ALIKE = 2e-4
#: A variance of scores below this is a rounding error: risks are sums of terms of order 1.
_NO_VARIANCE = 1e-15


class Solved(NamedTuple):
    """What is known of the ridge solutions w for some values of l2; ndarrays of one shape."""

    #: w'μ
    gain: Array
    #: Σ fⱼ wⱼ²
    size: Array
    #: pairwise squared risk 1 - 2w'μ + w'Σw on the pairs that w was fitted to
    risk: Array


@dataclass(frozen=True)
class Spectrum:
    """Spectrum of Σ, on which ridge solutions for all l2 depend: eigenvalues, multiplicities and energy of μ.

    With nodes θ, for any function f: ``tr f(Σ) = Σᵢ multiplicityᵢ f(θᵢ)`` and ``μ' f(Σ) μ = Σᵢ energyᵢ f(θᵢ)``,
    exactly if nodes are eigenvalues, approximately for quadrature nodes.

    Attributes
    ----------
    nodes, multiplicity, energy : ndarrays of one shape
    free : int
        Number of unpenalised features.
    gain : float
        Reduction of the risk by the unpenalised features alone.
    """

    nodes: Array
    multiplicity: Array
    energy: Array
    free: int = 0
    gain: float = 0.0

    def evaluate(self, l2: Array) -> Solved:
        """Gain, size and risk of the ridge solution for each l2."""
        inverse = 1.0 / (self.nodes + l2[:, None])
        terms = self.energy * inverse
        # in this order nothing overflows for features in very large or small units
        risk = 1.0 - self.gain + (terms * (self.nodes * inverse - 2)).sum(axis=1)
        return Solved(self.gain + terms.sum(axis=1), (terms * inverse).sum(axis=1), risk)

    def degrees_of_freedom(self, l2: Array) -> Array:
        """Effective degrees of freedom of the ridge solution, tr Σ(Σ + l2)⁻¹, for each l2."""
        return np.asarray(self.free + (self.multiplicity * self.nodes / (self.nodes + l2[:, None])).sum(axis=1))


def effective_rows(sizes: tuple[float, float]) -> float:
    """Rows that pairs count for, 3 n₊n₋/(n₊ + n₋): degrees of freedom matter if they are not few beside it."""
    return 3 * sizes[0] * sizes[1] / (sizes[0] + sizes[1])


def expected_separation(solved: Solved, degrees: Array, l2: Array, sizes: tuple[float, float]) -> Array:
    """The separation δ that scores are expected to have on rows that were left out; their AUC is about Φ(δ).

    With H = (C₊ + C₋ + l2 F)⁻¹, ridge scores rank like w = Hμ. On the training rows δ is
    ``μ'Hμ / √(w'C₊w + w'C₋w)``. Both parts are too good there, by what one row contributes to its own score.
    With t = tr CH for the true covariance C of the classes,

    * μ contains the noise of the class means, of which μ'Hμ holds t (1/n₊ + 1/n₋) too much;
    * a row of class c has pulled H by 1/n_c of itself, which shrinks its score, and the standard deviation of
      the scores of the class, by 1 + t/n_c;
    * t itself is more than tr (C₊ + C₋)H =: a on the training rows shows, by the same shrinkage:
      a = t/(1 + t/n₊) + t/(1 + t/n₋), a quadratic equation.

    All of it follows from w'μ, Σ fⱼ wⱼ², the risk and the degrees of freedom tr Σ(Σ + l2 F)⁻¹ (Sherman and
    Morrison take μμ' out of Σ). Exact for many rows of normal classes with one covariance.

    Parameters
    ----------
    solved : Solved
        Of the solutions.
    degrees, l2 : ndarrays
        Degrees of freedom of each, and its l2.
    sizes : (float, float)
        Number of rows of each class.

    Returns
    -------
    ndarray
        Minus infinity where weights use up more than 40% of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> spectrum = Spectrum(np.ones(4), np.ones(4), np.full(4, 0.1))
    >>> l2 = np.array([0.01, 1.0])
    >>> many, few = ((n, n) for n in (10_000.0, 20.0))
    >>> solved, degrees = spectrum.evaluate(l2), spectrum.degrees_of_freedom(l2)
    >>> found = [expected_separation(solved, degrees, l2, sizes) for sizes in (many, few)]
    >>> bool((found[0] > found[1]).all())
    True
    """
    plus, minus = sizes
    total, product = 1 / plus + 1 / minus, 1 / (plus * minus)
    left = np.maximum(1.0 - solved.gain, 1e-12)
    used = np.maximum(degrees - l2 * solved.size / left, 0.0)
    usable = used < _MOST_USED * (plus + minus)
    a = np.where(usable, used, 0.0)
    slope = 2.0 - a * total
    trace = 2.0 * a / (slope + np.sqrt(slope**2 + 4.0 * a * (total - a * product)))
    shrunk = (1.0 + trace / plus) ** -2 + (1.0 + trace / minus) ** -2
    variance = 2.0 * np.maximum(solved.risk - left**2, _NO_VARIANCE) / shrunk
    # both in units of w = Hμ, which is the ridge solution divided by 1 - w'μ
    return np.where(usable, (solved.gain - left * trace * total) / np.sqrt(variance), -np.inf)


def expected_loss(separation: Array) -> Array:
    """A separation as something to minimise: 1/(1 + δ²), the risk of the best multiple, where δ > 0."""
    with np.errstate(over="ignore"):
        return np.where(separation > 0, 1.0 / (1.0 + separation**2), 1.0 + separation**2)


def choose_l2(spectrum: Spectrum, sizes: tuple[float, float]) -> float:
    """Select l2 by the expected AUC on new rows, estimated by leave-one-out in closed form.

    See :func:`~mbauc.solvers.leave_one_out.expected_separation`. The criterion depends only on the spectrum
    relative to l2, so the ranking is invariant to a common factor of all columns.

    Parameters
    ----------
    spectrum : Spectrum
        Spectrum of Σ.
    sizes : (float, float)
        Number of rows of each class.
    """
    total = float(spectrum.multiplicity.sum())
    mean = float(spectrum.multiplicity @ spectrum.nodes) / total if total > 0 else 0.0
    if mean <= 0.0 or not np.isfinite(spectrum.nodes).all():
        return 1.0
    smallest = float(spectrum.nodes[spectrum.nodes > _ROUNDING * spectrum.nodes.max()].min())
    l2 = l2_grid(mean, smallest)
    found = expected_separation(spectrum.evaluate(l2), spectrum.degrees_of_freedom(l2), l2, sizes)
    return float(l2[best_place(expected_loss(found))])


def best_place(losses: Array) -> int:
    """Where on a :func:`l2_grid` the loss is smallest.

    Of places within 0.02% of that, about 0.00005 of AUC, the one nearest to the mean eigenvalue: weights are
    then no smaller than they need to be, and no harder to find. If no loss is finite, the last place.
    """
    smallest = float(losses.min())
    if not np.isfinite(smallest):
        return losses.size - 1
    alike = np.flatnonzero(losses <= (1.0 + _ALIKE) * smallest)
    return int(alike[np.argmin(np.abs(alike - (losses.size - 1 - _ABOVE_MEAN)))])


def l2_grid(mean: float, smallest: float, multiples: Array = L2_MULTIPLES) -> Array:
    """Values of l2: multiples of the mean eigenvalue (or variance), by default eight to the decade.

    If the smallest is below all of them, so that each l2 would drown it, they begin at a hundredth of it.
    """
    low, ratio = float(multiples[0]), float(multiples[1] / multiples[0])
    further = 0
    if smallest < low * mean:
        further = int(np.ceil(np.log(low * mean / (1e-2 * smallest)) / np.log(ratio)))
    return np.concatenate([low * ratio ** np.arange(-further, 0.0), multiples]) * mean


def warn_of_units(diagonal: Array) -> None:
    """Warn if variances differ by so much that rounding errors of some are larger than others."""
    known = diagonal[diagonal > 0]
    if known.size and known.min() < _ROUNDING * known.max():
        warn(
            f"variances of columns differ by a factor of {known.max() / known.min():.0e}: columns with small "
            "variances are lost to rounding errors and do not affect the ranking. "
            + Advice("Use {scale}.", command="", scale=True),
            PenaltyWarning,
        )
