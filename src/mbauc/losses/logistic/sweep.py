"""The logistic loss of scores that are spread widely: sums of exponentials over sorted scores.

With z = exp(-|m|) the loss is max(0, -m) + log(1 + z), and log(1 + z), z / (1 + z) and z / (1 + z)² are nearly
polynomials of z on [0, 1]: they have no pole nearer than -1. A power of z is exp(-k |m|), which factorises: its
sum over the sources on one side follows from row to row of the sorted scores.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

from mbauc.losses.class_rows import ClassRows, for_both

Array = NDArray[np.float64]


class SweepSums:
    """Sums over pairs by two sweeps; ``O(n log n)`` however the scores are spread, error about 1e-11."""

    def __init__(self, plus: ClassRows, minus: ClassRows) -> None:
        self.plus, self.minus = for_both(ClassRows.sort, plus, minus, plus.rows.size + minus.rows.size)

    def value(self) -> float:
        """``Σ a b log(1 + exp(-m))``."""
        up, _ = self._sweep(_log, self.plus.weight, self.minus.weight, linear=1.0)
        return float(self.plus.weight @ up)

    def slopes(self) -> tuple[Array, Array]:
        """``Σ b σ(-m)`` of each positive row and ``Σ a σ(-m)`` of each negative one."""
        return self._sweep(_logistic, self.plus.weight, self.minus.weight, far=1.0, turn=-1.0)

    def curvatures(self, up: Array, down: Array) -> tuple[Array, Array]:
        """``Σ down σ'(m)`` of each positive row and ``Σ up σ'(m)`` of each negative one."""
        return self._sweep(_bell, up, down)

    def _sweep(
        self,
        function: Callable[[Array], Array],
        up: Array,
        down: Array,
        far: float = 0.0,
        linear: float = 0.0,
        turn: float = 1.0,
    ) -> tuple[Array, Array]:
        from mbauc.losses.logistic.sweep_kernels import sweep

        plus, minus = self.plus, self.minus
        rows = plus.scores, up, plus.starts, minus.scores, down, minus.starts

        def run(rising: bool) -> tuple[Array, Array]:
            found = np.zeros_like(up), np.zeros_like(down)
            sweep(*rows, _terms(function), far, linear, turn, rising, *found)
            return found

        one, other = for_both(run, True, False, up.size + down.size)
        return one[0] + other[0], one[1] + other[1]


def _log(z: Array) -> Array:
    """The loss of a positive margin."""
    return np.asarray(np.log1p(z))


def _logistic(z: Array) -> Array:
    """Its slope, falling."""
    return z / (1.0 + z)


def _bell(z: Array) -> Array:
    """Its curvature."""
    return z / (1.0 + z) ** 2


@cache
def _terms(function: Callable[[Array], Array]) -> Array:
    """Coefficients of z, z², ... that give the function on [0, 1]."""
    from mbauc.losses.logistic.sweep_kernels import TERMS

    fit = Chebyshev.interpolate(lambda z: function(z) / z, TERMS - 1, domain=(0.0, 1.0))
    return np.asarray(fit.convert(kind=Polynomial, domain=(-1.0, 1.0)).coef)
