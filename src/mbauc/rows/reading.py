"""Blocks of a source as canonical sparse rows, checked, one block ahead."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.errors import NonFiniteError
from mbauc.pairs.scatter.sparse import all_ones, canonical_csr
from mbauc.rows.fingerprint import BlockMark, content_crc
from mbauc.rows.labels import positive_rows
from mbauc.rows.matrix import as_matrix, check_weights, is_sparse

if TYPE_CHECKING:
    from mbauc.rows.source import Source


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


class BlockRows(NamedTuple):
    """A block whose form, labels and weights nothing is wrong with; its values have not been looked at.

    Attributes
    ----------
    first : int
        Rows of the source before it.
    X : ndarray or CSR
        Dense as it came, or sorted and without duplicates; no row at all is fine.
    positive : ndarray of bool
    weight : ndarray or None
        May be zero for all rows.
    """

    first: int
    X: Any
    positive: NDArray[np.bool_]
    weight: NDArray[np.float64] | None

    def placed(self, error: NonFiniteError) -> NonFiniteError:
        """The same error about a row of the block as one about a row of the source."""
        return NonFiniteError(self.first + error.row, error.column, error.value)


def read_blocks(source: Source) -> Generator[BlockRows, None, None]:
    """The blocks of a source one by one; what is wrong with one is said with its number, from 1.

    What every way to read a source has in common. ``O(entries)``; only sparse rows out of order are copied.
    """
    first = 0
    for number, block in enumerate(source, start=1):
        name = f"block {number:,} of the source"
        if not isinstance(block, tuple | list) or len(block) not in (2, 3):
            raise ValueError(f"{name} must be (X, y) or (X, y, weight), got {type(block).__name__}.")
        X, y, weight = (*block, None)[:3]
        try:
            X = as_matrix(X)
            n, n_labels = X.shape[0], np.size(y)
            if X.shape[1] == source.n_features and n_labels == n:
                positive = positive_rows(y, (0, 1)) if n else np.zeros(0, dtype=np.bool_)
                weight = _checked_weights(weight, n)
        except ValueError as error:
            raise ValueError(f"{name} (from row {first:,} on): {error}") from error
        if X.shape[1] != source.n_features:
            raise ValueError(
                f"{name} has {X.shape[1]:,} columns; n_features says {source.n_features:,}. "
                "All blocks must have the same columns."
            )
        if n_labels != n:
            raise ValueError(f"{name} has {n:,} rows and {n_labels:,} labels; there must be one for each row.")
        yield BlockRows(first, canonical_csr(X) if is_sparse(X) else X, positive, weight)
        first += n


def _checked_weights(weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """As :func:`~mbauc.rows.matrix.check_weights`, but all zeros are fine as long as other blocks are not."""
    given = np.asarray(weight)
    if given.dtype.kind in "biuf" and given.shape == (n_rows,) and not given.any():
        return np.zeros(n_rows)
    return check_weights(weight, n_rows)


def checked_blocks(source: Source, *, checksums: bool) -> Iterator[CheckedBlock]:
    """Read, check and sum up the next block in a thread of its own while the caller works on one."""
    from mbauc.runtime.ahead import one_ahead

    return one_ahead(_checked(source, checksums))


def _checked(source: Source, checksums: bool) -> Generator[CheckedBlock, None, None]:
    for block in read_blocks(source):
        X, positive, weight = block.X, block.positive, block.weight
        if not X.shape[0]:
            continue
        X = canonical_csr(X if is_sparse(X) else sp.csr_array(X)).astype(np.float64, copy=False)
        try:
            ones = all_ones(X, 1)
        except NonFiniteError as error:
            raise block.placed(error) from None
        counted = np.ones(positive.size, dtype=np.bool_) if weight is None else weight > 0
        groups = [np.flatnonzero(positive & counted), np.flatnonzero(~positive & counted)]
        crc = content_crc(X, positive, weight, ones) if checksums else 0
        yield CheckedBlock(X, groups, weight, ones, BlockMark(X.shape[0], crc))
