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
    """AUC of a stream of scores in one pass and bounded memory, with bounds of the exact AUC.

    Scores are counted in bins, separately for each class. Pairs in different bins are ordered; pairs in the
    same bin are undecided and make up the distance from ``low`` to ``high``; ``auc`` counts them one half. Bins
    are runs of neighbouring floating-point numbers, so scores may have any scale and offset; they do not depend
    on the data. While memory allows, each distinct score has its own bin and the AUC is exact. When memory is
    full, neighbouring bins are merged in pairs until they fit. A number on the edge of two bins has its own
    bin, and 0 and the powers of two stay edges down to one bin for each power of two: many equal scores of 0, ½
    or 1 stay ties and do not widen the bounds. Many equal scores of another value, such as 0.1, widen them once
    memory is full, by the share of pairs tied there. Floating-point numbers are dense near 0 but not near 1:
    for probabilities concentrated close to 1 pass log-odds. Scores of several versions of a model, as when a
    stream is scored and then used for training, are on different scales: pass probabilities or log-odds, which
    are comparable.

    The state depends only on the set of rows: any order, division into blocks and tree of merges give the same
    bins (bit-identical if weights are integers). A subset never occupies more bins than the whole at the same
    resolution, so a part is never coarser than the whole needs to be.

    Without weights, or with integer weights that sum to less than 2⁵³, pairs are counted exactly: the exact
    AUC, rounded once, always lies within the bounds. With other weights the bounds are widened by a bound on
    the rounding error, (n + 4)·2⁻⁵⁰ of the shares won and lost for n rows.

    Time: ``O(n log n)`` for a block of n rows, and ``O(memory)`` for each block, merge and query of the result.
    Memory: at most ``memory`` bytes; an update temporarily takes 5 MB, four times the bins, and two bytes per
    row of the block.

    Parameters
    ----------
    memory : int, default=1048576
        Memory limit of the bins in bytes, at least 1024; 16 bytes for each occupied bin of a class. Increase it
        for tighter bounds.
    classes : sequence of two labels, optional
        Both labels; the larger is positive. Required unless labels are 0/1, ±1 or boolean, or every block
        contains both.

    Attributes
    ----------
    auc : float
        AUC, counting undecided pairs one half.
    low, high : float
        Bounds of the exact AUC: all undecided pairs counted as lost, or as won.
    width : float
        ``high - low``.
    exact : bool
        Whether all pairs are decided, so that the AUC is exact up to rounding.
    counts : tuple of int
        Number of rows counted (positives, negatives), without rows of weight zero.
    memory_used : int
        Memory used by the bins, in bytes.

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

    def update(self, y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Self:
        """Add a block of rows.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels. A block may hold one class only, or no rows.
        y_score : array-like of shape (n,)
            Scores; infinite ones are allowed, NaN is not.
        sample_weight : array-like of shape (n,), optional
            Weight of each row; the weight of a pair is the product of the weights of its rows.

        Returns
        -------
        StreamingAUC
            The object itself. If the block is invalid, it is not counted at all.
        """
        values = score_vector(y_score, "y_score")  # blocks of it become float64 one at a time
        given = np.asarray(y_true)
        check_lengths(given.shape[0] if given.ndim else 1, values.size, "y_true", "y_score")
        weight = _block_weights(sample_weight, values.size)
        if values.size == 0:
            return self
        positive = positive_rows(given, self._classes, "y_true")
        labels = _merge_labels(self._labels, _labels_of(given.ravel(), positive))
        state = self._state
        for start in range(0, values.size, _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = np.asarray(values[rows], dtype=np.float64)
            check_values(block, "y_score", first=start)
            part = count_scores(block, positive[rows], None if weight is None else weight[rows], state.shift)
            state = coarsen_to_fit(merge_states(state, part), self._memory)
        self._labels, self._state = labels, state
        return self

    def merge(self, other: StreamingAUC) -> Self:
        """Add the rows of another object in place; returns the object itself.

        Both must have the same ``memory``. ``a + b`` returns a new object instead.
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
        """AUC, counting undecided pairs one half."""
        return self._bracket().auc

    @property
    def low(self) -> float:
        """Lower bound of the exact AUC: undecided pairs counted as lost."""
        return self._bracket().low

    @property
    def high(self) -> float:
        """Upper bound of the exact AUC: undecided pairs counted as won."""
        return self._bracket().high

    @property
    def width(self) -> float:
        """Difference of the bounds, ``high - low``."""
        bracket = self._bracket()
        return bracket.high - bracket.low

    @property
    def exact(self) -> bool:
        """Whether all pairs are decided, so that the AUC is exact up to rounding."""
        shared = np.intersect1d(self._state.plus.keys, self._state.minus.keys, assume_unique=True)
        return bool(hold_one_value(shared, self._state.shift).all())

    @property
    def counts(self) -> tuple[int, int]:
        """Number of rows counted (positives, negatives)."""
        return self._state.plus.rows, self._state.minus.rows

    @property
    def memory_used(self) -> int:
        """Memory used by the bins, in bytes."""
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
