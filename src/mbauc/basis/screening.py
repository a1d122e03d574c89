"""Which interactions are worth fitting: what each would explain of what curves have left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.smoothing import coarse_functions
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Screened:
    """Pairs of columns, the most promising first, and what each is estimated to gain."""

    pairs: list[tuple[int, int]]
    gains: Array


def screen_pairs(
    features: FeatureMap,
    codes: NDArray[np.int32],
    residual: Array,
    totals: list[Array],
    *,
    noise: float,
    penalty: float,
    functions: int = 6,
    columns: Sequence[int] | None = None,
    n_jobs: int | None = 1,
) -> Screened:
    """Rank all pairs of columns by what their interaction would gain.

    With z the coordinates of an interaction, its share of the gradient of the pairwise squared loss at the
    weights of the curves is g = Σ rᵢ zᵢ. Taken alone, with coordinates that are uncorrelated and of variance 1,
    it lowers the loss by Σ gₖ²/(1 + pₖ), of which noise alone would give Σ ν/(1 + pₖ). The difference is its
    gain.
    One sum over the rows for each pair: ``O(n d²/2)`` time, ``O(cells)`` memory.

    Parameters
    ----------
    features : FeatureMap
        Columns with their coarse groups.
    codes : ndarray of shape (n, d)
        Indicators of the rows.
    residual : ndarray of shape (n,)
        r: minus the derivative of the loss by the score of each row.
    totals : list of ndarray
        Weight of each indicator of each column.
    noise : float
        ν, the variance of each gₖ if there is no interaction: 1/n₊ + 1/n₋.
    penalty : float
        Penalty of a coordinate of roughness 1.
    functions : int
        Coordinates of each of the two columns, at most.
    columns : sequence of int, optional
        Columns to pair; by default all.
    n_jobs : int, optional
        Threads.
    """
    from mbauc.basis import kernels

    chosen = range(features.n_columns) if columns is None else columns
    basis = {j: coarse_functions(features, j, totals[j], functions) for j in chosen}
    varying = [j for j in chosen if basis[j][1].size]
    pairs = np.array(list(combinations(range(len(varying)), 2)), dtype=np.int64).reshape(-1, 2)
    sizes = np.array([basis[j][0].shape for j in varying], dtype=np.int64).reshape(-1, 2)
    tables = np.zeros((len(varying), *sizes.max(axis=0, initial=1)))
    rough = np.zeros((len(varying), tables.shape[2]))
    groups = np.empty((len(varying), codes.shape[0]), dtype=np.uint8)
    for k, j in enumerate(varying):
        (height, width), (values, costs) = sizes[k], basis[j]
        tables[k, :height, :width], rough[k, :width] = values, costs
        groups[k] = features.coarse[j].astype(np.uint8)[codes[:, j]]
    gains = np.empty(len(pairs))
    threads = thread_count(n_jobs)

    def screen(part: NDArray[np.intp]) -> None:
        own = np.empty(part.size)
        kernels.screen(groups, residual, tables, rough, sizes, pairs[part], noise, penalty, own)
        gains[part] = own

    run_threads(screen, np.array_split(np.arange(len(pairs)), threads), threads)
    order = np.argsort(-gains, kind="stable")
    found = [(varying[a], varying[b]) for a, b in pairs[order].tolist()]
    return Screened(found, gains[order])
