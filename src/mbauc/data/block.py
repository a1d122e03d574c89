"""Blocks of rows: the one form in which data from any file reaches the rest of the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Block(NamedTuple):
    """Some rows of a data set; what ``partial_fit`` and ``PairMoments.from_blocks`` take.

    Attributes
    ----------
    X : ndarray or CSR array of shape (n, d)
        Features, float64.
    y : ndarray of shape (n,)
        1 for positive rows, 0 for negative ones.
    weight : ndarray of shape (n,) or None
        Row weights.
    """

    X: Any
    y: NDArray[np.int8]
    weight: NDArray[np.float64] | None = None


class Source(Protocol):
    """A data set that can be read block by block, as often as wanted.

    Attributes
    ----------
    n_features : int
        Number d of columns of every block.
    classes : tuple
        The two labels as they stand in the data, negative first.
    """

    n_features: int
    classes: tuple[Any, Any]

    def __iter__(self) -> Iterator[Block]:
        """The blocks from the first row on, each time anew."""
