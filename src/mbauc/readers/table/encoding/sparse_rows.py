"""Entries of all rows, feature by feature, as a CSR matrix."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from mbauc.runtime.threads import run_threads, thread_count

#: Rows from which on it is worth waking another thread.
_ROWS = 4_096


def key_type(n_features: int) -> type[np.signedinteger]:
    """Whole numbers that hold twice a column."""
    return np.int32 if n_features < 2**30 else np.int64


class CodedEntries(NamedTuple):
    """Entries ±1, at most one a row: a code for each row, and what each code stands for."""

    #: Name of the column of the table, or of a part of it.
    name: str
    #: One for each row.
    codes: NDArray[np.int32]
    #: For each code twice the column of its entry, plus one for -1; negative where there is no entry. The last
    #: one is that of the code -1.
    keys: NDArray[np.signedinteger]
    #: Texts of the codes.
    values: Any = ()


def gather_keys(
    entries: Sequence[CodedEntries], n_rows: int, kind: type[np.signedinteger]
) -> NDArray[np.signedinteger]:
    """The keys of all rows, one line for each column. ``O(n)`` time for each."""
    from mbauc.readers.table import kernels

    keys: NDArray[np.signedinteger] = np.empty((len(entries), n_rows), dtype=kind)
    for line, one in zip(keys, entries, strict=True):
        kernels.gather(one.codes, one.keys, line)
    return keys


def sparse_rows(
    keys: NDArray[np.signedinteger],
    numbers: NDArray[np.float64],
    number_columns: NDArray[np.int64],
    n_features: int,
    *,
    sort: bool,
) -> sp.csr_array:
    """The CSR matrix of entries ±1, given by keys, and of numbers in columns of their own.

    Rows are sorted by column and entries that meet are added, as by ``csr_array.sum_duplicates``: sums that are
    zero stay. ``O(n m²)`` time for up to 128 keys a row (with a small factor: eight are compared at once),
    ``O(n m log m)`` beyond; in threads.

    Parameters
    ----------
    keys : ndarray of shape (m, n)
        For each feature and row twice the column, plus one for -1; negative where there is no entry.
    numbers : ndarray of shape (k, n)
        Numeric features; zeros are no entries.
    number_columns : ndarray of shape (k,)
        Their columns, ascending and different from the columns of the keys.
    n_features : int
        Number of columns.
    sort : bool
        Whether the keys of a row may be out of order, or meet.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.table.encoding.sparse_rows import sparse_rows
    >>> keys = np.array([[2 * 4, 2 * 3], [2 * 2 + 1, -1], [2 * 4, 2 * 3 + 1]], dtype=np.int32)
    >>> X = sparse_rows(keys, np.array([[0.5, 0.0]]), np.array([0]), 5, sort=True)
    >>> X.toarray().tolist(), X.nnz
    ([[0.5, 0.0, -1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0, 0.0]], 4)
    """
    from mbauc.readers.table import kernels

    n = keys.shape[1]
    width = keys.shape[0] + numbers.shape[0]
    kind: Any = np.int32 if max(n_features, n * width) < 2**31 else np.int64
    columns, values = np.empty(n * width, dtype=kind), np.empty(n * width)
    ends = np.zeros(n + 1, dtype=kind)
    n_threads = min(thread_count(None), max(1, n // _ROWS))
    cuts = np.linspace(0, n, n_threads + 1).astype(np.int64).tolist()

    def write(span: tuple[int, int]) -> int:
        begin, stop = span
        room = slice(begin * width, stop * width)
        written = kernels.write_rows(
            keys, numbers, number_columns, sort, begin, stop, columns[room], values[room], ends[1:]
        )
        return int(written)

    written = run_threads(write, pairwise(cuts), n_threads)
    count = written[0]
    for begin, more in zip(cuts[1:], written[1:], strict=False):
        at = begin * width
        if at > count:  # entries that met or were zero leave gaps
            columns[count : count + more] = columns[at : at + more]
            values[count : count + more] = values[at : at + more]
        count += more
    np.cumsum(ends, dtype=kind, out=ends)
    X = sp.csr_array((values[:count], columns[:count], ends), shape=(n, n_features))
    X.has_sorted_indices = X.has_canonical_format = True
    return X
