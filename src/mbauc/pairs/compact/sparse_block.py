"""A block of rows in the form that compact rows are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.pairs.scatter.sparse import all_ones
from mbauc.rows.block import Block
from mbauc.rows.matrix import canonical_csr, is_sparse


@dataclass(frozen=True)
class SparseBlock:
    """Canonical CSR rows of finite float64 values, their numbers by stratum, and whether all values are one."""

    X: Any
    strata: list[NDArray[np.intp]]
    weight: NDArray[np.float64] | None
    ones: bool
    #: key of the group of each row, if there are groups
    groups: NDArray[np.uint64] | None = None

    @classmethod
    def from_block(cls, block: Block) -> SparseBlock:
        """Positives and negatives of a block, without rows of weight zero; raises at a NaN or an infinity."""
        X = block.X if is_sparse(block.X) else sp.csr_array(np.asarray(block.X, dtype=np.float64))
        X = canonical_csr(X).astype(np.float64, copy=False)
        strata = [block.rows_of(True), block.rows_of(False)]
        return cls(X, strata, block.weight, all_ones(X, 1), block.groups)

    def restrict(self, subset: NDArray[np.intp]) -> SparseBlock:
        """The same block with some of its rows in the strata."""
        mask = np.zeros(self.X.shape[0], dtype=np.bool_)
        mask[subset] = True
        return replace(self, strata=[own[mask[own]] for own in self.strata])

    @property
    def n_entries(self) -> int:
        """Stored values of the rows in the strata."""
        lengths = np.diff(self.X.indptr)
        return int(sum(lengths[own].sum(dtype=np.int64) for own in self.strata))

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes + 24 * self.X.shape[0])
