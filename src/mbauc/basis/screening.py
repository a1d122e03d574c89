"""Which interactions are worth fitting: what each would explain of what curves have left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.feature_map import FeatureMap
from mbauc.basis.smoothing import coarse_functions
from mbauc.runtime.threads import run_threads, thread_count

Array = NDArray[np.float64]

#: Rows whose coordinates are held at a time.
_ROWS = 4_096


@dataclass(frozen=True, eq=False)
class Screened:
    """Pairs of columns, a row each and the most promising first, and what each is estimated to gain."""

    pairs: NDArray[np.int64]
    gains: Array


def screen_pairs(
    features: FeatureMap,
    codes: NDArray[np.int32],
    residual: Array,
    totals: list[Array],
    *,
    noise: float,
    penalty: float,
    functions: int,
    n_jobs: int | None,
) -> Screened:
    """Rank all pairs of columns by what their interaction would gain.

    With z the coordinates of an interaction, its share of the gradient of the pairwise squared loss at the
    weights of the curves is g = Σ rᵢ zᵢ. Taken alone, with coordinates that are uncorrelated and of variance 1,
    it lowers the loss by Σ gₖ²/(1 + pₖ), of which noise alone would give Σ ν/(1 + pₖ). The difference is its
    gain.
    With F the coordinates of all columns side by side, all g are in F' diag(r) F: ``O(n k² d²)`` time for k
    coordinates of each of d columns, ``O(k² d²)`` memory.

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
    n_jobs : int or None
        Threads.
    """
    basis = [coarse_functions(features, j, totals[j], functions) for j in range(features.n_columns)]
    varying = [j for j, (_, rough) in enumerate(basis) if rough.size]
    if len(varying) < 2:
        return Screened(np.zeros((0, 2), dtype=np.int64), np.zeros(0))
    # coordinates of each indicator, through its coarse group
    tables = [basis[j][0][features.coarse[j]] for j in varying]
    ends = np.cumsum([table.shape[1] for table in tables])
    starts, threads = np.append(0, ends[:-1]), thread_count(n_jobs)
    gradient = np.zeros((ends[-1], ends[-1]))
    parts = [own for own in np.array_split(np.arange(ends[-1]), threads) if own.size]
    for first in range(0, residual.size, _ROWS):
        rows = slice(first, first + _ROWS)
        F = np.hstack([table[codes[rows, j]] for table, j in zip(tables, varying, strict=True)])

        def add(own: NDArray[np.intp], F: Array = F, rows: slice = rows) -> None:
            columns = slice(int(own[0]), int(own[-1]) + 1)
            gradient[columns] += (F[:, columns] * residual[rows, None]).T @ F

        run_threads(add, parts, threads)
    rough = np.concatenate([basis[j][1] for j in varying])
    gains = (gradient**2 - noise) / (1.0 + penalty * np.add.outer(rough, rough))
    by_column = np.add.reduceat(np.add.reduceat(gains, starts, axis=0), starts, axis=1)
    pairs = np.stack(np.triu_indices(len(varying), 1), axis=1)
    found = by_column[pairs[:, 0], pairs[:, 1]]
    order = np.argsort(-found, kind="stable")
    return Screened(np.array(varying, dtype=np.int64)[pairs[order]], found[order])
