"""What subtraction leaves behind: rounding errors to clear, and losses to warn of."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CancellationWarning
from mbauc.pairs.scatter import PackedScatters, WeightedMean
from mbauc.pairs.scatter.packed import Side

#: What is left of a scatter below this share is taken for rounding error and set to zero …
_ROUNDING = 64 * np.finfo(np.float64).eps
#: … and below this share it keeps fewer than six digits, which is worth a warning.
_FEW_DIGITS = np.finfo(np.float64).eps * 1e6
#: A mean this much smaller than the spread before the subtraction tells of values lost beside larger ones.
_TINY = 1e-5


def clear_rounding(
    packed: PackedScatters,
    side: Side,
    before: NDArray[np.float64],
    whole: WeightedMean,
    rest: WeightedMean,
) -> None:
    """Clear what is rounding error in a scatter that was subtracted from, and warn of real losses.

    Parameters
    ----------
    packed, side
        The scatter after the subtraction; changed in place.
    before : ndarray of shape (d,)
        Its diagonal before.
    whole, rest : WeightedMean
        All rows, and those that are left.
    """
    if rest.weight == 0:
        packed.clear(side, np.arange(rest.mean.size))
        return
    if rest.weight < _FEW_DIGITS * whole.weight:
        warnings.warn(
            f"subtracting moments cancels: the {side} rows left have {rest.weight / whole.weight:.1e} of the "
            "weight, so fewer than 6 digits are right. Accumulate the remaining rows directly instead.",
            CancellationWarning,
            stacklevel=4,
        )
    after = packed.diagonal(side)
    gone = (after <= _ROUNDING * before) & (before > 0)
    # a column that is constant in the rest is gone for good; tiny values beside huge ones are lost
    lost = gone & (rest.mean != 0) & (np.abs(rest.mean) < _TINY * np.sqrt(before / rest.weight))
    cancelled = lost | (~gone & (after < _FEW_DIGITS * before))
    if cancelled.any():
        column = int(np.flatnonzero(cancelled)[0])
        warnings.warn(
            f"subtracting moments cancels: column {column} of the {side} class keeps "
            f"{max(after[column], 0.0) / before[column]:.1e} of its scatter, so fewer than 6 digits are "
            "right. Accumulate the remaining rows directly instead.",
            CancellationWarning,
            stacklevel=4,
        )
    packed.clear(side, np.flatnonzero(gone))
