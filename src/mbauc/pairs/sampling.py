"""Algorithm 1: S pairs drawn with replacement, in rounds of B."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.errors import NonFiniteError
from mbauc.pairs.accumulator import MomentsAccumulator, accumulate_block
from mbauc.pairs.moments import PairMoments
from mbauc.rows.block import Block
from mbauc.rows.labels import Labels
from mbauc.rows.matrix import canonical_csr, is_sparse
from mbauc.rows.parts.draw import Sample, make_drawers
from mbauc.runtime.progress import progress
from mbauc.runtime.threads import thread_count

Pairing = Literal["matched", "complete"]


def sample_pairs(
    X: Any,
    y: ArrayLike,
    pairs: int,
    *,
    batch_size: int = 1024,
    pairing: Pairing = "matched",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> PairMoments:
    """Moments of pairs sampled with replacement: all mini-batches of :func:`sample_batches` together (Eq. 17).

    The rows drawn depend only on ``random_state``; ``batch_size`` bounds the memory.

    Parameters
    ----------
    X, y
        As for :meth:`PairMoments.from_arrays`. X is not copied, but for CSC, which is converted to CSR once.
    pairs : int
        Number S of pairs to draw; any size, because mini-batches are streamed.
    batch_size : int, default=1024
        Number B of pairs per mini-batch.
    pairing : {"matched", "complete"}, default="matched"
        ``"matched"`` keeps the S pairs as drawn (Eq. 16). ``"complete"`` pools the S positive and S negative
        rows and uses all S² pairs among them, which costs less and reduces the variance of Σ.
    sample_weight : array-like of shape (n,), optional
        A row is drawn with probability proportional to its weight, so that pair (i, j) has weight wᵢ wⱼ.
    classes
        As for :meth:`PairMoments.from_arrays`.
    random_state : int, Generator, RandomState or None
        Seed of the draw; the same seed gives bit-identical results.
    n_jobs
        As for :meth:`PairMoments.from_arrays`.
    verbose : bool, default=False
        Show a progress bar on a terminal.

    Returns
    -------
    PairMoments
        With the class weights of the data, so that the prior is that of the data and not of the sample.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc import PairMoments, sample_pairs
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 3)); y = rng.random(1000) < 0.1
    >>> sample_pairs(X, y, 500, random_state=0)
    PairMoments(3 features, 500 positives × 500 negatives, closed set of 500 pairs)
    """
    check_sampling(pairs, batch_size, pairing)
    block = Block.checked(X, y, sample_weight, Labels(classes))
    return draw_moments(block, pairs, batch_size, pairing, random_state, thread_count(n_jobs), verbose=verbose)


def draw_moments(
    block: Block,
    pairs: int,
    batch_size: int,
    pairing: Pairing,
    random_state: Any,
    n_threads: int,
    *,
    subset: NDArray[np.intp] | None = None,
    verbose: bool = False,
) -> PairMoments:
    """Moments of pairs drawn from checked rows, of all or of some of them, with the data's class weights."""
    total = MomentsAccumulator(block.n_features, n_threads)
    with progress(pairs, "sampling pairs", unit="pair", show=verbose) as advance:
        for part in _rounds(block, pairs, batch_size, pairing, random_state, n_threads, subset):
            total.add_moments(part)
            advance(part.counts[0])
    plus, minus = block.class_weight(True, subset), block.class_weight(False, subset)
    return total.finish_sample((plus[0], minus[0]), (plus[1], minus[1]))


def sample_batches(
    X: Any,
    y: ArrayLike,
    pairs: int,
    *,
    batch_size: int = 1024,
    pairing: Pairing = "matched",
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Iterator[PairMoments]:
    """Iterate over the mini-batches of Algorithm 1, yielding the moments of each.

    With ``pairing="complete"`` a mini-batch of B positives and B negatives gives the complete U-statistic,
    all B² pairs at the cost of B. Adding mini-batches pools their rows; adding their ``closed()`` forms
    averages the U-statistics. Parameters as for :func:`sample_pairs`; the draw is the same.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 3)); y = rng.random(1000) < 0.1
    >>> [batch.n_pairs for batch in sample_batches(X, y, 500, batch_size=200, pairing="complete")]
    [40000, 40000, 10000]
    """
    check_sampling(pairs, batch_size, pairing)
    block = Block.checked(X, y, sample_weight, Labels(classes))
    return _rounds(block, int(pairs), int(batch_size), pairing, random_state, thread_count(n_jobs))


def _rounds(
    block: Block,
    pairs: int,
    batch_size: int,
    pairing: Pairing,
    random_state: Any,
    n_threads: int,
    subset: NDArray[np.intp] | None = None,
) -> Iterator[PairMoments]:
    """Check that there is something to draw from, then return the rounds."""
    pairs, batch_size = int(pairs), int(batch_size)
    block = with_canonical_rows(block)
    plus, minus = make_drawers(block, random_state, subset)

    def moments(size: int) -> PairMoments:
        return pair_moments(block, plus.draw(size), minus.draw(size), pairing, n_threads)

    return (moments(min(batch_size, pairs - start)) for start in range(0, pairs, batch_size))


def with_canonical_rows(block: Block) -> Block:
    """The same rows, sparse ones with sorted columns and without duplicates."""
    return replace(block, X=canonical_csr(block.X)) if is_sparse(block.X) else block


def pair_moments(
    block: Block, i: NDArray[np.intp], j: NDArray[np.intp], pairing: Pairing, n_threads: int
) -> PairMoments:
    """Moments of the pairs of rows i[k], j[k], or of all pairs among them; sparse rows must be canonical."""
    if pairing == "matched":
        try:
            return PairMoments.from_pairs(block.X[i], block.X[j], n_jobs=n_threads)
        except NonFiniteError:
            pass  # found again below, under its own row number
    return accumulate_block(replace(block, weight=None), n_threads, np.concatenate([i, j]))


def sample_moments(
    sample: Sample,
    batch_size: int,
    pairing: Pairing,
    n_threads: int,
    class_weights: tuple[tuple[float, float], tuple[float, float]],
) -> PairMoments:
    """Moments of pairs that have been drawn, in rounds, with the weight and size of each class of the data."""
    block = with_canonical_rows(sample.block)
    total = MomentsAccumulator(block.n_features, n_threads)
    for start in range(0, sample.pairs[0].size, batch_size):
        i, j = (numbers[start : start + batch_size] for numbers in sample.pairs)
        total.add_moments(pair_moments(block, i, j, pairing, n_threads))
    (plus, size_plus), (minus, size_minus) = class_weights
    return total.finish_sample((plus, minus), (size_plus, size_minus))


def check_sampling(pairs: Any, batch_size: Any, pairing: Any) -> None:
    """Raise for settings that Algorithm 1 does not know."""
    check_whole("pairs", pairs)
    check_batches(batch_size, pairing)


def check_batches(batch_size: Any, pairing: Any) -> None:
    """Raise for mini-batches that Algorithm 1 does not know."""
    check_whole("batch_size", batch_size)
    check_choice("pairing", pairing, ("matched", "complete"))
