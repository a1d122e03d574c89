"""Pairs as products, from rows that are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.compact.collector import Collector
from mbauc.pairs.compact.sparse_block import SparseBlock
from mbauc.pairs.operator.dense import DensePairOperator
from mbauc.pairs.operator.sparse import SparsePairOperator
from mbauc.pairs.scatter.sparse import all_ones, find_shift
from mbauc.rows.matrix import canonical_csr, is_sparse

Array = NDArray[np.float64]


def build_matrix_operator(
    X: Any,
    strata: list[NDArray[np.intp]],
    weight: Array | None,
    n_threads: int,
    groups: NDArray[np.uint64] | None = None,
) -> SparsePairOperator | DensePairOperator:
    """Pairs of the rows of a matrix as a linear operator.

    Dense rows are read where they are. Sparse rows are copied into a compact form of 2 or 4 bytes an entry, 4
    or 8 more where values are not all one, and 4 a row.

    Parameters
    ----------
    X : ndarray or CSR/CSC of shape (n, d)
        Checked rows.
    strata : list of index arrays
        Row numbers of each stratum: positives and negatives, or differences alone.
    weight : ndarray of shape (n,), optional
        Weight of each row.
    n_threads : int
        Threads to use, in this and in all products.
    groups : ndarray of shape (n,), optional
        Key of the group of each row, for :meth:`~mbauc.pairs.operator.pair_operator.PairOperator.row_labels`;
        Σ is over the pairs of all rows.
    """
    if not is_sparse(X):
        return DensePairOperator(X, strata, weight, n_threads, groups)
    block, collector = count_matrix(X, strata, weight, n_threads, groups)
    return SparsePairOperator(collector.compact(block), collector, n_threads)


def count_matrix(
    X: Any,
    strata: list[NDArray[np.intp]],
    weight: Array | None,
    n_threads: int,
    groups: NDArray[np.uint64] | None = None,
) -> tuple[SparseBlock, Collector]:
    """The rows of a sparse matrix, and a collector that has counted them and can make them compact."""
    X = canonical_csr(X)
    ones = all_ones(X, n_threads)
    shift = None if ones else find_shift(X, np.concatenate(strata))
    collector = Collector(X.shape[1], len(strata), n_threads, shift)
    block = SparseBlock(X, strata, weight, ones, groups)
    collector.count(block)
    collector.finish_counting()
    if not all(np.isfinite(collector.sums(stratum)[1]).all() for stratum in range(len(strata))):
        raise ValueError(
            f"X holds values as large as {np.abs(X.data).max():.3g}, whose squares overflow float64; "
            "rescale the features."
        )
    return block, collector
