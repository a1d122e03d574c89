"""What the two class means of a group have in common, column by column, from sums by group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.losses.pair_weights import PairWeights
from mbauc.pairs.operator.pair_operator import PairOperator
from mbauc.pairs.scatter.grouped import RowShares

Array = NDArray[np.float64]

#: Of the draw of groups that share a sum.
_SEED = 20_211_105


class CommonVariance(NamedTuple):
    """Σ U (m₊ - mean)(m₋ - mean) of each column over the groups, and how many sums that was made of."""

    variance: Array
    n_buckets: int

    @classmethod
    def find(
        cls, rows: PairOperator, pairs: PairWeights, shares: RowShares, means: tuple[Array, Array]
    ) -> CommonVariance:
        """From the rows, given the means of the classes; U is the weight of a group's pairs.

        Exact if there is room for the sums of all groups, some at a time. Otherwise groups share sums, each
        with a sign drawn at random: what two groups contribute together is zero in expectation, and the error
        falls with the root of the number of sums. About one sweep over the rows in either case.
        """
        result = np.zeros(rows.mu.size)
        room = max(1, rows.bucket_bytes // (16 * max(rows.mu.size, 1)))
        groups = _Buckets.draw(shares.group, room * rows.bucket_sweeps)
        r = pairs.scatter(
            shares.plus * pairs.per_plus(groups.unit), shares.minus * pairs.per_minus(groups.unit)
        )
        for bucket, total in groups.ranges(room):
            size = total.size
            low = np.where(bucket >= 0, bucket + size, -1)
            place = np.full(pairs.n_rows, -1, dtype=np.int32)
            place[pairs.plus], place[pairs.minus] = (
                bucket.repeat(pairs.plus_sizes),
                low.repeat(pairs.minus_sizes),
            )
            sums = rows.combine_by(r, place, 2 * size)
            plus, minus = sums[:size], sums[size:]
            # of sums less the mean of the class, each as often as its groups count
            result += np.einsum("ij,ij->j", plus, minus) + float(total @ total) * means[0] * means[1]
            result -= means[1] * (total @ plus) + means[0] * (total @ minus)
        return cls(result, groups.n_buckets)


class _Buckets(NamedTuple):
    """Which sum each group goes into, and what its mean rows are multiplied by there."""

    n_buckets: int
    bucket: NDArray[np.intp]
    #: a sign times √U, and times 1/√U
    root: Array
    unit: Array

    @classmethod
    def draw(cls, weight: Array, most: int) -> _Buckets:
        """A bucket for each group, or as many as there may be."""
        n_buckets, bucket, root = min(most, weight.size), np.arange(weight.size), np.sqrt(weight)
        if n_buckets < weight.size:
            rng = np.random.default_rng(_SEED)
            bucket = rng.permutation(bucket % n_buckets)
            root *= rng.choice([-1.0, 1.0], weight.size)
        return cls(n_buckets, bucket, root, 1.0 / np.where(root == 0.0, np.inf, root))

    def ranges(self, room: int) -> Iterator[tuple[NDArray[np.intp], Array]]:
        """Some buckets at a time: the place of each group among them or -1, and the sum of their roots."""
        for start in range(0, self.n_buckets, room):
            size = min(room, self.n_buckets - start)
            place = self.bucket - start
            place[(place < 0) | (place >= size)] = -1
            own = place >= 0
            yield place, np.asarray(np.bincount(place[own], self.root[own], minlength=size), dtype=np.float64)
