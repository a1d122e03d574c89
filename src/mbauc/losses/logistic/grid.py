"""The logistic loss of many scores: they are spread on a grid, where its kernels are applied.

Each function of the margin is replaced by polynomials of degree 7 through nodes ``STEP`` apart, in both
scores: the loss is smooth, with its nearest pole π away. Beyond ``FAR`` it is 0 or a straight line, up to
exp(-40).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray
from scipy.special import expit

from mbauc.losses.class_rows import ClassRows, for_both
from mbauc.losses.pair_weights import Index

Array = NDArray[np.float64]
#: Between nodes: a power of two, so that places are exact.
STEP = 1 / 16
#: Margins beyond which the loss is 0 or a straight line.
FAR = 40.0


class GridSums:
    """Sums over pairs by a grid of each group; ``O(n + grid)``, error about 1e-11."""

    def __init__(self, plus: ClassRows, minus: ClassRows) -> None:
        self.plus, self.minus = plus, minus
        self._lows, highs = ranges(plus, minus)
        self._cell_starts = np.append(0, np.cumsum(count_cells(highs - self._lows)))

    def value(self) -> float:
        """``Σ a b log(1 + exp(-m))``: all on the grid."""
        up, down = self._own_nodes
        return float(up @ self._convolve(down, _losses, linear=STEP))

    def slopes(self) -> tuple[Array, Array]:
        """``Σ b σ(-m)`` of each positive row and ``Σ a σ(-m)`` of each negative one."""
        return self._sum(*self._own_nodes, _slopes, far=1.0)

    def curvatures(self, up: Array, down: Array) -> tuple[Array, Array]:
        """``Σ down σ'(m)`` of each positive row and ``Σ up σ'(m)`` of each negative one."""
        return self._sum(*self._nodes(up, down), _curvatures)

    @cached_property
    def _own_nodes(self) -> tuple[Array, Array]:
        """The weights of the positives and of the negatives at the nodes."""
        return self._nodes(self.plus.weight, self.minus.weight)

    def _sum(
        self, up: Array, down: Array, kernel: Callable[[Array], Array], far: float = 0.0
    ) -> tuple[Array, Array]:
        above = self._convolve(down, kernel, far=far)
        below = self._convolve(up, kernel, far=far, forward=False)
        return for_both(
            lambda side: self._evaluate(*side), (self.plus, above), (self.minus, below), self._n_rows
        )

    @property
    def _n_rows(self) -> int:
        return self.plus.rows.size + self.minus.rows.size

    def _nodes(self, up: Array, down: Array) -> tuple[Array, Array]:
        return for_both(lambda side: self._spread(*side), (self.plus, up), (self.minus, down), self._n_rows)

    def _spread(self, side: ClassRows, weight: Array) -> Array:
        """What the weights of rows come to at the nodes."""
        from mbauc.losses.logistic.grid_kernels import NODES, spread, to_nodes

        cells = self._cell_starts
        sums = np.zeros((cells[-1], NODES))
        spread(side.scores, weight, side.starts, self._lows, cells, 1.0 / STEP, sums)
        nodes = np.zeros(cells[-1] + (NODES - 1) * (cells.size - 1))
        to_nodes(sums, cells, _powers().T.copy(), nodes)
        return nodes

    def _convolve(
        self,
        nodes: Array,
        kernel: Callable[[Array], Array],
        far: float = 0.0,
        linear: float = 0.0,
        forward: bool = True,
    ) -> Array:
        """Sums of a kernel at the nodes."""
        from mbauc.losses.logistic.grid_kernels import convolve

        found = np.zeros_like(nodes)
        convolve(nodes, self._cell_starts, _table(kernel, forward), far, linear, forward, found)
        return found

    def _evaluate(self, side: ClassRows, nodes: Array) -> Array:
        """Values at the rows, given those at the nodes."""
        from mbauc.losses.logistic.grid_kernels import NODES, evaluate, to_cells

        cells = np.empty((self._cell_starts[-1], NODES))
        to_cells(nodes, self._cell_starts, _powers(), cells)
        found = np.empty_like(side.scores)
        evaluate(side.scores, side.starts, self._lows, self._cell_starts, 1.0 / STEP, cells, found)
        return found


def ranges(plus: ClassRows, minus: ClassRows) -> tuple[Array, Array]:
    """The lowest and the highest score of each group."""
    starts = plus.starts[:-1], minus.starts[:-1]
    lows = np.minimum(np.minimum.reduceat(plus.scores, starts[0]), np.minimum.reduceat(minus.scores, starts[1]))
    highs = np.maximum(
        np.maximum.reduceat(plus.scores, starts[0]), np.maximum.reduceat(minus.scores, starts[1])
    )
    return lows, highs


def count_cells(width: Array) -> Index:
    """Cells of a grid over a range of scores."""
    return (width * (1.0 / STEP)).astype(np.intp) + 1


def _losses(m: Array) -> Array:
    return np.asarray(np.logaddexp(0.0, -m))


def _slopes(m: Array) -> Array:
    return np.asarray(expit(-m))


def _curvatures(m: Array) -> Array:
    return np.asarray(expit(m) * expit(-m))


@cache
def _table(kernel: Callable[[Array], Array], forward: bool) -> Array:
    """A kernel at all margins between nodes that are not far, rising or falling."""
    reach = round(FAR / STEP)
    margins = STEP * np.arange(-reach, reach + 1, dtype=np.float64)
    return kernel(margins if forward else -margins)


@cache
def _powers() -> Array:
    """Row p: coefficients of the polynomial that is 1 at node p of a cell and 0 at its others."""
    from mbauc.losses.logistic.grid_kernels import NODES

    places = np.arange(NODES) - (NODES - 1) / 2
    rows = []
    for place in places:
        others = Polynomial.fromroots(places[places != place])
        rows.append((others / others(place)).coef)
    return np.array(rows)
