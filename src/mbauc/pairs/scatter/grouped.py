"""Mean and scatter of the differences x⁺ - x⁻ over all pairs within groups, from sums by group.

Where a row counts for all pairs that it is in (u), and U is the weight of a group's pairs, the differences of
a group add up to ::

    Σ u (x - m)(x - m)' + U δ δ'        m the mean of the row's class in its group, δ = m₊ - m₋

so that a row costs what it costs without groups, and a group one rank-two term. Groups are taken in ranges,
whose sums fit :data:`GROUP_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mbauc.losses.pair_weights import PairWeights
from mbauc.pairs.scatter import class_scatters
from mbauc.pairs.scatter.dense import OWN_SCATTER_COLUMNS
from mbauc.pairs.scatter.packed import PackedScatters
from mbauc.pairs.scatter.row_blocks import RowBlocks
from mbauc.pairs.scatter.sparse import find_shift
from mbauc.pairs.scatter.weighted_mean import WeightedMean
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.runtime.threads import run_threads, single_threaded_blas

Array = NDArray[np.float64]
Index = NDArray[np.intp]

#: Bytes that the sums of a range of groups may take.
GROUP_BYTES = 1 << 26
#: Entries of sparse rows that are copied at a time.
_ENTRIES = 4_000_000
#: A multiplication of sparse rows costs about as much as this many of dense ones.
_SPARSE_COST = 20
#: What remains of a column below this share is taken for rounding error.
_ROUNDING = 64 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class RowShares:
    """What each row of some pairs counts for, all pairs together 1."""

    #: of the positive and of the negative rows, in the order of the pairs
    plus: Array
    minus: Array
    #: of the pairs of each group
    group: Array

    @classmethod
    def of_pairs(cls, pairs: PairWeights) -> RowShares:
        """Shares of the rows of pairs that need not add up to 1."""
        A, B = pairs.plus_totals, pairs.minus_totals
        total = float(A @ B)
        plus = pairs.plus_weight * pairs.per_plus(B / total)
        minus = pairs.minus_weight * pairs.per_minus(A / total)
        return cls(plus, minus, A * B / total)


def grouped_scatter(X: Any, pairs: PairWeights, shares: RowShares, n_threads: int) -> tuple[Array, Array]:
    """Mean of the differences over the pairs, and their scatter around it, for pairs of weight 1 in all.

    ``O(n d² + G d²)`` time for G groups and dense rows. Memory: two d×d matrices and :data:`GROUP_BYTES`.
    The rows of the pairs must be finite.
    """
    if is_sparse(X):
        return _sparse_scatter(canonical_csr(X), pairs, shares, n_threads)
    return _dense_scatter(X, pairs, shares, n_threads)


class _Range(NamedTuple):
    """Some groups next to each other, and their rows among the positives and among the negatives."""

    groups: slice
    plus: slice
    minus: slice


def _ranges(pairs: PairWeights, row_bytes: int) -> Iterator[_Range]:
    """All groups, as many at a time as there is room for ``row_bytes`` each."""
    step = max(1, GROUP_BYTES // row_bytes)
    for start in range(0, pairs.n_groups, step):
        stop = min(start + step, pairs.n_groups)
        ends = (slice(int(s[start]), int(s[stop])) for s in (pairs.plus_starts, pairs.minus_starts))
        yield _Range(slice(start, stop), *ends)


# -- dense ---------------------------------------------------------------------------------------------


def _dense_scatter(
    X: NDArray[Any], pairs: PairWeights, shares: RowShares, n_threads: int
) -> tuple[Array, Array]:
    """The rows of each class of a group are shifted by the first of them: what does not vary vanishes."""
    d = X.shape[1]
    quiet = single_threaded_blas() if d <= OWN_SCATTER_COLUMNS else nullcontext()
    # what is added stands on one side, what is subtracted on the other
    packed, differences = PackedScatters.zeros(d), WeightedMean.empty(d)
    with quiet:
        for part in _ranges(pairs, 8 * d * (6 + 2 * n_threads)):
            U = shares.group[part.groups]
            first, means = _dense_strata(X, pairs, shares, part, packed, n_threads)
            packed.add_gram("negative", means * np.sqrt(np.tile(U, 2))[:, None])
            gaps = first[: U.size] - first[U.size :]
            gaps += means[: U.size] - means[U.size :]
            mean = U @ gaps / U.sum()
            packed.add_gram("positive", (gaps - mean) * np.sqrt(U)[:, None])
            differences, factor, delta = differences.merge(WeightedMean(U.size, float(U.sum()), 0.0, mean))
            packed.add_outer("positive", factor, delta)
    scatter = packed.combine(1.0, -1.0)
    diagonal = np.einsum("ii->i", scatter)
    np.maximum(diagonal, 0.0, out=diagonal)
    return differences.mean, scatter


def _dense_strata(
    X: NDArray[Any],
    pairs: PairWeights,
    shares: RowShares,
    part: _Range,
    packed: PackedScatters,
    n_threads: int,
) -> tuple[Array, Array]:
    """First row of each class of each group, and the mean of all less that row, positives first.

    Adds the Gram matrix of the rows less the first ones to the positive side.
    """
    index = np.concatenate([pairs.plus[part.plus], pairs.minus[part.minus]])
    weight = np.concatenate([shares.plus[part.plus], shares.minus[part.minus]])
    sizes = np.concatenate([pairs.plus_sizes[part.groups], pairs.minus_sizes[part.groups]])
    codes = np.arange(sizes.size).repeat(sizes)
    first = X[index[np.cumsum(sizes) - sizes]].astype(np.float64)
    own = X.shape[1] <= OWN_SCATTER_COLUMNS
    blocks = RowBlocks(X, index, weight, first, n_threads if own else 1, codes)
    sums = _walk_by_threads(blocks, codes, packed, own_scatter=own)
    return first, sums / np.tile(shares.group[part.groups], 2)[:, None]


def _walk_by_threads(blocks: RowBlocks, codes: Index, packed: PackedScatters, *, own_scatter: bool) -> Array:
    """Weighted sum of the shifted rows of each code; their Gram matrix is added to the positive side."""
    d = blocks.X.shape[1]

    def walk(start: int) -> tuple[Array, Array | None]:
        sums = np.zeros((int(codes[-1]) + 1, d))
        scatter = np.zeros((d, d)) if own_scatter else None
        gram = np.empty((d, d) if own_scatter else (0, 0))
        for block in blocks.walk(start, blocks.n_threads):
            if scatter is None:
                packed.add_gram("positive", blocks.row_major(block))
            else:
                blocks.gram(block, gram)
                scatter += gram
            own = codes[blocks.part_of(block[0])]
            # rows stand in the order of their codes
            near = slice(int(own[0]), int(own[-1]) + 1)
            selector = select_rows(own - own[0], blocks.roots(block[0]), near.stop - near.start)
            sums[near] += selector @ blocks.row_major(block)
            if blocks.stopped:
                break
        return sums, scatter

    parts = run_threads(walk, range(blocks.n_threads), blocks.n_threads, stop=blocks.stop)
    total = parts[0][0]
    for number, (sums, scatter) in enumerate(parts):
        if number:
            total += sums
        if scatter is not None:
            packed.add_full("positive", scatter)
    return total


def select_rows(codes: Index, weight: Array, size: int) -> Any:
    """The matrix that adds up weighted rows by their codes."""
    return sparse.csc_matrix((weight, codes, np.arange(codes.size + 1)), shape=(size, codes.size))


# -- sparse --------------------------------------------------------------------------------------------


def _sparse_scatter(X: Any, pairs: PairWeights, shares: RowShares, n_threads: int) -> tuple[Array, Array]:
    """Scatter of the classes with the rows' shares, less what the class means of groups have in common."""
    weight = pairs.scatter(shares.plus, shares.minus)
    (plus, minus), packed = class_scatters(X, (pairs.plus, pairs.minus), weight, n_threads)
    scatter = packed.combine(1.0, 1.0)
    del packed
    before = np.diagonal(scatter) + plus.mean**2 + minus.mean**2
    cross = _cross_scatter(X, pairs, shares, (plus.mean, minus.mean))
    scatter -= cross
    scatter -= cross.T
    mean = plus.mean - minus.mean
    diagonal = np.einsum("ii->i", scatter)
    # a column that does not vary within groups says nothing, to the last digit
    gone = diagonal + mean**2 <= _ROUNDING * before
    scatter[gone] = scatter[:, gone] = mean[gone] = 0.0
    np.maximum(diagonal, 0.0, out=diagonal)
    return mean, scatter


