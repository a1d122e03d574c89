"""The elastic net regulariser of Eq. (14), with a factor for each feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Penalty:
    """Elastic-net penalty ``Σⱼ fⱼ (l1 |wⱼ| + ½ l2 wⱼ²)``.

    Attributes
    ----------
    l1, l2 : float
        λ₁ and λ₂ of Eq. (14).
    factors : ndarray of shape (d,)
        Penalty factor of each feature; 0 leaves a feature unpenalised.
    """

    l1: float
    l2: float
    factors: Array

    def value(self, w: Array) -> float:
        """Value of the penalty at w."""
        return float(self.factors @ (self.l1 * np.abs(w) + 0.5 * self.l2 * w**2))

    def distance_to_stationarity(self, gradient: Array, w: Array) -> float:
        """Largest violation over the features of ``-gradient ∈ ∂ penalty(w)``; 0 at an optimum.

        ``gradient`` is that of the smooth part ½ w'Σw - w'μ.
        """
        pull = gradient + self.l2 * self.factors * w
        threshold = self.l1 * self.factors
        at_zero = np.maximum(np.abs(pull) - threshold, 0.0)
        off_zero = np.abs(pull + threshold * np.sign(w))
        return float(np.where(w == 0.0, at_zero, off_zero).max(initial=0.0))
