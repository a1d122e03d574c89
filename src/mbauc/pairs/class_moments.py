"""Weight, mean and scatter of both classes: what adds up over any split of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mbauc.basis.reduction import Reduction
from mbauc.pairs.cancellation import clear_rounding
from mbauc.pairs.scatter import PackedScatters, WeightedMean, class_scatters
from mbauc.pairs.scatter.packed import Side
from mbauc.rows.block import Block
from mbauc.runtime.progress import Advance, silent

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ClassMoments:
    """The sums of the positive and the negative rows."""

    #: number, weight and mean of the rows of each class
    positive: WeightedMean
    negative: WeightedMean
    #: their scatters around those means
    packed: PackedScatters

    @classmethod
    def empty(cls, n_features: int) -> ClassMoments:
        """Sums over no rows."""
        none = WeightedMean.empty(n_features)
        return cls(none, none, PackedScatters.zeros(n_features))

    @classmethod
    def from_block(
        cls,
        block: Block,
        n_threads: int,
        subset: NDArray[np.intp] | None = None,
        advance: Advance = silent,
    ) -> ClassMoments:
        """Sums over the rows of a block, all or some of them."""
        strata = block.rows_of(True, subset), block.rows_of(False, subset)
        (plus, minus), packed = class_scatters(block.X, strata, block.weight, n_threads, advance)
        sums = cls(plus, minus, packed)
        return sums.as_frequencies() if block.frequencies else sums

    def sides(self) -> Iterator[tuple[Side, WeightedMean]]:
        """Each class by name."""
        return zip(self.packed.sides, (self.positive, self.negative), strict=True)

    def copy(self) -> ClassMoments:
        """The same sums in memory of their own."""
        return ClassMoments(self.positive, self.negative, PackedScatters(self.packed.buffer.copy()))

    # -- algebra ---------------------------------------------------------------------------------------

    def absorb(self, other: ClassMoments) -> ClassMoments:
        """Sums over the rows of both, in the memory of these, which are used up."""
        self.packed.buffer[...] += other.packed.buffer
        sums = []
        for (side, mine), (_, theirs) in zip(self.sides(), other.sides(), strict=True):
            both, factor, delta = mine.merge(theirs)
            self.packed.add_outer(side, factor, delta)
            sums.append(both)
        return ClassMoments(sums[0], sums[1], self.packed)

    def subtract(self, part: ClassMoments) -> ClassMoments:
        """Sums over the remaining rows."""
        for (side, whole), (_, piece) in zip(self.sides(), part.sides(), strict=True):
            if piece.count > whole.count or piece.weight > whole.weight * (1 + 1e-9):
                raise ValueError(
                    f"cannot take {piece.count:,} {side} rows of weight {piece.weight:g} out of "
                    f"{whole.count:,} of weight {whole.weight:g}; the part must come from the whole."
                )
        packed = PackedScatters(self.packed.buffer - part.packed.buffer)
        sums = []
        for (side, whole), (_, piece) in zip(self.sides(), part.sides(), strict=True):
            rest, factor, delta = whole.subtract(piece)
            packed.add_outer(side, factor, delta)
            clear_rounding(packed, side, self.packed.diagonal(side), whole, rest)
            sums.append(rest)
        return ClassMoments(sums[0], sums[1], packed)

    def decay(self, factor: float) -> ClassMoments:
        """The same rows with every weight multiplied by ``factor``."""
        result = self.copy()
        sums = []
        for side, whole in self.sides():
            share = whole.decay_share(factor)
            result.packed.scale(side, share)
            sums.append(whole.decay(share))
        return ClassMoments(sums[0], sums[1], result.packed)

    def as_frequencies(self) -> ClassMoments:
        """The same sums of rows of which a weight k stands for k equal ones, each of weight one."""
        plus, minus = (replace(sums, squared_weight=sums.weight) for sums in (self.positive, self.negative))
        return ClassMoments(plus, minus, self.packed)

    def standing_for(self, weights: tuple[float, float], sizes: tuple[float, float]) -> ClassMoments:
        """The same means and covariances under the weights and sizes of the data they were drawn from."""
        result = self.copy()
        sums = []
        for (side, drawn), weight, size in zip(self.sides(), weights, sizes, strict=True):
            result.packed.scale(side, weight / drawn.weight)
            squared = weight**2 * (1 / size + 1 / drawn.effective_size)
            sums.append(WeightedMean(drawn.count, weight, squared, drawn.mean))
        return ClassMoments(sums[0], sums[1], result.packed)

    def reduce(self, reduction: Reduction) -> ClassMoments:
        """The sums of the same rows in other coordinates, T'x."""
        packed, sums = PackedScatters.zeros(reduction.n_coordinates), []
        for side, rows in self.sides():
            scatter = self.packed.combine(*((1.0, 0.0) if side == "positive" else (0.0, 1.0)))
            packed.add_full(side, reduction.sandwich(scatter))
            sums.append(replace(rows, mean=reduction.reduce(rows.mean)))
        return ClassMoments(sums[0], sums[1], packed)

    def rescale(self, center: Array, scale: Array) -> ClassMoments:
        """The sums of the same rows with columns (x - center) / scale."""
        packed = PackedScatters(self.packed.buffer.copy())
        lower = np.tri(scale.size, dtype=np.bool_)
        for side, own in zip(packed.sides, (lower, lower.T), strict=True):
            square = packed.square(side)
            np.divide(square, np.outer(scale, scale), out=square, where=own)
        plus, minus = (
            replace(rows, mean=(rows.mean - center) / scale if rows.count else rows.mean)
            for rows in (self.positive, self.negative)
        )
        return ClassMoments(plus, minus, packed)

    def swap(self) -> ClassMoments:
        """The sums of the same rows with the other label each."""
        packed = PackedScatters.zeros(self.packed.n_features)
        packed.add_full("positive", self.packed.combine(0.0, 1.0))
        packed.add_full("negative", self.packed.combine(1.0, 0.0))
        return ClassMoments(self.negative, self.positive, packed)

    # -- what they say -----------------------------------------------------------------------------------

    def difference_covariance(self) -> Array:
        """C₊ + C₋, the covariance of the difference of a positive and a negative row."""
        return self.packed.combine(1 / self.positive.weight, 1 / self.negative.weight)

    def covariance(self, positive: bool) -> Array:
        """Covariance of one class, divided by its weight."""
        weight = (self.positive if positive else self.negative).weight
        if weight <= 0:
            raise ValueError(f"there are no {'positive' if positive else 'negative'} rows.")
        return self.packed.combine(*((1 / weight, 0.0) if positive else (0.0, 1 / weight)))

    def column_variances(self) -> Array:
        """Variance of each column over the rows of both classes."""
        rows, coefficient, apart = self.positive.merge(self.negative)
        if rows.weight <= 0:
            raise ValueError("there are no rows, so columns have no variance.")
        within = self.packed.diagonal("positive") + self.packed.diagonal("negative")
        return np.asarray((within + coefficient * apart**2) / rows.weight)

    def score_variances(self, W: Array) -> tuple[Array, Array]:
        """Variance within each class of the score x'w for each column of W; 0 for a class without rows."""
        plus, minus = (
            np.maximum(np.einsum("ij,ij->j", W, self.packed.product(side, W)), 0.0) / (sums.weight or 1.0)
            for side, sums in self.sides()
        )
        return plus, minus
