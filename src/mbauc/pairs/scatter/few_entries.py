"""The sums of the compiled loops for few entries, by numpy and to the same bits.

Loading compiled loops takes a third of a second of each process, and compiling them some seconds of the first
one on a machine: more than a small fit takes by any means.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Entries of a chunk that the compiled loops leave to one thread: sums of more depend on the number of threads.
MOST_ENTRIES = 20_000
#: Products of one chunk, which take 20 MB, and of all chunks of a process together.
_MOST_PRODUCTS = 400_000
_ALLOWANCE = 4_000_000

_used = 0


def loops_are_dear(entries: int, lengths: NDArray[Any]) -> bool:
    """Whether loading the compiled loops would take longer than numpy for rows with so many entries each.

    Never where they have been loaded already. What is said yes to counts: a process that fits again and again
    loads them in the end.
    """
    global _used
    if entries >= MOST_ENTRIES or "mbauc.pairs.scatter.kernels" in sys.modules:
        return False
    products = int((lengths * (lengths + 1)).sum(dtype=np.int64)) // 2
    if products > min(_MOST_PRODUCTS, _ALLOWANCE - _used):
        return False
    _used += products
    return True


def look_at(data: NDArray[Any]) -> tuple[bool, bool]:
    """Whether all values are one, and whether all are finite."""
    ones = bool((data == 1).all())
    return ones, ones or bool(np.isfinite(data).all())


def places_of(indptr: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Where the entries of some rows are, one row after the other."""
    return _stretches(indptr[rows].astype(np.int64), (indptr[rows + 1] - indptr[rows]).astype(np.int64))


def add_products(
    X: Any,
    rows: NDArray[np.intp],
    root: NDArray[np.float64] | None,
    shift: NDArray[np.float64],
    square: NDArray[np.float64],
    lower: bool,
) -> NDArray[np.float64]:
    """Add the Gram matrix of some rows to the triangle; return the weighted sum of the rows.

    ``O(Σ k²)`` time and memory over rows with k entries. Products are added in the order of the rows, each to
    its cell, as by the compiled loops.
    """
    lengths = (X.indptr[rows + 1] - X.indptr[rows]).astype(np.int64)
    places = places_of(X.indptr, rows)
    columns = X.indices[places]
    begin = np.repeat(np.cumsum(lengths) - lengths, lengths)
    entry = np.arange(places.size)
    # an entry is multiplied by those up to and including it, or by those from it on
    first, count = (begin, entry - begin + 1) if lower else (entry, begin + np.repeat(lengths, lengths) - entry)
    one, other = np.repeat(entry, count), _stretches(first, count)
    cells = columns[one], columns[other]
    if root is None:
        np.add.at(square, cells, 1.0)
        return np.bincount(columns, minlength=X.shape[1]).astype(np.float64)
    root = np.repeat(root, lengths)
    values = (X.data[places] - shift[columns]) * root
    np.add.at(square, cells, values[one] * values[other])
    return np.asarray(np.bincount(columns, weights=values * root, minlength=X.shape[1]), dtype=np.float64)


def _stretches(starts: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from each start on, so many of each."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
