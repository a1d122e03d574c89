"""Columns too large, or too far from zero, for sums that could not be centred while they were made."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CancellationWarning
from mbauc.pairs.operator.collector import Collector
from mbauc.pairs.operator.sparse import PairRows

#: A squared mean this much larger than the second moment of the differences leaves them six digits.
_FAR = 1e10


def check_overflow(collector: Collector) -> None:
    """Raise if the squares of a column are beyond floating point."""
    for group in range(len(collector.counts)):
        beyond = np.flatnonzero(~np.isfinite(collector.sums(group)[1]))
        if beyond.size:
            column = int(collector.order.columns[beyond[0]])
            raise ValueError(
                f"column {column:,} holds values whose squares overflow float64; rescale the features "
                "(sklearn.preprocessing.MaxAbsScaler)."
            )


def warn_of_lost_digits(rows: PairRows) -> None:
    """Warn of columns whose differences drown in the rounding errors of their means.

    Constant columns have no differences to lose. ``O(d)``, and a sweep over the rows if there is a suspicion.
    """
    far = np.max([group.mean**2 for group in rows.groups], axis=0) > _FAR * rows.diagonal
    if not far.any():
        return
    lost = np.flatnonzero(far & ~_constant(rows, far))
    if lost.size:
        warnings.warn(
            f"column {int(rows.order.columns[lost[0]]):,} lies so far from zero, compared with its spread, "
            f"that its differences keep fewer than 6 digits ({lost.size:,} such "
            f"column{'s' if lost.size > 1 else ''}). Rows that are read once cannot be shifted: "
            "centre the column.",
            CancellationWarning,
            stacklevel=4,
        )


def _constant(rows: PairRows, looked_at: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which of some columns have one and the same value in every row."""
    count = np.zeros(looked_at.size, dtype=np.int64)
    lowest, highest = np.full(looked_at.size, np.inf), np.full(looked_at.size, -np.inf)
    for stored in rows.chunks:
        chunk = stored.loaded()
        places = np.flatnonzero(looked_at[chunk.columns])
        columns = chunk.columns[places]
        values = np.ones(places.size) if chunk.values is None else chunk.values[places].astype(np.float64)
        count += np.bincount(columns, minlength=count.size)
        np.minimum.at(lowest, columns, values)
        np.maximum.at(highest, columns, values)
    return np.asarray((count == rows.n_rows) & (lowest == highest))
