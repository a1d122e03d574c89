"""From rows to class scatters: the sum of ``w (x - m)(x - m)'`` over the rows of each class.

``packed`` holds both scatters in the space of one matrix, ``dense`` and ``sparse`` fill it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.scatter.dense import OWN_SCATTER_COLUMNS, dense_class_scatter
from mbauc.pairs.scatter.packed import PackedScatters
from mbauc.pairs.scatter.sparse import all_ones, sparse_class_scatter
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.runtime.progress import Advance, silent
from mbauc.runtime.threads import single_threaded_blas

__all__ = ["PackedScatters", "WeightedMean", "class_scatters"]


def class_scatters(
    X: Any,
    strata: tuple[NDArray[np.intp], NDArray[np.intp]],
    weight: NDArray[np.float64] | None,
    n_threads: int,
    advance: Advance = silent,
) -> tuple[tuple[WeightedMean, WeightedMean], PackedScatters]:
    """Weight, mean and scatter of the rows of each class.

    Parameters
    ----------
    X : ndarray or CSR/CSC of shape (n, d)
        Any real dtype and layout; read in blocks, never copied whole.
    strata : pair of index arrays
        Row numbers of the positives and of the negatives; a row may appear more than once.
    weight : ndarray of shape (n,), optional
        Weight of each row of X; ones if absent.
    n_threads : int
        Threads to use.
    advance : callable
        Called with the number of rows completed.

    Returns
    -------
    sums : (WeightedMean of the positives, WeightedMean of the negatives)
    packed : PackedScatters

    Raises
    ------
    NonFiniteError
        At the first NaN or infinity among the rows.
    """
    packed = PackedScatters.zeros(X.shape[1])
    fill: Callable[..., WeightedMean] = dense_class_scatter
    if is_sparse(X):
        X = canonical_csr(X)
        fill = partial(sparse_class_scatter, ones=all_ones(X, n_threads))
    # threads of BLAS would keep spinning for a while after each call and take the cores from ours
    quiet = single_threaded_blas() if X.shape[1] <= OWN_SCATTER_COLUMNS else nullcontext()
    with quiet:
        sums = [
            fill(
                X, class_rows, None if weight is None else weight[class_rows], packed, side, n_threads, advance
            )
            for class_rows, side in zip(strata, packed.sides, strict=True)
        ]
    return (sums[0], sums[1]), packed
