"""Any loss over pairs one by one: O(n₊ n₋) time, for small groups and for losses without a faster way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]
#: Pairs that are looked at together.
_BLOCK = 1 << 22


class PairByPair:
    """A loss around some scores, with each pair looked at."""

    def __init__(self, loss: PairLoss, pairs: PairWeights, scores: Array) -> None:
        self._loss, self._pairs = loss, pairs
        self._high, self._low = pairs.split(scores)

    def _blocks(self) -> Iterator[tuple[slice, slice, Array, Array, Array]]:
        pairs = self._pairs
        for g in range(pairs.n_groups):
            minus = slice(*pairs.minus_starts[g : g + 2])
            low, b = self._low[minus], pairs.minus_weight[minus]
            step = max(1, _BLOCK // low.size)
            for start in range(pairs.plus_starts[g], pairs.plus_starts[g + 1], step):
                plus = slice(start, min(start + step, pairs.plus_starts[g + 1]))
                yield plus, minus, pairs.plus_weight[plus], b, self._high[plus, None] - low[None, :]

    @cached_property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        return float(sum(a @ self._loss.of_margins(m) @ b for _, _, a, b, m in self._blocks()))

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        return self._sum(self._loss.slopes, -1.0)

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        return self._sum(self._loss.curvatures, 1.0)

    def _sum(self, kernel: Callable[[Array], Array], sign: float) -> Array:
        high, low = np.zeros(self._high.size), np.zeros(self._low.size)
        for plus, minus, a, b, m in self._blocks():
            k = kernel(m)
            high[plus] += a * (k @ b)
            low[minus] += sign * b * (a @ k)
        return self._pairs.scatter(high, low)

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        high, low = np.zeros(self._high.size), np.zeros(self._low.size)
        v = np.asarray(v, dtype=np.float64)
        vh, vl = v[self._pairs.plus], v[self._pairs.minus]
        for plus, minus, a, b, m in self._blocks():
            k = self._loss.curvatures(m)
            k *= vh[plus, None] - vl[None, minus]
            high[plus] += a * (k @ b)
            low[minus] -= b * (a @ k)
        return self._pairs.scatter(high, low)
