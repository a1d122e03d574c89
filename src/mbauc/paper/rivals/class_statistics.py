"""The means and covariances that OPAUC and AdaOAM keep of both classes, in full or sketched."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.checks import check_whole
from mbauc.paper.rivals.blocks import Block, Table
from mbauc.paper.rivals.online import OnlineRanker, State, bounded_rows, check_unchanged, halfway

#: Random numbers drawn for a block.
_DRAWS = 1 << 19


class StatisticsRanker(OnlineRanker):
    """What OPAUC and AdaOAM do alike: their settings ``rank`` and ``centred``, and what follows from means."""

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.rank is not None:
            check_whole("rank", self.rank)

    def _check_stream(self, state: State) -> None:
        check_unchanged("rank", self.rank, None if state.sketches is None else state.sketches.shape[2])

    def _rows_a_block(self, table: Table) -> int:
        d, rank = table.n_features, self.rank
        rows = bounded_rows(table, 3.0 * d * d if rank is None else 5.0 * d * rank)
        return max(1, min(rows, _DRAWS // int(rank or 1)))

    def _weights(self, state: State) -> tuple[NDArray[np.float64], float]:
        return state.w, halfway(state.w, state.means)


def empty_statistics(n_features: int, rank: int | None) -> dict[str, NDArray[np.float64] | None]:
    """Statistics of no rows; the first axis is the class, positive second.

    Raises
    ------
    MemoryError
        If two d×d matrices do not fit.
    """
    common = {"counts": np.zeros(2), "means": np.zeros((2, n_features)), "spreads": np.zeros(2)}
    if rank is not None:
        sketches = np.zeros((2, n_features, int(rank)))
        return {**common, "scatters": None, "sketches": sketches, "projected": np.zeros((2, int(rank)))}
    try:
        scatters = np.zeros((2, n_features, n_features))
    except MemoryError:
        raise MemoryError(
            f"two covariances of {n_features:,} columns take {16 * n_features**2 / 2**30:,.0f} GiB; "
            "set rank (50, say) to keep low-rank sketches instead."
        ) from None
    return {**common, "scatters": scatters, "sketches": None, "projected": None}


def statistics_of(state: State) -> tuple[Any, ...]:
    """The statistics in the order that the compiled loops take them."""
    return (
        state.counts,
        state.means,
        state.spreads,
        state.scatters,
        state.sketches,
        state.projected,
    )


def draws_of(state: State, block: Block, first_pass: bool) -> NDArray[np.float64]:
    """The random r of each row of a block; empty ones where nothing is sketched."""
    rank = 0 if state.sketches is None or not first_pass else state.sketches.shape[2]
    draws: NDArray[np.float64] = state.rng.standard_normal((block.order.size, rank))
    draws /= np.sqrt(max(rank, 1))
    return draws
