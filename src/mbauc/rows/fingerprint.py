"""Whether the blocks of a source are still those that a checkpoint or a cache was made from."""

from __future__ import annotations

import json
import zlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CheckpointError
from mbauc.rows.matrix import is_sparse
from mbauc.rows.source import fingerprint_of
from mbauc.store.arrays import array_bytes
from mbauc.store.file_schema import Json, Nullable, Record

#: Schema of a source's fingerprint; null if it has none.
FINGERPRINT = Nullable(Record({}, others=Json()))


def content_crc(
    X: Any,
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
    ones: bool = False,
    groups: NDArray[np.uint64] | None = None,
) -> int:
    """CRC-32 of what a block says, however its arrays are laid out in memory.

    The same for 32 and 64 bit indices and for any integer dtype of labels. Dense and sparse blocks with the
    same numbers differ. ``O(entries)``: 1 to 5 ns an entry.

    Parameters
    ----------
    X : ndarray, or CSR matrix in canonical form
        Rows.
    y : ndarray of shape (n,)
        Labels 0 and 1.
    weight : ndarray of shape (n,), optional
        Row weights.
    ones : bool, default=False
        Whether X is sparse and known to hold ones only, which need not be looked at then.
    groups : ndarray of shape (n,), optional
        Keys of the groups.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.eye(2), np.array([0, 1])
    >>> content_crc(X, y, None) == content_crc(np.asfortranarray(X), y.astype(np.int8), None)
    True
    >>> content_crc(X, y, None) == content_crc(X, y, np.ones(2))
    False
    """
    crc = zlib.crc32(np.asarray(X.shape, dtype="<u8").tobytes())
    if is_sparse(X):
        entries = int(X.indptr[-1])
        columns = X.indices[:entries]
        short = columns.view(np.uint32) if columns.dtype == np.int32 else columns.astype(np.uint32)
        parts = [np.diff(X.indptr).astype(np.uint32), short]
        if not ones:
            parts.append(X.data[:entries].astype(np.float64, copy=False))
    else:
        parts = [np.asarray(X, dtype=np.float64)]
    parts.append(np.asarray(y).astype(np.uint8))
    if weight is not None:
        parts.append(np.asarray(weight, dtype=np.float64))
    if groups is not None:
        parts.append(groups)
    for part in parts:
        crc = zlib.crc32(array_bytes(part), crc)
    return crc


class BlockMark(NamedTuple):
    """What is remembered of a block: its rows and the CRC-32 of what it says."""

    rows: int
    crc: int


class EarlierBlocks:
    """The blocks of an earlier call, to compare with the blocks of this one.

    ``path`` is the file that holds their marks; ``apart`` says how the source's fingerprint differs.
    """

    def __init__(self, path: str, marks: list[BlockMark], apart: str) -> None:
        self._path, self.marks, self._apart = path, marks, apart

    def compare(self, number: int, mark: BlockMark) -> None:
        """Raise unless block ``number`` (from 0) is as it was."""
        if number >= len(self.marks):
            raise self._reject_change(f"block {number + 1:,} is new, the data has grown")
        if mark != self.marks[number]:
            first = sum(before.rows for before in self.marks[:number])
            raise self._reject_change(f"block {number + 1:,} (from row {first:,} on) has changed")

    def compare_length(self, blocks: int) -> None:
        """Raise if blocks are missing."""
        if blocks < len(self.marks):
            raise self._reject_change(f"it had at least {len(self.marks):,} blocks, now {blocks:,}")

    def _reject_change(self, how: str) -> CheckpointError:
        difference = f" The source: {self._apart}." if self._apart else ""
        return CheckpointError(
            f"the data is not what {self._path} was made from: {how}.{difference} "
            "Restore the data and the settings of the source, or delete the file to start with the new data."
        )


def fingerprint_as_json(source: Any) -> dict[str, Any] | None:
    """A source's fingerprint as JSON would give it back; None if it has none."""
    fingerprint = fingerprint_of(source)
    return None if fingerprint is None else dict(json.loads(json.dumps(fingerprint)))
