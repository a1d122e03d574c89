"""Columns whose variance comes from one row, which then decides whatever is chosen by variances."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbauc.errors import Advice, HeavyTailsWarning
from mbauc.rows.matrix import is_sparse
from mbauc.runtime.warn import warn

#: Rows that are sampled, at most.
_MOST_ROWS = 10_000
#: Rows without which nothing is checked.
_LEAST_ROWS = 200
#: Share of the variance of a column that one row may make up.
_SHARE = 0.3
#: Values besides the most common one that a column needs, since rare levels are no tails.
_LEAST_VALUES = 50


def warn_of_heavy_tails(X: Any, names: Any = None) -> None:
    """Warn if in some of up to 10,000 rows a single one makes up over 30% of a column's variance.

    Sparse rows are not checked, because few values in a column are no tail.
    """
    if is_sparse(X) or X.shape[0] < _LEAST_ROWS:
        return
    sample = np.asarray(X[:: -(-X.shape[0] // _MOST_ROWS)], dtype=np.float64)
    middle = np.median(sample, axis=0)
    spread = (np.count_nonzero(sample != middle, axis=0) >= _LEAST_VALUES) & np.isfinite(middle)
    squares = (sample[:, spread] - sample[:, spread].mean(axis=0)) ** 2
    sums = squares.sum(axis=0)
    share = squares.max(axis=0, initial=0.0) / np.where(sums > 0, sums, 1.0)
    heavy = np.flatnonzero(spread)[share > _SHARE]
    if not heavy.size:
        return
    worst = int(np.flatnonzero(spread)[np.argmax(share)])
    name = "" if names is None else f" ({names[worst]!r})"
    others = f", and {heavy.size - 1:,} more columns are like that" if heavy.size > 1 else ""
    warn(
        f"one row makes up {share.max():.0%} of the variance of column {worst:,}{name}{others}. "
        + Advice("{l2} goes by variances: ", l2="auto")
        + Advice(
            "clip or transform such columns (np.log1p, sklearn.preprocessing.QuantileTransformer), or use "
            "MBAClassifierCV.",
            command="clip or transform such columns (logarithms, ranks), or use {cv}.",
        ),
        HeavyTailsWarning,
    )
