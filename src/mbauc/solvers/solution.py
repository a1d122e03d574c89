"""What a solver returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.solvers.penalty import Penalty

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Solution:
    """Weights that minimise Eq. (14), with objective and optimality gap.

    Attributes
    ----------
    coef : ndarray of shape (d,)
        The weights w.
    objective : float
        ½ w'Σw - w'μ + penalty; of another loss, its mean over the pairs plus penalty.
    optimality : float
        Violation of the optimality conditions: maximum-norm distance of 0 to the subdifferential at w, divided
        by max|μ|. 0 at the exact minimiser, 1 at w = 0 without penalty.
    iterations : int
        Number of sweeps, or of products with Σ; 1 for a direct solver. For Newton's method, number of Hessian
        products and gradients.
    excess_risk : float
        Estimated optimality gap of the regularised pairwise risk 1 - 2w'μ + w'Σw + 2 penalty (for another loss,
        of twice the objective); the loss of AUC is about as large or smaller. 0 for a direct solver.
    excess_bound : float
        Guaranteed upper bound of the optimality gap; infinite if unknown.
    l1, l2 : float
        The penalties.
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
