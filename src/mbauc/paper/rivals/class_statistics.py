"""The means and covariances that OPAUC and AdaOAM keep of both classes, in full or sketched."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mbauc.checks import check_whole
from mbauc.paper.rivals.blocks import RowBlock, Table
from mbauc.paper.rivals.online import Array, OnlineRanker, State, check_unchanged, halfway, limit_rows

#: Random numbers drawn for a block.
_DRAWS = 1 << 19


class Step(NamedTuple):
    """How long a step is, in the order of the compiled loop."""

    eta0: float
    auto: bool = False
    constant: bool = True
    delta: float = 0.0
    l1: float = 0.0


class StatisticsRanker(OnlineRanker):
    """What OPAUC and AdaOAM do alike: all but the step."""

    #: Whether each column has a rate of its own.
    _adaptive: bool

    def _step(self) -> Step:
        raise NotImplementedError

    def _start(self, n_features: int, rng: np.random.Generator) -> State:
        return State(
            rng=rng,
            w=np.zeros(n_features),
            clock=np.zeros(2),
            squares=np.zeros(n_features) if self._adaptive else None,
            **empty_statistics(n_features, self.rank),
        )

    def _learn(self, state: State, table: Table, block: RowBlock, first_pass: bool, loss: Array) -> int:
        from mbauc.paper.rivals.kernels.opauc import learn

        return int(
            learn(
                *block.arrays,
                block.order,
                block.positive,
                _draw_sketch(state, block, first_pass),
                state.w,
                state.clock,
                state.squares,
                *(state.counts, state.means, state.spreads),
                *(state.scatters, state.sketches, state.projected),
                *self._step(),
                float(self.l2),
                bool(self.centred),
                first_pass,
                loss,
            )
        )

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.rank is not None:
            check_whole("rank", self.rank)

    def _check_stream(self, state: State) -> None:
        check_unchanged("rank", self.rank, None if state.sketches is None else state.sketches.shape[2])

    def _rows_a_block(self, table: Table) -> int:
        d, rank = table.n_features, self.rank
        rows = limit_rows(table, 3.0 * d * d if rank is None else 5.0 * d * rank)
        return max(1, min(rows, _DRAWS // int(rank or 1)))

    def _weights(self, state: State) -> tuple[Array, float]:
        return state.w, halfway(state.w, state.means)


def empty_statistics(n_features: int, rank: int | None) -> dict[str, Array | None]:
    """Statistics of no rows; the first axis is the class, positive second. A MemoryError if they do not fit."""
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


def _draw_sketch(state: State, block: RowBlock, first_pass: bool) -> Array:
    """The random r of each row of a block; empty ones where nothing is sketched."""
    rank = 0 if state.sketches is None or not first_pass else state.sketches.shape[2]
    draws: Array = state.rng.standard_normal((block.order.size, rank))
    draws /= np.sqrt(max(rank, 1))
    return draws
