"""AUC of scores that pass by once: bounded memory, mergeable, with a bracket that holds the exact value."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.labels import check_classes, positive_rows
from mbauc.matrix import check_weights
from mbauc.settings import check_whole

Array = NDArray[np.float64]
Keys = NDArray[np.int64]

#: Scores sorted at a time: few enough for the cache, and to keep memory small whatever a caller passes.
_BLOCK = 1 << 15
#: Bytes of an occupied bin: its key and what it counts.
_ENTRY = 16
#: Whole numbers up to here are exact as float64.
_WHOLE = 2**53


class StreamingAUC:
    """AUC of a stream of scores in one pass, in bounded memory, with a bracket that holds the exact AUC.

    Scores are counted in bins, each class on its own. Pairs in different bins are decided; of those in the
    same bin it is not known who wins, and they are the width of the bracket from ``low`` to ``high``. ``auc``
    counts them one half. Bins are runs of neighbouring floating-point numbers, so that scores of any scale
    and offset will do; what they are does not depend on the data. As long as memory allows, each number has
    a bin of its own and the AUC is exact. When memory is full, pairs of bins become one, over and over until
    they fit. A number on the edge of two bins has a bin to itself, and 0 and the powers of two are edges
    down to one bin for each power of two: many equal scores of 0, ½ or 1 stay ties and do not widen the
    bracket. Many equal scores of another value, such as 0.1, do widen it once memory is full, by the share
    of pairs that are tied there. Floating-point numbers are dense near 0 and not near 1: of probabilities
    that crowd below 1 pass the log-odds.

    The state is that of the rows as a set: any order, any blocks and any tree of merges give the same bins
    (and the same bits, where weights are whole numbers). For a set of rows occupies no more bins than
    a larger set at the same coarseness, so a part is never made coarser than the whole has to be, and the
    whole is made as coarse as it has to be, and no coarser.

    Without weights, or with whole ones that add up to less than 2⁵³, pairs are counted in whole numbers: the
    exact AUC, rounded once, is never outside of the bracket. With other weights the bracket is made wider by
    what rounding can do, (n + 4)·2⁻⁵⁰ of the shares won and lost for n rows.

    Time: ``O(n log n)`` for n rows of a block, and ``O(memory)`` for each block, for each merge and for
    each look at the result. Memory: at most ``memory`` bytes; while it works, an update takes 5 MB, four
    times the bins, and two bytes for each row that it is given.

    Parameters
    ----------
    memory : int
        Bytes that the bins may take, at least 1024; 16 for each bin with a score of a class.
    classes : sequence of two labels, optional
        Both labels; the larger is positive. Needed unless labels are 0/1, ±1 or boolean, or every block has
        both.

    Attributes
    ----------
    auc : float
        AUC with one half for each pair that is not decided.
    low, high : float
        What the AUC would be if all pairs that are not decided were lost, or won.
    width : float
        ``high - low``.
    exact : bool
        Whether all pairs are decided, so that nothing but rounding is left of the bracket.
    counts : tuple of int
        Number of rows that entered, (positives, negatives); those of weight zero do not.
    memory_used : int
        Bytes of the bins.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> monday, tuesday = StreamingAUC(), StreamingAUC()
    >>> for day in (monday, tuesday):
    ...     for _ in range(5):
    ...         y = rng.random(100_000) < 0.1
    ...         day = day.update(y, rng.standard_normal(100_000) + y)
    >>> both = monday + tuesday
    >>> both
    StreamingAUC(0.76104, from 0.76101 to 0.76106; 100,110 positives, 899,890 negatives)
    >>> both.memory_used <= 2**20
    True
    """

    def __init__(self, memory: int = 2**20, classes: ArrayLike | None = None) -> None:
        check_whole("memory", memory, 1024)
        self._memory = int(memory)
        self._classes = None if classes is None else check_classes(classes)
        self._labels: dict[bool, Any] = {}
        if self._classes is not None:
            self._labels = dict(zip((False, True), self._classes.tolist(), strict=True))
        self._state = _EMPTY

    # -- taking in rows ------------------------------------------------------------------------------

    def update(self, y: ArrayLike, s: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Count more rows.

        Parameters
        ----------
        y : array-like of shape (n,)
            Labels. A block may hold one class only, or no rows.
        s : array-like of shape (n,)
            Scores; infinite ones are fine, NaN is not.
        sample_weight : array-like of shape (n,), optional
            A pair has the product of the weights of its rows.

        Returns
        -------
        StreamingAUC
            Itself. If anything is wrong with the block, nothing of it is counted.
        """
        values = _as_scores(s)
        given = np.asarray(y)
        if given.shape[:1] != values.shape:
            n_labels = given.shape[0] if given.ndim else 1
            raise ValueError(f"y has {n_labels:,} labels and there are {values.size:,} scores.")
        weight = _block_weights(sample_weight, values.size)
        if values.size == 0:
            return self
        positive = positive_rows(given, self._classes)
        labels = _joined_labels(self._labels, _labels_of(given.ravel(), positive))
        state = self._state
        for start in range(0, values.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = np.asarray(values[rows], dtype=np.float64)
            if np.isnan(block).any():
                row = start + int(np.flatnonzero(np.isnan(block))[0])
                raise ValueError(f"the score of row {row:,} is NaN; drop the row or give it a score.")
            part = _counted(block, positive[rows], None if weight is None else weight[rows], state.shift)
            state = _fitted(_joined(state, part), self._memory)
        self._labels, self._state = labels, state
        return self

    def merge(self, other: StreamingAUC) -> Self:
        """Count the rows of another one as well; returns itself.

        Both must have the same ``memory``. ``a + b`` leaves both as they are.
        """
        if not isinstance(other, StreamingAUC):
            raise TypeError(f"other must be a StreamingAUC, got {type(other).__name__}.")
        if self._memory != other._memory:
            raise ValueError(
                f"cannot merge a StreamingAUC of {self._memory:,} bytes with one of {other._memory:,}: the "
                "result would depend on their order. Make both with the same memory."
            )
        labels = _joined_labels(self._labels, other._labels)
        state = _fitted(_joined(self._state, other._state), self._memory)
        self._classes = other._classes if self._classes is None else self._classes
        self._labels, self._state = labels, state
        return self

    def __add__(self, other: StreamingAUC) -> StreamingAUC:
        if not isinstance(other, StreamingAUC):
            return NotImplemented
        return StreamingAUC(self._memory, self._classes).merge(self).merge(other)

    def __radd__(self, other: int) -> StreamingAUC:
        """``sum(parts)`` starts from 0."""
        if not (isinstance(other, int) and other == 0):
            return NotImplemented
        return StreamingAUC(self._memory, self._classes).merge(self)

    def __iadd__(self, other: StreamingAUC) -> Self:
        if not isinstance(other, StreamingAUC):
            return NotImplemented
        return self.merge(other)

    # -- what they say -------------------------------------------------------------------------------

    @property
    def auc(self) -> float:
        """AUC with one half for each pair that is not decided."""
        return self._bracket().auc

    @property
    def low(self) -> float:
        """What the AUC would be if all pairs that are not decided were lost."""
        return self._bracket().low

    @property
    def high(self) -> float:
        """What the AUC would be if all pairs that are not decided were won."""
        return self._bracket().high

    @property
    def width(self) -> float:
        """Distance of the ends of the bracket."""
        bracket = self._bracket()
        return bracket.high - bracket.low

    @property
    def exact(self) -> bool:
        """Whether all pairs are decided, so that nothing but rounding is left of the bracket."""
        shared = np.intersect1d(self._state.plus.keys, self._state.minus.keys, assume_unique=True)
        return bool(_hold_one_value(shared, self._state.shift).all())

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows that entered, (positives, negatives)."""
        return self._state.plus.rows, self._state.minus.rows

    @property
    def memory_used(self) -> int:
        """Bytes of the bins."""
        return _ENTRY * self._state.size

    def __repr__(self) -> str:
        rows = f"{self.counts[0]:,} positives, {self.counts[1]:,} negatives"
        if 0 in self.counts:
            return f"StreamingAUC(no pairs yet; {rows})"
        auc, low, high = self._bracket()
        return f"StreamingAUC({auc:.5f}, from {low:.5f} to {high:.5f}; {rows})"

    def _bracket(self) -> _Bracket:
        if 0 in self.counts:
            raise ValueError(
                f"there are no pairs yet ({self.counts[0]:,} positives, {self.counts[1]:,} negatives); "
                "AUC needs rows of both classes. Update with more rows first."
            )
        return _bracket(self._state)


# -- the state: what each bin counts --------------------------------------------------------------------------


class _Bins(NamedTuple):
    """Occupied bins of one class in rising order, what they count, and the number of rows in them."""

    keys: Keys
    counts: Array
    rows: int


class _State(NamedTuple):
    """Bins of both classes at a coarseness, and whether all weights were whole numbers."""

    shift: int
    plus: _Bins
    minus: _Bins
    whole: bool

    @property
    def size(self) -> int:
        return self.plus.keys.size + self.minus.keys.size


_NONE = _Bins(np.empty(0, dtype=np.int64), np.empty(0), 0)
_EMPTY = _State(1, _NONE, _NONE, True)


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


def _hold_one_value(keys: Keys, shift: int) -> NDArray[np.bool_]:
    """Which bins can hold one value only, so that a pair in them is a tie."""
    return np.ones(keys.size, dtype=np.bool_) if shift == 1 else keys & 1 == 0


def _coarser(bins: _Bins) -> _Bins:
    """The same at the next shift: every other edge goes and joins what is on both sides of it."""
    size = np.abs(bins.keys)
    keys = (size >> 2) << 1
    keys |= (size & 3) != 0
    np.negative(keys, out=keys, where=bins.keys < 0)
    return _runs(keys, bins.counts, bins.rows)


def _runs(keys: Keys, counts: Array | None, rows: int) -> _Bins:
    """Sorted keys, each once, and what they count together; without counts each counts one."""
    if keys.size == 0:
        return _NONE
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if counts is None:
        return _Bins(keys[starts], np.diff(starts, append=keys.size).astype(np.float64), rows)
    return _Bins(keys[starts], np.add.reduceat(counts, starts), rows)


def _counted(values: Array, positive: NDArray[np.bool_], weight: Array | None, shift: int) -> _State:
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
    return _State(shift, classes[0], classes[1], whole)


def _joined_bins(bins: _Bins, more: _Bins) -> _Bins:
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


def _joined(state: _State, more: _State) -> _State:
    """Both together, at the coarser of their bins."""
    shift = max(state.shift, more.shift)
    state, more = _at_shift(state, shift), _at_shift(more, shift)
    return _State(
        shift,
        _joined_bins(state.plus, more.plus),
        _joined_bins(state.minus, more.minus),
        state.whole and more.whole,
    )


def _at_shift(state: _State, shift: int) -> _State:
    while state.shift < shift:
        state = state._replace(shift=state.shift + 1, plus=_coarser(state.plus), minus=_coarser(state.minus))
    return state


def _fitted(state: _State, memory: int) -> _State:
    """As coarse as memory demands; at shift 63 three bins are left of a class, so there is an end."""
    while _ENTRY * state.size > memory:
        state = _at_shift(state, state.shift + 1)
    return state


# -- the bracket ----------------------------------------------------------------------------------------------


class _Bracket(NamedTuple):
    auc: float
    low: float
    high: float


def _bracket(state: _State) -> _Bracket:
    """AUC from what is known of the pairs."""
    sizes = float(state.plus.counts.sum()), float(state.minus.counts.sum())
    if state.whole and max(sizes) < _WHOLE:
        return _counted_bracket(state, int(sizes[0]) * int(sizes[1]))
    return _weighed_bracket(state, sizes[0] * sizes[1])


def _counted_bracket(state: _State, pairs: int) -> _Bracket:
    """Of whole numbers, each end rounded once."""
    kind = np.int64 if pairs < 2**62 else object
    won, lost, tied = (int(number) for number in _decided(state, kind))
    return _Bracket(
        (pairs + won - lost) / (2 * pairs),
        (2 * won + tied) / (2 * pairs),
        (2 * (pairs - lost) - tied) / (2 * pairs),
    )


def _weighed_bracket(state: _State, total: float) -> _Bracket:
    """Of floating-point sums, and made wider by what rounding can do to them."""
    won, lost, tied = (float(number) for number in _decided(state, np.float64))
    # At most 4n + 2 additions, products and divisions of non-negative numbers, each off by 2⁻⁵³ of itself,
    # lie between a weight and an end of the bracket; 8n + 32 leave room for those below.
    rounding = (state.plus.rows + state.minus.rows + 4) * 2.0**-50
    low = float(np.nextafter((won + tied / 2) / total * (1 - rounding), 0.0))
    high = float(np.nextafter(1.0 - (lost + tied / 2) / total * (1 - rounding), 1.0))
    return _Bracket(min(max((1.0 + (won - lost) / total) / 2, low), high), low, high)


def _decided(state: _State, kind: Any) -> tuple[Any, Any, Any]:
    """Weight of the pairs that are known to be won, lost and tied, in numbers of some kind."""
    plus, minus = state.plus, state.minus
    shared, i, j = np.intersect1d(plus.keys, minus.keys, assume_unique=True, return_indices=True)
    single = _hold_one_value(shared, state.shift)
    tied = _numbers(plus.counts[i[single]], kind) @ _numbers(minus.counts[j[single]], kind)
    return _below(plus, minus, kind), _below(minus, plus, kind), tied


def _numbers(counts: Array, kind: Any) -> NDArray[Any]:
    return counts if kind is np.float64 else counts.astype(np.int64).astype(kind)


def _below(upper: _Bins, lower: _Bins, kind: Any) -> Any:
    """Weight of the pairs in which the row of ``upper`` is in a higher bin than that of ``lower``."""
    below = np.concatenate([[0.0], np.cumsum(lower.counts)])
    return _numbers(upper.counts, kind) @ _numbers(below[np.searchsorted(lower.keys, upper.keys)], kind)


# -- what may come --------------------------------------------------------------------------------------------


def _as_scores(s: Any) -> NDArray[Any]:
    """Scores as they are where they are numbers; blocks become float64 one at a time."""
    values = np.asarray(s)
    if values.ndim != 1:
        raise ValueError(f"scores must be one-dimensional, got shape {values.shape}; pass one score per row.")
    if values.dtype.kind in "biuf":
        return values
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"scores must be numbers, got dtype {values.dtype}.") from None


def _block_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Checked weights; unlike those of a whole data set they may all be zero."""
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is not None and weight.shape == (n_rows,) and weight.dtype.kind in "biuf" and not weight.any():
        return np.zeros(n_rows)
    return check_weights(sample_weight, n_rows)


def _labels_of(labels: NDArray[Any], positive: NDArray[np.bool_]) -> dict[bool, Any]:
    """The label of each class that a block has."""
    found = {}
    for meaning in (False, True):
        row = int(np.argmax(positive == meaning))
        if positive[row] == meaning:
            found[meaning] = labels[row : row + 1].tolist()[0]
    return found


def _joined_labels(known: dict[bool, Any], more: dict[bool, Any]) -> dict[bool, Any]:
    """The label of each class, or an error where a class has two."""
    for meaning, label in more.items():
        if known.get(meaning, label) != label:
            raise ValueError(
                f"the {'positive' if meaning else 'negative'} label is {label!r} here, but was "
                f"{known[meaning]!r} before. Rows of one class are read by convention (0 and -1 are negative, "
                "1 is positive); pass both labels as classes."
            )
    return known | more
