"""What samples of pairs really do, beside what the bound promises."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbauc.pairs.moments import PairMoments
from mbauc.pairs.sampling import draw_moments
from mbauc.rows.block import Block
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.progress import progress
from mbauc.runtime.seeds import generator

#: Numbers of pairs to try, as far as there are as many.
_SIZES = (1_000, 10_000, 100_000)
#: Multiplications that all draws together may take: five to ten seconds on two cores.
_WORK = 6e10
#: What reading and subtracting a pair costs beside them, in multiplications: dense rows, sparse rows.
_PER_PAIR = 2e3, 3e4
#: Numbers in the rows of a round.
_ROUND = 1 << 21


@dataclass(frozen=True)
class Measured:
    """Measured distance of the weights of S sampled pairs from those of all pairs.

    Attributes
    ----------
    pairs, draws : int
        Number S of pairs, and number of repetitions.
    median, largest : float
        Median and maximum of ‖w_S - w_N‖ over the draws (of L_N(w_S) - L_N(w_N) in a plan for epsilon).
    guaranteed : float
        Guaranteed bound for S pairs.
    """

    pairs: int
    draws: int
    median: float
    largest: float
    guaranteed: float


def sizes_to_try(block: Block, n_pairs: int, draws: int) -> list[int]:
    """Numbers of pairs below N that are drawn and solved in a bearable time."""
    n, d = block.X.shape
    sparse = is_sparse(block.X)
    entries = block.X.nnz / max(1, n) if sparse else d
    sizes: list[int] = []
    work = 0.0
    for size in _SIZES:
        # three scatters (of both classes and of the differences), each a d×d matrix a round, and a solution
        rounds = 1 + size // _round(d)
        work += draws * (size * (3 * entries**2 + _PER_PAIR[sparse]) + 3 * rounds * d**2 + d**3)
        if size < n_pairs and work <= _WORK:
            sizes.append(size)
    return sizes


def measure_draws(
    block: Block,
    sizes: Sequence[int],
    draws: int,
    error: Callable[[PairMoments], float],
    guaranteed: Callable[[int], float],
    random_state: Any,
    n_threads: int,
    *,
    verbose: bool = False,
) -> tuple[Measured, ...]:
    """Errors of the weights of matched pairs (Eq. 18), drawn ``draws`` times for each size.

    ``O(draws · (S d² + d³))`` for each S, memory for a few moments and two rounds of 16 MB.

    Parameters
    ----------
    block : Block
        To draw from.
    sizes : sequence of int
        Numbers of pairs.
    draws : int
        Repetitions.
    error : callable
        From moments of drawn pairs to the error of their weights.
    guaranteed : callable
        From S to the promised error.
    random_state, n_threads, verbose
        As for :func:`mbauc.sample_pairs`.
    """
    seeds = generator(random_state).spawn(len(sizes) * draws)
    batch_size = _round(block.X.shape[1])
    results = []
    with progress(draws * sum(sizes), "measuring samples", unit="pair", show=verbose) as advance:
        for k, size in enumerate(sizes):
            errors = []
            for seed in seeds[k * draws : (k + 1) * draws]:
                errors.append(error(draw_moments(block, size, batch_size, "matched", seed, n_threads)))
                advance(size)
            results.append(
                Measured(size, draws, float(np.median(errors)), float(np.max(errors)), guaranteed(size))
            )
    return tuple(results)


def _round(d: int) -> int:
    return max(1024, _ROUND // d)
