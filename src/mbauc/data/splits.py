"""Splits for logs: by class, by time, by group. Each returns the row numbers of both sides.

For cross-validation scikit-learn has ``StratifiedKFold``, ``GroupKFold``, ``StratifiedGroupKFold`` and
``TimeSeriesSplit``; :class:`ForwardSplit` is for times with ties, which the last one would tear apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbauc.labels import find_classes, positive_rows
from mbauc.seeds import generator
from mbauc.settings import check_number, check_whole

Rows = NDArray[np.intp]


def stratified_halves(y: Any, random_state: Any = None) -> tuple[Rows, Rows]:
    """Random halves with the same share of positives: half of each class, the odd row in the first.

    ``O(n)`` time.

    Parameters
    ----------
    y : array-like of shape (n,)
        Two-valued labels.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same halves.

    Returns
    -------
    first, second : ndarray of int
        Row numbers, rising.

    Examples
    --------
    >>> from mbauc.data import stratified_halves
    >>> first, second = stratified_halves([0, 0, 0, 0, 1, 1], random_state=0)
    >>> first.size, second.size, (first >= 4).sum(), (second >= 4).sum()
    (3, 3, np.int64(1), np.int64(1))
    """
    positive = positive_rows(y, find_classes(y))
    rng = generator(random_state)
    first = np.zeros(positive.size, dtype=bool)
    for name, mask in (("positive", positive), ("negative", ~positive)):
        rows = np.flatnonzero(mask)
        if rows.size < 2:
            raise ValueError(
                f"y has {rows.size} {name} row; at least 2 of each class are needed, one for each half."
            )
        first[rng.permutation(rows)[: (rows.size + 1) // 2]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)


def time_split(time: Any, test_share: float = 0.25) -> tuple[Rows, Rows]:
    """The latest rows for testing: every training row is earlier than every test row.

    Rows of the same time stay together, so that the share may be missed by what the largest tie needs.
    ``O(n log n)`` time.

    Parameters
    ----------
    time : array-like of shape (n,)
        Times of the rows, in any order: numbers, dates, or texts that sort like times (ISO 8601).
    test_share : float
        Share of the rows to test on, between 0 and 1; the nearest that ties allow is taken.

    Returns
    -------
    train, test : ndarray of int
        Row numbers, rising.

    Examples
    --------
    >>> from mbauc.data import time_split
    >>> train, test = time_split(["2024-05-02", "2024-05-01", "2024-05-02", "2024-05-03"], test_share=0.3)
    >>> train.tolist(), test.tolist()
    ([0, 1, 2], [3])
    """
    share = check_number("test_share", test_share, low=0.0, high=1.0, open_low=True, open_high=True)
    ranks, starts = _time_ranks(time)
    if starts.size < 2:
        raise ValueError(
            f"time has one value only ({ranks.size:,} rows); none is earlier than another. Use a random split."
        )
    # the test set begins with one of the distinct times after the first
    sizes = ranks.size - starts[1:]
    cut = 1 + int(np.abs(sizes - share * ranks.size).argmin())
    return np.flatnonzero(ranks < cut), np.flatnonzero(ranks >= cut)


def group_split(groups: Any, test_share: float = 0.25, random_state: Any = None) -> tuple[Rows, Rows]:
    """Random groups for testing: no group (user, device, patient) is on both sides.

    Groups are drawn until they have the wanted share of the *rows*, as nearly as whole groups allow;
    scikit-learn's ``GroupShuffleSplit`` counts groups instead. ``O(n log n)`` time.

    Parameters
    ----------
    groups : array-like of shape (n,)
        Group of each row.
    test_share : float
        Share of the rows to test on, between 0 and 1.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same split.

    Returns
    -------
    train, test : ndarray of int
        Row numbers, rising.

    Examples
    --------
    >>> from mbauc.data import group_split
    >>> users = ["ann", "bob", "ann", "eve", "bob", "joe"]
    >>> train, test = group_split(users, test_share=0.3, random_state=0)
    >>> {users[row] for row in train} & {users[row] for row in test}
    set()
    """
    share = check_number("test_share", test_share, low=0.0, high=1.0, open_low=True, open_high=True)
    values = _column("groups", groups)
    try:
        names, members, counts = np.unique(values, return_inverse=True, return_counts=True)
    except TypeError:
        raise ValueError("groups mixes types that cannot be ordered; give all groups one type.") from None
    if names.size < 2:
        raise ValueError(
            f"groups has one group only ({values.size:,} rows); at least 2 are needed, one for each side."
        )
    order = generator(random_state).permutation(names.size)
    drawn = 1 + int(np.abs(np.cumsum(counts[order])[:-1] - share * values.size).argmin())
    chosen = np.zeros(names.size, dtype=bool)
    chosen[order[:drawn]] = True
    test = chosen[members]
    return np.flatnonzero(~test), np.flatnonzero(test)


@dataclass(frozen=True)
class ForwardSplit:
    """Cross-validation forward in time, for times with ties: hours of a log, days of a panel.

    Pass the times as ``groups``. The rows are cut into ``n_splits`` + 1 stretches of time of about equal size,
    and each but the first is tested on after training on all before it. Rows of one time are never on both
    sides, and need not be in order; scikit-learn's ``TimeSeriesSplit`` asks for sorted rows and cuts between
    any two of them. ``O(n log n)`` time.

    Parameters
    ----------
    n_splits : int
        Number of splits.

    Examples
    --------
    >>> import numpy as np
    >>> from mbauc.data import ForwardSplit
    >>> hours = np.array([0, 0, 0, 1, 1, 2, 2, 2])
    >>> for train, test in ForwardSplit(2).split(hours, groups=hours):
    ...     print(train.tolist(), test.tolist())
    [0, 1, 2] [3, 4]
    [0, 1, 2, 3, 4] [5, 6, 7]
    """

    n_splits: int = 5

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Number of splits."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Rows, Rows]]:
        """Row numbers to train on and to test on; ``groups`` holds the times."""
        check_whole("n_splits", self.n_splits)
        if groups is None:
            raise ValueError("ForwardSplit needs the time of each row; pass groups=time.")
        ranks, starts = _time_ranks(groups)
        if starts.size <= self.n_splits:
            raise ValueError(
                f"groups has {starts.size:,} distinct times, but n_splits={self.n_splits} needs at least "
                f"{self.n_splits + 1}. Use fewer splits."
            )
        cuts: list[int] = []
        for number in range(1, self.n_splits + 1):
            wanted = number * ranks.size / (self.n_splits + 1)
            # the nearest start of a time that leaves a time for each stretch before and after it
            low = cuts[-1] + 1 if cuts else 1
            high = starts.size - (self.n_splits - number)
            cuts.append(low + int(np.abs(starts[low:high] - wanted).argmin()))
        for start, stop in zip(cuts, [*cuts[1:], starts.size], strict=True):
            yield np.flatnonzero(ranks < start), np.flatnonzero((ranks >= start) & (ranks < stop))


def _column(name: str, values: Any) -> NDArray[Any]:
    """One value a row, none missing."""
    array = np.asarray(values)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{name} must hold one value for each row, got shape {array.shape}.")
    if array.dtype.kind == "U" and isinstance(values, list | tuple):
        other = next((value for value in values if not isinstance(value, str)), None)
        if other is not None:  # NumPy has made texts of numbers
            raise ValueError(f"{name} mixes numbers and texts, such as {other!r}; give all values one type.")
    if array.dtype.kind == "O":
        missing = np.array([_is_missing(value) for value in array], dtype=bool)
    elif array.dtype.kind in "fmM":
        missing = array != array
    else:
        missing = np.zeros(array.size, dtype=bool)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise ValueError(f"{name} has no value at row {row:,}; drop such rows, or give them a value.")
    return array


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


def _time_ranks(time: Any) -> tuple[Rows, Rows]:
    """Rank of each row among the distinct times, and how many rows are earlier than each distinct time."""
    values = _column("time", time)
    try:
        _, ranks, counts = np.unique(values, return_inverse=True, return_counts=True)
    except TypeError:
        raise ValueError("time mixes types that cannot be ordered; give all times one type.") from None
    return ranks, np.cumsum(counts) - counts
