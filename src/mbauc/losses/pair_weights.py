"""Which rows are paired with which, and how much each pair counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NoPairsError

Array = NDArray[np.float64]
Index = NDArray[np.intp]


@dataclass(frozen=True)
class PairWeights:
    """All pairs of a positive and a negative row of the same group; pair (i, j) counts ``aᵢ bⱼ``.

    The weights of all pairs sum to 1. Rows of a class are ordered by group: those of group g are
    ``plus[plus_starts[g]:plus_starts[g + 1]]``, with weights in the same order. Without groups there is one
    group of all rows. Groups with only one class have no pairs and are ignored.

    Examples
    --------
    >>> import numpy as np
    >>> positive = np.array([True, False, True, False, False, True])
    >>> pairs = PairWeights.build(positive, groups=np.array(["a", "a", "b", "b", "b", "c"]))
    >>> pairs.n_groups, pairs.one_class_groups
    (2, 1)
    >>> pairs.plus.tolist(), pairs.minus.tolist()
    ([0, 2], [1, 3, 4])
    """

    #: numbers of the positive and of the negative rows that are in a pair
    plus: Index
    minus: Index
    #: aᵢ and bⱼ, in the same order
    plus_weight: Array
    minus_weight: Array
    #: where each group begins among them, and where the last one ends
    plus_starts: Index
    minus_starts: Index
    #: rows of the data, those without a pair included
    n_rows: int
    #: groups that were left out, and their rows
    one_class_groups: int = 0
    one_class_rows: int = 0

    @classmethod
    def build(
        cls,
        positive: NDArray[np.bool_],
        weight: Array | None = None,
        groups: NDArray[np.generic] | None = None,
        *,
        equal_groups: bool = False,
    ) -> PairWeights:
        """Build the pairs from labels, weights and groups of the rows.

        Parameters
        ----------
        positive : ndarray of bool, shape (n,)
            Which rows are positive.
        weight : ndarray of shape (n,), optional
            Weight of each row; rows of weight 0 are in no pair.
        groups : ndarray of shape (n,), optional
            Group of each row, of any type that can be sorted.
        equal_groups : bool, default=False
            Whether groups have equal weight instead of pairs.
        """
        positive = np.asarray(positive, dtype=np.bool_)
        for name, given in (("weight", weight), ("groups", groups)):
            if given is not None:
                _check_shape(name, np.shape(given), positive.size)
        if weight is not None:
            _check_weight(np.asarray(weight))
        own = np.arange(positive.size) if weight is None else np.flatnonzero(np.asarray(weight) > 0)
        size = np.ones(positive.size) if weight is None else np.asarray(weight, dtype=np.float64)
        if groups is None:
            plus, minus = own[positive[own]], own[~positive[own]]
            if not plus.size or not minus.size:
                raise NoPairsError(f"there are no pairs ({plus.size:,} positives, {minus.size:,} negatives).")
            a, b = size[plus], size[minus]
            ends = np.array([0, plus.size]), np.array([0, minus.size])
            return cls(plus, minus, a / a.sum(), b / b.sum(), *ends, positive.size)
        codes = np.unique(np.asarray(groups)[own], return_inverse=True)[1]
        n_groups = int(codes.max(initial=-1)) + 1
        counts = [np.bincount(codes[positive[own] == side], minlength=n_groups) for side in (True, False)]
        paired = (counts[0] > 0) & (counts[1] > 0)
        if not paired.any():
            raise NoPairsError(
                f"no group has rows of both classes ({n_groups:,} groups); there are no pairs. Take larger "
                "groups, or none."
            )
        order = own[np.argsort(codes, kind="stable")]
        kept = np.repeat(paired, counts[0] + counts[1])
        order = order[kept]
        plus, minus = order[positive[order]], order[~positive[order]]
        starts = np.append(0, np.cumsum(counts[0][paired])), np.append(0, np.cumsum(counts[1][paired]))
        a, b = size[plus], size[minus]
        totals = np.add.reduceat(a, starts[0][:-1]), np.add.reduceat(b, starts[1][:-1])
        count = totals[0] * totals[1]
        share = 1.0 / (count * count.size) if equal_groups else np.full(count.size, 1.0 / count.sum())
        a = a * share.repeat(np.diff(starts[0]))
        return cls(
            plus,
            minus,
            a,
            b,
            *starts,
            positive.size,
            int((~paired).sum()),
            int((counts[0] + counts[1])[~paired].sum()),
        )

    @property
    def n_groups(self) -> int:
        """Number of groups with rows of both classes."""
        return self.plus_starts.size - 1

    @cached_property
    def plus_sizes(self) -> Index:
        """Positive rows of each group."""
        return np.diff(self.plus_starts)

    @cached_property
    def minus_sizes(self) -> Index:
        """Negative rows of each group."""
        return np.diff(self.minus_starts)

    @property
    def row_groups(self) -> Index:
        """Group of each row that is in a pair, by its number: of the positives, then of the negatives."""
        groups = np.arange(self.n_groups)
        return np.concatenate([groups.repeat(self.plus_sizes), groups.repeat(self.minus_sizes)])

    @cached_property
    def plus_totals(self) -> Array:
        """Weight of the positive rows of each group."""
        return np.add.reduceat(self.plus_weight, self.plus_starts[:-1])

    @cached_property
    def minus_totals(self) -> Array:
        """Weight of the negative rows of each group."""
        return np.add.reduceat(self.minus_weight, self.minus_starts[:-1])

    @cached_property
    def group_shares(self) -> Array:
        """What the pairs of each group count for; of all pairs 1 but for rounding."""
        return self.plus_totals * self.minus_totals

    def without_zeros(self) -> PairWeights:
        """The same pairs without the rows whose weight is 0; each group must have others of both classes."""
        kept: dict[str, Any] = {}
        for side in ("plus", "minus"):
            weight = getattr(self, f"{side}_weight")
            some = weight > 0
            if not some.all():
                kept[side], kept[f"{side}_weight"] = getattr(self, side)[some], weight[some]
                kept[f"{side}_starts"] = np.append(0, np.cumsum(some))[getattr(self, f"{side}_starts")]
        return replace(self, **kept)

    def reweigh(self, plus_weight: Array, minus_weight: Array) -> PairWeights:
        """The same rows with other weights, zeros allowed."""
        return replace(self, plus_weight=plus_weight, minus_weight=minus_weight)

    def take(self, values: Array, name: str = "scores") -> tuple[Array, Array]:
        """Values of the positives and of the negatives; they must be finite."""
        values = np.asarray(values, dtype=np.float64)
        _check_shape(name, values.shape, self.n_rows)
        high, low = values[self.plus], values[self.minus]
        if not np.isfinite([high.min(), high.max(), low.min(), low.max()]).all():
            row = int(np.flatnonzero(~np.isfinite(values))[0])
            raise ValueError(f"{name} must be finite, got {values[row]} for row {row:,}.")
        return high, low

    def split(self, values: Array, name: str = "scores") -> tuple[Array, Array]:
        """The same, those of a group moved so that they reach 0.

        Pairs do not see the move. It takes away a common offset and leaves differences as exact as they are:
        what is subtracted is no larger than any value of the group.
        """
        high, low = self.take(values, name)
        plus, minus = self.plus_starts[:-1], self.minus_starts[:-1]
        least = np.minimum(np.minimum.reduceat(high, plus), np.minimum.reduceat(low, minus))
        most = np.maximum(np.maximum.reduceat(high, plus), np.maximum.reduceat(low, minus))
        nearest = np.clip(0.0, least, most)
        if nearest.any():
            high -= self.per_plus(nearest)
            low -= self.per_minus(nearest)
        return high, low

    def per_plus(self, values: Array) -> Array:
        """Values of groups as values of their positive rows, for use in arithmetic."""
        return values if values.size == 1 else values.repeat(self.plus_sizes)

    def per_minus(self, values: Array) -> Array:
        """Values of groups as values of their negative rows, for use in arithmetic."""
        return values if values.size == 1 else values.repeat(self.minus_sizes)

    def plus_sums(self, values: Array) -> Array:
        """Weighted sums of values of the positive rows of each group."""
        return np.asarray(np.add.reduceat(self.plus_weight * values, self.plus_starts[:-1]))

    def minus_sums(self, values: Array) -> Array:
        """Weighted sums of values of the negative rows of each group."""
        return np.asarray(np.add.reduceat(self.minus_weight * values, self.minus_starts[:-1]))

    def scatter(self, plus: Array, minus: Array) -> Array:
        """Numbers of the positives and of the negatives as numbers of all rows; 0 for rows without a pair."""
        rows = np.zeros(self.n_rows)
        rows[self.plus] = plus
        rows[self.minus] = minus
        return rows


def _check_shape(name: str, shape: tuple[int, ...], n_rows: int) -> None:
    if shape != (n_rows,):
        raise ValueError(f"{name} must have a value for each of the {n_rows:,} rows, got shape {shape}.")


def _check_weight(weight: NDArray[Any]) -> None:
    # NaN is neither
    bad = ~((weight >= 0.0) & (weight < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(f"weight must be finite and not negative, got {weight[row]} for row {row:,}.")
