"""What the logistic loss needs of the pairs of some groups; there are several ways to it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.class_rows import ClassRows

Array = NDArray[np.float64]


class PairSums(Protocol):
    """Sums over the pairs, with the rows of both classes in an order of its own."""

    plus: ClassRows
    minus: ClassRows

    def value(self) -> float:
        """``Σ a b log(1 + exp(-m))``."""

    def slopes(self) -> tuple[Array, Array]:
        """``Σ b σ(-m)`` of each positive row and ``Σ a σ(-m)`` of each negative one."""

    def curvatures(self, up: Array, down: Array) -> tuple[Array, Array]:
        """``Σ down σ'(m)`` of each positive row and ``Σ up σ'(m)`` of each negative one."""
