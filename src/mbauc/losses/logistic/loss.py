"""The logistic loss log(1 + exp(-m))."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mbauc.losses.class_rows import ClassRows
from mbauc.losses.logistic.direct import DirectSums
from mbauc.losses.logistic.grid import FAR, STEP, GridSums, count_cells, ranges
from mbauc.losses.logistic.pair_sums import PairSums
from mbauc.losses.logistic.sweep import SweepSums
from mbauc.losses.pair_loss import PairLoss
from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]
#: Pairs a row up to which they are looked at one by one.
_FEW_PAIRS = 6
#: Steps of a grid that take the time in which a row is swept.
_STEPS_A_ROW = 150


class Logistic(PairLoss):
    """``log(1 + exp(-m))``, as in RankNet; ``O(n)`` for most scores, error below 1e-10."""

    name = "logistic"

    def of_margins(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(np.logaddexp(0.0, -m))

    def slopes(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(-expit(-m))

    def curvatures(self, m: Array) -> Array:
        """By definition."""
        return np.asarray(expit(m) * expit(-m))

    def expand(self, pairs: PairWeights, scores: Array) -> LogisticExpansion:
        """The loss around scores."""
        plus, minus = ClassRows.split(pairs, scores)
        return LogisticExpansion(list(choose_sums(plus, minus)), pairs.n_rows)


def choose_sums(plus: ClassRows, minus: ClassRows) -> Iterator[PairSums]:
    """The cheapest way for each group: pairs, a grid, or a sweep where the grid would have many cells."""
    rows = plus.sizes + minus.sizes
    few = plus.sizes * minus.sizes <= _FEW_PAIRS * rows
    if few.any():
        yield DirectSums(plus.take_groups(few), minus.take_groups(few))
    if few.all():
        return
    plus, minus, rows = plus.take_groups(~few), minus.take_groups(~few), rows[~few]
    lows, highs = ranges(plus, minus)
    cells = np.minimum(highs - lows, 1e15)
    cells = count_cells(cells)
    narrow = (cells <= rows) & (cells * np.minimum(cells, 2 * FAR / STEP) <= _STEPS_A_ROW * rows)
    for which, sums in ((narrow, GridSums), (~narrow, SweepSums)):
        if which.any():
            yield sums(plus.take_groups(which), minus.take_groups(which))


class LogisticExpansion:
    """The logistic loss around some scores."""

    def __init__(self, parts: list[PairSums], n_rows: int) -> None:
        self._parts, self._n_rows = parts, n_rows

    @cached_property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""
        return sum(part.value() for part in self._parts)

    @cached_property
    def gradient(self) -> Array:
        """Derivative by the score of each row."""
        rows = np.zeros(self._n_rows)
        for part in self._parts:
            up, down = part.slopes()
            rows[part.plus.rows] = np.multiply(np.negative(up, out=up), part.plus.weight, out=up)
            rows[part.minus.rows] = np.multiply(down, part.minus.weight, out=down)
        return rows

    @cached_property
    def _curvatures(self) -> list[tuple[Array, Array]]:
        """The diagonal of the Hessian before the weights of the rows, by part and class."""
        return [part.curvatures(part.plus.weight, part.minus.weight) for part in self._parts]

    @cached_property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian."""
        rows = np.zeros(self._n_rows)
        for part, (up, down) in zip(self._parts, self._curvatures, strict=True):
            rows[part.plus.rows] = part.plus.weight * up
            rows[part.minus.rows] = part.minus.weight * down
        return rows

    def product(self, v: Array) -> Array:
        """Hessian times v."""
        v, rows = np.asarray(v, dtype=np.float64), np.zeros(self._n_rows)
        for part, (up, down) in zip(self._parts, self._curvatures, strict=True):
            plus, minus = part.plus, part.minus
            high, low = v[plus.rows], v[minus.rows]
            # a common offset of a group cancels; the rest keeps its digits
            offset = high[plus.starts[:-1]]
            high -= plus.per_row(offset)
            low -= minus.per_row(offset)
            others = part.curvatures(plus.weight * high, minus.weight * low)
            for side, own, values, other in ((plus, up, high, others[0]), (minus, down, low, others[1])):
                values *= own
                values -= other
                values *= side.weight
                rows[side.rows] = values
        return rows
