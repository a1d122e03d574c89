"""Columns whose variance comes from one row, which then decides whatever is chosen by variances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import Advice, HeavyTailsWarning
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.threads import single_threaded_blas
from mbauc.runtime.warn import warn

#: Rows that are sampled, at most.
_MOST_ROWS = 10_000
#: Rows without which nothing is checked.
_LEAST_ROWS = 200
#: Share of the variance of a column that one row may make up.
_SHARE = 0.3
#: Values besides the most common one that a column needs, since rare levels are no tails.
_LEAST_VALUES = 50
#: Numbers of a block.
_BLOCK = 1 << 16


def warn_of_heavy_tails(X: Any, names: Any) -> None:
    """Warn if in some of up to 10,000 rows a single one makes up over 30% of a column's variance.

    Sparse rows are not checked, because few values in a column are no tail.
    """
    if is_sparse(X) or X.shape[0] < _LEAST_ROWS:
        return
    sample = X[:: -(-X.shape[0] // _MOST_ROWS)]
    # a hundred short products: threads of BLAS would wait for each other longer than they work
    with single_threaded_blas():
        share = _largest_shares(sample)
    heavy = np.flatnonzero(share > _SHARE)
    heavy = heavy[[_is_spread(sample[:, column]) for column in heavy]]
    if not heavy.size:
        return
    worst = int(heavy[np.argmax(share[heavy])])
    name = "" if names is None else f" ({names[worst]!r})"
    others = f" (and of {heavy.size - 1:,} more columns similarly)" if heavy.size > 1 else ""
    warn(
        f"one row makes up {share[worst]:.0%} of the variance of column {worst:,}{name}{others}. "
        + Advice("{l2} depends on variances: ", l2="auto")
        + Advice(
            "clip or transform such columns (np.log1p, sklearn.preprocessing.QuantileTransformer), or use "
            "MBAClassifierCV.",
            command="clip or transform such columns (logarithms, ranks), or use {cv}.",
        ),
        HeavyTailsWarning,
    )


def _largest_shares(sample: NDArray[Any]) -> NDArray[np.float64]:
    """The largest share that one row has in the variance of each column; in blocks that stay in cache."""
    n, d = sample.shape
    mean = np.full(n, 1.0 / n) @ sample
    sums, largest = np.zeros(d), np.zeros(d)
    step = max(1, _BLOCK // d)
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, n, step):
            squares = np.subtract(sample[start : start + step], mean, dtype=np.float64)
            np.square(squares, out=squares)
            sums += np.ones(len(squares)) @ squares
            np.maximum(largest, squares.max(axis=0), out=largest)
        return largest / np.where(sums > 0, sums, 1.0)


def _is_spread(values: NDArray[Any]) -> bool:
    """Whether a column has many values besides its median."""
    return int(np.count_nonzero(values != np.median(values))) >= _LEAST_VALUES
