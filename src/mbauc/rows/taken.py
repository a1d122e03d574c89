"""Some rows of a source, by their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.rows.matrix import as_dense
from mbauc.rows.source import Source, unpack_block


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
            parts.append(as_dense(X[wanted[first:last] - start]))
            taken += int(last - first)
        start = stop
        if taken == wanted.size:
            break
    if taken < wanted.size:
        raise ValueError(f"numbers must be below {start:,}, the number of rows, got {int(wanted[-1]):,}.")
    return np.concatenate(parts)


def take_first(
    source: Source, most: int, *, every: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.int8], NDArray[np.float64] | None]:
    """The first rows of a source as a dense matrix, their labels, and their weights if all have some.

    With ``every=k`` only each k-th row is taken. Memory: the rows, and a block.
    """
    matrices: list[NDArray[np.float64]] = []
    labels: list[NDArray[np.int8]] = []
    weights: list[NDArray[np.float64]] = []
    count = first = 0
    for raw in source:
        X, y, weight, _ = unpack_block(raw, "the source")
        size, own = len(y), np.arange(-first % every, len(y), every)
        first += size
        if own.size < size:
            X, y, weight = X[own], y[own], None if weight is None else weight[own]
        matrices.append(as_dense(X))
        labels.append(np.asarray(y, dtype=np.int8))
        if weight is not None:
            weights.append(np.asarray(weight, dtype=np.float64))
        count += labels[-1].size
        if count >= most:
            break
    if not matrices:
        return np.zeros((0, source.n_features)), np.zeros(0, dtype=np.int8), None
    weight = np.concatenate(weights)[:most] if len(weights) == len(labels) else None
    return np.concatenate(matrices)[:most], np.concatenate(labels)[:most], weight
