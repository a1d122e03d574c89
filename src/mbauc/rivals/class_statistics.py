"""The means and covariances that OPAUC and AdaOAM keep of both classes, in full or sketched."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.rivals.blocks import Block
from mbauc.rivals.online import State, check_whole


def check_rank(rank: Any) -> None:
    """A number of columns of the sketch, or None for covariances in full."""
    if rank is not None:
        check_whole("rank", rank)


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
    return np.asarray(state.rng.standard_normal((block.order.size, rank)) / np.sqrt(max(rank, 1)))
