"""The largest of what is added up to scores, row by row."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.rows.matrix import is_sparse

Array = NDArray[np.float64]


class LargestTerms(NamedTuple):
    """Some of what is added to the scores of rows: row by row, the largest first."""

    #: Rows, ascending; as often as they have terms here.
    rows: NDArray[np.intp]
    #: Columns of what was added.
    places: NDArray[np.intp]
    #: What these add.
    amounts: Array
    #: For each row how many add something, here or not.
    counts: NDArray[np.intp]


def find_largest(added: Any, n: int, *, upwards: bool = False) -> LargestTerms:
    """The ``n`` largest entries of each row, zeros left out; of equal ones the first.

    ``O(n · entries)`` time for dense rows, ``O(entries · log entries)`` for sparse ones.

    Parameters
    ----------
    added : ndarray or CSR matrix of shape (rows, terms)
        What each term adds to the score of each row.
    n : int
        Entries of each row, at most.
    upwards : bool, default=False
        Whether only entries above 0 count; by default the largest by size.

    Examples
    --------
    >>> import numpy as np
    >>> found = find_largest(np.array([[1.0, -3.0, 2.0], [0.0, -1.0, 0.5]]), 2, upwards=True)
    >>> found.rows.tolist(), found.places.tolist(), found.amounts.tolist()
    ([0, 0, 1], [2, 0, 2], [2.0, 1.0, 0.5])
    """
    if is_sparse(added):
        return _largest_of_sparse(added, n, upwards)
    sizes = np.maximum(added, 0.0) if upwards else np.abs(added)
    counts, every = np.count_nonzero(sizes, axis=1), np.arange(added.shape[0])
    rounds = []
    for _ in range(min(n, int(counts.max(initial=0)))):
        place = sizes.argmax(axis=1)
        rounds.append(np.where(sizes[every, place] > 0.0, place, -1))
        sizes[every, place] = 0.0
    chosen = np.stack(rounds, axis=1) if rounds else np.empty((added.shape[0], 0), dtype=np.intp)
    rows, ranks = np.nonzero(chosen >= 0)
    places = chosen[rows, ranks]
    return LargestTerms(rows, places, added[rows, places], counts)


def _largest_of_sparse(added: Any, n: int, upwards: bool) -> LargestTerms:
    added = added.tocsr()
    rows = np.repeat(np.arange(added.shape[0]), np.diff(added.indptr))
    used = np.flatnonzero(added.data > 0.0 if upwards else added.data)
    rows, places, amounts = rows[used], added.indices[used].astype(np.intp), added.data[used]
    order = np.lexsort((places, -np.abs(amounts), rows))
    counts = np.bincount(rows, minlength=added.shape[0])
    rank = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    order = order[rank < n]
    return LargestTerms(rows[order], places[order], amounts[order], counts)