def _cross_scatter(X: Any, pairs: PairWeights, shares: RowShares, means: tuple[Array, Array]) -> Array:
    """Σ U (m₊ - means[0])(m₋ - means[1])' over the groups."""
    d = X.shape[1]
    cross = np.zeros((d, d))
    shift = find_shift(X, np.concatenate([pairs.plus, pairs.minus]))
    high, low = means[0] - shift, means[1] - shift
    for part in _ranges(pairs, 8 * d * 4):
        U = shares.group[part.groups]
        A, B = (
            _group_means(X, index, weight, sizes[part.groups], U, shift)
            for index, weight, sizes in (
                (pairs.plus[part.plus], shares.plus[part.plus], pairs.plus_sizes),
                (pairs.minus[part.minus], shares.minus[part.minus], pairs.minus_sizes),
            )
        )
        visits = int(np.diff(A.indptr).astype(np.int64) @ np.diff(B.indptr))
        if visits * _SPARSE_COST > U.size * d**2:
            cross += ((A.toarray() - high) * U[:, None]).T @ (B.toarray() - low)
        else:
            _add_product(cross, A.multiply(U[:, None]).tocsc().T, B, visits)
            cross -= np.outer(U @ A, low)
            cross -= np.outer(high, U @ B - U.sum() * low)
    return cross


def _group_means(X: Any, index: Index, weight: Array, sizes: Index, U: Array, shift: Array) -> Any:
    """Mean row of one class of each group less the shift, as CSR."""
    codes = np.arange(U.size).repeat(sizes)
    step = max(1, int(_ENTRIES * X.shape[0] / max(X.nnz, 1)))
    total = sparse.csr_matrix((U.size, X.shape[1]))
    for start in range(0, index.size, step):
        piece = slice(start, start + step)
        rows = X[index[piece]].astype(np.float64)
        rows.data -= shift[rows.indices]
        selector = select_rows(codes[piece], weight[piece] / U[codes[piece]], U.size)
        total = total + selector.tocsr() @ rows
    return total


def _add_product(out: Array, left: Any, right: Any, visits: int) -> None:
    """Add the product of sparse matrices, some rows at a time."""
    pieces = min(out.shape[0], 1 + visits // _ENTRIES)
    for rows in np.array_split(np.arange(out.shape[0]), pieces):
        found = (left[rows[0] : rows[-1] + 1] @ right).tocoo()
        out[found.row + rows[0], found.col] += found.data
