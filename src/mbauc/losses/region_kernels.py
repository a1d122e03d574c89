"""Compiled loops that find which rows of each group are in a region; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.losses.order_kernels import bulk
from mbauc.runtime.compiled import compiled

#: Rows from which a group is searched by buckets first.
_MANY = 1 << 12
_BUCKETS = 1 << 10


@compiled()
def _middle(x, y, z):  # type: ignore[no-untyped-def]
    """The median of three."""
    return max(min(x, y), min(max(x, y), z))


@compiled(error_model="numpy")
def _narrow(values, weight, target):  # type: ignore[no-untyped-def]
    """The rows among which the target weight is reached, highest values first, and the weight above them."""
    low, high = bulk(values, 0, values.size)
    scale = _BUCKETS / (high - low)
    if values.size < _MANY or not scale < np.inf:
        return values.copy(), weight.copy(), 0.0
    sums = np.zeros(_BUCKETS)
    for i in range(values.size):
        sums[int(min(max((values[i] - low) * scale, 0.0), _BUCKETS - 1.0))] += weight[i]
    above, over, found = 0.0, 0.0, 0
    for b in range(_BUCKETS - 1, -1, -1):
        if sums[b] > 0.0:
            found, above = b, over
            over += sums[b]
            if over >= target:
                break
    some_values, some_weight, count = np.empty_like(values), np.empty_like(weight), 0
    for i in range(values.size):
        some_values[count], some_weight[count] = values[i], weight[i]
        count += int(min(max((values[i] - low) * scale, 0.0), _BUCKETS - 1.0)) == found
    return some_values[:count], some_weight[:count], above


@compiled()
def _cut(all_values, all_weight, target):  # type: ignore[no-untyped-def]
    """The value above which a target weight lies, and how much of the weight at it belongs to the target."""
    values, weight, above = _narrow(all_values, all_weight, target)
    first, last = 0, values.size
    # both arrays are shuffled from first to last: rows above, at and below a pivot, again and again
    while True:
        pivot = _middle(values[first], values[(first + last) // 2], values[last - 1])
        # [first, i): above the pivot, [i, k): at it, [k, j): not yet seen, [j, last): below
        i, k, j = first, first, last
        over, tied = 0.0, 0.0
        while k < j:
            value, w = values[k], weight[k]
            if value > pivot:
                values[k], weight[k] = values[i], weight[i]
                values[i], weight[i] = value, w
                over += w
                i += 1
                k += 1
            elif value < pivot:
                j -= 1
                values[k], weight[k] = values[j], weight[j]
                values[j], weight[j] = value, w
            else:
                tied += w
                k += 1
        if above + over > target and i > first:
            last = i
        elif above + over + tied >= target or j == last:
            return pivot, min(max((target - above - over) / tied, 0.0), 1.0)
        else:
            above += over + tied
            first = j


@compiled()
def _share(value, cut, fraction):  # type: ignore[no-untyped-def]
    """How much of a row counts, given the cut."""
    return 1.0 if value > cut else fraction if value == cut else 0.0


@compiled()
def keep(values, weight, starts, low, high):  # type: ignore[no-untyped-def]
    """The weight of each row between two shares of its group's, highest values first; ties share alike."""
    kept = weight.copy()
    for g in range(starts.size - 1):
        first, last = starts[g], starts[g + 1]
        whole = 0.0
        for i in range(first, last):
            whole += weight[i]
        upper, upper_share, lower, lower_share = -np.inf, 1.0, np.inf, 0.0
        if high < 1.0:
            upper, upper_share = _cut(values[first:last], weight[first:last], high * whole)
        if low > 0.0:
            lower, lower_share = _cut(values[first:last], weight[first:last], low * whole)
        for i in range(first, last):
            kept[i] *= _share(values[i], upper, upper_share) - _share(values[i], lower, lower_share)
    return kept
