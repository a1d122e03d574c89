"""Blocks of a source as canonical sparse rows, checked, one block ahead."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.changed_input import BlockMark, content_crc
from mbauc.errors import NonFiniteError
from mbauc.labels import positive_rows
from mbauc.matrix import as_matrix, check_weights, is_sparse
from mbauc.scatter.sparse import all_ones, canonical_csr

if TYPE_CHECKING:
    from mbauc.data.block import Source


@dataclass(frozen=True)
class CheckedBlock:
    """Some rows that nothing is wrong with.

    Attributes
    ----------
    X : CSR array
        Sorted, without duplicates, finite, float64.
    groups : list of ndarrays
        Numbers of the positive and of the negative rows, without those of weight zero.
    weight : ndarray or None
    ones : bool
        Whether all values are one.
    mark : BlockMark
        Rows and checksum; the latter 0 if it was not asked for.
    """

    X: Any
    groups: list[NDArray[np.intp]]
    weight: NDArray[np.float64] | None
    ones: bool
    mark: BlockMark

    @property
    def positive(self) -> NDArray[np.bool_]:
        """Which rows are positive and have weight."""
        mask = np.zeros(self.X.shape[0], dtype=np.bool_)
        mask[self.groups[0]] = True
        return mask

    @property
    def nbytes(self) -> int:
        """Bytes that the rows take."""
        return int(self.X.data.nbytes + self.X.indices.nbytes + self.X.indptr.nbytes + 24 * self.X.shape[0])


def checked_blocks(source: Source, *, checksums: bool) -> Iterator[CheckedBlock]:
    """Read, check and sum up the next block in a thread of its own while the caller works on one."""
    from mbauc.data.ahead import one_ahead

    return one_ahead(_checked(source, checksums))


def _checked(source: Source, checksums: bool) -> Generator[CheckedBlock, None, None]:
    before = 0
    for number, block in enumerate(source, start=1):
        X = as_matrix(block.X)
        if X.shape[1] != source.n_features:
            raise ValueError(
                f"block {number:,} of the source has {X.shape[1]:,} columns; n_features says "
                f"{source.n_features:,}. All blocks must have the same columns."
            )
        if not X.shape[0]:
            continue
        X = canonical_csr(X if is_sparse(X) else sp.csr_array(X)).astype(np.float64, copy=False)
        try:
            ones = all_ones(X, 1)
        except NonFiniteError as error:
            raise NonFiniteError(before + error.row, error.column, error.value) from None
        positive = positive_rows(block.y, (0, 1))
        if positive.size != X.shape[0]:
            raise ValueError(
                f"block {number:,} of the source has {X.shape[0]:,} rows and {positive.size:,} labels; "
                "there must be one for each row."
            )
        weight = block.weight
        counted = np.ones(positive.size, dtype=np.bool_)
        if weight is not None:
            # a block of zeros is fine as long as others are not
            weight = np.asarray(weight, dtype=np.float64)
            weight = (
                check_weights(weight, X.shape[0]) if weight.any() or weight.shape != X.shape[:1] else weight
            )
            counted = np.asarray(weight) > 0
        groups = [np.flatnonzero(positive & counted), np.flatnonzero(~positive & counted)]
        crc = content_crc(X, positive, weight, ones) if checksums else 0
        before += X.shape[0]
        yield CheckedBlock(X, groups, weight, ones, BlockMark(X.shape[0], crc))
