"""What pairs say to a solver that multiplies vectors: μ, the diagonal of Σ, and products Σv."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.quadratic import ColumnSummary, ScoreSummary
from mbauc.runtime.progress import Advance, silent

Array = NDArray[np.float64]
#: Which sum each row goes into; -1 for none.
Bucket = NDArray[np.int32]

#: What remains of a column below this share is taken for rounding error.
ROUNDING = 64 * np.finfo(np.float64).eps
#: Entries of the rows below which threads take longer to start than one takes for all.
FEW_ENTRIES = 1 << 19
#: Sweeps for sums by bucket that are worth it where rows are in a file or with workers.
FEW_SWEEPS = 4


@dataclass(frozen=True)
class Stratum:
    """Rows that are centred together: a class, or the differences of matched pairs."""

    #: number of rows
    count: int
    #: sums of their weights and of the squares of these
    weight: float
    squared_weight: float
    #: of each column in use
    mean: Array
    variance: Array

    @classmethod
    def from_sums(
        cls, count: int, weight: float, squared_weight: float, sums: Array, squares: Array
    ) -> Stratum:
        """From weighted sums of the rows and of their squares."""
        if weight <= 0:
            return cls(count, weight, squared_weight, np.zeros_like(sums), np.zeros_like(sums))
        mean = sums / weight
        variance = squares / weight - mean**2
        # rounding would make a column of one value vary a little
        variance[variance <= ROUNDING * mean**2] = 0.0
        return cls(count, weight, squared_weight, mean, variance)

    @property
    def effective_size(self) -> float:
        """Kish's effective number of rows."""
        return self.weight**2 / self.squared_weight if self.squared_weight > 0 else 0.0


class RowLabels(NamedTuple):
    """What is known of the rows of an operator beside their features, in its own order."""

    positive: NDArray[np.bool_]
    #: weight of each row; None if all are one
    weight: Array | None
    #: key of the group of each row; None if pairs are not within groups
    groups: NDArray[np.uint64] | None

    @classmethod
    def concatenate(cls, parts: Sequence[RowLabels]) -> RowLabels:
        """Labels of rows that follow each other; rows without weights among others that have some count one."""
        positive = np.concatenate([np.empty(0, dtype=np.bool_), *(part.positive for part in parts)])
        weight = groups = None
        if any(part.weight is not None for part in parts):
            weight = np.concatenate(
                [np.ones(part.positive.size) if part.weight is None else part.weight for part in parts]
            )
        if any(part.groups is not None for part in parts):
            groups = np.concatenate([part.groups for part in parts if part.groups is not None])
        return cls(positive, weight, groups)


