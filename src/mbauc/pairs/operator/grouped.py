"""Pairs within groups as products: scores of the rows, their differences within groups, and back."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.losses.pair_weights import PairWeights
from mbauc.losses.squared import Squared
from mbauc.pairs.grouped import row_squares
from mbauc.pairs.operator.group_means import CommonVariance
from mbauc.pairs.operator.pair_operator import ROUNDING, Bucket, PairOperator, RowLabels
from mbauc.pairs.quadratic import ScoreSummary
from mbauc.pairs.scatter.grouped import RowShares

Array = NDArray[np.float64]


class GroupedPairOperator(PairOperator):
    """Σ over the pairs within groups, as a linear operator.

    A product takes the scores of all rows, their differences within groups, and the combination of the rows
    with these: two sweeps over the rows (two jobs on a cluster). Memory: up to 90 bytes a row, wherever the
    rows are. Scales and priors come from all rows, as without groups.

    The diagonal, which solvers use to precondition and to place the values of l2 that they try, takes sums by
    group and column. It is exact where these take at most 1 GiB for rows in memory, 256 MiB for rows in a file
    and 32 MiB for rows with workers, some of it at a time. Beyond, groups share sums at random, and the part of
    the diagonal that the means of groups have in common is an estimate.

    Parameters
    ----------
    rows : PairOperator
        The rows with their groups; of its pairs those across groups are left out.
    equal_groups : bool, default=False
        Whether each group counts alike, instead of each pair.

    Attributes
    ----------
    rows : PairOperator
        The rows.
    pair_weights : PairWeights
        Who is paired with whom.

    Others are inherited from :class:`~mbauc.pairs.operator.pair_operator.PairOperator`.

    Raises
    ------
    NoPairsError
        If no group has rows of both classes.
    """

    def __init__(self, rows: PairOperator, *, equal_groups: bool = False) -> None:
        super().__init__(rows.strata, rows.shift)
        self.order, self.rows = rows.order, rows
        self._row_labels = rows.row_labels()
        self.pair_weights = PairWeights.build(*self._row_labels, equal_groups=equal_groups)
        self._shares = RowShares.of_pairs(self.pair_weights)
        #: the squared loss has the same Hessian wherever it is expanded
        self._hessian = Squared().expand(self.pair_weights, np.zeros(self._row_labels.positive.size))
        self.mu, self.diagonal = self._mean_and_diagonal()
        self.effective_sizes = self._kish(None)

    def _mean_and_diagonal(self) -> tuple[Array, Array]:
        """μ and the diagonal of Σ, from sums over the rows, by class and by group."""
        rows, plus, minus = self.rows, self._shares.plus, self._shares.minus
        mu = rows.combine(self.pair_weights.scatter(plus, -minus))
        each = self.pair_weights.scatter(plus, minus)
        both, squares = rows.combine(each), rows.combine_squares(each)
        means = (both + mu) / 2, (both - mu) / 2
        spread = squares - means[0] ** 2 - means[1] ** 2
        common = CommonVariance.find(rows, self.pair_weights, self._shares, means)
        diagonal = np.maximum(spread + mu**2 - 2 * common.variance, mu**2)
        if common.n_buckets < self.pair_weights.n_groups:
            # less than that cannot be told from nothing
            return mu, np.maximum(diagonal, mu**2 + spread / np.sqrt(common.n_buckets))
        # a column that does not vary within groups says nothing, to the last digit
        gone = diagonal <= ROUNDING * squares
        mu[gone] = diagonal[gone] = 0.0
        return mu, diagonal

    def _kish(self, frequency: Array | None) -> tuple[float, float]:
        plus, minus = row_squares(self.pair_weights, self._shares, frequency)
        return 1.0 / plus, 1.0 / minus

    def as_frequencies(self) -> Self:
        """The same pairs of rows whose weights are frequencies: weight k stands for k equal rows."""
        result = copy(self)
        result.effective_sizes = self._kish(self._row_labels.weight)
        return result

    # -- row by row ------------------------------------------------------------------------------------------

    def scores(self, v: Array) -> Array:
        """The score x'v of each row."""
        self.rows.advance = self.advance
        return self.rows.scores(v)

    def combine(self, r: Array) -> Array:
        """Σ rᵢ xᵢ."""
        return self.rows.combine(r)

    def combine_by(self, r: Array, bucket: Bucket, n_buckets: int) -> Array:
        """Σ rᵢ xᵢ of the rows of each bucket."""
        return self.rows.combine_by(r, bucket, n_buckets)

    def combine_squares(self, r: Array) -> Array:
        """Σ rᵢ xᵢⱼ²."""
        return self.rows.combine_squares(r)

    def _labels(self) -> RowLabels:
        return self._row_labels

    # -- Σ ---------------------------------------------------------------------------------------------------

    def product_and_variances(self, v: Array) -> tuple[Array, list[float]]:
        """Σ v, and the variance over the pairs of the difference of their scores; the latest are kept."""
        if self._latest is None or not np.array_equal(self._latest[0], v):
            result = self.combine(self._hessian.product(self.scores(v)))
            variance = max(float(v @ result - (self.mu @ v) ** 2), 0.0)
            self._latest = v.copy(), result, [variance]
        return self._latest[1].copy(), list(self._latest[2])

    def leading_block(self) -> Array:
        """The block of all pairs, to the diagonal of these."""
        block = self.rows.leading_block()
        size = len(block)
        all_pairs = self.rows.diagonal[:size]
        units = np.sqrt(self.diagonal[:size] / np.where(all_pairs > 0, all_pairs, 1.0))
        return np.asarray(block * np.outer(units, units))

    def summarise_scores(self, w: ArrayLike) -> ScoreSummary:
        """Mean difference and spread of the score x'w within groups, and the middle of the class means."""
        own = np.asarray(w, dtype=np.float64)[self.columns]
        _, [variance] = self.product_and_variances(own)
        return ScoreSummary(float(self.mu @ own), sum(self.score_means(own)) / 2, variance / 2)

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        raise NotImplementedError("products of pairs within groups go by the scores of the rows")
