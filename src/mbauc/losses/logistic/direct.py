"""The logistic loss of small groups: each pair is looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.class_rows import ClassRows, for_both

Array = NDArray[np.float64]


class DirectSums:
    """Sums over pairs, one by one; ``O(n₊ n₋)``, exact."""

    def __init__(self, plus: ClassRows, minus: ClassRows) -> None:
        self.plus, self.minus = plus, minus
        pairs = np.cumsum(plus.sizes * minus.sizes)
        half = int(np.searchsorted(pairs, pairs[-1] / 2))
        self._halves = (0, half), (half, pairs.size)

    def value(self) -> float:
        """``Σ a b log(1 + exp(-m))``."""
        from mbauc.losses.logistic.pair_kernels import add_values

        return float(sum(self._run(add_values, self.plus.weight, self.minus.weight)))

    def slopes(self) -> tuple[Array, Array]:
        """``Σ b σ(-m)`` of each positive row and ``Σ a σ(-m)`` of each negative one."""
        from mbauc.losses.logistic.pair_kernels import add_slopes

        return self._sum(add_slopes, self.plus.weight, self.minus.weight)

    def curvatures(self, up: Array, down: Array) -> tuple[Array, Array]:
        """``Σ down σ'(m)`` of each positive row and ``Σ up σ'(m)`` of each negative one."""
        from mbauc.losses.logistic.pair_kernels import add_curvatures

        return self._sum(add_curvatures, up, down)

    def _sum(self, loop: Callable[..., Any], up: Array, down: Array) -> tuple[Array, Array]:
        found = np.zeros_like(up), np.zeros_like(down)
        self._run(loop, up, down, *found)
        return found

    def _run(self, loop: Callable[..., Any], up: Array, down: Array, *found: Array) -> tuple[Any, Any]:
        plus, minus = self.plus, self.minus
        rows = plus.scores, up, plus.starts, minus.scores, down, minus.starts
        return for_both(lambda groups: loop(*rows, *groups, *found), *self._halves, up.size + down.size)
