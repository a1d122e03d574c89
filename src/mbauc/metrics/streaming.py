"""AUC of scores that pass by once: bounded memory, mergeable, with a bracket that holds the exact value."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mbauc.checks import check_whole
from mbauc.metrics.ranked import check_lengths, check_values, score_vector
from mbauc.metrics.score_bins import (
    EMPTY,
    ENTRY,
    Bracket,
    auc_bracket,
    coarsen_to_fit,
    count_scores,
    hold_one_value,
    merge_states,
)
from mbauc.rows.labels import check_classes, positive_rows
from mbauc.rows.matrix import check_weights

Array = NDArray[np.float64]

#: Scores sorted at a time: few enough for the cache, and to keep memory small whatever a caller passes.
_BLOCK = 1 << 15


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
    that crowd below 1 pass the log-odds. Scores of several versions of a ranker, as of a stream that is scored
    and then learned from, are on different scales: pass probabilities or log-odds, which are comparable.

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
    memory : int, default=1048576
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
        Number of rows that entered, (positives, negatives); rows of weight zero do not.
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
        self._state = EMPTY

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
        values = score_vector(s)  # blocks of it become float64 one at a time
        given = np.asarray(y)
        check_lengths(given.shape[0] if given.ndim else 1, values.size)
        weight = _block_weights(sample_weight, values.size)
        if values.size == 0:
            return self
        positive = positive_rows(given, self._classes)
        labels = _merge_labels(self._labels, _labels_of(given.ravel(), positive))
        state = self._state
        for start in range(0, values.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = np.asarray(values[rows], dtype=np.float64)
            check_values(block, first=start)
            part = count_scores(block, positive[rows], None if weight is None else weight[rows], state.shift)
            state = coarsen_to_fit(merge_states(state, part), self._memory)
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
        labels = _merge_labels(self._labels, other._labels)
        state = coarsen_to_fit(merge_states(self._state, other._state), self._memory)
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
        return bool(hold_one_value(shared, self._state.shift).all())

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows that entered, (positives, negatives)."""
        return self._state.plus.rows, self._state.minus.rows

    @property
    def memory_used(self) -> int:
        """Bytes of the bins."""
        return ENTRY * self._state.size

    def __repr__(self) -> str:
        rows = f"{self.counts[0]:,} positives, {self.counts[1]:,} negatives"
        if 0 in self.counts:
            return f"StreamingAUC(no pairs yet; {rows})"
        auc, low, high = self._bracket()
        return f"StreamingAUC({auc:.5f}, from {low:.5f} to {high:.5f}; {rows})"

    def _bracket(self) -> Bracket:
        if 0 in self.counts:
            raise ValueError(
                f"there are no pairs yet ({self.counts[0]:,} positives, {self.counts[1]:,} negatives); "
                "AUC needs rows of both classes. Update with more rows first."
            )
        return auc_bracket(self._state)


# -- validation -----------------------------------------------------------------------------------------------


def _block_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Checked weights; unlike weights of a whole data set they may all be zero."""
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


def _merge_labels(known: dict[bool, Any], more: dict[bool, Any]) -> dict[bool, Any]:
    """The label of each class, or an error where a class has two."""
    for meaning, label in more.items():
        if known.get(meaning, label) != label:
            raise ValueError(
                f"the {'positive' if meaning else 'negative'} label is {label!r} here, but was "
                f"{known[meaning]!r} before. Rows of one class are read by convention (0 and -1 are negative, "
                "1 is positive); pass both labels as classes."
            )
    return known | more
