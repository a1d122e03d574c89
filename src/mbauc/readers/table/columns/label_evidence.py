"""Whether numbers are quantities or codes, by which of the two explains the labels of other rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.readers.table.arrow import pyarrow
from mbauc.readers.table.columns.number_texts import MISSING_NUMBERS
from mbauc.readers.table.columns.values import flatten, is_text

Array = NDArray[np.float64]

#: Bins of a curve; neighbouring values share one.
_BINS = 32
#: Rows that a rate is drawn towards the rate of all rows by.
_PRIOR_ROWS = 10.0
#: Standard errors from which a difference decides.
_CLEAR = 3.0


def prefer_levels(values: Array, y: Array, *, line: bool = False) -> bool | None:
    """Whether a rate for each value explains labels better than the order of the values; None if unclear.

    Half of the rows predict the other: by the rate of each distinct value, and by a curve of 32 bins with
    about as many rows each (a straight line if ``line``). Rates are drawn towards the rate of all rows as by 10
    more rows. The mean squared errors must differ by 3 standard errors, and the better one from that of
    the rate of all rows: where neither tells anything of the labels, many levels only err more.
    ``O(n log n)`` time.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers; NaN where one is missing.
    y : ndarray of shape (n,)
        Labels 0 and 1; NaN where one is missing.
    line : bool, default=False
        Whether a straight line stands against the levels.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.readers.table.columns.label_evidence import prefer_levels
    >>> rng = np.random.default_rng(0)
    >>> x = rng.integers(0, 100, 20_000).astype(float)
    >>> noise = rng.random(20_000)
    >>> print(prefer_levels(x, noise < rng.random(100)[x.astype(int)]))
    True
    >>> print(prefer_levels(x, noise < x / 100), prefer_levels(x, noise < 0.5))
    False None
    """
    present = ~(np.isnan(values) | np.isnan(y))
    x, y = values[present], np.asarray(y[present], dtype=np.float64)
    distinct, codes = np.unique(x, return_inverse=True)
    if x.size < 4 or distinct.size < 3:
        return None
    ranks = np.cumsum(np.bincount(codes)) - 1
    bins = ranks * _BINS // x.size  # values stay whole
    first = np.arange(x.size) % 2 == 0
    errors = np.empty((3, x.size))
    for train in (first, ~first):
        test = ~train
        by_level = _rates(codes[train], y[train], distinct.size)[codes[test]]
        if line:
            slope, start = np.polyfit(x[train] - distinct[0], y[train], 1) if np.ptp(x[train]) else (0.0, 0.5)
            by_order = np.clip(start + slope * (x[test] - distinct[0]), 0.0, 1.0)
        else:
            by_order = _rates(bins[codes[train]], y[train], _BINS)[bins[codes[test]]]
        for kind, rates in enumerate((by_level, by_order, np.full(by_level.size, y[train].mean()))):
            errors[kind, test] = (y[test] - rates) ** 2
    by_level, by_order, by_none = errors
    if _is_clear(by_order - by_level) and _is_clear(by_none - by_level):
        return True
    return False if _is_clear(by_level - by_order) and _is_clear(by_none - by_order) else None


def _is_clear(gain: Array) -> bool:
    """Whether a mean is positive, beyond doubt."""
    return bool(gain.mean() > _CLEAR * gain.std() / np.sqrt(gain.size))


def _rates(codes: NDArray[np.int64], y: Array, n_codes: int) -> Array:
    """The rate of the positive label for each code."""
    rows, positive = np.bincount(codes, minlength=n_codes), np.bincount(codes, y, n_codes)
    return np.asarray((positive + _PRIOR_ROWS * y.mean()) / (rows + _PRIOR_ROWS))


def read_two_labels(column: object) -> Array | None:
    """Labels of an Arrow column as 0 and 1, and NaN where one is missing; None unless there are two.

    Which of the two is 1 does not matter to :func:`prefer_levels`.
    """
    try:
        coded = flatten(column).dictionary_encode()
    except (ValueError, pyarrow().ArrowNotImplementedError):
        return None
    texts = is_text(coded.dictionary.type)
    known = [
        place
        for place, value in enumerate(coded.dictionary.to_pylist())
        if value is not None and value == value and not (texts and value.strip() in MISSING_NUMBERS)
    ]
    if len(known) != 2:
        return None
    table = np.full(len(coded.dictionary) + 1, np.nan)
    table[known] = 0.0, 1.0
    return np.asarray(table[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)])
