"""What subtraction leaves behind: rounding errors to clear, and losses to warn of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mbauc.errors import CancellationWarning
from mbauc.pairs.scatter import PackedScatters, WeightedMean
from mbauc.pairs.scatter.packed import Side
from mbauc.runtime.warn import warn

#: What remains of a scatter below this share is taken for rounding error and set to zero …
_ROUNDING = 64 * np.finfo(np.float64).eps
#: … and below this share it keeps fewer than six digits, which is worth a warning.
_FEW_DIGITS = np.finfo(np.float64).eps * 1e6
#: A mean this much smaller than the spread before the subtraction is a sign of values lost beside larger ones.
_TINY = 1e-5


def clear_rounding(
    packed: PackedScatters,
    side: Side,
    before: NDArray[np.float64],
    whole: WeightedMean,
    rest: WeightedMean,
) -> None:
    """Clear what is rounding error in a scatter that was subtracted from, and warn of real losses.

    Changes the scatter in place; ``before`` is its diagonal before the subtraction, ``rest`` what remains.
    """
    if rest.weight == 0:
        packed.clear(side, np.arange(rest.mean.size))
        return
    if rest.weight < _FEW_DIGITS * whole.weight:
        warn(
            f"subtracting moments cancels: the {side} rows left have {rest.weight / whole.weight:.1e} of the "
            "weight, so fewer than 6 digits are right. Accumulate the remaining rows directly instead.",
            CancellationWarning,
        )
    after = packed.diagonal(side)
    gone = (after <= _ROUNDING * before) & (before > 0)
    # a column that is constant in the rest is gone for good; tiny values beside huge ones are lost
    lost = gone & (rest.mean != 0) & (np.abs(rest.mean) < _TINY * np.sqrt(before / rest.weight))
    cancelled = lost | (~gone & (after < _FEW_DIGITS * before))
    if cancelled.any():
        column = int(np.flatnonzero(cancelled)[0])
        warn(
            f"subtracting moments cancels: column {column} of the {side} class keeps "
            f"{max(after[column], 0.0) / before[column]:.1e} of its scatter, so fewer than 6 digits are "
            "right. Accumulate the remaining rows directly instead.",
            CancellationWarning,
        )
    packed.clear(side, np.flatnonzero(gone))
