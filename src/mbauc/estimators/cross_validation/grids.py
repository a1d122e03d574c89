"""Penalties that cross-validation tries."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_number
from mbauc.errors import Advice, PenaltyWarning
from mbauc.runtime.warn import warn
from mbauc.solvers.leave_one_out import l2_grid

Array = NDArray[np.float64]

#: Default grid of l2, in units of the mean diagonal of Σ.
L2_GRID = np.logspace(-6, 3, 20)
#: Default grid of l1 where only their number is given, in units of max|μ|.
_L1_SMALLEST = 1e-3
#: A gain in score that makes a value beyond the edge of the grid worth a try.
_WORTH_MORE = 5e-3


def check_grids(l1_grid: Any, l2_grid: Any) -> None:
    """Raise for grids that hold no penalties."""
    if isinstance(l1_grid, int | np.integer) and not isinstance(l1_grid, bool):
        check_number("l1_grid", l1_grid, low=1)
    elif l1_grid is not None:
        read_values("l1_grid", l1_grid)
    if l2_grid is not None:
        read_values("l2_grid", l2_grid)


def count_l1(l1_grid: Any) -> int:
    """How many values of l1 other than zero are to be tried."""
    if isinstance(l1_grid, int | np.integer):
        return int(l1_grid)
    return 0 if l1_grid is None else int(np.count_nonzero(read_values("l1_grid", l1_grid)))


def are_chosen(l1_grid: Any, l2_grid: Any) -> bool:
    """Whether all values are ours to choose."""
    return l2_grid is None and (l1_grid is None or isinstance(l1_grid, int | np.integer))


class HasLargest(Protocol):
    """A problem that knows from which l1 on all weights are zero."""

    @property
    def largest_l1(self) -> float:
        """From here on all weights are zero."""


def list_l1(l1_grid: Any, problem: HasLargest) -> list[float]:
    """Values of l1 to try; a number of them begins at the largest, where all weights are zero."""
    if l1_grid is None:
        return [0.0]
    if isinstance(l1_grid, int | np.integer):
        return [0.0, *(problem.largest_l1 * np.geomspace(1.0, _L1_SMALLEST, int(l1_grid))[::-1])]
    return read_values("l1_grid", l1_grid)


def default_l2_grid(variances: Array, multiples: Array = L2_GRID) -> Array:
    """Multiples of the mean of the variances, and more of them if the smallest drowns the smallest variance."""
    mean = float(variances.mean()) or 1.0
    return l2_grid(mean, float(variances[variances > 0].min(initial=np.inf)), multiples)


def read_values(name: str, grid: Any) -> list[float]:
    """Values of a penalty as a list of numbers of at least 0."""
    try:
        values = np.asarray(grid, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a sequence of numbers, got {grid!r}.") from None
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} must be a sequence of at least one number, got {grid!r}.")
    return [check_number(f"each value of {name}", float(value), low=0.0) for value in values]


def warn_at_the_edge(l2: list[float], j: int, scores: Array) -> None:
    """Warn if the best l2 is the first or the last one tried, and better than its neighbour by 0.005 or more.

    ``scores`` belong to all values of l2, for the l1 that was chosen.
    """
    order = np.argsort(l2)
    place = int(np.flatnonzero(order == j)[0])
    if len(l2) < 3 or 0 < place < len(l2) - 1:
        return
    gain = scores[j] - scores[order[1 if place == 0 else -2]]
    if gain >= _WORTH_MORE:
        side, what = ("smallest", "smaller") if place == 0 else ("largest", "larger")
        warn(
            f"the best l2 is the {side} of the grid ({l2[j]:.3g}), {gain:.4f} better than the next: a {what} "
            "value may be better. "
            + Advice("Extend {l2_grid}" + (", or {scale}." if place == 0 else "."), scale=True),
            PenaltyWarning,
        )
