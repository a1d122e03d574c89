"""The bootstrap: error bars of an AUC from resampled rows, as a check of DeLong's."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_flag, check_share, check_whole
from mbauc.metrics.intervals.delong import AucInterval
from mbauc.metrics.intervals.sample_design import (
    Design,
    Weights,
    validate_design,
    warn_of_few_rows,
)
from mbauc.metrics.ranked import RankedScores
from mbauc.runtime.progress import progress
from mbauc.runtime.seeds import generator

Array = NDArray[np.float64]

#: Mass of the positive and of the negative rows in a resample.
Resample = Callable[[np.random.Generator], tuple[Array, Array]]

#: More rows than this cannot be drawn.
_MOST_DRAWS = 2.0**53


def roc_auc_bootstrap(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    weights: Weights | None = None,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
    resamples: int = 2000,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    verbose: bool = False,
) -> AucInterval:
    """AUC with a percentile confidence interval from a stratified bootstrap.

    A check of :func:`roc_auc_interval`, which makes the same assumptions and is some thousand times faster.
    Positive and negative rows are resampled separately, so that each resample has as many of each as the data.
    ``O(n log n)`` for one sort and ``O(n)`` for each resample; ``O(n)`` memory.

    Parameters
    ----------
    y_true, y_score, sample_weight
        As for :func:`roc_auc`.
    weights : {"frequency", "sampling"}
        Meaning of ``sample_weight``; required if it is given. With "frequency" a row of weight k stands for k
        rows, and the size of the resample of a class is the sum of its weights, rounded. With "sampling" rows
        are drawn with equal probability and keep their weights.
    clusters : array-like of shape (n,), optional
        Clusters of dependent rows, such as users, patients or days. Whole clusters are resampled, with all
        their rows and weights. A resample without rows of one class is drawn again.
    confidence : float, default=0.95
        Coverage, between 0 and 1.
    resamples : int, default=2000
        Number of resamples, at least 2. A 95% interval needs a thousand or more.
    random_state : int, Generator, RandomState or None
        Seed of the resampling.
    verbose : bool, default=False
        Show a progress bar on a terminal.

    Returns
    -------
    AucInterval
        AUC of the data, with percentiles and standard deviation of the resampled AUCs. If the classes are
        perfectly separated they are so in every resample, and the interval has zero width; use
        :func:`roc_auc_interval` then.

    Warns
    -----
    FewRowsWarning
        As for :func:`roc_auc_interval`.

    References
    ----------
    Efron and Tibshirani 1993, An introduction to the bootstrap, chapters 8 and 13.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> print(roc_auc_bootstrap(y, rng.standard_normal(1000) + y, random_state=0))
    0.7122 (95% interval 0.6602 to 0.7615)
    """
    check_share("confidence", confidence)
    check_whole("resamples", resamples, 2)
    check_flag("verbose", verbose)
    rng = generator(random_state)
    ranked = RankedScores.validate(y_true, y_score, sample_weight)
    design = validate_design(ranked, weights, clusters)
    ranks = _ranks(ranked)
    auc = _auc(ranks, ranked.weights[ranked.positive], ranked.weights[~ranked.positive])
    warn_of_few_rows(design.effective_sizes, auc, design.kinds)
    draw = _resampler(ranked, design)
    found = np.empty(resamples)
    with progress(resamples, "bootstrap", unit="resample", show=verbose) as advance:
        for k in range(resamples):
            found[k] = _auc(ranks, *draw(rng))
            advance(1)
    low, high = np.quantile(found, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return AucInterval(auc, float(low), float(high), float(found.std(ddof=1)), confidence)


class _Ranks(NamedTuple):
    """Place of each row's score among the distinct scores, and how many these are."""

    plus: NDArray[np.intp]
    minus: NDArray[np.intp]
    size: int


def _ranks(ranked: RankedScores) -> _Ranks:
    distinct, ranks = np.unique(ranked.values, return_inverse=True)
    return _Ranks(ranks[ranked.positive], ranks[~ranked.positive], distinct.size)


def _auc(ranks: _Ranks, plus: Array, minus: Array) -> float:
    """AUC of rows of which each class has some mass, ``O(n)``."""
    above = np.bincount(ranks.plus, plus, ranks.size)
    below = np.bincount(ranks.minus, minus, ranks.size)
    # not the product of BLAS: its threads cost more than this sum
    won = (above * (np.cumsum(below) - below / 2)).sum()
    # rounding must not lead beyond 1
    return float(min(1.0, won / (above.sum() * below.sum())))


def _resampler(ranked: RankedScores, design: Design) -> Resample:
    """How a resample is drawn."""
    positive, weight = ranked.positive, ranked.weights
    if design.groups is not None:
        return _clusters(positive, weight, design.groups)
    kind = _repeat_rows if design.weights == "frequency" else _rows
    plus, minus = (kind(weight[mask]) for mask in (positive, ~positive))
    return lambda rng: (plus(rng), minus(rng))


def _rows(weight: Array) -> Callable[[np.random.Generator], Array]:
    """Draws as many rows as there are; those without weight are not there."""
    used = np.flatnonzero(weight)

    def draw(rng: np.random.Generator) -> Array:
        return weight * np.bincount(used[rng.integers(used.size, size=used.size)], minlength=weight.size)

    return draw


def _repeat_rows(weight: Array) -> Callable[[np.random.Generator], Array]:
    """Draws as many rows as the weights add up to."""
    total = float(weight.sum())
    if total > _MOST_DRAWS:
        raise ValueError(
            f"sample_weight adds up to {total:g} rows of a class with weights='frequency'; no more than "
            f"{_MOST_DRAWS:g} can be drawn. If these are sampling weights, pass weights='sampling'."
        )
    times, share = round(total), weight / total
    return lambda rng: rng.multinomial(times, share).astype(np.float64)


def _clusters(positive: NDArray[np.bool_], weight: Array, groups: NDArray[np.intp]) -> Resample:
    """Draws as many clusters as there are, until both classes are among them; those without weight are not."""
    used = np.unique(groups[weight > 0])
    n_groups = int(groups.max()) + 1

    def draw(rng: np.random.Generator) -> tuple[Array, Array]:
        while True:
            times = np.bincount(used[rng.integers(used.size, size=used.size)], minlength=n_groups)
            mass = weight * times[groups]
            plus, minus = mass[positive], mass[~positive]
            # at least two clusters have each class, so that this ends soon
            if plus.any() and minus.any():
                return plus, minus

    return draw
