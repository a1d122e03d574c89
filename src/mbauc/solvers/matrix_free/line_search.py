"""The lowest point of Eq. (14) along a line, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def lowest_point(
    w: Array, step: Array, slope: float, bend: float, threshold: Array, furthest: float = np.inf
) -> tuple[float, int, NDArray[np.intp]]:
    """Minimise ``a·slope + ½ a²·bend + threshold'|w + a·step|`` over 0 ≤ a ≤ furthest.

    The derivative rises from kink to kink, where a weight passes zero: sort the kinks, find where it changes
    its sign. ``O(d + k log k)`` for k kinks.

    Parameters
    ----------
    w, step : ndarrays of shape (d,)
        Where the line starts and where it goes.
    slope, bend : float
        First and second derivative at a = 0 of the smooth part; ``bend`` is at least 0.
    threshold : ndarray of shape (d,)
        l1 times the penalty factors.
    furthest : float, default=inf
        End of the line.

    Returns
    -------
    a : float
        Zero if the function does not fall; ``furthest`` if it falls all the way.
    passed : int
        Number of weights that change their sign on the way.
    landed : ndarray of int
        Weights that are zero at the lowest point because it is their kink.

    Examples
    --------
    >>> import numpy as np
    >>> lowest_point(np.array([1.0]), np.array([-1.0]), -2.0, 1.0, np.array([2.5]))
    (1.0, 0, array([0]))
    """
    nowhere = np.zeros(0, dtype=np.intp)
    slope += float(np.where(w == 0.0, np.abs(step), np.sign(w) * step) @ threshold)
    if slope >= 0.0:
        return 0.0, 0, nowhere
    smooth_end = min(-slope / bend, furthest) if bend > 0.0 else furthest
    turning = np.flatnonzero(w * step < 0.0)
    at = -w[turning] / step[turning]
    near = at < smooth_end
    turning, at = turning[near], at[near]
    order = np.argsort(at, kind="stable")
    turning, at = turning[order], at[order]
    slopes = slope + np.concatenate([[0.0], np.cumsum(2.0 * threshold[turning] * np.abs(step[turning]))])
    ends = np.append(at, furthest)
    with np.errstate(invalid="ignore"):
        falling = slopes + (bend * ends if bend > 0.0 else 0.0) < 0.0
    piece = int(np.argmin(falling)) if not falling.all() else at.size
    start = at[piece - 1] if piece else 0.0
    if slopes[piece] + bend * start >= 0.0:
        landed = turning[at == start]
        return float(start), int((at < start).sum()), landed
    a = min(-slopes[piece] / bend, ends[piece]) if bend > 0.0 else ends[piece]
    return float(a), piece, nowhere
