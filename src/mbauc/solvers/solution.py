"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.penalty import Penalty

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """A minimiser of Eq. (14) with its certificate.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        The weights w.
    objective : float
        ½ w'Σw - w'μ + penalty; of another loss, its mean over the pairs plus penalty.
    optimality : float
        Distance of 0 to the subdifferential at w, largest entry, divided by max|μ|. Zero at the exact
        minimiser, one at w = 0 without penalty.
    iterations : int
        Sweeps of an iterative solver, or products with Σ; 1 for a direct one. Newton steps count their products
        with the Hessian and their gradients.
    excess_risk : float
        How far the regularised pairwise risk 1 - 2w'μ + w'Σw + 2 penalty (of another loss, twice the objective)
        is estimated to be above its minimum where a solver stopped early; about as much AUC is lost, or less. 0
        for a direct solver.
    excess_bound : float
        What it is above its minimum at most, guaranteed; infinite where nothing is known.
    l1, l2 : float
        The penalties that it is for.
    """

    coef: Array
    objective: float
    optimality: float
    iterations: int
    excess_risk: float = 0.0
    excess_bound: float = float("inf")
    l1: float = 0.0
    l2: float = 0.0


def certify(
    penalty: Penalty,
    mu: Array,
    w: Array,
    product: Array,
    iterations: int,
    excess_risk: float = 0.0,
    excess_bound: float = float("inf"),
) -> Solution:
    """The solution w with its objective and optimality from the definition; ``product`` is Σ w."""
    scale = float(np.abs(mu).max(initial=0.0)) or 1.0
    return Solution(
        coef=w,
        objective=float(0.5 * w @ product - w @ mu + penalty.value(w)),
        optimality=penalty.distance_to_stationarity(product - mu, w) / scale,
        iterations=iterations,
        excess_risk=excess_risk,
        excess_bound=excess_bound,
        l1=penalty.l1,
        l2=penalty.l2,
    )
