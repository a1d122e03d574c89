"""Algorithm 1: S pairs drawn with replacement, in rounds of B."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_choice, check_whole
from mbauc.errors import NonFiniteError
from mbauc.pairs.moments import PairMoments
from mbauc.pairs.scatter.sparse import canonical_csr
from mbauc.rows.block import Rows, checked_rows
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.progress import progress
from mbauc.runtime.seeds import generator
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
    """Moments estimated from sampled pairs: all rounds of :func:`sample_batches` together (Eq. 17).

    Which rows are drawn depends on ``random_state`` alone; ``batch_size`` bounds the memory.

    Parameters
    ----------
    X, y, sample_weight, classes, n_jobs
        As for :meth:`PairMoments.from_arrays`. A row is drawn with probability proportional to its
        weight, so that pair (i, j) has weight wᵢ wⱼ. X is not copied, but for CSC, which is converted to
        CSR once.
    pairs : int
        Number S of pairs to draw (any size: rounds are streamed).
    batch_size : int
        Number B of pairs a round.
    pairing : {"matched", "complete"}
        ``"matched"`` keeps the S pairs as drawn (Eq. 16). ``"complete"`` pools the S positive and S
        negative rows and takes all S² pairs among them, which costs less and gives Σ a smaller variance.
    random_state : None, int, numpy Generator or RandomState
        The same seed gives the same bits.
    verbose : bool
        Show a progress bar on a terminal.

    Returns
    -------
    PairMoments
        Its class weights are those of the data, so that priors come from the data and not the sample.

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
    rows = checked_rows(X, y, sample_weight, classes)
    return draw_moments(rows, pairs, batch_size, pairing, random_state, thread_count(n_jobs), verbose=verbose)


def draw_moments(
    rows: Rows,
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
    total = PairMoments(rows.X.shape[1])
    with progress(pairs, "sampling pairs", unit="pair", show=verbose) as advance:
        for part in _rounds(rows, pairs, batch_size, pairing, random_state, n_threads, subset):
            total._absorb(part)
            advance(part.counts[0])
    plus, minus = rows.class_weight(True, subset), rows.class_weight(False, subset)
    return total._standing_for((plus[0], minus[0]), (plus[1], minus[1]))


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
    """The rounds of Algorithm 1 one by one: moments of each mini-batch.

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
    rows = checked_rows(X, y, sample_weight, classes)
    return _rounds(rows, int(pairs), int(batch_size), pairing, random_state, thread_count(n_jobs))


def _rounds(
    rows: Rows,
    pairs: int,
    batch_size: int,
    pairing: Pairing,
    random_state: Any,
    n_threads: int,
    subset: NDArray[np.intp] | None = None,
) -> Iterator[PairMoments]:
    """Check that there is something to draw from, then return the rounds."""
    pairs, batch_size = int(pairs), int(batch_size)
    if is_sparse(rows.X):
        rows = rows._replace(X=canonical_csr(rows.X))
    plus, minus = _drawers(rows, random_state, subset)

    def moments(size: int) -> PairMoments:
        return pair_moments(rows, plus.draw(size), minus.draw(size), pairing, n_threads)

    return (moments(min(batch_size, pairs - start)) for start in range(0, pairs, batch_size))


def pair_moments(
    rows: Rows, i: NDArray[np.intp], j: NDArray[np.intp], pairing: Pairing, n_threads: int
) -> PairMoments:
    """Moments of the pairs of rows i[k], j[k], or of all pairs among them; sparse rows must be canonical."""
    if pairing == "matched":
        try:
            return PairMoments.from_pairs(rows.X[i], rows.X[j], n_jobs=n_threads)
        except NonFiniteError:
            pass  # found again below, under its own row number
    return PairMoments._of_rows(rows._replace(weight=None), n_threads, subset=np.concatenate([i, j]))


def draw_rows(
    rows: Rows, pairs: int, random_state: Any, subset: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Row numbers of the positives and negatives of so many pairs: those that :func:`draw_moments` draws."""
    plus, minus = _drawers(rows, random_state, subset)
    return plus.draw(pairs), minus.draw(pairs)


def draw_ranks(
    sizes: tuple[int, int], pairs: int, random_state: Any
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The same draw from rows without weights, as places among the rows of each class."""
    for size, missing in zip(sizes, ("positive", "negative"), strict=True):
        if size == 0:
            raise ValueError(f"there are no {missing} rows to draw from; pairs need both classes.")
    streams = _streams(random_state)
    plus, minus = (stream.integers(size, size=pairs) for stream, size in zip(streams, sizes, strict=True))
    return plus, minus


def drawn_moments(
    rows: Rows,
    drawn: tuple[NDArray[np.intp], NDArray[np.intp]],
    batch_size: int,
    pairing: Pairing,
    n_threads: int,
    class_weights: tuple[tuple[float, float], tuple[float, float]],
) -> PairMoments:
    """Moments of pairs that have been drawn, in rounds, with the weight and size of each class of the data."""
    if is_sparse(rows.X):
        rows = rows._replace(X=canonical_csr(rows.X))
    total = PairMoments(rows.X.shape[1])
    for start in range(0, drawn[0].size, batch_size):
        i, j = (numbers[start : start + batch_size] for numbers in drawn)
        total._absorb(pair_moments(rows, i, j, pairing, n_threads))
    (plus, size_plus), (minus, size_minus) = class_weights
    return total._standing_for((plus, minus), (size_plus, size_minus))


def check_sampling(pairs: Any, batch_size: Any, pairing: Any) -> None:
    """Raise for settings that Algorithm 1 does not know."""
    check_whole("pairs", pairs)
    check_batches(batch_size, pairing)


def check_batches(batch_size: Any, pairing: Any) -> None:
    """Raise for mini-batches that Algorithm 1 does not know."""
    check_whole("batch_size", batch_size)
    check_choice("pairing", pairing, ("matched", "complete"))


def _streams(random_state: Any) -> list[np.random.Generator]:
    """One generator per class, so that the draws of a class do not depend on the size of the rounds."""
    return list(generator(random_state).spawn(2))


def _drawers(rows: Rows, random_state: Any, subset: NDArray[np.intp] | None) -> tuple[_Drawer, _Drawer]:
    """What draws the rows of each class, if there are some of both."""
    plus, minus = (
        _Drawer(rows.of_class(positive, subset), rows.weight, stream)
        for positive, stream in zip((True, False), _streams(random_state), strict=True)
    )
    if plus.rows.size == 0 or minus.rows.size == 0:
        missing = "positive" if plus.rows.size == 0 else "negative"
        raise ValueError(f"there are no {missing} rows to draw from; pairs need both classes.")
    return plus, minus


class _Drawer:
    """Draws rows of one class with replacement, in proportion to their weight."""

    def __init__(
        self, rows: NDArray[np.intp], weight: NDArray[np.float64] | None, stream: np.random.Generator
    ) -> None:
        self.rows, self.stream = rows, stream
        self.upper = None if weight is None else np.cumsum(weight[rows])

    def draw(self, size: int) -> NDArray[np.intp]:
        if self.upper is None:
            return np.asarray(self.rows[self.stream.integers(self.rows.size, size=size)])
        place = np.searchsorted(self.upper, self.stream.random(size) * self.upper[-1], side="right")
        return np.asarray(self.rows[np.minimum(place, self.rows.size - 1)])
