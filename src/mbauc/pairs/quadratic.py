"""The quadratic ½ w'Σw - w'μ that pairs add up to, whether Σ is formed or only multiplied by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


class ColumnSummary(NamedTuple):
    """Columns in a few numbers: variance over all rows, mean in each class, weights of the classes, rows."""

    variances: Array
    means: Sequence[Array]
    weights: Sequence[float]
    n_rows: int


class ScoreSummary(NamedTuple):
    """Scores x'w in a few numbers: difference of the class means, mean of both, variance within a class."""

    gap: float
    middle: float
    variance: float


class Quadratic(Protocol):
    """What a solver of Eq. (14) asks of a set of pairs.

    :class:`~mbauc.pairs.moments.PairMoments` is one whose Σ is formed, an operator one whose Σ is only
    multiplied by. Vectors are over ``columns``: the columns of the data that occur, or all in order if None.
    """

    @property
    def n_features(self) -> int:
        """Number of columns of the data."""

    @property
    def columns(self) -> NDArray[np.intp] | None:
        """Which columns of the data vectors are over; None for all of them."""

    @property
    def mu(self) -> Array:
        """First moment μ of the differences."""

    @property
    def diagonal(self) -> Array:
        """Diagonal of their second moment Σ."""

    @property
    def weights(self) -> tuple[float, float]:
        """Sum of the weights of each class of the data, (positives, negatives)."""

    @property
    def effective_sizes(self) -> tuple[float, float]:
        """Rows that each class of the data counts for, (positives, negatives)."""

    def matrix(self) -> Array | None:
        """Σ as a new array; None where it is not formed."""

    def product(self, v: Array) -> Array:
        """Σ v, a new array."""

    def leading_block(self) -> Array:
        """About Σ among the first columns, to precondition with; empty if there is nothing to gain."""

    def summarise_columns(self) -> ColumnSummary:
        """What scales come from."""

    def summarise_scores(self, w: ArrayLike) -> ScoreSummary:
        """What threshold and probabilities come from; w is over the columns of the data."""
