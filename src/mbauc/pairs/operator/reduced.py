"""Pairs in other coordinates: products and sums of the same rows, through a change of variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.basis.reduction import Reduction
from mbauc.pairs.compact.columns import ColumnOrder
from mbauc.pairs.operator.pair_operator import Bucket, PairOperator, RowLabels, Stratum
from mbauc.pairs.quadratic import ScoreSummary

Array = NDArray[np.float64]


class ReducedPairOperator(PairOperator):
    """Σ̃ = T'ΣT as a linear operator: weights of the rows' features are w = T u.

    A product costs one with Σ, and T and T'.

    Parameters
    ----------
    rows : PairOperator
        Pairs of rows in features, of which one is 1 in each block of ``reduction``, or a single number.
    reduction : Reduction
        T.
    """

    def __init__(self, rows: PairOperator, reduction: Reduction) -> None:
        self.rows, self.reduction = rows, reduction
        strata = [self._reduce_stratum(stratum) for stratum in rows.strata]
        super().__init__(strata, np.zeros(reduction.n_coordinates))
        self.order = ColumnOrder(reduction.n_coordinates)
        # in their own order
        self.order.admit(np.arange(reduction.n_coordinates, 0, -1))
        self.weights, self.effective_sizes = rows.weights, rows.effective_sizes
        # sums by bucket are taken over features, which are more than coordinates
        self.bucket_sweeps = rows.bucket_sweeps
        self.bucket_bytes = rows.bucket_bytes * self.mu.size // max(rows.mu.size, self.mu.size)

    def _reduce_stratum(self, stratum: Stratum) -> Stratum:
        mean = stratum.mean + self.rows.shift
        squares = self.reduction.reduce_squares(self._spread(stratum.variance + mean**2))
        reduced = self.reduction.reduce(self._spread(mean))
        return replace(stratum, mean=reduced, variance=np.maximum(squares - reduced**2, 0.0))

    def _spread(self, values: Array) -> Array:
        """Numbers of the columns in use as numbers of all features."""
        full = np.zeros((*values.shape[:-1], self.rows.n_features))
        full[..., self.rows.columns] = values
        return full

    def _expand(self, u: Array) -> Array:
        return np.asarray(self.reduction.expand(u)[..., self.rows.columns])

    # -- row by row ------------------------------------------------------------------------------------------

    def scores(self, v: Array) -> Array:
        """The score of each row."""
        self.rows.advance = self.advance
        return self.rows.scores(self._expand(v))

    def combine(self, r: Array) -> Array:
        """Σ rᵢ zᵢ."""
        sums = self.rows.combine(r) + float(r.sum()) * self.rows.shift
        return self.reduction.reduce(self._spread(sums))

    def combine_by(self, r: Array, bucket: Bucket, n_buckets: int) -> Array:
        """Σ rᵢ zᵢ of the rows of each bucket."""
        kept = bucket >= 0
        totals = np.bincount(bucket[kept], r[kept], minlength=n_buckets)
        sums = self.rows.combine_by(r, bucket, n_buckets) + totals[:, None] * self.rows.shift
        return self.reduction.reduce(self._spread(sums))

    def combine_squares(self, r: Array) -> Array:
        """Σ rᵢ zᵢⱼ²: of indicators the sums of their rows, times the squares of T."""
        squares, shift = self.rows.combine_squares(r), self.rows.shift
        if shift.any():
            total = float(r.sum())
            squares = squares + shift * (2.0 * self.rows.combine(r) + shift * total)
        return self.reduction.reduce_squares(self._spread(squares))

    def _labels(self) -> RowLabels:
        return self.rows.row_labels()

    # -- Σ ---------------------------------------------------------------------------------------------------

    def product_and_variances(self, v: Array) -> tuple[Array, list[float]]:
        """Σ̃ v, and the variance of the scores within each stratum."""
        self.rows.advance = self.advance
        product, variances = self.rows.product_and_variances(self._expand(v))
        return self.reduction.reduce(self._spread(product)), variances

    def summarise_scores(self, w: ArrayLike) -> ScoreSummary:
        """Difference, middle and spread of the class means of the score."""
        return self.rows.summarise_scores(self.reduction.expand(np.asarray(w, dtype=np.float64)))

    def _sweep(self, v: Array, centres: Sequence[float]) -> Sequence[tuple[Array, Array]]:
        raise NotImplementedError("products go by those of the features")
