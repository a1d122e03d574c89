"""Some rows of a source, by their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.rows.matrix import is_sparse
from mbauc.rows.source import Source


def take_rows(source: Source, numbers: ArrayLike) -> NDArray[np.float64]:
    """Rows of a source as a dense matrix, by their numbers from 0 on in rising order; one pass.

    Memory: the rows, and a block.

    Raises
    ------
    ValueError
        If the source has fewer rows.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.rows.taken import take_rows
    >>> class Two:
    ...     n_features, classes = 1, (0, 1)
    ...
    ...     def __iter__(self):
    ...         yield np.array([[1.0], [2.0]]), np.array([0, 1])
    ...         yield np.array([[3.0], [4.0]]), np.array([0, 1])
    >>> take_rows(Two(), [1, 2]).ravel()
    array([2., 3.])
    """
    wanted = np.asarray(numbers, dtype=np.int64)
    parts: list[Any] = [np.empty((0, source.n_features))]
    start = taken = 0
    for block in source:
        X = block[0]
        stop = start + int(X.shape[0])
        first, last = np.searchsorted(wanted, [start, stop])
        if last > first:
            own = X[wanted[first:last] - start]
            parts.append(np.asarray(own.toarray() if is_sparse(own) else own, dtype=np.float64))
            taken += int(last - first)
        start = stop
        if taken == wanted.size:
            break
    if taken < wanted.size:
        raise ValueError(f"numbers must be below {start:,}, the number of rows, got {int(wanted[-1]):,}.")
    return np.concatenate(parts)
