"""What a loss over pairs must have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_weights import PairWeights

Array = NDArray[np.float64]

#: A margin at which a loss that turns has turned.
_LARGE_MARGIN = 1e3


class Expansion(Protocol):
    """Second-order expansion of a loss around some scores: value, gradient and Hessian.

    Attributes
    ----------
    value : float
        Weighted mean of the loss over the pairs.
    gradient : ndarray of shape (n,)
        Derivative by the score of each row; sums to zero in each group.
    """

    @property
    def value(self) -> float:
        """Weighted mean of the loss over the pairs."""

    @property
    def gradient(self) -> Array:
        """Derivative of the value by the score of each row, shape (n,)."""

    @property
    def diagonal(self) -> Array:
        """Diagonal of the Hessian by the scores, shape (n,)."""

    def product(self, v: Array) -> Array:
        """Hessian by the scores times v, shape (n,)."""


class PairLoss(ABC):
    """Base class of pairwise losses: convex functions ℓ(m) of the margin m = s⁺ - s⁻ of a pair.

    A custom loss needs a name, the value and two derivatives as functions of the margin, and ``expand``, which
    may return a :class:`~mbauc.losses.pairwise.PairByPair`: it sums pair by pair, as long as there is no faster
    formula.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.losses import PairWeights
    >>> from mbauc.losses.pairwise import PairByPair
    >>> class Quartic(PairLoss):
    ...     name = "quartic"
    ...     def of_margins(self, m):
    ...         return np.maximum(1 - m, 0) ** 4
    ...     def slopes(self, m):
    ...         return -4 * np.maximum(1 - m, 0) ** 3
    ...     def curvatures(self, m):
    ...         return 12 * np.maximum(1 - m, 0) ** 2
    ...     def expand(self, pairs, scores):
    ...         return PairByPair(self, pairs, scores)
    >>> pairs = PairWeights.build(np.array([True, False, False]))
    >>> Quartic().expand(pairs, np.array([2.0, 0.0, 2.0])).value
    0.5
    """

    name: ClassVar[str]

    def __repr__(self) -> str:
        own = [name for name in signature(type(self)).parameters if hasattr(self, name)]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in own)})"

    @property
    def falls(self) -> bool:
        """Whether the loss is non-increasing in the margin, which partial AUC requires."""
        return float(self.slopes(np.array([_LARGE_MARGIN]))[0]) <= 0.0

    @abstractmethod
    def of_margins(self, m: Array) -> Array:
        """Loss ℓ(m)."""

    @abstractmethod
    def slopes(self, m: Array) -> Array:
        """First derivative ℓ'(m)."""

    @abstractmethod
    def curvatures(self, m: Array) -> Array:
        """Second derivative ℓ''(m); at kinks of the slope, from the left."""

    @abstractmethod
    def expand(self, pairs: PairWeights, scores: Array) -> Expansion:
        """Second-order expansion around the scores of all rows, shape (n,)."""
