"""Counts of scores in bins of neighbouring floating-point numbers, and what they say of the AUC."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Keys = NDArray[np.int64]

#: Bytes of an occupied bin: its key and what it counts.
ENTRY = 16
#: Whole numbers up to here are exact as float64.
_WHOLE = 2**53


# -- the state: what each bin counts --------------------------------------------------------------------------


class _Bins(NamedTuple):
    """Occupied bins of one class in rising order, what they count, and the number of rows in them."""

    keys: Keys
    counts: Array
    rows: int


class BinState(NamedTuple):
    """Bins of both classes at a coarseness, and whether all weights were whole numbers."""

    shift: int
    plus: _Bins
    minus: _Bins
    whole: bool

    @property
    def size(self) -> int:
        """Number of occupied bins of both classes."""
        return self.plus.keys.size + self.minus.keys.size


_NONE = _Bins(np.empty(0, dtype=np.int64), np.empty(0), 0)
EMPTY = BinState(1, _NONE, _NONE, True)


def _keys_of(values: Array, shift: int) -> Keys:
    """Bin of each score: odd numbers are the insides of bins, even ones what stands on their edges.

    The bits of a positive float64, read as a whole number, rise with it by one from each to the next. An
    edge is a number whose last ``shift`` bits are zero; a bin is an edge, or all between two of them. At
    shift 1 there is only one number between two edges, so that every bin holds one value.
    """
    bits = np.abs(values).view(np.int64)
    keys = (bits >> shift) << 1
    keys |= (bits & ((1 << shift) - 1)) != 0
    np.negative(keys, out=keys, where=values < 0)
    return keys


def hold_one_value(keys: Keys, shift: int) -> NDArray[np.bool_]:
    """Which bins can hold one value only, so that a pair in them is a tie."""
    return np.ones(keys.size, dtype=np.bool_) if shift == 1 else keys & 1 == 0


def _coarser(bins: _Bins) -> _Bins:
    """The same at the next shift: every other edge goes and joins what is on both sides of it."""
    size = np.abs(bins.keys)
    keys = (size >> 2) << 1
    keys |= (size & 3) != 0
    np.negative(keys, out=keys, where=bins.keys < 0)
    return _runs(keys, bins.counts, bins.rows)


def _runs(keys: Keys, counts: Array | None, n_rows: int) -> _Bins:
    """Sorted keys, each once, and what they count together; without counts each counts one."""
    if keys.size == 0:
        return _NONE
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if counts is None:
        return _Bins(keys[starts], np.diff(starts, append=keys.size).astype(np.float64), n_rows)
    return _Bins(keys[starts], np.add.reduceat(counts, starts), n_rows)


def count_scores(values: Array, positive: NDArray[np.bool_], weight: Array | None, shift: int) -> BinState:
    """Bins of a block of rows; without regard to memory."""
    keys = _keys_of(values, shift)
    classes = []
    for mask in (positive, ~positive):
        if weight is None:
            classes.append(_runs(np.sort(keys[mask]), None, int(np.count_nonzero(mask))))
            continue
        # a row without weight must not occupy a bin
        used = np.flatnonzero(mask & (weight > 0))
        used = used[np.argsort(keys[used], kind="stable")]
        classes.append(_runs(keys[used], weight[used], used.size))
    whole = weight is None or bool((weight == np.floor(weight)).all())
    return BinState(shift, classes[0], classes[1], whole)


def _merge_bins(bins: _Bins, more: _Bins) -> _Bins:
    """What both count, in new arrays: an update that fails later must not have changed the old ones."""
    at = np.searchsorted(bins.keys, more.keys)
    known = np.zeros(at.size, dtype=np.bool_)
    inside = at < bins.keys.size
    known[inside] = bins.keys[at[inside]] == more.keys[inside]
    keys, counts = bins.keys, bins.counts.copy()
    counts[at[known]] += more.counts[known]
    if not known.all():
        fresh = ~known
        keys = np.insert(keys, at[fresh], more.keys[fresh])
        counts = np.insert(counts, at[fresh], more.counts[fresh])
    return _Bins(keys, counts, bins.rows + more.rows)


def merge_states(state: BinState, more: BinState) -> BinState:
    """Both together, at the coarser of their bins."""
    shift = max(state.shift, more.shift)
    state, more = _at_shift(state, shift), _at_shift(more, shift)
    return BinState(
        shift,
        _merge_bins(state.plus, more.plus),
        _merge_bins(state.minus, more.minus),
        state.whole and more.whole,
    )


def _at_shift(state: BinState, shift: int) -> BinState:
    while state.shift < shift:
        state = state._replace(shift=state.shift + 1, plus=_coarser(state.plus), minus=_coarser(state.minus))
    return state


def coarsen_to_fit(state: BinState, memory: int) -> BinState:
    """As coarse as memory demands; at shift 63 three bins are left of a class, so there is an end."""
    while ENTRY * state.size > memory:
        state = _at_shift(state, state.shift + 1)
    return state


# -- the bracket ----------------------------------------------------------------------------------------------


class Bracket(NamedTuple):
    """AUC with one half for each pair that is not decided, and with none or all of them won."""

    auc: float
    low: float
    high: float


def auc_bracket(state: BinState) -> Bracket:
    """AUC from what is known of the pairs."""
    sizes = float(state.plus.counts.sum()), float(state.minus.counts.sum())
    if state.whole and max(sizes) < _WHOLE:
        return _bracket_of_counts(state, int(sizes[0]) * int(sizes[1]))
    return _bracket_of_weights(state, sizes[0] * sizes[1])


def _bracket_of_counts(state: BinState, pairs: int) -> Bracket:
    """Of whole numbers, each end rounded once."""
    kind = np.int64 if pairs < 2**62 else object
    won, lost, tied = (int(number) for number in _weigh_decided_pairs(state, kind))
    return Bracket(
        (pairs + won - lost) / (2 * pairs),
        (2 * won + tied) / (2 * pairs),
        (2 * (pairs - lost) - tied) / (2 * pairs),
    )


def _bracket_of_weights(state: BinState, total: float) -> Bracket:
    """Of floating-point sums, and made wider by what rounding can do to them."""
    won, lost, tied = (float(number) for number in _weigh_decided_pairs(state, np.float64))
    # At most 4n + 2 additions, products and divisions of non-negative numbers, each off by 2⁻⁵³ of itself,
    # lie between a weight and an end of the bracket; 8n + 32 leave room for those below.
    rounding = (state.plus.rows + state.minus.rows + 4) * 2.0**-50
    low = float(np.nextafter((won + tied / 2) / total * (1 - rounding), 0.0))
    high = float(np.nextafter(1.0 - (lost + tied / 2) / total * (1 - rounding), 1.0))
    return Bracket(min(max((1.0 + (won - lost) / total) / 2, low), high), low, high)


def _weigh_decided_pairs(state: BinState, kind: Any) -> tuple[Any, Any, Any]:
    """Weight of the pairs that are known to be won, lost and tied, in numbers of some kind."""
    plus, minus = state.plus, state.minus
    shared, i, j = np.intersect1d(plus.keys, minus.keys, assume_unique=True, return_indices=True)
    single = hold_one_value(shared, state.shift)
    tied = _numbers(plus.counts[i[single]], kind) @ _numbers(minus.counts[j[single]], kind)
    return _below(plus, minus, kind), _below(minus, plus, kind), tied


def _numbers(counts: Array, kind: Any) -> NDArray[Any]:
    return counts if kind is np.float64 else counts.astype(np.int64).astype(kind)


def _below(upper: _Bins, lower: _Bins, kind: Any) -> Any:
    """Weight of the pairs in which the row of ``upper`` is in a higher bin than that of ``lower``."""
    below = np.concatenate([[0.0], np.cumsum(lower.counts)])
    return _numbers(upper.counts, kind) @ _numbers(below[np.searchsorted(lower.keys, upper.keys)], kind)