class PairOperator(ABC):
    """Σ as a linear operator over the columns that occur: a :class:`~mbauc.pairs.quadratic.Quadratic`.

    ``Σ = Σ_c X_c' D_c X_c + μ μ'``, rows centred in their stratum, D_c shares of its weight.

    Centring is of low rank: the mean score of a stratum is taken off each of its scores before these are
    multiplied back, and what rounding has left of it afterwards.

    The same rows one by one, for losses that are no quadratic: :meth:`scores`, :meth:`combine`,
    :meth:`combine_by`, :meth:`combine_squares` and :meth:`row_labels` are over rows in an order of the
    operator's own, which is the same at each call. Rows without weight are not among them. Columns are less
    ``shift`` there, which pairs do not see.

    Attributes
    ----------
    strata : sequence of Stratum
        Positives and negatives, or the differences alone.
    weights, effective_sizes : (float, float)
        Sums of the weights of the data's classes, and the rows that these count for, (positives, negatives).
    shift : ndarray
        What had been taken off the columns beforehand; not in the means of the strata.
    mu, diagonal : ndarrays
        μ and the diagonal of Σ.
    order : ColumnOrder
        Which columns the vectors are over.
    """

    order: ColumnOrder
    #: bytes that the sums of :meth:`combine_by` should take, and how many such sweeps are cheap
    bucket_bytes: int = 1 << 26
    bucket_sweeps: int = 16

    def __init__(self, strata: Sequence[Stratum], shift: Array) -> None:
        self.strata, self.shift = strata, shift
        means = [stratum.mean for stratum in strata]
        self.mu = means[0] - means[1] if len(means) == 2 else means[0] + shift
        self.diagonal = np.sum([stratum.variance for stratum in strata], axis=0) + self.mu**2
        weights, sizes = zip(*((stratum.weight, stratum.effective_size) for stratum in strata), strict=True)
        self.weights = weights if len(strata) == 2 else (weights[0], weights[0])
        self.effective_sizes = sizes if len(strata) == 2 else (sizes[0], sizes[0])
        #: mean over the classes of the mean row, where the rows are differences and do not show it
        self._centre: Array | None = None
        self._latest: tuple[Array, Array, list[float]] | None = None
        #: called with the number of rows that a sweep has completed
        self.advance: Advance = silent

    def as_frequencies(self) -> Self:
        """The same pairs of rows whose weights are frequencies: weight k stands for k equal rows."""
        result = copy(self)
        result.effective_sizes = self.weights
        return result

    def standing_for(
        self, weights: tuple[float, float], sizes: tuple[float, float], centre: Array | None
    ) -> Self:
        """The same pairs as those of the data that they were drawn from, whose mean rows have that centre.

        ``weights`` and ``sizes`` are the sum of the weights and the effective size of each class of the data.
        """
        result, drawn = copy(self), float(self.strata[0].count)
        result.weights, result._centre = weights, centre
        result.effective_sizes = 1 / (1 / sizes[0] + 1 / drawn), 1 / (1 / sizes[1] + 1 / drawn)
        return result

    @abstractmethod
    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        """By parts of the rows: X'D(Xv - centre), and by stratum the sums of D(Xv - centre) and its square."""

    @property
    def n_rows(self) -> int:
        """Number of rows of all strata."""
        return sum(stratum.count for stratum in self.strata)

    # -- row by row ----------------------------------------------------------------------------------------

    @abstractmethod
    def scores(self, v: Array) -> Array:
        """The score x'v of each row, but for a constant that all rows share; shape (n_rows,)."""

    @abstractmethod
    def combine(self, r: Array) -> Array:
        """Σ rᵢ xᵢ over the columns in use; of columns less ``shift``, unless r sums to zero."""

    @abstractmethod
    def combine_squares(self, r: Array) -> Array:
        """Σ rᵢ xᵢⱼ² of columns less ``shift``, over the columns in use."""

    @abstractmethod
    def combine_by(self, r: Array, bucket: Bucket, n_buckets: int) -> Array:
        """The same by bucket of the rows, of columns less ``shift``; rows of bucket -1 are left out.

        Shape (n_buckets, columns in use).
        """

    def curvature(self, r: Array) -> Array:
        """About Σ hᵢⱼ (xᵢ - xⱼ)(xᵢ - xⱼ)' over pairs, given rᵢ = Σⱼ hᵢⱼ ≥ 0, to precondition with.

        From some of the rows, and as if h were a product. Empty where columns are too many for it to be cheap.
        """
        return np.empty((0, 0))

    @abstractmethod
    def _labels(self) -> RowLabels:
        """Labels of the rows of two classes."""

    def row_labels(self) -> RowLabels:
        """Which rows are positive, their weights and their groups."""
        if len(self.strata) != 2:
            raise ValueError(
                "pairs that were drawn one by one have no rows of two classes; losses other than the squared "
                "one need all pairs, or all pairs of the rows that were drawn (pairing='complete')."
            )
        return self._labels()

    # -- Σ ---------------------------------------------------------------------------------------------------

    def product(self, v: Array) -> Array:
        """Σ v."""
        return self.product_and_variances(v)[0]

    def product_and_variances(self, v: Array) -> tuple[Array, list[float]]:
        """Σ v, and the variance of the scores x'v within each stratum; the latest variances are kept."""
        if self._latest is not None and np.array_equal(self._latest[0], v):
            return self._latest[1].copy(), list(self._latest[2])
        swept = self._sweep(v, [float(stratum.mean @ v) for stratum in self.strata])
        result = self.mu * float(self.mu @ v)
        for part, _ in swept:
            result += part
        variances = []
        totals = np.sum([sums for _, sums in swept], axis=0)
        for stratum, (left, squared) in zip(self.strata, totals, strict=True):
            result -= left * stratum.mean
            variances.append(max(float(squared - left**2), 0.0))
        self._latest = v.copy(), result.copy(), list(variances)
        return result, variances

    def leading_block(self) -> Array:
        """An estimate of Σ among the first columns, from some of the rows; empty if not worth it."""
        return np.empty((0, 0))

    def score_means(self, w: Array) -> list[float]:
        """Mean of the score x'w in each stratum."""
        return [float((stratum.mean + self.shift) @ w) for stratum in self.strata]

    def column_variances(self) -> Array:
        """Variance of each column over the rows of all strata."""
        weights = [stratum.weight for stratum in self.strata]
        total = sum(weights) or 1.0
        mean = sum((stratum.weight * stratum.mean for stratum in self.strata), np.zeros(self.mu.size)) / total
        spread = np.zeros(self.mu.size)
        for stratum in self.strata:
            spread += stratum.weight * (stratum.variance + (stratum.mean - mean) ** 2)
        return spread / total

    @property
    def n_features(self) -> int:
        """Number of columns of the data."""
        return self.order.n_features

    @property
    def columns(self) -> NDArray[np.intp]:
        """The columns of the data that occur, in the order of the vectors."""
        return self.order.columns

    def matrix(self) -> None:
        """None: Σ is not formed."""
        return None

    def summarise_columns(self) -> ColumnSummary:
        """Variances and class means of the columns that occur."""
        means = [stratum.mean + self.shift for stratum in self.strata]
        return ColumnSummary(self.column_variances(), means, [g.weight for g in self.strata], self.n_rows)

    def summarise_scores(self, w: ArrayLike) -> ScoreSummary:
        """Difference, middle and spread of the class means of the score x'w; one sweep over the rows."""
        w = np.asarray(w, dtype=np.float64)
        own = w[self.columns]
        middle = sum(self.score_means(own)) / 2 if self._centre is None else float(self._centre @ w)
        _, variances = self.product_and_variances(own)
        single = len(variances) == 1
        variance = variances[0] / 2 if single else float(np.average(variances, weights=self.weights))
        return ScoreSummary(float(self.mu @ own), middle, variance)
