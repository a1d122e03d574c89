"""Sums of both classes while rows are being added, block by block and part by part."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.moment_sums import MomentSums
from mbauc.pairs.scatter.counted import CountedScatters
from mbauc.pairs.scatter.sparse import all_ones
from mbauc.rows.block import Block
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.runtime.progress import Advance, silent


class RunningSums:
    """Accumulates rows to the sums that moments of all their pairs are made of.

    Sparse rows of ones without weights are counted, exactly, and centred once at the end; from the first block
    of other rows on, blocks are merged one by one.

    Memory: one d×d matrix, and while rows are added one more, or a tenth of one where they are counted.

    Parameters
    ----------
    n_features : int
        Number of columns.
    n_threads : int, default=1
        Threads to use.
    advance : callable
        Called with the number of rows completed.
    """

    def __init__(self, n_features: int, n_threads: int = 1, advance: Advance = silent) -> None:
        self._n_features, self._n_threads, self._advance = n_features, n_threads, advance
        # rows are in one of the two
        self._counted: CountedScatters | None = None
        self._sums: MomentSums | None = None

    @classmethod
    def resume_counts(cls, counted: CountedScatters, n_threads: int = 1) -> Self:
        """Start from counts, which are taken over."""
        result = cls(counted.packed.n_features, n_threads)
        result._counted = counted
        return result

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows so far, (positives, negatives)."""
        if self._counted is not None:
            return self._counted.n_rows[0], self._counted.n_rows[1]
        return (0, 0) if self._sums is None else self._sums.counts

    def add(self, block: Block, subset: NDArray[np.intp] | None = None) -> Self:
        """Add the rows of a block, all or some of them."""
        X = _rows_of_ones(block, self._n_threads) if self._sums is None else None
        if X is None:
            return self.add_sums(
                MomentSums(ClassMoments.from_block(block, self._n_threads, subset, self._advance))
            )
        if self._counted is None:
            self._counted = CountedScatters.empty(self._n_features)
        strata = block.rows_of(True, subset), block.rows_of(False, subset)
        self._counted.add(X, strata, self._n_threads)
        self._advance(sum(index.size for index in strata))
        return self

    def add_sums(self, sums: MomentSums) -> Self:
        """Add the rows behind sums, which stay as they are if nobody may change them."""
        own = self.settle()
        if own is None:
            self._sums = sums
        else:
            if not own.classes.packed.buffer.flags.writeable:  # somebody else holds it
                own = own.copy()
            self._sums = own.merge(sums)
        return self

    def merge(self, other: RunningSums) -> Self:
        """Add the rows of another, which is not to be used any more."""
        if not any(other.counts):
            return self
        if not any(self.counts):
            self._counted, self._sums = other._counted, other._sums
        elif self._counted is not None and other._counted is not None:
            self._counted.merge(other._counted, self._n_threads)
        else:
            theirs = other.settle()
            if theirs is not None:
                self.add_sums(theirs)
        return self

    def flush(self) -> Self:
        """Count the rows that wait for others, where rows are counted."""
        if self._counted is not None:
            self._counted.flush(self._n_threads)
        return self

    def peek(self) -> MomentSums | CountedScatters:
        """The sums so far, which change with the next rows: to be saved at once."""
        if self._counted is not None:
            self.flush()
            return self._counted
        return MomentSums(ClassMoments.empty(self._n_features)) if self._sums is None else self._sums

    def settle(self) -> MomentSums | None:
        """The sums around the means, which counts are turned into; None while no rows were added."""
        if self._counted is not None:
            (plus, minus), packed = self._counted.finish(self._n_threads)
            self._counted, self._sums = None, MomentSums(ClassMoments(plus, minus, packed))
        return self._sums


def _rows_of_ones(block: Block, n_threads: int) -> Any:
    """The rows as a canonical CSR matrix, if they are sparse, all ones and without weights; else None."""
    if block.weight is not None or not is_sparse(block.X):
        return None
    X = canonical_csr(block.X)
    return X if all_ones(X, n_threads) else None
