"""Compiled loops that sort the scores of each group; importing this module imports numba."""

from __future__ import annotations

import numpy as np

from mbauc.runtime.compiled import compiled

#: Rows up to which a group is sorted by insertion, and above which one bucket is sorted on its own.
_FEW = 32
#: Scores that show where most of a large group are.
_SAMPLE = 129


@compiled()
def _insert(values, order, first, last):  # type: ignore[no-untyped-def]
    """Insertion sort of values with what goes along; linear where each is near its place."""
    for i in range(first + 1, last):
        value, row, j = values[i], order[i], i
        while j > first and values[j - 1] > value:
            values[j], order[j] = values[j - 1], order[j - 1]
            j -= 1
        values[j], order[j] = value, row


@compiled()
def _merge_sort(values, order, first, last):  # type: ignore[no-untyped-def]
    """The same for many values that may stand anywhere: runs by insertion, then merged two by two."""
    for start in range(first, last, _FEW):
        _insert(values, order, start, min(start + _FEW, last))
    size, width = last - first, _FEW
    from_values, from_order = np.empty(size, values.dtype), np.empty(size, order.dtype)
    while width < size:
        for i in range(size):
            from_values[i], from_order[i] = values[first + i], order[first + i]
        for start in range(0, size, 2 * width):
            i, middle, end = start, min(start + width, size), min(start + 2 * width, size)
            j = middle
            for k in range(first + start, first + end):
                left = j == end or (i < middle and from_values[i] <= from_values[j])
                source = i if left else j
                values[k], order[k] = from_values[source], from_order[source]
                i += left
                j += not left
        width *= 2


@compiled()
def bulk(x, first, last):  # type: ignore[no-untyped-def]
    """A range that holds nearly all values, but not those far out; the whole one of a smaller group."""
    low, high = x[first], x[first]
    for i in range(first, last):
        low, high = min(low, x[i]), max(high, x[i])
    if last - first > 8 * _SAMPLE:
        some, ignored = np.empty(_SAMPLE), np.zeros(_SAMPLE, np.int8)
        for i in range(_SAMPLE):
            some[i] = x[first + (last - first - 1) // (_SAMPLE - 1) * i]
        _insert(some, ignored, 0, _SAMPLE)
        reach = 2.0 * (some[_SAMPLE - 9] - some[8])
        if reach > 0.0:
            low, high = max(low, some[8] - reach), min(high, some[_SAMPLE - 9] + reach)
    return low, high


@compiled(error_model="numpy")
def _sort_group(x, first, last, values, order):  # type: ignore[no-untyped-def]
    """Sort by buckets of about one value each, then by insertion."""
    size = last - first
    low, high = bulk(x, first, last)
    scale = size / (high - low)
    if size <= _FEW or not scale < np.inf:
        for i in range(first, last):
            values[i], order[i] = x[i], i
        if size <= _FEW:
            _insert(values, order, first, last)
        else:
            _merge_sort(values, order, first, last)
        return
    ends = np.zeros(size, order.dtype)
    for i in range(first, last):
        ends[int(min(max((x[i] - low) * scale, 0.0), size - 1.0))] += 1
    place = first
    for b in range(size):
        count = ends[b]
        ends[b] = place
        place += count
    for i in range(first, last):
        b = int(min(max((x[i] - low) * scale, 0.0), size - 1.0))
        place = ends[b]
        values[place], order[place] = x[i], i
        ends[b] += 1
    start = first
    for b in range(size):
        if ends[b] - start > _FEW:
            _merge_sort(values, order, start, ends[b])
        start = ends[b]
    _insert(values, order, first, last)


@compiled()
def sort_groups(x, rows, weight, starts, values, order, weights):  # type: ignore[no-untyped-def]
    """The values of each group, rising and all of them finite, with their rows and weights."""
    for g in range(starts.size - 1):
        _sort_group(x, starts[g], starts[g + 1], values, order)
    for i in range(x.size):
        place = order[i]
        weights[i], order[i] = weight[place], rows[place]
