"""Moments of the pairs within groups: queries, users, days."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import NoPairsError
from mbauc.losses.pair_weights import PairWeights
from mbauc.pairs.class_moments import ClassMoments
from mbauc.pairs.closed_pairs import ClosedPairs
from mbauc.pairs.moment_sums import MomentSums
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.scatter import WeightedMean
from mbauc.pairs.scatter.grouped import RowShares, grouped_scatter
from mbauc.rows.block import Block
from mbauc.runtime.progress import Advance, silent

Array = NDArray[np.float64]


class GroupedMoments(NamedTuple):
    """Moments of pairs within groups, how many groups that are, and those of one class, and their rows."""

    moments: PairMoments
    n_groups: int
    one_class_groups: int
    one_class_rows: int


def grouped_moments(
    block: Block,
    n_threads: int = 1,
    subset: NDArray[np.intp] | None = None,
    *,
    equal_groups: bool = False,
    advance: Advance = silent,
) -> GroupedMoments:
    """Exact moments of all pairs of a block's rows that are of one group, as a closed set.

    Sets of other groups are added, subtracted and decayed like any closed set. Class sums are over all rows.
    Rows count (:attr:`PairMoments.effective_sizes`) by the pairs that they are in: Kish's number with the
    weight of these pairs, so that rows of large groups count for more and rows without a pair for nothing.
    Rows are taken to be independent within a group; that groups differ as a whole does not matter, because a
    pair does not see it.

    Memory: four d×d matrices, and 64 MiB for sums by group.

    Parameters
    ----------
    block : Block
        Rows with groups.
    n_threads : int, default=1
        Threads to use.
    subset : ndarray, optional
        Numbers of the rows to take.
    equal_groups : bool, default=False
        Whether each group weighs 1; otherwise pair (i, j) weighs wᵢ wⱼ.
    advance : callable
        Called with numbers of rows completed.
    """
    classes = ClassMoments.from_block(block, n_threads, subset, advance)
    rows = np.arange(block.n_rows) if subset is None else subset
    groups = np.asarray(block.groups)[rows]
    weight = None if block.weight is None else block.weight[rows]
    try:
        pairs = PairWeights.build(block.positive[rows], weight, groups, equal_groups=equal_groups)
    except NoPairsError:
        own = groups if weight is None else groups[weight > 0]
        none = ClosedPairs.empty(block.n_features, grouped=True)
        moments = PairMoments.from_sums(MomentSums(classes, none))
        return GroupedMoments(moments, 0, np.unique(own).size, own.size)
    shares = RowShares.of_pairs(pairs)
    total = float(pairs.n_groups) if equal_groups else _total_weight(pairs, weight)
    squares = row_squares(pairs, shares, weight if block.frequencies else None)
    counted = replace(pairs, plus=rows[pairs.plus], minus=rows[pairs.minus], n_rows=block.n_rows)
    mean, scatter = grouped_scatter(block.X, counted, shares, n_threads)
    norms = math.sqrt(squares[0]) * total, math.sqrt(squares[1]) * total
    closed = ClosedPairs(_differences(pairs, total, mean), scatter * total, norms)
    moments = PairMoments.from_sums(MomentSums(classes, closed))
    return GroupedMoments(moments, pairs.n_groups, pairs.one_class_groups, pairs.one_class_rows)


def row_squares(pairs: PairWeights, shares: RowShares, frequency: Array | None) -> tuple[float, float]:
    """Sum over the rows of each class of their squared shares; a row of frequency k is k equal rows."""
    plus, minus = shares.plus**2, shares.minus**2
    if frequency is not None:
        plus, minus = plus / frequency[pairs.plus], minus / frequency[pairs.minus]
    return float(plus.sum()), float(minus.sum())


def _total_weight(pairs: PairWeights, weight: Array | None) -> float:
    """Sum of wᵢ wⱼ over the pairs."""
    size = np.ones(pairs.n_rows) if weight is None else weight
    own = pairs.reweigh(size[pairs.plus], size[pairs.minus])
    return float(own.plus_totals @ own.minus_totals)


def _differences(pairs: PairWeights, total: float, mean: Array) -> WeightedMean:
    """Number, weight and mean of the differences."""
    count = int(pairs.plus_sizes @ pairs.minus_sizes)
    squares = float(pairs.plus_sums(pairs.plus_weight) @ pairs.minus_sums(pairs.minus_weight))
    # in this order it may be infinite, which nothing minds, but is no error
    return WeightedMean(count, total, squares * total * total, mean)
