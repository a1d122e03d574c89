"""What it costs to solve for some rows, in time and memory: with Σ formed, and from products with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg.lapack import spotrf

from mbauc.rows.matrix import is_sparse
from mbauc.runtime.threads import single_threaded_blas
from mbauc.solvers.gram.solver import ALL_EIGENVALUES

#: Seconds on two cores for each of the things that the two ways do (docs/results/speed.md; only ratios matter).
_SPARSE_GRAM = 4.5e-10  # k² for a row of k entries
_DENSE_GRAM = 2e-11  # d² for a row of d columns
_MERGE = 5e-9  # d² for each block
_TOUCH = 1e-9  # d², first use of the memory of Σ and its factors
_FACTOR = 6e-12  # d³, for one l2
_EIGEN = 2e-10  # d³, for several l2
_COMPACT = 4e-9  # entries
_SPARSE_PRODUCT = 8e-10  # entries
_DENSE_PRODUCT = 3.5e-10  # numbers
#: Products for the first penalty.
_FIRST_PRODUCTS = 12
#: How many times as many for dense columns that may be correlated.
_CORRELATED = 4.0
#: Rows for each column that tell whether they are.
_ROWS_A_COLUMN = 2
#: Products for each further l2.
_FURTHER_PRODUCTS = 6
#: Products for each l1 > 0.
_LASSO_PRODUCTS = 60
#: Sigma, a copy and its factors; as multiples of 8 d² bytes.
_GRAM_COPIES = 3


def gram_bytes(columns: int) -> float:
    """Bytes to form and solve with Σ of ``columns`` columns."""
    return _GRAM_COPIES * 8.0 * columns**2


@dataclass(frozen=True)
class Workload:
    """What a fit is going to cost depends on this."""

    #: shape of the data
    rows: int
    columns: int
    #: stored values, and the sum over the rows of their squared numbers
    entries: float
    squares: float
    #: whether only values other than zero are stored
    sparse: bool
    #: blocks that the rows come in; their moments are added up
    blocks: float = 1.0
    #: the rows, where they are in memory
    X: Any = field(default=None, repr=False, compare=False)

    @classmethod
    def from_matrix(cls, X: Any, n_rows: int | None = None, *, in_blocks: bool = False) -> Workload:
        """Workload of a matrix, or of ``n_rows`` rows like its own, which may come in blocks of its size."""
        n, d = X.shape
        wanted = n if n_rows is None else n_rows
        blocks = max(wanted / max(n, 1), 1.0) if in_blocks else 1.0
        if not is_sparse(X):
            entries, seen = float(wanted) * d, None if in_blocks else X
            return cls(wanted, d, entries, entries * d, False, blocks, seen)
        share = wanted / max(n, 1)
        if X.format == "csr":
            lengths = np.diff(X.indptr)[:: max(1, n // 10_000)].astype(np.float64)
            squares = float((lengths**2).mean()) * n if lengths.size else 0.0
        else:
            squares = X.nnz**2 / max(n, 1)
        return cls(wanted, d, X.nnz * share, squares * share, True, blocks)

    @property
    def gram_bytes(self) -> float:
        """Memory to form and solve with Σ."""
        return gram_bytes(self.columns)

    def gram_seconds(self, n_l2: int, n_fits: int, given: bool = True) -> float:
        """Time to form Σ and to solve for ``n_l2`` values, given or to be chosen, in ``n_fits`` fits."""
        form = self.squares * (_SPARSE_GRAM if self.sparse else _DENSE_GRAM)
        form += (self.blocks - 1) * self.columns**2 * _MERGE
        cubic = _FACTOR if n_l2 == 1 and (given or self.columns > ALL_EIGENVALUES) else _EIGEN
        return form + n_fits * (self.columns**3 * cubic + self.columns**2 * _TOUCH)

    def product_seconds(self, n_l1: int, n_l2: int, n_fits: int, *, uncorrelated: bool = False) -> float:
        """Time to solve from products; of dense columns that are known to be uncorrelated it takes fewer."""
        products = n_fits * (_FIRST_PRODUCTS + _FURTHER_PRODUCTS * (n_l2 - 1) + _LASSO_PRODUCTS * n_l1 * n_l2)
        if self.sparse:
            return self.entries * (products * _SPARSE_PRODUCT + n_fits * _COMPACT)
        return self.entries * products * _DENSE_PRODUCT * (1.0 if uncorrelated else _CORRELATED)

    def is_uncorrelated(self) -> bool:
        """Whether the columns of dense rows in memory are nearly uncorrelated, by a sample of the rows.

        Products with Σ find a solution, and the best l2, in a few steps then. All eigenvalues of the sample's
        correlations have to be above a third of the smallest that uncorrelated columns would have in it, so
        that neither columns which repeat others nor combinations that hardly vary go unseen. ``O(d³)``.
        """
        if self.sparse or self.X is None or self.rows < _ROWS_A_COLUMN * self.columns:
            return False
        sample = self.X[:: self.X.shape[0] // (_ROWS_A_COLUMN * self.columns) or 1]
        sample = (sample - sample.mean(axis=0, dtype=np.float64)).astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->j", sample, sample))
        if not np.isfinite(lengths).all():
            return False
        sample /= np.where(lengths > 0, lengths, 1.0)
        smallest = (1.0 - np.sqrt(self.columns / sample.shape[0])) ** 2
        with single_threaded_blas():
            correlations = sample.T @ sample
            correlations[np.diag_indices_from(correlations)] = 1.0 - smallest / 3.0
            # symmetric: the transposed view is the same matrix in the order that LAPACK works on in place
            return bool(spotrf(correlations.T, overwrite_a=True, clean=False)[1] == 0)
