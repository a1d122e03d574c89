"""What moments are made of: sums of both classes, and of the pairs where class sums do not determine them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.closed_pairs import ClosedPairs


@dataclass(frozen=True)
class MomentSums:
    """Sums of the rows of both classes, of a closed set of pairs if any, and whether rows were drawn."""

    classes: ClassMoments
    pairs: ClosedPairs | None = None
    sampled: bool = False

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.classes.packed.n_features

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows that entered, (positives, negatives)."""
        return self.classes.positive.count, self.classes.negative.count

    def check_other(self, other: MomentSums, verb: str) -> None:
        """Raise if the two do not go together."""
        if self.n_features != other.n_features:
            raise ValueError(
                f"cannot {verb} moments of {self.n_features} and {other.n_features} features; "
                "both must come from the same columns."
            )
        if not any(self.counts) or not any(other.counts):
            return
        if (self.pairs is None) != (other.pairs is None):
            raise ValueError(
                f"cannot {verb} moments of all pairs and moments of a set of pairs (matched, or within "
                "blocks): which pairs the result speaks of would be undefined. Use .closed() on the former."
            )
        if self.grouped != other.grouped:
            raise ValueError(
                f"cannot {verb} moments of pairs within groups and moments of other pairs; give groups for all "
                "rows or for none."
            )

    @property
    def grouped(self) -> bool:
        """Whether the pairs are those within groups."""
        return self.pairs is not None and self.pairs.row_norms is not None

    def copy(self) -> MomentSums:
        """The same sums in memory of their own."""
        return MomentSums(self.classes.copy(), self.pairs and self.pairs.copy(), self.sampled)

    def merge(self, other: MomentSums) -> MomentSums:
        """Sums over the rows of both, in the memory of these, which are used up."""
        self.check_other(other, "add")
        if not any(other.counts):
            return self
        pairs = self.pairs
        if not any(self.counts):
            pairs = other.pairs and other.pairs.copy()
        elif pairs is not None and other.pairs is not None:
            pairs = pairs.merge(other.pairs)
        return MomentSums(self.classes.absorb(other.classes), pairs, self.sampled or other.sampled)

    def as_frequencies(self) -> MomentSums:
        """The same sums of rows of which a weight k stands for k equal ones."""
        return replace(self, classes=self.classes.as_frequencies())

    def standing_for(self, weights: tuple[float, float], sizes: tuple[float, float]) -> MomentSums:
        """The same means and covariances under class weights and sizes of the data that rows were drawn from.

        Each pair of a closed set counts alike.
        """
        pairs = self.pairs and self.pairs.decay(weights[0] * weights[1] / self.pairs.differences.weight)
        return MomentSums(self.classes.standing_for(weights, sizes), pairs, sampled=True)
